import { useDeferredValue, useRef, useState } from 'react'
import { flushSync } from 'react-dom'

import { statuses, type Status } from '../../../application/statuses.ts'
import type { ApplicationDetails } from '../../../client/desk/applications.ts'
import { RsvpEdit, RsvpSentence } from '../places/RsvpEdit.tsx'
import { StatusPill } from '../decisions/StatusPill.tsx'
import { UndoEarlier } from '../decisions/UndoEarlier.tsx'
import { decisionKeys, goesOnAfter } from '../decisions/decide.ts'
import { DecisionBar } from '../decisions/DecisionBar.tsx'
import { LetterCreate } from '../letters/LetterCreate.tsx'
import { nameOfEdition } from '../editions/editions.ts'
import { usePlaces } from '../data/usePlaces.ts'
import { Back } from '../data/links.tsx'
import { filterOf, type Filters } from '../data/filters.ts'
import { nameOf } from '../data/names.ts'
import { momentOf, shortOf } from '../kit/format.ts'
import type { SeenApplication } from '../data/decision-state.ts'
import { go, hrefOf, type Route } from '../data/route.ts'
import { SwitchField } from '../kit/SwitchField.tsx'
import { autoAdvance, decidesFirst } from '../data/switches.ts'
import { useSwitch } from '../kit/switches.ts'
import { ActProblems } from '../kit/ActProblems.tsx'
import { Problem } from '../kit/Problem.tsx'
import { Heading } from '../kit/Heading.tsx'
import { Loading } from '../kit/lazy-screen.tsx'
import { Sheet } from '../kit/Screen.tsx'
import { useTitle } from '../kit/site-title.tsx'
import { useDecisionQueue, useDesk } from '../data/useDesk.tsx'
import { useDeskAct } from '../data/useDeskAct.ts'
import { useKeys } from '../kit/useKeys.ts'
import { useMedia } from '../kit/useMedia.ts'
import { LetterWrite } from '../letters/LetterWrite.tsx'
import { SentList } from '../letters/SentList.tsx'
import { letterAbout, toldWords } from '../letters/told.ts'
import { UndoSend } from '../letters/UndoSend.tsx'
import { GuestAnswers } from '../questions/GuestAnswers.tsx'
import { HoldEdit } from '../retention/HoldEdit.tsx'
import { ClockNotice } from '../session/ClockNotice.tsx'
import { ListEnd } from './ListEnd.tsx'
import { MarkButtons, MarkEdit } from './MarkEdit.tsx'
import { FormAnswers } from './ApplicationAnswers.tsx'
import { ApplicationErase } from './ApplicationErase.tsx'
import { ApplicationTimeline, NoteCreate } from './ApplicationTimeline.tsx'
import { useApplicationUpdates } from './useApplicationUpdates.ts'
import { useMark } from './useMark.ts'
import { useNeighbours } from './useNeighbours.ts'
import { usePrefetch } from './usePrefetch.ts'

/** The windows in which Next is in the bar, near the thumb. Keep the width equal to decisions.css. */
const phones = '(max-width: 44rem)'

interface ApplicationShowProps {
  id: string
  /** The filters of the list that it was opened from. */
  filters: Filters
  /** Whether the list is beside it. The list then handles the keys that move between applications. */
  isBeside: boolean
  /** Whether keys and buttons decide on it, instead of on ticked rows. */
  takesDecisions: boolean
  /** Whether its heading takes the focus when it opens. */
  takesFocus: boolean
}

/** One application: its form answers, its history, and the decision bar. */
export function ApplicationShow(props: ApplicationShowProps) {
  const { id, filters, isBeside, takesDecisions, takesFocus } = props
  const { isReader } = useDesk()
  const { queue } = useDecisionQueue()
  const filter = filterOf(filters)
  const note = useRef<HTMLTextAreaElement>(null)
  const isAutoAdvancing = useSwitch(autoAdvance)
  const isDeciding = useSwitch(decidesFirst)
  /** Whether the last application of the list was decided or marked. */
  const [isAtEnd, setIsAtEnd] = useState(false)
  const { data, error, refetch, isErased, newKeys, changedBy } = useApplicationUpdates(id, filter)
  const { previous, next, nextInList, position, read } = useNeighbours(filter, id, data?.place)
  usePrefetch(data && next, filters)
  usePrefetch(data && previous, filters)
  // Revealed form answers are stored only in the state of this screen.
  const reveal = useDeskAct('desk_reveal')
  const { response: revealed } = reveal

  // The form answers are painted before the rest.
  const isRestShown = useDeferredValue(true, false)

  const details =
    data && revealed
      ? { ...data, application: { ...revealed.application, ...data.application }, others: revealed.others }
      : data
  const name = details ? nameOf(details.application) : 'Application'
  useTitle(name)
  const isWithdrawn = details !== undefined && details.application.withdrawn_at !== null
  const toDecide: SeenApplication[] = details ? [{ ...details.application, name, isWithdrawn }] : []
  const isBlind = data?.application.email === undefined
  const isPhone = useMedia(phones)
  const marks = data?.marks
  const statusNow = details ? queue.currentOf(details.application).status : 'new'
  const isAccepted = statusNow === 'accepted'
  const told = details && toldWords(statusNow, letterAbout(statusNow, details.letters))
  // Where people mark, a mark comes before the decision.
  const isMarking =
    data?.is_marking && marks?.own === null && (statusNow === 'new' || statusNow === 'shortlisted')
  const hasBar = takesDecisions && !isReader
  const isInBar = isMarking === true && hasBar && !isDeciding
  const markDraft = useMark(id, name, marks?.own ?? null, () => advanceTo(nextInList()))
  // Nothing leaves the list of all, so at its end there is nowhere to go on to.
  const isLastOfAll = filter.status === undefined && position !== '' && next === undefined
  const list: Route = { screen: 'list', filters }
  const listeners = { onDecided, onUndone: returnTo }
  const routeTo = (otherId: string | undefined): Route | undefined =>
    otherId === undefined ? undefined : { screen: 'application', id: otherId, filters }
  const [toPrevious, toNext] = [routeTo(previous), routeTo(next)]
  useKeys({
    n: () => note.current?.focus(),
    ...(!isBeside && {
      // `j` and `k` replace the address, so that Back returns to the list in one step.
      j: () => toNext && go(toNext, { replace: true }),
      k: () => toPrevious && go(toPrevious, { replace: true }),
      '/': () => {
        flushSync(() => go(list))
        document.getElementById('search')?.focus()
      },
      Escape: () => go(list),
    }),
    ...(hasBar && decisionKeys(queue, toDecide, listeners)),
    ...(takesDecisions && marks && markDraft.keys),
  })

  return (
    <div>
      <ClockNotice />
      <Back label="In the list" to={list}>
        <span className="layout-quiet">{position}</span>
        {!isLastOfAll && <SwitchField label="Go on" isOn={isAutoAdvancing} onSwitch={autoAdvance.turn} />}
        <NeighbourLink route={toPrevious} label="Previous" />
        {!(isPhone && hasBar) && <NeighbourLink route={toNext} label="Next" />}
      </Back>
      {!details && (error ? <Heading {...{ takesFocus }}>Application</Heading> : <Loading />)}
      {details && (
        <header className="layout-row application-head">
          <Heading {...{ takesFocus }}>
            <bdi>{name}</bdi>
          </Heading>
          <StatusPill application={details.application} isWithdrawn={isWithdrawn} />
          {told && <span>{told}</span>}
          {isAccepted && <RsvpSentence rsvp={details.application} />}
          {details.application.applied_before && <span className="layout-quiet">Applied before</span>}
          {changedBy && (
            <span className="application-changed">Changed by {changedBy} since you opened it</span>
          )}
        </header>
      )}
      {isAtEnd && <ListEnd {...{ list, read }} />}
      {details && !isReader && <UndoSend letters={details.letters} />}
      {details ? (
        <Problem error={error} isStale />
      ) : (
        <Problem error={error} onTryAgain={isErased ? undefined : () => void refetch()} />
      )}
      {details && (
        <div className="application-columns layout-columns">
          <section className="layout-sheet" aria-label="Answers">
            <FormAnswers
              application={details.application}
              search={filters.search}
              isRevealing={reveal.isPending}
              onReveal={isReader ? undefined : () => reveal.press({ application: id })}
            />
            <ActProblems acts={[reveal]} />
          </section>
          {isRestShown && (
            <>
              <div>
                {marks && <MarkEdit draft={markDraft} {...{ marks, isInBar }} />}
                <Sheet title="What happened">
                  <NoteCreate application={id} field={note} />
                  <ApplicationTimeline
                    {...{ details, newKeys }}
                    renderUndo={(status) => <UndoEarlier application={id} {...{ status }} {...listeners} />}
                  />
                </Sheet>
                {!isReader && (
                  <Sheet title="Letters" className="application-letters">
                    <LetterWrite application={id} status={statusNow} letters={details.letters} />
                    <LetterCreate
                      application={id}
                      letters={details.letters}
                      mayAnswer={details.application.answer_state !== null}
                      isBlind={isBlind}
                      failedAt={details.failed_at}
                    />
                    <SentList letters={details.letters} />
                  </Sheet>
                )}
                {isAccepted && !isReader && <RsvpEdit application={details.application} name={name} />}
                <GuestAnswers {...{ details, name, isAccepted, isBlind }} />
              </div>
              <OtherApplications {...{ filters, details }} />
              <HoldEdit {...{ details, name }} />
              {!isBlind && !isReader && (
                <p className="application-person">
                  <a className="control-link" href={hrefOf({ screen: 'person', id, filters })}>
                    Everything about this person
                  </a>
                </p>
              )}
              {!isReader && <ApplicationErase details={details} onErased={() => go(list)} />}
            </>
          )}
        </div>
      )}
      {hasBar && (
        <DecisionBar
          applications={toDecide}
          about={name}
          acceptances={data?.acceptances}
          marking={isMarking && <MarkButtons draft={markDraft} />}
          {...listeners}
        >
          {isPhone && <NeighbourLink route={toNext} label="Next" />}
        </DecisionBar>
      )}
    </div>
  )

  function onDecided(status: Status) {
    if (goesOnAfter(status, filter)) advanceTo(nextInList())
  }

  function returnTo(otherId: string) {
    const route = routeTo(otherId)
    if (isAutoAdvancing && route) go(route, { replace: true })
    setIsAtEnd(false)
  }

  function advanceTo(otherId: string | undefined) {
    if (!isAutoAdvancing) return
    const route = routeTo(otherId)
    if (route) go(route, { replace: true })
    else setIsAtEnd(true)
  }
}

function NeighbourLink({ route, label }: { route: Route | undefined; label: string }) {
  return route ? (
    <a href={hrefOf(route)} className="control-link">
      {label}
    </a>
  ) : (
    <span className="control-link" aria-disabled="true">
      {label}
    </span>
  )
}

interface OtherApplicationsProps {
  filters: Filters
  details: Pick<ApplicationDetails, 'edition' | 'others'>
}

/** The other applications of the same email, to any retreat. */
function OtherApplications({ filters, details: { edition, others } }: OtherApplicationsProps) {
  const isOfAnotherRetreat = (other: { edition: number }) => other.edition !== edition
  const { isReader } = useDesk()
  const { data: places } = usePlaces(undefined, !isReader && others.some(isOfAnotherRetreat))
  if (others.length === 0) return null
  return (
    <Sheet title="Other applications with this email">
      <ul>
        {others.map((other) => {
          const { id, created_at, company, status } = other
          const retreat = places?.editions.find((each) => each.id === other.edition)
          const inItsRetreat = isOfAnotherRetreat(other) ? { edition: other.edition } : {}
          return (
            <li key={id}>
              <a
                href={hrefOf({
                  screen: 'application',
                  id,
                  filters: { ...filters, status: 'all', ...inItsRetreat },
                })}
              >
                <bdi>{shortOf(company)}</bdi>, {momentOf(created_at)}
              </a>{' '}
              {statuses[status]}
              {retreat && (
                <>
                  {', '}
                  <bdi>{nameOfEdition(retreat)}</bdi>
                </>
              )}
            </li>
          )
        })}
      </ul>
    </Sheet>
  )
}
