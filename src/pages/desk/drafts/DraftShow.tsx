import { useEffect, useEffectEvent, useRef, useState, type ReactNode } from 'react'

import { mostCharacters } from '../../../application/limits.ts'
import type { Letter } from '../../../client/desk/letters.ts'
import { announce } from '../kit/announce.tsx'
import { Field, TextField } from '../kit/Field.tsx'
import { focusOn } from '../kit/focus.ts'
import { zone } from '../kit/format.ts'
import { LongText } from '../kit/LongText.tsx'
import { applicationOf } from '../kit/route.ts'
import { Problem } from '../kit/Problem.tsx'
import { useDeskAct } from '../kit/useDesk.tsx'
import { useTyped, type Change } from '../kit/useTyped.ts'
import { DraftButtons, useVersionedDraft, type Draft } from '../kit/useVersionedDraft.tsx'
import { isAgain, isFilledLater, isSendable, nameOfLetter, siteOfDesk } from '../letters/letters.ts'
import { LetterText } from '../letters/LetterText.tsx'
import { mailProgramLink } from '../applications/contact-links.ts'

interface DraftShowProps {
  letter: Letter
  /** Whether organisers send it from their own mail program. */
  isByHand: boolean
  /** The change that is entered and not saved. */
  kept: KeptChange
  /** Whether it is shown at the application that it is for. */
  isAtApplication?: boolean
  /** What else can be done with it, while it is not edited. */
  children?: ReactNode
}

/** One draft as it would be sent. */
export function DraftShow(props: DraftShowProps) {
  const { letter, isByHand, kept, isAtApplication = false, children } = props
  const { id, seen } = letter
  // What was written to one person has no template.
  const isOffTemplate = letter.is_edited && letter.occasion !== ''
  const [change, keep] = kept
  const [isOpen, setIsOpen] = useState(false)
  // What stands there already, such as by a save whose answer was lost, is nothing that is entered.
  const isChanged =
    change !== null && (change.value.subject !== letter.subject || change.value.body !== letter.body)
  const isEditing = isOpen || isChanged
  const editButton = useRef<HTMLButtonElement>(null)
  const article = useRef<HTMLElement>(null)
  const name = nameOfLetter(letter)
  // This draft is about to disappear, so the focus moves to the next one.
  const goOn = () => focusOn(article.current?.nextElementSibling?.querySelector('h2 a'))
  const remove = useDeskAct('desk_discard', ({ discarded }) => {
    goOn()
    announce(`${name}: ${discarded > 0 ? 'draft removed' : 'it is no draft any more'}`)
  })
  const restore = useDeskAct('desk_edit', () => {
    announce(`${name}: as the template has it`)
    // The pressed button disappears.
    editButton.current?.focus()
  })
  const note = useDeskAct('desk_sent_by_hand', () => {
    goOn()
    announce(`${name}: sent by hand`)
  })
  const mailto = isByHand && isSendable(letter) ? mailProgramLink(letter) : undefined
  const handOver = useDeskAct('desk_hand_over')
  const { answer: handed } = handOver
  const openHanded = useEffectEvent((text: Pick<Letter, 'subject' | 'body'>) => {
    const link = document.createElement('a')
    link.href = mailProgramLink({ ...letter, ...text }) ?? ''
    link.click()
  })
  // Only when the act is over, since until then the page asks whether to leave it.
  useEffect(() => {
    if (handed) openHanded(handed)
  }, [handed])
  // The focus goes back to where it was before the form came.
  const wasEditing = useRef(false)
  useEffect(() => {
    if (wasEditing.current && !isEditing) editButton.current?.focus()
    wasEditing.current = isEditing
  }, [isEditing])
  return (
    <article
      ref={article}
      className={isAtApplication ? 'draft' : 'draft sheet'}
      aria-labelledby={`draft-${id}`}
    >
      {isAtApplication ? (
        <h3 id={`draft-${id}`} tabIndex={-1}>
          Draft of a letter
        </h3>
      ) : (
        <h2 id={`draft-${id}`}>
          <a href={applicationOf(letter.application)}>
            <bdi>{name}</bdi>
          </a>
        </h2>
      )}
      <p className="quietly">
        {letter.to === null ? (
          'The address is hidden: you read blind.'
        ) : (
          <>
            To <LongText text={letter.to} />
          </>
        )}
        {isOffTemplate && '. Changed for this person alone.'}
        {isAgain(letter) && ' They were sent this before.'}
      </p>
      {isEditing ? (
        <DraftEdit
          letter={letter}
          kept={kept}
          // Whoever enters what stood there before writes on.
          onEnter={() => setIsOpen(true)}
          onSaved={() => setIsOpen(false)}
          onCancel={() => {
            keep(null)
            setIsOpen(false)
          }}
        />
      ) : (
        <>
          <LetterText text={letter} />
          <Problem error={remove.error ?? restore.error ?? note.error ?? handOver.error} />
          <div className="row">
            {children}
            {mailto !== undefined && (
              <>
                {isFilledLater(letter) ? (
                  <button
                    aria-label={`Open in mail program: ${name}`}
                    onClick={() => handOver.press({ letter: id, seen, site: siteOfDesk(), zone: zone() })}
                  >
                    Open in mail program
                  </button>
                ) : (
                  <a aria-label={`Open in mail program: ${name}`} className="button" href={mailto}>
                    Open in mail program
                  </a>
                )}
                <button
                  aria-label={`I sent it: ${name}`}
                  className="quiet"
                  onClick={() => note.press({ letter: id, seen })}
                >
                  I sent it
                </button>
              </>
            )}
            {/* A letter that was written to one person may contain their name. */}
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
            {isOffTemplate && letter.name !== null && (
              <button
                aria-label={`Back to the template: ${name}`}
                className="quiet"
                onClick={() => restore.press({ letter: id, seen, subject: '', body: '' })}
              >
                Back to the template
              </button>
            )}
            <button
              aria-label={`Remove: ${name}`}
              className="quiet"
              onClick={() => remove.press({ letters: [id] })}
            >
              Remove
            </button>
          </div>
        </>
      )}
    </article>
  )
}

/** The unsaved change of a draft, and whom the draft is for. */
export interface DraftChange
  extends Draft<Pick<Letter, 'subject' | 'body'>>, Partial<Pick<Letter, 'application' | 'name'>> {}

/** The change, and a function that keeps another one, or none for null. */
export type KeptChange = readonly [DraftChange | null, (change: Change<DraftChange>) => void]

/** The unsaved changes of an occasion's drafts, by the drafts' ids. They are kept also for drafts that left the list. */
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
  onEnter: () => void
  /** What was entered while it was being saved is kept then. */
  onSaved: () => void
  onCancel: () => void
}

/** Changes a draft for one person. */
function DraftEdit({ letter, kept: [change, keep], onEnter, onSaved, onCancel }: DraftEditProps) {
  const { application, name, seen, subject, body } = letter
  // A form that is open when the screen is opened does not take the focus.
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
    stored: { subject, body },
    version: seen,
    givenOf: (text) => ({ letter: letter.id, seen, ...text }),
    onSaved(saved) {
      announce(`${nameOfLetter(letter)}: changed`)
      onSaved()
      return saved.seen
    },
  })
  const enter = (entered: Partial<DraftChange['value']>) => {
    onEnter()
    draft.enter(entered)
  }
  return (
    <form onSubmit={draft.onSubmit}>
      <Field
        label="Subject"
        required
        isFirst={!isRestored}
        maxLength={mostCharacters.subject}
        value={draft.value.subject}
        onText={(text) => enter({ subject: text })}
      />
      <TextField
        label="Text"
        required
        maxLength={mostCharacters.body}
        value={draft.value.body}
        onText={(text) => enter({ body: text })}
      />
      <DraftButtons
        draft={draft}
        meanwhile="This draft has changed meanwhile. What you entered is still here and not saved."
        onCancel={onCancel}
      />
    </form>
  )
}
