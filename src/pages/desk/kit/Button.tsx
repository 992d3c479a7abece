import type { ComponentProps, MouseEvent, ReactNode } from 'react'

import { filtersFrom, type Filters } from './filters.ts'
import { hrefOf } from './route.ts'

export interface ButtonProps extends Omit<ComponentProps<'button'>, 'type' | 'onClick'> {
  /** Whom or what it is about, which screen readers hear with its words, where several say the same. */
  about?: string
  /** Whether it does nothing at the moment. It keeps the focus then, which `disabled` would take. */
  isOff?: boolean | undefined
  onPress: (event: MouseEvent<HTMLButtonElement>) => void
}

/** A button that sends no form. */
export function Button({ about, isOff, onPress, children, ...others }: ButtonProps) {
  return (
    <button
      type="button"
      className="control-quiet"
      aria-label={typeof children === 'string' && about ? `${children}: ${about}` : undefined}
      aria-disabled={isOff}
      onClick={isOff ? undefined : onPress}
      {...others}
    >
      {children}
    </button>
  )
}

interface ApplicationLinkProps {
  id: string
  /** Of the list that it is opened from; without them it is opened from the whole list. */
  filters?: Filters
  /** The applicant's name, or what else tells it apart. */
  children: ReactNode
}

/** The link to an application. */
export function ApplicationLink({ id, filters = filtersFrom(''), children }: ApplicationLinkProps) {
  return (
    <a href={hrefOf({ screen: 'application', id, filters })}>
      <bdi>{children}</bdi>
    </a>
  )
}
