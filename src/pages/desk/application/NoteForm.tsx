import { useQueryClient } from '@tanstack/react-query'
import { useState, type RefObject } from 'react'

import type { CallDesk, Whole } from '../../../client/desk.ts'
import { useAct } from '../acts.ts'
import { announce } from '../announcement.ts'
import { sentenceOf } from '../messages.ts'

interface NoteFormProps {
  id: string
  callDesk: CallDesk
  field: RefObject<HTMLTextAreaElement | null>
}

/** A note on an application. What is not added yet survives a reload, in this tab alone. */
export function NoteForm({ id, callDesk, field }: NoteFormProps) {
  const storageKey = draftKeyOf(id)
  const queries = useQueryClient()
  // The act is made with the first sign: a note that is sent again because no answer came is the same note.
  const [draft, setDraft] = useState(() => readDraft(storageKey))
  const change = (note: string) => {
    const changed = { act: note === draft.note ? draft.act : crypto.randomUUID(), note }
    setDraft(changed)
    if (note === '') sessionStorage.removeItem(storageKey)
    else sessionStorage.setItem(storageKey, JSON.stringify(changed))
  }
  const add = (added: Draft, signal: AbortSignal) =>
    callDesk('desk_note', { application: id, ...added }, signal)
  const { mutate, isPending, error } = useAct(add, {
    onSuccess: (history) => {
      change('')
      queries.setQueryData<Whole>(['application', id], (whole) => whole && { ...whole, history })
      announce('Note added')
    },
  })
  return (
    <form
      className="note-form"
      onSubmit={(event) => {
        event.preventDefault()
        if (!isPending && draft.note.trim() !== '') mutate(draft)
      }}
    >
      <label htmlFor="note">Note</label>
      <textarea
        ref={field}
        id="note"
        rows={3}
        maxLength={10_000}
        value={draft.note}
        readOnly={isPending}
        aria-keyshortcuts="n"
        onChange={({ target }) => change(target.value)}
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

/** What is not added yet of an application that was erased goes too. */
export function forgetDraft(id: string): void {
  sessionStorage.removeItem(draftKeyOf(id))
}

function draftKeyOf(id: string) {
  return `unplugged-note-${id}`
}

interface Draft {
  act: string
  note: string
}

function readDraft(storageKey: string): Draft {
  const kept = sessionStorage.getItem(storageKey)
  return kept === null ? { act: crypto.randomUUID(), note: '' } : (JSON.parse(kept) as Draft)
}
