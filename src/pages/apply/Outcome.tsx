import { useEffect, useRef } from 'react'

import type { Submission } from './submission.ts'
import { failureTitle, sendingAnnouncement, successText, successTitle } from './copy.ts'

/** The green or the red box, or none. The element around it is always there, so that its coming is read out. */
export function Outcome({ status, sending, message }: Submission) {
  return (
    <div id="outcome" aria-live="polite">
      <p id="progress" className="visually-hidden">
        {sending && sendingAnnouncement}
      </p>
      {status === 'success' && <Box kind="success" title={successTitle} text={successText} />}
      {status === 'error' && <Box kind="error" title={failureTitle} text={message} />}
    </div>
  )
}

function Box({ kind, title, text }: { kind: 'success' | 'error'; title: string; text: string }) {
  const box = useRef<HTMLDivElement>(null)

  // Whoever sent the form is taken to what became of it: by eye, by keyboard and by screen reader.
  useEffect(() => {
    box.current?.focus({ preventScroll: true })
    box.current?.scrollIntoView({ block: 'nearest' })
  }, [])

  return (
    // Where there is no script, the browser goes to it by itself.
    // oxlint-disable-next-line jsx-a11y/no-autofocus
    <div ref={box} className={`outcome ${kind}`} tabIndex={-1} autoFocus>
      <h2>{title}</h2>
      <p>{text}</p>
    </div>
  )
}
