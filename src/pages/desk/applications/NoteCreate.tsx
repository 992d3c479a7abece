import type { RefObject } from 'react'

import { mostCharacters } from '../../../application/limits.ts'
import { newAct } from '../../../client/act.ts'
import type { Filter, Whole } from '../../../client/desk/applications.ts'
import { announce } from '../kit/announce.tsx'
import { TextField } from '../kit/Field.tsx'
import { Problem } from '../kit/Problem.tsx'
import { useDesk, useDeskAct } from '../kit/useDesk.tsx'
import { useTyped } from '../kit/useTyped.ts'

interface NoteCreateProps {
  application: string
  /** Of the list that it was opened from. */
  filter: Filter
  field: RefObject<HTMLTextAreaElement | null>
  history: Whole['history']
}

/** A note on an application. */
export function NoteCreate({ application, filter, field, history }: NoteCreateProps) {
  const desk = useDesk()
  // The act's id is kept with the note, so that a note that is sent again because no answer came stays one note.
  const [typed, type] = useTyped<{ act: string; note: string }>(typedInto(application))
  // It may have been added after its writer left and before the answer came.
  const isAdded = history.some(({ act }) => act === typed?.act)
  const draft = isAdded ? null : typed
  const { press, isPending, error } = useDeskAct('desk_note', (written) => {
    type(null)
    desk.keep(desk.application(application, filter), (whole) => ({ ...whole, history: written }))
    announce('Note added')
  })
  return (
    <form
      className="note-form"
      onSubmit={(event) => {
        event.preventDefault()
        if (draft !== null && draft.note.trim() !== '') press({ application, ...draft })
      }}
    >
      <TextField
        ref={field}
        id="note"
        label="Note"
        rows={3}
        maxLength={mostCharacters.note}
        value={draft?.note ?? ''}
        readOnly={isPending}
        aria-keyshortcuts="n"
        onText={(note) => type(note === '' ? null : { act: newAct(), note })}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey))
            event.currentTarget.form?.requestSubmit()
        }}
      />
      <Problem said="Not added:" error={error} />
      <button className="quiet" disabled={isPending}>
        Add note
      </button>
    </form>
  )
}

/** The name of what is typed into the note of an application. */
export function typedInto(application: string): string {
  return `note ${application}`
}
