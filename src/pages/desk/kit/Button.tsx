import type { ComponentProps, MouseEvent } from 'react'

/** The properties of a button. */
export interface ButtonProps extends Omit<ComponentProps<'button'>, 'type' | 'onClick'> {
  /** The person or thing that it is about. Screen readers read it after the words, if several buttons share the words. */
  about?: string | undefined
  /** Whether it is inactive. It keeps the focus, which `disabled` would remove. */
  isOff?: boolean | undefined
  onPress: (event: MouseEvent<HTMLButtonElement>) => void
}

/** A button that does not submit a form. */
export function Button({ about, isOff, onPress, children, ...others }: ButtonProps) {
  return (
    <button
      type="button"
      className="control-quiet"
      aria-label={typeof children === 'string' && about ? `${children}: ${about}` : undefined}
      aria-disabled={isOff}
      // The second click of a double click would act on what replaces the pressed button.
      onClick={(event) => !isOff && event.detail < 2 && onPress(event)}
      {...others}
    >
      {children}
    </button>
  )
}
