import { useState } from 'react'

import type { Letter } from '../../../client/desk/letters.ts'
import type { Change } from '../kit/useTyped.ts'
import { SaveButtons, useVersionedDraft, type Unsaved } from '../kit/useVersionedDraft.tsx'
import { nameOfLetter } from '../letters/letters.ts'
import { LetterFields, type Written } from '../letters/LetterText.tsx'

/** What is entered, and a function that keeps something else, or nothing for null. */
export type KeptChange = readonly [Unsaved<Written> | null, (change: Change<Unsaved<Written>>) => void]

interface DraftEditProps {
  letter: Letter
  kept: KeptChange
  setIsOpen: (isOpen: boolean) => void
}

/** Changes a draft for one person. */
export function DraftEdit({ letter, kept, setIsOpen }: DraftEditProps) {
  const { id, seen, subject, body } = letter
  // A form that is open when the screen is opened does not take the focus.
  const [isRestored] = useState(kept[0] !== null)
  const draft = useVersionedDraft({
    kept,
    call: 'desk_edit',
    stored: { subject, body },
    version: seen,
    givenOf: (text) => ({ letter: id, seen, ...text }),
    versionOf: (saved) => saved.seen,
    says: () => `${nameOfLetter(letter)}: changed`,
    // What was entered while it was being saved is kept, and stays open.
    onSaved: () => setIsOpen(false),
  })
  const enter = (entered: Partial<Written>) => {
    // Whoever enters what stood there before writes on.
    setIsOpen(true)
    draft.enter(entered)
  }
  const cancel = () => {
    draft.discard()
    setIsOpen(false)
  }
  return (
    <form onSubmit={draft.onSubmit}>
      <LetterFields value={draft.value} isFirst={!isRestored} onEnter={enter} />
      <SaveButtons
        draft={draft}
        meanwhile="This draft has changed meanwhile. What you entered is still here and not saved."
        onCancel={cancel}
      />
    </form>
  )
}
