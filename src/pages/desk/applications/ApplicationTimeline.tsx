import type { ReactNode, RefObject } from 'react'

import { maxCharacters } from '../../../application/limits.ts'
import type { Status } from '../../../application/statuses.ts'
import type { Delivery, OpenedApplication } from '../../../client/desk/applications.ts'
import { isComposing } from '../../composition.ts'
import { Button } from '../kit/Button.tsx'
import { Form, TextField } from '../kit/Field.tsx'
import { focusHeading } from '../kit/focus.ts'
import { momentOf } from '../kit/format.ts'
import { useMedia } from '../kit/useMedia.ts'
import { ActProblems } from '../kit/ActProblems.tsx'
import { useDeskAct } from '../data/useDeskAct.ts'
import { useUnsentText } from '../data/useUnsentText.ts'
import { eventsOf, wordsOfLetter } from '../letters/letters.ts'
import { LetterText } from '../letters/LetterText.tsx'
import { HistoryText } from './HistoryText.tsx'

/** An entry of the timeline. */
interface TimelineEvent {
  key: string
  at: string
  author: string | null
  text: ReactNode
}

/** The events of an application, oldest first. */
export function timelineOf({ application, delivery, history, letters }: OpenedApplication): TimelineEvent[] {
  const automatic = (key: string, at: string, text: string): TimelineEvent => ({
    key,
    at,
    author: null,
    text,
  })
  const deliveredText = 'Passed on to the connected system'
  return [
    // The history says who added somebody that did not apply.
    ...(application.added_by === null ? [automatic('received', application.created_at, 'Received')] : []),
    ...(delivery?.delivered_at ? [automatic('delivered', delivery.delivered_at, deliveredText)] : []),
    ...history.map((entry) => ({
      key: entry.act,
      at: entry.at,
      author: entry.author === 'applicant' ? 'the applicant' : entry.author,
      text: <HistoryText entry={entry} />,
    })),
    ...eventsOf(letters).map((event) => ({ ...event, text: <LetterEvent event={event} /> })),
  ].toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at))
}

interface ApplicationTimelineProps {
  details: OpenedApplication
  /** The keys of events since the last look. */
  newKeys: ReadonlySet<string>
  /** Returns what stands below the last decision, by its status. */
  renderUndo: (status: Status) => ReactNode
}

/** The timeline of an application, and the state of letters and webhooks that have not arrived. */
export function ApplicationTimeline({ details, newKeys, renderUndo }: ApplicationTimelineProps) {
  const { delivery, history, letters } = details
  const lastDecision = history.findLast((entry) => entry.kind === 'status')
  return (
    <>
      <ol className="application-timeline">
        {timelineOf(details).map(({ key, at, author, text }) => (
          <li key={key} className={newKeys.has(key) ? 'application-fresh' : undefined}>
            <p className="layout-quiet">
              <time dateTime={at}>{momentOf(at)}</time>
              {author !== null && `, ${author}`}
              {newKeys.has(key) && ', new since you last looked'}
            </p>
            {text}
            {lastDecision && key === lastDecision.act && renderUndo(lastDecision.detail.status)}
          </li>
        ))}
      </ol>
      {letters.map((letter) => {
        const words = wordsOfLetter(letter)
        return words === '' ? null : (
          <p key={letter.id} className="layout-quiet">
            {words}
          </p>
        )
      })}
      {delivery && !delivery.delivered_at && delivery.attempts > 0 && (
        <p className="layout-quiet">{webhookWords(delivery)}</p>
      )}
    </>
  )
}

/** An event of a letter. It unfolds the letter's text, unless the organiser reads blind. */
function LetterEvent({ event: { text, letter } }: { event: ReturnType<typeof eventsOf>[number] }) {
  const isPrinting = useMedia('print')
  if (letter === undefined || letter.name === null) return <p className="application-event">{text}</p>
  return (
    <details open={isPrinting}>
      <summary>{text}</summary>
      <LetterText text={letter} />
    </details>
  )
}

function webhookWords({ attempts, last_status, next_attempt_at }: Delivery) {
  const tries = `${attempts} ${attempts === 1 ? 'try' : 'tries'}`
  const last = last_status === null ? 'no response to the last' : `last response ${last_status}`
  if (next_attempt_at === null) return `Not sent to the connected system: given up after ${tries}, ${last}.`
  return `Not yet sent to the connected system: ${tries}, ${last}.`
}

interface NoteCreateProps {
  application: string
  field: RefObject<HTMLTextAreaElement | null>
}

/** The form that adds a note to an application. */
export function NoteCreate({ application, field }: NoteCreateProps) {
  const [typed, setUnsent] = useUnsentText<{ note: string }>(noteTextName(application))
  const note = typed?.note ?? ''
  const add = useDeskAct('desk_note', {
    success: () => 'Note added',
    text: noteTextName(application),
    onSuccess() {
      // After a note was added by keyboard, the focus moves to the heading.
      if (document.activeElement === field.current) focusHeading()
    },
  })
  return (
    <Form
      className="application-note-form"
      onSend={() => note.trim() !== '' && add.press({ application, note })}
    >
      <TextField
        ref={field}
        id="note"
        label="Note"
        rows={1}
        maxLength={maxCharacters.note}
        value={note}
        readOnly={add.isPending}
        aria-keyshortcuts="n"
        onText={(text) => setUnsent(text === '' ? null : { note: text })}
        onKeyDown={(event) => {
          if (isComposing(event.nativeEvent)) return
          if (event.key === 'Escape') return focusHeading()
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey))
            event.currentTarget.form?.requestSubmit()
        }}
      />
      <ActProblems acts={[add]} />
      <Button className="control-quiet" isPending={add.isPending}>
        Add note
      </Button>
    </Form>
  )
}

/** The key of an application's note in `useUnsentText`. */
function noteTextName(application: string): string {
  return `note ${application}`
}
