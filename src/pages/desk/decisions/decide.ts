import { statuses, type Status } from '../../../application/statuses.ts'
import type { DecisionQueue } from '../data/decision-queue.ts'
import { undoableDecisions, type SeenApplication } from '../data/decision-state.ts'
import { announce } from '../kit/announce.tsx'
import type { Keys } from '../kit/useKeys.ts'

/** The button for each status, and its key. */
export const decisionButtons = [
  { status: 'shortlisted', label: 'Shortlist', key: 's' },
  { status: 'accepted', label: 'Accept', key: 'a' },
  { status: 'waitlisted', label: 'Waitlist', key: 'w' },
  { status: 'declined', label: 'Decline', key: 'd' },
  { status: 'new', label: 'Reset to New', key: 'r' },
  { status: 'aside', label: 'Put aside', key: 'p' },
] as const satisfies readonly { status: Status; label: string; key: string }[]

/** The reason why withdrawn applications have fewer buttons. */
export const withdrawnWords = 'The applicant withdrew, so there is nothing to decide.'

/** Whether these applications may get a status. Those whose applicants withdrew can only be put aside or become new again. */
export function isPossible(applications: readonly SeenApplication[], status: Status): boolean {
  const isAboutPlace = status !== 'new' && status !== 'aside'
  return !isAboutPlace || applications.length === 0 || applications.some((each) => !each.isWithdrawn)
}

/** Callbacks after a decision. */
export interface DecisionListeners {
  /** Called after a decision. */
  onDecided?: (status: Status) => void
  /** Called after undoing a decision on a single application, with its id. */
  onUndone?: (id: string) => void
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

/** Undoes the last decision, if there is one. */
export function undo(queue: DecisionQueue, { onUndone }: DecisionListeners) {
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
export function decide(
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
  if (!isPossible(applications, status)) return announce(withdrawnWords)
  queue.decide(applications, status)
  onDecided?.(status)
}
