import { useEffect, useState } from 'react'

import type { ButtonProps } from './Button.tsx'

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
      // The second click of a double click would do what the button says after the first one.
      onClick={(event) => (isIdle && event.detail < 2 ? onPress?.() : event.preventDefault())}
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
