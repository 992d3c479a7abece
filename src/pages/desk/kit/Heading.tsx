import type { ReactNode } from 'react'

import { focusAtTop, scrollToTop } from './focus.ts'

interface HeadingProps {
  /** Whether the heading takes the focus when the screen opens. */
  takesFocus?: boolean
  children: ReactNode
}

/** The heading of a screen. The screen opens scrolled to its top. */
export function Heading({ takesFocus = true, children }: HeadingProps) {
  return (
    <h1 ref={takesFocus ? focusAtTop : scrollToTop} tabIndex={-1}>
      {children}
    </h1>
  )
}
