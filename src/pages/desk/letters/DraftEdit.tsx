import { useState } from 'react'

import type { Letter } from '../../../client/desk/letters.ts'
import type { Change } from '../data/useUnsentText.ts'
import { SaveButtons, useVersionedDraft, type Unsaved } from '../data/useVersionedDraft.tsx'
import { nameOfLetter } from './letters.ts'
import { LetterFields, type LetterContent } from './LetterText.tsx'

/** The unsaved text of a draft, its setter, and the draft's id. */
export type DraftInput = readonly [
  Unsaved<LetterContent> | null,
  (change: Change<Unsaved<LetterContent>>) => void,
  id: string,
]

interface DraftEditProps {
  letter: Letter
  input: DraftInput
  setIsOpen: (isOpen: boolean) => void
}

/** The form that edits one draft. The template does not change. */
export function DraftEdit({ letter, input, setIsOpen }: DraftEditProps) {
  const { id, seen, subject, body } = letter
  // A form that opens together with its screen does not take the focus.
  const [isRestored] = useState(input[0] !== null)
  const draft = useVersionedDraft({
    input,
    call: 'desk_edit',
    stored: { subject, body },
    version: seen,
    argsOf: (text) => ({ letter: id, seen, ...text }),
    versionOf: (saved) => saved.seen,
    success: () => `${nameOfLetter(letter)}: changed`,
    // The form stays if text was entered while saving.
    onSuccess: () => setIsOpen(false),
  })
  const enter = (entered: Partial<LetterContent>) => {
    // Entering the saved text again must not close the form.
    setIsOpen(true)
    draft.enter(entered)
  }
  const cancel = () => {
    draft.discard()
    setIsOpen(false)
  }
  return (
    <form onSubmit={draft.onSubmit}>
      <LetterFields value={draft.value} takesFocus={!isRestored} onEnter={enter} />
      <SaveButtons
        draft={draft}
        conflictNotice="Somebody else changed this draft. Your changes are not saved. Saving now replaces theirs."
        onCancel={cancel}
      />
    </form>
  )
}
