import { useQueryClient } from '@tanstack/react-query'
import type { RefObject } from 'react'

import { mostCharacters } from '../../../application/limits.ts'
import { newAct } from '../../../client/act.ts'
import type { CallDesk, Whole } from '../../../client/desk.ts'
import { useAct } from '../acts.ts'
import { announce } from '../announcement.ts'
import { sentenceOf } from '../messages.ts'
import { useTyped } from '../typed.ts'

interface NoteFormProps {
  id: string
  callDesk: CallDesk
  field: RefObject<HTMLTextAreaElement | null>
  history: Whole['history']
}

/** A note on an application. */
export function NoteForm({ id, callDesk, field, history }: NoteFormProps) {
  const queries = useQueryClient()
  // Its act is made with it: a note that is sent again because no answer came is the same note.
  const [typed, type] = useTyped<Draft>(typedInto(id))
  // It may have been added by somebody who left before they were told.
  const isAdded = history.some(({ act }) => act === typed?.act)
  const draft = isAdded ? null : typed
  const add = (added: Draft, signal: AbortSignal) =>
    callDesk('desk_note', { application: id, ...added }, signal)
  const { mutate, isPending, error } = useAct(add, {
    onSuccess: (written) => {
      type(null)
      queries.setQueriesData<Whole>(
        { queryKey: ['application', id] },
        (whole) => whole && { ...whole, history: written },
      )
      announce('Note added')
    },
  })
  return (
    <form
      className="note-form"
      onSubmit={(event) => {
        event.preventDefault()
        if (!isPending && draft !== null && draft.note.trim() !== '') mutate(draft)
      }}
    >
      <label htmlFor="note">Note</label>
      <textarea
        ref={field}
        id="note"
        rows={3}
        maxLength={mostCharacters.note}
        value={draft?.note ?? ''}
        readOnly={isPending}
        aria-keyshortcuts="n"
        onChange={({ target }) => type(target.value === '' ? null : { act: newAct(), note: target.value })}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey))
            event.currentTarget.form?.requestSubmit()
        }}
      />
      {error && <p role="alert">Not added: {sentenceOf(error)}</p>}
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

interface Draft {
  act: string
  note: string
}
