import { useEffect, useRef, useState } from 'react'

import type { DataInterface } from '../../client/rest.ts'
import { readDoorSentence } from '../../client/door.ts'

interface DoorProps {
  /** The sentence that is already in the document. */
  sentence: string | undefined
  /** The backend to ask; null if the page's own server rendered the document. */
  backend: DataInterface | null
}

/** The box above the fields that says that applications are closed. */
export function Door({ sentence, backend }: DoorProps) {
  const [shownSentence, setShownSentence] = useState(sentence)
  const box = useRef<HTMLParagraphElement>(null)

  // Runs once, when the script has loaded.
  // oxlint-disable-next-line react-hooks/exhaustive-deps
  useEffect(() => void (backend && readDoorSentence(backend).then(setShownSentence)), [])
  // Scrolls the box into view for people who are typing further down.
  useEffect(() => {
    if (shownSentence !== sentence) box.current?.scrollIntoView({ block: 'nearest' })
  }, [shownSentence, sentence])

  const content = shownSentence !== undefined && (
    <p ref={box} className="outcome door" dir="auto">
      {shownSentence}
    </p>
  )
  // Screen readers must know a live region before its text appears.
  return backend ? <div aria-live="polite">{content}</div> : content
}
