import { rsvpStates, type Rsvp } from '../../../application/statuses.ts'
import type { RsvpDetails, FullApplication } from '../../../client/desk/applications.ts'
import { Button } from '../kit/Button.tsx'
import { Field } from '../kit/Field.tsx'
import { dayOf, momentOf } from '../kit/format.ts'
import { ActProblems } from '../kit/ActProblems.tsx'
import { Sheet } from '../kit/Screen.tsx'
import { useDeskAct } from '../data/useDeskAct.ts'
import { useUnsentText } from '../data/useUnsentText.ts'
import { SaveButtons, useVersionedDraft, type Unsaved } from '../data/useVersionedDraft.tsx'
import { LinkReminderToOne } from '../letters/LinkReminder.tsx'

/** The RSVP of an accepted applicant, in words; nothing until it was read, or until they were told. */
export function RsvpSentence({ rsvp }: { rsvp: RsvpDetails }) {
  const { answer_state: state, answer, answered_at: at, kept_until: until } = rsvp
  if (state === null || (state === 'not told' && until === null)) return null
  return (
    <span>
      {state !== 'not told' && rsvpStates[state]}
      {answer !== null && at !== null && `, answered ${momentOf(at)}`}
      {answer === null &&
        until !== null &&
        `${state === 'not told' ? 'Deadline' : ', deadline'} ${dayOf(until)}`}
    </span>
  )
}

const rsvps: readonly (Rsvp | null)[] = ['coming', 'not coming', null]

function wordsOf(rsvp: Rsvp | null) {
  return rsvp === null ? 'Not answered' : rsvpStates[rsvp]
}

/** Sets an RSVP that was not given by the link, and moves the deadline. */
export function RsvpEdit({ application, name }: { application: FullApplication; name: string }) {
  const { id, answer, answer_state: state } = application
  const save = useDeskAct('desk_set_answer', {
    success: (_whole, args) => `${name}: ${wordsOf(args.answer)}`,
  })
  // The RSVP is unknown until the application is read again after it was accepted.
  if (state === null) return null
  return (
    <Sheet title="Are they coming?" className="decisions-answer-edit">
      <fieldset>
        <legend className="visually-hidden">Answer</legend>
        <div className="layout-row">
          {rsvps.map((value) => (
            <Button
              key={value}
              isPending={save.isPending}
              aria-pressed={value === answer}
              onPress={() => value !== answer && save.press({ application: id, answer: value })}
            >
              {wordsOf(value)}
            </Button>
          ))}
        </div>
      </fieldset>
      <ActProblems acts={[save]} />
      <LinkReminderToOne application={id} name={name} />
      <DeadlineEdit application={application} name={name} />
    </Sheet>
  )
}

function DeadlineEdit({
  application: { id, kept_until: until },
  name,
}: {
  application: FullApplication
  name: string
}) {
  const draft = useVersionedDraft({
    input: useUnsentText<Unsaved<{ day: string }>>(`deadline ${id}`),
    call: 'desk_keep_until',
    stored: { day: until ?? '' },
    version: until,
    argsOf: ({ day }) => ({ application: id, until: day }),
    versionOf: ({ application: { kept_until: saved } }) => saved,
    success: ({ application: { kept_until: saved } }) =>
      saved === null ? '' : `${name}: deadline ${dayOf(saved)}`,
  })
  return (
    <form className="layout-field-row" onSubmit={draft.onSubmit}>
      <Field
        label="Deadline"
        type="date"
        required
        max="9999-12-31"
        value={draft.value.day}
        onText={(day) => draft.enter({ day })}
      />
      <SaveButtons
        draft={draft}
        save="Save deadline"
        className="control-quiet"
        conflictNotice={
          until !== null &&
          `The deadline is ${dayOf(until)} now. Your change is not saved. Saving now replaces it.`
        }
      />
    </form>
  )
}
