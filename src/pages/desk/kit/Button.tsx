import type { ComponentProps, MouseEvent } from 'react'

/** The properties of a button. */
interface ButtonProps extends Omit<ComponentProps<'button'>, 'type' | 'onClick'> {
  /** The person or thing that it is about. Screen readers read it after the words, if several buttons share the words. */
  about?: string | undefined
  /** Whether it is inactive. It keeps the focus, which `disabled` would remove. */
  isOff?: boolean | undefined
  /** Whether its act is pending. Meanwhile, it keeps its position, its words and the focus. Its style shows that if it takes long. */
  isPending?: boolean | undefined
  /** If omitted, the button submits its form. */
  onPress?: (event: MouseEvent<HTMLButtonElement>) => void
}

/** Milliseconds and pixels within which two taps are a double tap. */
const doubleTap = { time: 500, distance: 24 }

/** The last tap that pressed a button. */
let lastTap = { timeStamp: -Infinity, clientX: 0, clientY: 0 }

/**
 * Whether a click is the second one of a double click, which would act on what replaces the pressed button. Safari on iPhones
 * counts no clicks, so taps are compared.
 */
function isSecond({ detail, timeStamp, clientX, clientY }: MouseEvent): boolean {
  if (detail !== 1 || !matchMedia('(pointer: coarse)').matches) return detail > 1
  const isNear = Math.hypot(clientX - lastTap.clientX, clientY - lastTap.clientY) < doubleTap.distance
  if (isNear && timeStamp - lastTap.timeStamp < doubleTap.time) return true
  lastTap = { timeStamp, clientX, clientY }
  return false
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
      onClick={(event) => (isIdle && !isSecond(event) ? onPress?.(event) : event.preventDefault())}
      {...others}
    >
      {children}
    </button>
  )
}
