import { useEffect, useRef, useState } from 'react'

import { mostCharacters } from '../../../application/limits.ts'
import type { CallDesk, Letter } from '../../../client/desk.ts'
import { announce } from '../announcement.ts'
import { sentenceOf } from '../messages.ts'
import type { Edit } from './edits.ts'
import { isConflict, useLetterAct } from './letters.ts'
import { nameOfLetter } from './words.ts'

interface EditDraftProps {
  callDesk: CallDesk
  letter: Letter
  /** What is entered; null where nothing is. */
  edit: Edit | null
  onEdit: (edit: Edit) => void
  onClose: () => void
}

/** Changes a draft for one person. Until something is entered, the fields follow how it stands. */
export function EditDraft({ callDesk, letter, edit, onEdit, onClose }: EditDraftProps) {
  const { application, name, seen } = letter
  const { subject, body, over } = edit ?? { ...letter, over: seen }
  const enter = (change: Partial<Edit>) => onEdit({ application, name, subject, body, over, ...change })
  const field = useRef<HTMLInputElement>(null)
  // What comes back with the screen does not take the focus.
  const [isRestored] = useState(edit !== null)
  useEffect(() => {
    if (!isRestored) field.current?.focus()
  }, [isRestored])
  const save = useLetterAct(
    (_given: void, signal) => callDesk('desk_edit', { letter: letter.id, seen, subject, body }, signal),
    () => {
      announce(`${nameOfLetter(letter)}: changed`)
      onClose()
    },
  )
  const isStale = !save.isPending && over !== seen
  const ids = { subject: `subject-${letter.id}`, body: `body-${letter.id}` }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (save.isPending) return
        // How it stands now has been seen.
        enter({ over: seen })
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
          maxLength={mostCharacters.subject}
          value={subject}
          onChange={({ target }) => enter({ subject: target.value })}
        />
      </div>
      <div className="field">
        <label htmlFor={ids.body}>Text</label>
        <textarea
          id={ids.body}
          required
          maxLength={mostCharacters.body}
          value={body}
          onChange={({ target }) => enter({ body: target.value })}
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
