import { rsvpStates, type RsvpState } from '../../../application/statuses.ts'
import type { Places, ReminderOutcome } from '../../../client/desk/retreat.ts'
import { DecisionBar } from '../decisions/DecisionBar.tsx'
import { StatusPill } from '../decisions/StatusPill.tsx'
import { usePlaces } from '../data/usePlaces.ts'
import { ApplicationLink } from '../data/links.tsx'
import { Button } from '../kit/Button.tsx'
import { filtersFrom } from '../data/filters.ts'
import { focusOn } from '../kit/focus.ts'
import { nameOf } from '../data/names.ts'
import { countOf, formatNumber, momentOf, shortMomentOf, shortOf } from '../kit/format.ts'
import { hrefOf } from '../data/route.ts'
import { ActProblems } from '../kit/ActProblems.tsx'
import { Screen, Sheet } from '../kit/Screen.tsx'
import { useDecisionQueue } from '../data/useDesk.tsx'
import { useDeskAct } from '../data/useDeskAct.ts'
import { useKeys } from '../kit/useKeys.ts'
import { questionReminder, reminder } from '../letters/letters.ts'
import { freeSentence, remindedSentences } from './places.ts'

/**
 * The screen with the RSVPs of accepted people, the reminders and the waitlist.
 *
 * @param edition The number of a retreat; undefined means the newest.
 */
export function ComingShow({ edition }: { edition: number | undefined }) {
  const { queue } = useDecisionQueue()
  const query = usePlaces(edition)
  useKeys({ z: () => queue.undo() })
  return (
    <>
      <Screen title="Who is coming" query={query}>
        {(places) => (
          <div className="places-screen layout-columns">
            <Sheet title="Coming?">
              <Numbers {...{ places, edition }} />
            </Sheet>
            <Sheet title="Reminders">
              <Remind key={edition} places={places} />
            </Sheet>
            <Sheet title="Waitlist">
              <Waitlist {...{ places, edition }} />
            </Sheet>
          </div>
        )}
      </Screen>
      <DecisionBar applications={[]} about="" />
    </>
  )
}

/** The number of a retreat; undefined means the newest. */
interface EditionProps {
  edition: number | undefined
}

const waitlistedIn = ({ edition }: EditionProps) => ({ ...filtersFrom('status=waitlisted'), edition })

/** The number of people with each RSVP, and of free seats. */
function Numbers({ places, edition }: EditionProps & { places: Places }) {
  const hrefOfRsvp = (answer: RsvpState) =>
    hrefOf({ screen: 'list', filters: { ...filtersFrom('status=accepted'), answer, edition } })
  const { coming, not_coming, no_answer, late, not_told, free } = places
  const counts: [RsvpState, number][] = [
    ['coming', coming],
    ['not coming', not_coming],
    ['no answer', no_answer],
    ['not told', not_told],
  ]
  return (
    <>
      <ul className="places-numbers">
        {free !== null && (
          <li className={free > 0 ? 'places-seats places-free' : 'places-seats'}>
            <b>{formatNumber(Math.max(free, 0))}</b> of {formatNumber(places.places ?? 0)} free
          </li>
        )}
        {counts.map(([answer, count]) => (
          <li key={answer}>
            <a className="places-link" href={hrefOfRsvp(answer)}>
              <b>{formatNumber(count)}</b> {rsvpStates[answer]}
            </a>
            {answer === 'no answer' && late > 0 && (
              <>
                {' '}
                <a className="places-link" href={hrefOfRsvp('late')}>
                  {formatNumber(late)} of them late
                </a>
              </>
            )}
          </li>
        ))}
      </ul>
      {free === null && <p>{freeSentence(places)}</p>}
      {free !== null && free < 0 && <p className="layout-notice error">{freeSentence(places)}</p>}
    </>
  )
}

/** A button with its result below. It drafts reminders to people who have not answered the invitation or a required question. */
function Remind({ places: { edition, questions, to_remind: count } }: { places: Places }) {
  // The people who are coming and have a required question open.
  const incompleteCount = questions.open
  const remind = useDeskAct('desk_remind', {
    success: (outcome) => remindedSentences(outcome).join(' '),
    isSuccessOnScreen: true,
  })
  const { response } = remind
  return (
    <>
      <Button
        isOff={count === 0}
        isPending={remind.isPending}
        aria-describedby="remind-hint"
        onPress={() => remind.press({ edition })}
      >
        {count === 0 ? 'Draft reminders' : `Draft ${countOf(count, 'reminder')}`}
      </Button>
      <p className="control-hint" id="remind-hint">
        Drafts a reminder for everybody who has not answered after half of their days
        {incompleteCount > 0 && ', and for people who are coming and have a required question open'}. Nobody
        gets a second one within three days. Nothing is sent yet: you read the drafts first.
      </p>
      {response && (
        <p className="places-reminded">
          {remindedSentences(response).join(' ')}{' '}
          <DraftLinks outcome={response} incompleteCount={incompleteCount} />
        </p>
      )}
      <ActProblems acts={[remind]} />
    </>
  )
}

/** The links to the drafts of reminders: of those about the RSVP, and of those about questions. */
function DraftLinks({ outcome, incompleteCount }: { outcome: ReminderOutcome; incompleteCount: number }) {
  const { drafted, questions: questionReminderCount, waiting } = outcome
  return (
    <>
      {drafted - questionReminderCount + waiting > 0 && (
        <a href={hrefOf({ screen: 'drafts', occasion: reminder })}>Review drafts</a>
      )}{' '}
      {(questionReminderCount > 0 || (waiting > 0 && incompleteCount > 0)) && (
        <a href={hrefOf({ screen: 'drafts', occasion: questionReminder })}>Review drafts about questions</a>
      )}
    </>
  )
}

/** The waitlist, longest waiting first. Nobody is accepted automatically. */
function Waitlist({ places, edition }: EditionProps & { places: Places }) {
  const { free, waitlisted: waitingCount, waitlist } = places
  const { queue } = useDecisionQueue()
  // Decisions made here count immediately, before the list is read again.
  const acceptedHere = waitlist.filter((each) => queue.currentOf(each).status === 'accepted').length
  const seatsLeft = free === null ? Infinity : free - acceptedHere
  const all = (
    <a href={hrefOf({ screen: 'list', filters: waitlistedIn({ edition }) })}>Show the whole waitlist</a>
  )
  const total = (
    <p className="places-total layout-quiet">
      {formatNumber(waitingCount)} {waitingCount === 1 ? 'waits' : 'wait'} for a place.
    </p>
  )
  if (waitlist.length === 0)
    return (
      <p className="layout-quiet">
        Nobody is waitlisted.{' '}
        <a href={hrefOf({ screen: 'list', filters: { ...filtersFrom('status=shortlisted'), edition } })}>
          Read those shortlisted
        </a>
      </p>
    )
  if (seatsLeft <= 0 && acceptedHere === 0)
    return (
      <>
        {total}
        <p>No place is free. {all}</p>
      </>
    )
  return (
    <>
      {total}
      <ul className="layout-lines">
        {waitlist.map((row) => (
          <Waiting key={row.id} {...{ row, seatsLeft, edition }} />
        ))}
      </ul>
      <p>{all}</p>
    </>
  )
}

interface WaitingProps extends EditionProps {
  row: Places['waitlist'][number]
  seatsLeft: number
}

/** A line of the waitlist, with a button to accept while seats are free. */
function Waiting({ row, seatsLeft, edition }: WaitingProps) {
  const { queue } = useDecisionQueue()
  const { id, status, version, company, set_at: setAt } = row
  const name = nameOf(row)
  return (
    <li className="layout-row">
      <p className="places-waiting">
        <ApplicationLink id={id} filters={waitlistedIn({ edition })}>
          {name}
        </ApplicationLink>
        , <bdi>{company === undefined ? 'hidden' : shortOf(company)}</bdi>
        <span className="layout-quiet">
          Waitlisted{' '}
          <time dateTime={setAt} title={momentOf(setAt)}>
            {shortMomentOf(setAt)}
          </time>
        </span>
      </p>
      {queue.currentOf(row).status === 'waitlisted' ? (
        seatsLeft > 0 && (
          <Button
            about={name}
            onPress={({ currentTarget }) => {
              // The pressed button disappears, and later its line. After the last seat, all buttons disappear.
              const next = currentTarget.closest('li')?.nextElementSibling?.querySelector('a')
              focusOn(seatsLeft > 1 ? next : null)
              queue.decide([{ id, name, status, version }], 'accepted')
            }}
          >
            Accept
          </Button>
        )
      ) : (
        <StatusPill application={row} />
      )}
    </li>
  )
}
