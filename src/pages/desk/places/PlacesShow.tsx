import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'

import { answerStates, type AnswerState } from '../../../application/statuses.ts'
import type { Places } from '../../../client/desk/retreat.ts'
import { filtersFrom } from '../applications/filters.ts'
import { DecisionBar, DecisionProblems, StatusPill } from '../decisions/DecisionBar.tsx'
import { announce } from '../kit/announce.tsx'
import { Field } from '../kit/Field.tsx'
import { focusOn } from '../kit/focus.ts'
import { digits, momentOf, nameOf, shortMomentOf, shortOf } from '../kit/format.ts'
import { hrefOf } from '../kit/route.ts'
import { Problem } from '../kit/Problem.tsx'
import { Screen, Sheet } from '../kit/Screen.tsx'
import { useDesk, useDeskAct, useJudge } from '../kit/useDesk.tsx'
import { useKeys } from '../kit/useKeys.ts'
import { useTyped } from '../kit/useTyped.ts'
import { DraftButtons, useVersionedDraft, type Draft } from '../kit/useVersionedDraft.tsx'
import { reminder } from '../letters/letters.ts'
import {
  changeFrom,
  entriesOf,
  freeSentence,
  placesWordsOf,
  remindedSentences,
  type Entries,
} from './places.ts'

/** Who of the accepted people comes, how many places are left, and who is on the waitlist. */
export function PlacesShow() {
  const { judge } = useJudge()
  useKeys({ z: () => judge.undo() })
  return (
    <>
      <Screen title="Places" query={useQuery(useDesk().places())} head={<DecisionProblems />}>
        {(places) => (
          <div className="places columns">
            <Sheet title="Who is coming">
              <Numbers places={places} />
              <Remind isAnybodyAsked={places.no_answer > 0} />
            </Sheet>
            <Sheet title="How many">
              <PlacesEdit places={places} />
            </Sheet>
            <Sheet title="Waitlist">
              <Waitlist places={places} />
            </Sheet>
          </div>
        )}
      </Screen>
      <DecisionBar seen={[]} about="" />
    </>
  )
}

const waitlisted = filtersFrom('status=waitlisted')

function linkTo(answer: AnswerState) {
  return hrefOf({ screen: 'list', filters: { ...filtersFrom('status=accepted'), answer } })
}

/** How many there are of each answer. */
function Numbers({ places }: { places: Places }) {
  const { coming, not_coming, no_answer, late, not_told, free } = places
  const isFree = free !== null && free > 0
  return (
    <>
      <ul className="numbers">
        <Count answer="coming" count={coming} />
        <Count answer="not coming" count={not_coming} />
        <Count answer="no answer" count={no_answer} />
        <Count answer="late" count={late}>
          , of these
        </Count>
        <Count answer="not told" count={not_told} />
        {free !== null && (
          <li className={isFree ? 'free' : undefined}>
            <p>
              <b>{digits(Math.max(free, 0))}</b> Free of {digits(places.places ?? 0)}
            </p>
          </li>
        )}
      </ul>
      {(free === null || free < 0) && <p>{freeSentence(places)}</p>}
    </>
  )
}

function Count({ answer, count, children }: { answer: AnswerState; count: number; children?: ReactNode }) {
  return (
    <li>
      <a href={linkTo(answer)}>
        <b>{digits(count)}</b> {answerStates[answer]}
        {children}
      </a>
    </li>
  )
}

/** Drafts a letter to everybody who has not answered, and says how many were drafted. */
function Remind({ isAnybodyAsked }: { isAnybodyAsked: boolean }) {
  const { press, isPending, answer, error } = useDeskAct('desk_remind')
  return (
    <>
      <button
        className="quiet"
        aria-disabled={!isAnybodyAsked || isPending}
        aria-describedby="remind-hint"
        onClick={() => isAnybodyAsked && press({})}
      >
        Remind
      </button>
      <p className="hint" id="remind-hint">
        Drafts a reminder for everybody who has not answered. Nothing is sent by this: you read the drafts
        first.
      </p>
      <div aria-live="polite">
        {answer && (
          <p className="reminded">
            {remindedSentences(answer).join(' ')}{' '}
            {answer.drafted + answer.waiting > 0 && (
              <a href={hrefOf({ screen: 'drafts', occasion: reminder })}>Review drafts</a>
            )}
          </p>
        )}
      </div>
      <Problem said="Nobody was reminded." error={error} />
    </>
  )
}

/** How many places there are, and for how long each is kept. */
function PlacesEdit({ places }: { places: Places }) {
  const desk = useDesk()
  const draft = useVersionedDraft({
    kept: useTyped<Draft<Entries>>('places'),
    call: 'desk_set_places',
    stored: entriesOf(places),
    version: places.version,
    givenOf: (entered) => changeFrom(entered, places),
    onSaved(saved) {
      desk.keep(desk.places(), () => saved)
      announce(`Saved. ${freeSentence(saved)}`)
      return saved.version
    },
  })
  const { value, enter } = draft
  return (
    <form onSubmit={draft.onSubmit}>
      <Field
        label="Places"
        hint="Left blank: not known."
        type="number"
        inputMode="numeric"
        min={0}
        max={1_000_000}
        value={value.places}
        onText={(many) => enter({ places: many })}
      />
      <Field
        label="Days to answer"
        hint={`Counted from the day of their letter. A day ends at midnight in this time zone: ${places.zone.replaceAll('_', ' ')}.`}
        type="number"
        inputMode="numeric"
        required
        min={1}
        max={365}
        value={value.days}
        onText={(days) => enter({ days })}
      />
      <DraftButtons
        draft={draft}
        meanwhile={`Somebody else changed this meanwhile: ${placesWordsOf(places)}. What you entered is still here and not saved: you can save it over how it stands now.`}
      />
    </form>
  )
}

/** The waitlist, those who wait longest first. Nobody is accepted by itself. */
function Waitlist({ places: { free, waitlist } }: { places: Places }) {
  const { judge } = useJudge()
  // A decision made here counts at once, before the list was read again.
  const taken = waitlist.filter((each) => judge.shownOf(each).status === 'accepted').length
  const left = free === null ? Infinity : free - taken
  const all = <a href={hrefOf({ screen: 'list', filters: waitlisted })}>All who are waitlisted</a>
  if (waitlist.length === 0) return <p className="quietly">Nobody is waitlisted.</p>
  if (left <= 0 && taken === 0) return <p>No place is free. {all}</p>
  return (
    <>
      <ul className="plain">
        {waitlist.map((row) => (
          <Waiting key={row.id} row={row} left={left} />
        ))}
      </ul>
      <p>{all}</p>
    </>
  )
}

interface WaitingProps {
  row: Places['waitlist'][number]
  /** How many places are left. */
  left: number
}

function Waiting({ row, left }: WaitingProps) {
  const { judge } = useJudge()
  const { id, status, version, company, set_at: setAt } = row
  const name = nameOf(row)
  return (
    <li className="row">
      <p className="waiting">
        <a href={hrefOf({ screen: 'application', id, filters: waitlisted })}>
          <bdi>{name}</bdi>
        </a>
        , <bdi>{company === undefined ? 'hidden' : shortOf(company)}</bdi>
        <span className="quietly">
          Waitlisted{' '}
          <time dateTime={setAt} title={momentOf(setAt)}>
            {shortMomentOf(setAt)}
          </time>
        </span>
      </p>
      {judge.shownOf(row).status === 'waitlisted' ? (
        left > 0 && (
          <button
            className="quiet"
            aria-label={`Accept: ${name}`}
            onClick={({ currentTarget }) => {
              // The pressed button disappears, and soon its line; with the last place all buttons do.
              const next = currentTarget.closest('li')?.nextElementSibling?.querySelector('a')
              focusOn(left > 1 ? next : null)
              judge.decide([{ id, name, status, version }], 'accepted')
            }}
          >
            Accept
          </button>
        )
      ) : (
        <StatusPill seen={row} />
      )}
    </li>
  )
}
