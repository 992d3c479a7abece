import { useEffect, useRef, useState, type ComponentProps, type MouseEvent, type ReactNode } from 'react'

import { filtersFrom, type Filters } from './filters.ts'
import { focus, useWhenGone } from './focus.ts'
import { hrefOf } from './route.ts'

interface ButtonProps extends Omit<ComponentProps<'button'>, 'type' | 'onClick'> {
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
      className="quiet"
      aria-label={typeof children === 'string' && about ? `${children}: ${about}` : undefined}
      aria-disabled={isOff}
      onClick={isOff ? undefined : onPress}
      {...others}
    >
      {children}
    </button>
  )
}

interface ActButtonProps extends Omit<ButtonProps, 'onPress' | 'children'> {
  /** Whether its act is pending: then it keeps its place, its words and the focus. */
  isPending: boolean
  /** Without it, the button sends the form that it stands in. */
  onPress?: () => void
  children: string
}

/** A button that calls the server. */
export function ActButton({ isPending, isOff = false, onPress, about, children, ...others }: ActButtonProps) {
  const isSlow = useIsSlow(isPending)
  const isIdle = !isOff && !isPending
  return (
    <button
      type={onPress ? 'button' : 'submit'}
      className={onPress && 'quiet'}
      aria-label={about && `${children}: ${about}`}
      aria-disabled={isOff || isSlow || undefined}
      aria-busy={isSlow || undefined}
      onClick={(event) => (isIdle ? onPress?.() : event.preventDefault())}
      {...others}
    >
      {children}
    </button>
  )
}

/** Milliseconds in which most acts are done: a button that changed for less would flicker. */
const quick = 150

function useIsSlow(isPending: boolean) {
  const [isSlow, setIsSlow] = useState(false)
  useEffect(() => {
    if (!isPending) return
    const timer = setTimeout(() => setIsSlow(true), quick)
    return () => {
      clearTimeout(timer)
      setIsSlow(false)
    }
  }, [isPending])
  return isPending && isSlow
}

interface ConfirmButtonProps {
  children: string
  /** What is asked before it is done, and the buttons that do it and leave it. */
  question: ReactNode
  confirm: string
  keep: string
  isPending: boolean
  onConfirm: () => void
}

/** A button that asks before it does something. */
export function ConfirmButton({
  children,
  question,
  confirm,
  keep,
  isPending,
  onConfirm,
}: ConfirmButtonProps) {
  const [isAsked, setIsAsked] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  useWhenGone(isAsked, () => button.current?.focus())
  if (!isAsked)
    return (
      <Button ref={button} onPress={() => setIsAsked(true)}>
        {children}
      </Button>
    )
  return (
    <>
      <span>{question}</span>
      {/* It has the focus, so that pressing Enter again does nothing. */}
      <Button ref={focus} onPress={() => setIsAsked(false)}>
        {keep}
      </Button>
      <ActButton isPending={isPending} onPress={onConfirm}>
        {confirm}
      </ActButton>
    </>
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
