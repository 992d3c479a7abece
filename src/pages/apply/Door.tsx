import { useEffect, useRef, useState, type RefObject } from 'react'

import type { DataInterface } from '../../client/rest.ts'
import { readDoorSentence } from '../../client/door.ts'

/**
 * The box above the fields that says that applications are closed.
 *
 * @param props.mayChange Whether the page asks later, because no server rendered the document for this visit.
 */
export function Door({ sentence, mayChange }: { sentence: string | undefined; mayChange: boolean }) {
  const content = sentence !== undefined && <Box sentence={sentence} />
  // Screen readers must know a live region before its text appears.
  return mayChange ? <div aria-live="polite">{content}</div> : content
}

/** The sentence of the box, as the backend says it now. */
export function DoorSentence({ backend }: { backend: DataInterface }) {
  const [sentence, setSentence] = useState<string>()
  const box = useRef<HTMLParagraphElement>(null)

  // Runs once, when the script has loaded.
  // oxlint-disable-next-line react-hooks/exhaustive-deps
  useEffect(() => void readDoorSentence(backend).then(setSentence), [])
  // Scrolls the box into view for people who are typing further down.
  useEffect(() => box.current?.scrollIntoView({ block: 'nearest' }), [sentence])

  return sentence !== undefined && <Box ref={box} sentence={sentence} />
}

function Box({ sentence, ref }: { sentence: string; ref?: RefObject<HTMLParagraphElement | null> }) {
  return (
    <p ref={ref} className="outcome door" dir="auto">
      {sentence}
    </p>
  )
}
