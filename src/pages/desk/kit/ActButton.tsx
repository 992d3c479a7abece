import type { ButtonProps } from './Button.tsx'

interface ActButtonProps extends Omit<ButtonProps, 'onPress' | 'children'> {
  /** Whether its act is pending. Meanwhile, the button keeps its position, its words and the focus. */
  isPending: boolean
  /** If omitted, the button submits its form. */
  onPress?: () => void
  children: string
}

/** A button for a call to the server. Its style shows that it is busy if the call takes long. */
export function ActButton({ isPending, isOff = false, onPress, about, children, ...others }: ActButtonProps) {
  const isIdle = !isOff && !isPending
  return (
    <button
      type={onPress ? 'button' : 'submit'}
      className={onPress && 'control-quiet'}
      aria-label={about && `${children}: ${about}`}
      aria-disabled={isOff || undefined}
      aria-busy={isPending || undefined}
      // The second click of a double click would do what the button says after the first one.
      onClick={(event) => (isIdle && event.detail < 2 ? onPress?.() : event.preventDefault())}
      {...others}
    >
      {children}
    </button>
  )
}
