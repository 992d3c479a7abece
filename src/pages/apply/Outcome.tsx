import { useEffect, useRef, type ReactNode } from 'react'

import { Hills } from '../../design/illustrations.tsx'
import { failureTitle, successText, successTitle } from './copy.ts'

/** The green box, the first of the form. */
export function Success() {
  return (
    <Box kind="success" title={successTitle} text={successText}>
      <Hills />
    </Box>
  )
}

/** The red box. */
export function Failure({ message }: { message: string }) {
  return <Box kind="error" title={failureTitle} text={message} />
}

interface BoxProps {
  kind: 'success' | 'error'
  title: string
  text: string
  children?: ReactNode
}

function Box({ kind, title, text, children }: BoxProps) {
  const box = useRef<HTMLElement>(null)

  // The focus moves to the box, and so a screen reader reads it out: it needs no live region.
  useEffect(() => {
    // The focus stays with somebody who is typing already, on a page whose document came with the box.
    if (document.activeElement?.closest('#fields')) return
    box.current?.focus({ preventScroll: true })
    box.current?.scrollIntoView({ block: 'nearest' })
  }, [])

  return (
    <section
      ref={box}
      className={`outcome ${kind}`}
      aria-labelledby="outcome-title"
      aria-describedby="outcome-text"
      tabIndex={-1}
      // Without a script the browser scrolls to the box by itself.
      // oxlint-disable-next-line jsx-a11y/no-autofocus
      autoFocus
    >
      {children}
      <h2 id="outcome-title">{title}</h2>
      <p id="outcome-text">{text}</p>
    </section>
  )
}
