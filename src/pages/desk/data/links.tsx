import type { ReactNode } from 'react'

import { filtersFrom, type Filters } from './filters.ts'
import { hrefOf, type Route } from './route.ts'

interface ApplicationLinkProps {
  id: string
  /** The filters of the list that the application is opened from; by default, none. */
  filters?: Filters
  className?: string
  /** The applicant's name, or another text that identifies the application. */
  children: ReactNode
}

/** A link to an application. */
export function ApplicationLink({
  id,
  filters = filtersFrom(''),
  className,
  children,
}: ApplicationLinkProps) {
  return (
    <a className={className} href={hrefOf({ screen: 'application', id, filters })}>
      <bdi>{children}</bdi>
    </a>
  )
}

interface BackProps {
  /** The label of the navigation. */
  label: string
  to: Route
  children?: ReactNode
}

/** The link back from a screen, and the content beside it. */
export function Back({ label, to, children }: BackProps) {
  return (
    <nav className="layout-row layout-back" aria-label={label}>
      <a href={hrefOf(to)} className="control-link">
        Back
      </a>
      {children}
    </nav>
  )
}
