import type { ComponentProps, MouseEvent } from 'react'

/** The properties of a button. */
export interface ButtonProps extends Omit<ComponentProps<'button'>, 'type' | 'onClick'> {
  /** The person or thing that it is about. Screen readers read it after the words, if several buttons share the words. */
  about?: string | undefined
  /** Whether it is inactive. It keeps the focus, which `disabled` would remove. */
  isOff?: boolean | undefined
  /** Whether its act is pending. Meanwhile, it keeps its position, its words and the focus. Its style shows that if it takes long. */
  isPending?: boolean | undefined
  /** If omitted, the button submits its form. */
  onPress?: (event: MouseEvent<HTMLButtonElement>) => void
}

/** A button. */
export function Button(props: ButtonProps) {
  const { about, isOff = false, isPending = false, onPress, children, ...others } = props
  const isIdle = !isOff && !isPending
  return (
    <button
      type={onPress ? 'button' : 'submit'}
      className={onPress && 'control-quiet'}
      aria-label={typeof children === 'string' && about ? `${children}: ${about}` : undefined}
      aria-disabled={isOff || undefined}
      aria-busy={isPending || undefined}
      // The second click of a double click would act on what replaces the pressed button.
      onClick={(event) => (isIdle && event.detail < 2 ? onPress?.(event) : event.preventDefault())}
      {...others}
    >
      {children}
    </button>
  )
}
