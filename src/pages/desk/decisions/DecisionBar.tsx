import type { ReactNode } from 'react'

import { statuses, type Status } from '../../../application/statuses.ts'
import { announce } from '../kit/announce.tsx'
import { Button } from '../kit/Button.tsx'
import { focusHeading, focusHeadingOnRemoval } from '../kit/focus.ts'
import type { DecisionQueue } from '../data/decision-queue.ts'
import { progressIn, undoableDecisions, type Decision, type SeenApplication } from '../data/decision-state.ts'
import { formatNumber, outOf } from '../kit/format.ts'
import { singleKeys } from '../kit/switches.ts'
import { useDecisionQueue } from '../data/useDesk.tsx'
import type { Keys } from '../kit/useKeys.ts'
import { useSwitch } from '../kit/useSwitch.ts'
import { progressOf, undoneWord } from '../data/decision-sentences.ts'

/** The button for each status, and its key. */
export const decisionButtons = [
  { status: 'shortlisted', label: 'Shortlist', key: 's' },
  { status: 'accepted', label: 'Accept', key: 'a' },
  { status: 'waitlisted', label: 'Waitlist', key: 'w' },
  { status: 'declined', label: 'Decline', key: 'd' },
  { status: 'new', label: 'Back to new', key: 'r' },
  { status: 'aside', label: 'Put aside', key: 'p' },
] as const satisfies readonly { status: Status; label: string; key: string }[]

/** Callbacks after a decision. */
export interface DecisionListeners {
  /** Called after a decision. */
  onDecided?: (status: Status) => void
  /** Called after undoing a decision on a single application, with its id. */
  onUndone?: (id: string) => void
}

interface DecisionBarProps extends DecisionListeners {
  /** The applications to decide on. */
  applications: readonly SeenApplication[]
  /** The words for these applications: a name, or a number. */
  about: string
  /** Further buttons for these applications. */
  children?: ReactNode
}

/** The decision bar at the bottom of the window. */
export function DecisionBar({ applications, about, children, ...listeners }: DecisionBarProps) {
  const { queue, state } = useDecisionQueue()
  const undoable = undoableDecisions(state)
  const progress = progressIn(state)
  const keysAreOn = useSwitch(singleKeys)
  const isEmpty = applications.length === 0
  if (isEmpty && undoable.length === 0 && progress === null) return null
  const allHave = (status: Status) => applications.every((each) => queue.currentOf(each).status === status)
  return (
    <section className="decisions-bar" aria-label={isEmpty ? 'Last act' : `Decide: ${about}`}>
      <p className="decisions-about">{!isEmpty && <bdi>{about}</bdi>}</p>
      {!isEmpty &&
        decisionButtons.map(({ status, label, key }) => (
          <Button
            key={status}
            data-status={status}
            // "Back to new" only takes a decision back, so its button is disabled instead of pressed.
            aria-pressed={status === 'new' ? undefined : allHave(status)}
            aria-disabled={status === 'new' ? allHave(status) : undefined}
            aria-keyshortcuts={keysAreOn ? key : undefined}
            onPress={() => decide(queue, applications, status, listeners)}
          >
            {label}
          </Button>
        ))}
      {!isEmpty && children}
      {progress && <span>{outOf(progress.done, progress.count)}</span>}
      {progress && (
        <Button ref={focusHeadingOnRemoval} onPress={queue.stop}>
          Stop
        </Button>
      )}
      <span className="visually-hidden" aria-live="polite">
        {progress && progressOf(progress)}
      </span>
      <Button
        className="control-quiet decisions-undo"
        aria-keyshortcuts="z"
        aria-disabled={undoable.length === 0}
        onPress={() => {
          undo(queue, listeners)
          // The bar disappears, and the pressed button with it.
          if (isEmpty) focusHeading()
        }}
      >
        <UndoLabel decisions={undoable} />
      </Button>
    </section>
  )
}

/** The label of the Undo button. The comma is in the name's element, which is cut if it is long. */
function UndoLabel({ decisions: [first, ...others] }: { decisions: readonly Decision[] }) {
  if (first === undefined) return 'Undo'
  const word = undoneWord(first.wanted)
  if (others.length > 0) return `Undo: ${formatNumber(others.length + 1)} ${word}`
  return (
    <>
      Undo: <bdi>{first.application.name},</bdi> {word}
    </>
  )
}

/**
 * The keys that decide and undo, for `useKeys`.
 *
 * @param applications The applications to decide on.
 */
export function decisionKeys(
  queue: DecisionQueue,
  applications: readonly SeenApplication[],
  listeners: DecisionListeners,
): Keys {
  return {
    z: () => undo(queue, listeners),
    ...Object.fromEntries(
      decisionButtons.map(({ key, status }) => [key, () => decide(queue, applications, status, listeners)]),
    ),
  }
}

function undo(queue: DecisionQueue, { onUndone }: DecisionListeners) {
  const [first, ...others] = undoableDecisions(queue.state())
  if (!first) return announce('Nothing to undo.')
  queue.undo()
  if (others.length === 0) onUndone?.(first.application.id)
}

/** Whether “Go on after a decision” applies to a decision: not if it puts the application back into the list. */
export function goesOnAfter(status: Status, filter: { status?: Status | undefined }): boolean {
  return status !== (filter.status ?? 'new')
}

/**
 * Decides. If all applications already have the status, only announces that, and calls no listener, so that the selection stays.
 * A key that follows quickly would otherwise be lost in silence, such as while the next application loads.
 */
function decide(
  queue: DecisionQueue,
  applications: readonly SeenApplication[],
  status: Status,
  { onDecided }: DecisionListeners,
) {
  if (applications.every((each) => queue.currentOf(each).status === status)) {
    const [one, ...others] = applications
    const subject = others.length > 0 ? `${applications.length} applications` : one?.name
    return announce(
      subject === undefined
        ? 'Not decided: no application is selected.'
        : `${subject}: ${statuses[status]} already`,
    )
  }
  queue.decide(applications, status)
  onDecided?.(status)
}
