import { useEffect, useRef, useState } from 'react'

import type { DataInterface } from '../../client/rest.ts'
import { readDoorSentence } from '../../client/door.ts'

interface DoorProps {
  /** The sentence that is already in the document. */
  sentence: string | undefined
  /** The backend to ask; null if the page's own server rendered the document. */
  ask: DataInterface | null
}

/** The box above the form that says that applications are closed. */
export function Door({ sentence, ask }: DoorProps) {
  const [told, setTold] = useState(sentence)
  const box = useRef<HTMLParagraphElement>(null)

  // Runs once, when the script has loaded.
  // oxlint-disable-next-line react-hooks/exhaustive-deps
  useEffect(() => void (ask && readDoorSentence(ask).then(setTold)), [])
  // Scrolls the box into view for people who are typing further down.
  useEffect(() => {
    if (told !== sentence) box.current?.scrollIntoView({ block: 'nearest' })
  }, [told, sentence])

  const content = told !== undefined && (
    <p ref={box} className="outcome door">
      {told}
    </p>
  )
  // Screen readers must know a live region before its text appears.
  return ask ? <div aria-live="polite">{content}</div> : content
}
