import { useEffect, useRef, useState } from 'react'

import type { CallDesk, Letter } from '../../../client/desk.ts'
import { announce } from '../announcement.ts'
import { sentenceOf } from '../messages.ts'
import { isConflict, useLetterAct } from './letters.ts'
import { nameOfLetter } from './words.ts'

interface EditDraftProps {
  callDesk: CallDesk
  letter: Letter
  onClose: () => void
}

/** Changes a draft for one person. */
export function EditDraft({ callDesk, letter, onClose }: EditDraftProps) {
  const [{ subject, body }, setText] = useState({ subject: letter.subject, body: letter.body })
  // The text that was read when it was last said what is to be saved over.
  const [over, setOver] = useState(letter.seen)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  const save = useLetterAct(
    (_given: void, signal) =>
      callDesk('desk_edit', { letter: letter.id, seen: letter.seen, subject, body }, signal),
    () => {
      announce(`${nameOfLetter(letter)}: changed`)
      onClose()
    },
  )
  const isStale = !save.isPending && over !== letter.seen
  const ids = { subject: `subject-${letter.id}`, body: `body-${letter.id}` }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (save.isPending) return
        setOver(letter.seen)
        save.mutate(undefined)
      }}
    >
      <div className="field">
        <label htmlFor={ids.subject}>Subject</label>
        <input
          ref={field}
          id={ids.subject}
          type="text"
          required
          maxLength={200}
          value={subject}
          onChange={({ target }) => setText({ subject: target.value, body })}
        />
      </div>
      <div className="field">
        <label htmlFor={ids.body}>Text</label>
        <textarea
          id={ids.body}
          required
          maxLength={20_000}
          value={body}
          onChange={({ target }) => setText({ subject, body: target.value })}
        />
      </div>
      {isStale && (
        <p className="notice error" role="alert">
          This draft has changed meanwhile. What you entered is still here and not saved.
        </p>
      )}
      {save.error && !(isConflict(save.error) && isStale) && (
        <p role="alert">Not saved. {sentenceOf(save.error)}</p>
      )}
      <div className="row">
        <button>{isStale ? 'Save anyway' : 'Save'}</button>
        <button type="button" className="quiet" onClick={onClose}>
          Cancel
        </button>
      </div>
    </form>
  )
}
