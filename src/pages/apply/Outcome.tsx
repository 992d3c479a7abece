import { useEffect, useRef, type ReactNode } from 'react'

import { Hills } from '../../design/illustrations.tsx'
import { defaultSuccess } from '../../design/look.ts'
import { failureTitle, successTitle } from './copy.ts'
import { Linked } from './Linked.tsx'

/**
 * The success box, at the top of the form.
 *
 * @param props.text The operator's own text; undefined for the default.
 */
export function Success({ text }: { text: string | undefined }) {
  return (
    <Box kind="success" title={successTitle} text={text ?? defaultSuccess}>
      <Hills />
    </Box>
  )
}

/** The failure box. Its message may be the sentence of a closed door. */
export function Failure({ message }: { message: string }) {
  return <Box kind="error" title={failureTitle} text={<Linked text={message} />} />
}

interface BoxProps {
  kind: 'success' | 'error'
  title: string
  text: ReactNode
  children?: ReactNode
}

function Box({ kind, title, text, children }: BoxProps) {
  const box = useRef<HTMLElement>(null)

  // Moving the focus makes screen readers read the box, so it needs no live region.
  useEffect(() => {
    // Somebody who is already typing when the script loads keeps the focus.
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
      // Without a script, `autofocus` makes the browser scroll to the box.
      // oxlint-disable-next-line jsx-a11y/no-autofocus
      autoFocus
    >
      {children}
      <h2 id="outcome-title">{title}</h2>
      <p id="outcome-text" dir="auto">
        {text}
      </p>
    </section>
  )
}

/** The line that says when this tab has sent an application, after a reload. */
export function Sent({ time }: { time: string }) {
  return (
    <p className="sent" ref={scrollIntoView}>
      Sent at {time} from this browser
    </p>
  )
}

/** Scrolls the line into view: after a reload, browsers restore the scroll position that showed the success box. */
function scrollIntoView(line: HTMLElement | null) {
  line?.scrollIntoView({ block: 'nearest' })
}
