import { useEffect, useRef, type ReactNode } from 'react'

import { Hills } from '../../design/illustrations.tsx'
import type { Submission } from './submission.ts'
import { failureTitle, sendingAnnouncement, successText, successTitle } from './copy.ts'

/** What a screen reader says while a send is under way, and then the green or the red box, or none. */
export function Outcome({ status, sending, message }: Submission) {
  return (
    <div id="outcome">
      <p id="progress" className="visually-hidden" aria-live="polite">
        {sending && sendingAnnouncement}
      </p>
      {status === 'success' && (
        <Box kind="success" title={successTitle} text={successText}>
          <Hills />
        </Box>
      )}
      {status === 'error' && <Box kind="error" title={failureTitle} text={message} />}
    </div>
  )
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
