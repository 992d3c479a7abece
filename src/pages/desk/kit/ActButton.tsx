import { useEffect, useId, useRef, useState, type ReactNode } from 'react'

import { Button, type ButtonProps } from './Button.tsx'
import { focus, useOnHidden } from './focus.ts'

interface ActButtonProps extends Omit<ButtonProps, 'onPress' | 'children'> {
  /** Whether its act is pending. Meanwhile, the button keeps its position, its words and the focus. */
  isPending: boolean
  /** If omitted, the button submits its form. */
  onPress?: () => void
  children: string
}

/** A button for a call to the server. It shows that it is busy if the call takes long. */
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

/** Milliseconds in which most acts finish: showing shorter waits would flicker. */
const busyDelay = 150

function useIsSlow(isPending: boolean) {
  const [isSlow, setIsSlow] = useState(false)
  useEffect(() => {
    if (!isPending) return
    const timer = setTimeout(() => setIsSlow(true), busyDelay)
    return () => {
      clearTimeout(timer)
      setIsSlow(false)
    }
  }, [isPending])
  return isPending && isSlow
}

interface ConfirmButtonProps {
  children: string
  /** The question, and the buttons that confirm and cancel. */
  question: ReactNode
  confirm: string
  cancel: string
  isPending: boolean
  onConfirm: () => void
}

/** A button that asks for confirmation. */
export function ConfirmButton({
  children,
  question,
  confirm,
  cancel,
  isPending,
  onConfirm,
}: ConfirmButtonProps) {
  const [isConfirming, setIsConfirming] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  useOnHidden(isConfirming, () => button.current?.focus())
  if (!isConfirming)
    return (
      <Button ref={button} onPress={() => setIsConfirming(true)}>
        {children}
      </Button>
    )
  return (
    <>
      <span>{question}</span>
      {/* This button takes the focus, so that pressing Enter twice only cancels. */}
      <Button ref={focus} onPress={() => setIsConfirming(false)}>
        {cancel}
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
  /** Undefined until it is loaded. */
  isOn: boolean | undefined
  /** The new value while it is being saved. It is shown immediately, and cannot be changed until it is saved. */
  pending: boolean | undefined
  onSwitch: (isOn: boolean) => void
}

/** A switch for a setting on the server. */
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
