import { useEffect, useRef, useState } from 'react'

import type { DataInterface } from '../../client/data-interface.ts'
import { askDoor } from '../../client/door.ts'

interface DoorProps {
  /** What the document says already. */
  sentence: string | undefined
  /** Whom to ask; null where the page's own server wrote the document. */
  ask: DataInterface | null
}

/** What is told before one writes while applications are not taken. */
export function Door({ sentence, ask }: DoorProps) {
  const [told, setTold] = useState(sentence)
  const box = useRef<HTMLParagraphElement>(null)

  // Once, when the script comes.
  // oxlint-disable-next-line react-hooks/exhaustive-deps
  useEffect(() => void (ask && askDoor(ask).then(setTold)), [])
  // Above somebody who writes already it would not be seen.
  useEffect(() => {
    if (told !== sentence) box.current?.scrollIntoView({ block: 'nearest' })
  }, [told, sentence])

  if (told === undefined) return null
  return (
    <p ref={box} className="outcome door" aria-live="polite">
      {told}
    </p>
  )
}
