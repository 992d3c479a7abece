import { useState, type ReactNode } from 'react'

import { statuses, type Status } from '../../../application/statuses.ts'
import type { Acceptances } from '../../../client/desk/applications.ts'
import { Button } from '../kit/Button.tsx'
import { progressIn, undoableDecisions, type Decision, type SeenApplication } from '../data/decision-state.ts'
import { formatNumber, outOf } from '../kit/format.ts'
import { decidesFirst } from '../data/switches.ts'
import { singleKeys, useSwitch } from '../kit/switches.ts'
import { useDecisionQueue } from '../data/useDesk.tsx'
import { placesWords, progressOf } from './sentences.ts'
import {
  decide,
  decisionButtons,
  isPossible,
  undo,
  withdrawnWords,
  type DecisionListeners,
} from './decide.ts'

interface DecisionBarProps extends DecisionListeners {
  /** The applications to decide on. */
  applications: readonly SeenApplication[]
  /** The words for these applications: a name, or a number. */
  about: string
  /** How many are accepted to the retreat of these applications. */
  acceptances?: Acceptances | undefined
  /** The buttons that mark the application, if that comes before a decision. */
  marking?: ReactNode
  /** Further buttons for these applications. */
  children?: ReactNode
}

/** The bar at the bottom of the window: what one does now, and for ten seconds the offer to undo what one did. */
export function DecisionBar(props: DecisionBarProps) {
  const { applications, about, acceptances, marking, children, ...listeners } = props
  const { queue, state } = useDecisionQueue()
  const { offeredAt } = state
  const undoable = undoableDecisions(state)
  const isUndoOffered = undoable.length > 0 && offeredAt !== null
  const progress = progressIn(state)
  const isEmpty = applications.length === 0
  const isDeciding = useSwitch(decidesFirst)
  if (isEmpty && !isUndoOffered && progress === null) return null
  return (
    <section
      className={`decisions-bar ${isEmpty ? 'decisions-toast' : isUndoOffered ? '' : 'decisions-free'}`}
      aria-label={isEmpty ? 'Last act' : `${marking && !isDeciding ? 'Mark' : 'Decide'}: ${about}`}
    >
      {!isEmpty && (
        <>
          <p className="decisions-about">
            <bdi>{about}</bdi>
          </p>
          {acceptances && <PlacesLeft {...acceptances} />}
          {marking && !isDeciding ? marking : <DecisionButtons {...{ applications, listeners }} />}
          {marking && (
            <Button className="control-quiet decisions-mode" onPress={() => decidesFirst.turn(!isDeciding)}>
              {isDeciding ? 'Mark' : 'Decide'}
            </Button>
          )}
          {children}
        </>
      )}
      {progress && <span>{outOf(progress.done, progress.count)}</span>}
      {progress && <Button onPress={queue.stop}>Stop</Button>}
      <span className="visually-hidden" aria-live="polite">
        {progress && progressOf(progress)}
      </span>
      {isUndoOffered && <UndoOffer key={offeredAt} {...{ offeredAt, undoable, listeners }} />}
    </section>
  )
}

interface UndoOfferProps {
  offeredAt: number
  undoable: readonly Decision[]
  listeners: DecisionListeners
}

/** The button that undoes the last act. It leaves after ten seconds, which decisions.css counts. */
function UndoOffer({ offeredAt, undoable, listeners }: UndoOfferProps) {
  const { queue } = useDecisionQueue()
  // The offer ends at the same time on every screen.
  const [delay] = useState(() => offeredAt - performance.now())
  return (
    <Button
      className="control-quiet decisions-undo"
      aria-keyshortcuts="z"
      style={{ animationDelay: `${delay}ms` }}
      onAnimationEnd={() => queue.endOffer()}
      onPress={() => undo(queue, listeners)}
    >
      <UndoLabel decisions={undoable} />
    </Button>
  )
}

interface DecisionButtonsProps {
  applications: readonly SeenApplication[]
  listeners: DecisionListeners
}

function DecisionButtons({ applications, listeners }: DecisionButtonsProps) {
  const { queue } = useDecisionQueue()
  const keysAreOn = useSwitch(singleKeys)
  const allHave = (status: Status) => applications.every((each) => queue.currentOf(each).status === status)
  const possible = decisionButtons.filter(({ status }) => isPossible(applications, status))
  const buttons = possible.map(({ status, label, key }) => (
    <Button
      key={status}
      data-status={status}
      // "Reset to New" only takes a decision back, so its button is disabled instead of pressed.
      aria-pressed={status === 'new' ? undefined : allHave(status)}
      aria-disabled={status === 'new' ? allHave(status) : undefined}
      aria-keyshortcuts={keysAreOn ? key : undefined}
      onPress={() => decide(queue, applications, status, listeners)}
    >
      {label}
    </Button>
  ))
  if (possible.length === decisionButtons.length) return buttons
  return (
    <>
      {buttons}
      <span className="decisions-withdrawn">{withdrawnWords}</span>
    </>
  )
}

function PlacesLeft(acceptances: Acceptances) {
  const words = placesWords(acceptances)
  return (
    words && (
      <span className={words.isFew ? 'decisions-places decisions-few' : 'decisions-places'}>
        {words.count}
        {/* On a phone, only screen readers get this word. */}
        <span className="decisions-word"> accepted</span>
        {words.rest}
      </span>
    )
  )
}

/** The label of the Undo button. The comma is in the name's element, which is cut if it is long. */
function UndoLabel({ decisions: [first, ...others] }: { decisions: readonly Decision[] }) {
  if (first === undefined) return 'Undo'
  const word = statuses[first.wanted]
  if (others.length > 0) return `Undo: ${formatNumber(others.length + 1)} ${word}`
  return (
    <>
      Undo: <bdi>{first.application.name},</bdi> {word}
    </>
  )
}
