import { useEffect, useId, useRef, useState, type ReactNode } from 'react'

import { Button, type ButtonProps } from './Button.tsx'
import { focus, useWhenGone } from './focus.ts'

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
      className={onPress && 'control-quiet'}
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

interface ActSwitchProps {
  label: string
  hint: string
  /** Undefined where that is not known yet. */
  isOn: boolean | undefined
  /** What it is being switched to: shown at once, and not switched again meanwhile. */
  pending: boolean | undefined
  onSwitch: (isOn: boolean) => void
}

/** Something that is on or off at the server. */
export function ActSwitch({ label, hint, isOn: stored, pending, onSwitch }: ActSwitchProps) {
  const id = useId()
  const isOn = pending ?? stored
  return (
    <>
      <label className="control-switch">
        <input
          type="checkbox"
          role="switch"
          checked={isOn ?? false}
          aria-checked={isOn ?? false}
          disabled={isOn === undefined}
          aria-describedby={id}
          aria-busy={pending !== undefined || undefined}
          onChange={({ target }) => pending === undefined && onSwitch(target.checked)}
        />
        {label}
      </label>
      <p className="control-hint" id={id}>
        {hint}
      </p>
    </>
  )
}
