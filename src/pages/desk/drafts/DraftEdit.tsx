import { useState } from 'react'

import { mostCharacters } from '../../../application/limits.ts'
import type { Letter } from '../../../client/desk.ts'
import { announce } from '../kit/announce.tsx'
import { Field, TextField } from '../kit/Field.tsx'
import { useTyped, type Change } from '../kit/useTyped.ts'
import { DraftButtons, useVersionedDraft, type Draft } from '../kit/useVersionedDraft.tsx'
import { nameOfLetter } from '../letters/letters.ts'

/** What somebody makes of a draft, and has not saved; and whom it is for. */
export interface DraftChange
  extends Draft<Pick<Letter, 'subject' | 'body'>>, Partial<Pick<Letter, 'application' | 'name'>> {}

/** It, and what keeps something else, null for nothing. */
export type KeptChange = readonly [DraftChange | null, (change: Change<DraftChange>) => void]

/** What is made of the drafts of an occasion, by their ids; kept also of those that left the list. */
export function useDraftChanges(occasion: string) {
  const [changes, type] = useTyped<Record<string, DraftChange>>(`drafts ${occasion}`)
  const keep = (id: string, change: Change<DraftChange>) =>
    type((latest) => {
      const { [id]: former = null, ...others } = latest ?? {}
      const changed = typeof change === 'function' ? change(former) : change
      const all = changed === null ? others : { ...others, [id]: changed }
      return Object.keys(all).length === 0 ? null : all
    })
  const keptOf = (id: string): KeptChange => [changes?.[id] ?? null, (change) => keep(id, change)]
  return { changes: changes ?? {}, keptOf }
}

interface DraftEditProps {
  letter: Letter
  kept: KeptChange
  onClose: () => void
}

/** Changes a draft for one person. */
export function DraftEdit({ letter, kept: [change, keep], onClose }: DraftEditProps) {
  const { application, name, seen, subject, body } = letter
  // What comes back with the screen does not take the focus.
  const [isRestored] = useState(change !== null)
  const draft = useVersionedDraft({
    kept: [
      change,
      (next: Change<Draft<DraftChange['value']>>) =>
        keep((latest) => {
          const changed = typeof next === 'function' ? next(latest) : next
          return changed && { ...changed, application, name }
        }),
    ],
    call: 'desk_edit',
    standing: { subject, body },
    version: seen,
    givenOf: (text) => ({ letter: letter.id, seen, ...text }),
    onSaved(saved) {
      announce(`${nameOfLetter(letter)}: changed`)
      onClose()
      return saved.seen
    },
  })
  return (
    <form onSubmit={draft.onSubmit}>
      <Field
        label="Subject"
        required
        isFirst={!isRestored}
        maxLength={mostCharacters.subject}
        value={draft.value.subject}
        onText={(text) => draft.enter({ subject: text })}
      />
      <TextField
        label="Text"
        required
        maxLength={mostCharacters.body}
        value={draft.value.body}
        onText={(text) => draft.enter({ body: text })}
      />
      <DraftButtons
        draft={draft}
        meanwhile="This draft has changed meanwhile. What you entered is still here and not saved."
        onCancel={onClose}
      />
    </form>
  )
}
