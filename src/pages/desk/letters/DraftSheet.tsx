import { useEffect, useRef, useState } from 'react'
import { Link } from 'wouter'

import type { CallDesk, Letter } from '../../../client/desk.ts'
import { announce } from '../announcement.ts'
import { Given } from '../Given.tsx'
import { sentenceOf } from '../messages.ts'
import { ByHand } from './ByHand.tsx'
import { EditDraft } from './EditDraft.tsx'
import type { Edit } from './edits.ts'
import { useLetterAct } from './letters.ts'
import { focusNext } from './focus-next.ts'
import { LetterText } from './LetterText.tsx'
import { nameOfLetter } from './words.ts'

interface DraftSheetProps {
  callDesk: CallDesk
  letter: Letter
  /** Whether organisers send it from their own mail program. */
  isByHand: boolean
  /** What is being made of it and not saved; null where nothing is. */
  edit: Edit | null
  onEdit: (edit: Edit | null) => void
}

/** One draft as it would be sent. */
export function DraftSheet({ callDesk, letter, isByHand, edit: entered, onEdit }: DraftSheetProps) {
  // What stands there already, such as by a save whose answer was lost, is nothing that is entered.
  const isSame = entered?.subject === letter.subject && entered.body === letter.body
  const edit = isSame ? null : entered
  const [isOpen, setIsOpen] = useState(false)
  const isEditing = isOpen || edit !== null
  const editButton = useRef<HTMLButtonElement>(null)
  const name = nameOfLetter(letter)
  const remove = useLetterAct(
    (_given: void, signal) => callDesk('desk_discard', { letters: [letter.id] }, signal),
    ({ discarded }) => {
      focusNext(letter.id)
      announce(`${name}: ${discarded > 0 ? 'draft removed' : 'it is no draft any more'}`)
    },
  )
  const restore = useLetterAct(
    (_given: void, signal) =>
      callDesk('desk_edit', { letter: letter.id, seen: letter.seen, subject: '', body: '' }, signal),
    () => {
      announce(`${name}: as the template has it`)
      // The button that was pressed goes.
      editButton.current?.focus()
    },
  )
  // The focus goes back to where it was before the form came.
  const wasEditing = useRef(false)
  useEffect(() => {
    if (wasEditing.current && !isEditing) editButton.current?.focus()
    wasEditing.current = isEditing
  }, [isEditing])
  const problem = remove.error ?? restore.error
  return (
    <article className="sheet draft" aria-labelledby={`draft-${letter.id}`}>
      <h2 id={`draft-${letter.id}`}>
        <Link href={`/applications/${letter.application}`}>
          <bdi>{name}</bdi>
        </Link>
      </h2>
      <p className="quietly">
        {letter.to === null ? (
          'The address is hidden: you read blind.'
        ) : (
          <>
            To <Given text={letter.to} />
          </>
        )}
        {letter.is_edited && '. Changed for them alone.'}
        {letter.edition > 1 && ' They were sent this before.'}
      </p>
      {isEditing ? (
        <EditDraft
          callDesk={callDesk}
          letter={letter}
          edit={edit}
          onEdit={onEdit}
          onClose={() => {
            onEdit(null)
            setIsOpen(false)
          }}
        />
      ) : (
        <>
          <LetterText text={letter} />
          {problem && <p role="alert">{sentenceOf(problem)}</p>}
          <div className="row">
            {isByHand && <ByHand callDesk={callDesk} letter={letter} />}
            {/* What was written to somebody names them. */}
            {letter.name !== null && (
              <button
                aria-label={`Edit: ${name}`}
                ref={editButton}
                className="quiet"
                onClick={() => setIsOpen(true)}
              >
                Edit
              </button>
            )}
            {letter.is_edited && letter.name !== null && (
              <button
                aria-label={`Back to the template: ${name}`}
                className="quiet"
                onClick={() => !restore.isPending && restore.mutate(undefined)}
              >
                Back to the template
              </button>
            )}
            <button
              aria-label={`Remove: ${name}`}
              className="quiet"
              onClick={() => !remove.isPending && remove.mutate(undefined)}
            >
              Remove
            </button>
          </div>
        </>
      )}
    </article>
  )
}
