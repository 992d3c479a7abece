import { useEffect, useRef, useState } from 'react'

import type { DataInterface } from '../../client/rest.ts'
import { askDoor } from '../../client/door.ts'

interface DoorProps {
  /** The sentence that the document has already. */
  sentence: string | undefined
  /** The backend to ask; null where the page's own server wrote the document. */
  ask: DataInterface | null
}

/** The box above the form that says that applications are closed. */
export function Door({ sentence, ask }: DoorProps) {
  const [told, setTold] = useState(sentence)
  const box = useRef<HTMLParagraphElement>(null)

  // Once, when the script comes.
  // oxlint-disable-next-line react-hooks/exhaustive-deps
  useEffect(() => void (ask && askDoor(ask).then(setTold)), [])
  // Somebody who is already typing further down would not see it otherwise.
  useEffect(() => {
    if (told !== sentence) box.current?.scrollIntoView({ block: 'nearest' })
  }, [told, sentence])

  const content = told !== undefined && (
    <p ref={box} className="outcome door">
      {told}
    </p>
  )
  // A live region is heard where it was there before its text.
  return ask ? <div aria-live="polite">{content}</div> : content
}
