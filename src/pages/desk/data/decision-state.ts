import { stepSize } from '../../../application/limits.ts'
import type { Status } from '../../../application/statuses.ts'

/** An application as the organiser saw it. */
export interface SeenApplication {
  id: string
  name: string
  status: Status
  /** Number of decisions on it so far. */
  version: number
  /** Whether its applicant withdrew it, as it was read. */
  isWithdrawn?: boolean
}

/** The status to show for an application. */
export interface CurrentStatus extends Pick<SeenApplication, 'status' | 'version'> {
  /** Whether the decision is still queued or sent. */
  isPending: boolean
  /** Whether somebody else set it, or this organiser in another window. */
  isByOthers?: boolean
}

/** The last status and version that the database reported for an application. */
export type KnownStatus = Omit<CurrentStatus, 'isPending'>

/** A decision that was not saved, and the reason. */
export interface Refusal {
  /** The application as it is now, as far as known. */
  application: SeenApplication
  wanted: Status
  isUndo: boolean
  reason:
    | { kind: 'stale'; author: string | null; at: string | null }
    | { kind: 'gone' }
    /** The decision to undo was already announced in a letter. */
    | { kind: 'told' }
    /** The applicant withdrew the application. */
    | { kind: 'withdrawn' }
    /**
     * `isUncertain`: no response came. `sent` is then the decision on this application that was sent, which may have been saved;
     * null if none was sent.
     */
    | { kind: 'failed'; message: string; isUncertain: boolean; sent: Status | null }
}

/** A decision on one application. It is queued, then sent, then saved or refused. A queued one can be stopped. */
export type Decision = {
  /** The application as it was shown when the organiser decided. */
  application: SeenApplication
  wanted: Status
  /** The version sent with it. The database refuses the decision if a newer version exists. */
  baseVersion: number
  /** Whether it undoes an earlier decision. */
  isUndo: boolean
} & (
  | { state: 'queued' | 'sent' | 'stopped' }
  /** `stopped`: the number of letters on their way that it stopped. */
  | { state: 'saved'; version: number; stopped: number }
  | { state: 'refused'; refusal: Refusal }
)

/** The decisions of one act, by application id. An act of more than `stepSize` decisions takes several calls. */
export type DecisionAct = ReadonlyMap<string, Decision>

/** The decision queue. */
export interface QueueState {
  /** All acts of the session, in order. They are sent one after another. */
  acts: readonly DecisionAct[]
  /** Number of acts at the beginning of `acts` that have no queued or sent decisions. */
  finished: number
  /** The last known state of applications, by id. */
  known: ReadonlyMap<string, KnownStatus>
  /** Refusals that the organiser has not handled yet, by application id, the newest last. */
  refusals: ReadonlyMap<string, Refusal>
  /** When the offer to undo the last act began, in milliseconds of `performance.now()`; null if it is over. */
  offeredAt: number | null
}

/** The queue before the first decision. */
export const emptyQueue: QueueState = {
  acts: [],
  finished: 0,
  known: new Map(),
  refusals: new Map(),
  offeredAt: null,
}

/** Whether any decision is queued or sent. */
export function isWaiting({ acts, finished }: QueueState): boolean {
  return finished < acts.length
}

/** The decisions in the current call: being sent, and without a response yet. */
export function decisionsInCall(queue: QueueState): Decision[] {
  return currentDecisions(queue).filter(({ state }) => state === 'sent')
}

/** The status to show for an application: that of a pending decision, or else the newer of the known and the given one. */
export function currentStatusIn(
  state: QueueState,
  { id, status, version }: Omit<SeenApplication, 'name'>,
): CurrentStatus {
  const decisions = state.acts.slice(state.finished).map((act) => act.get(id))
  const pending = decisions.findLast((decision) => decision && isPending(decision))
  if (pending) return { status: pending.wanted, version: pending.application.version, isPending: true }
  const known = state.known.get(id)
  return { ...(known && known.version >= version ? known : { status, version }), isPending: false }
}

/** The decisions that Undo would undo: those of the last act with any effect, except those already undone. */
export function undoableDecisions(state: QueueState): Decision[] {
  const last = state.acts.findLastIndex((act) => [...act.values()].some(hasEffect))
  const later = state.acts.slice(last + 1)
  const isUndone = ({ application }: Decision) =>
    later.some((act) => {
      const undo = act.get(application.id)
      return undo?.isUndo === true && undo.state !== 'stopped'
    })
  return [...(state.acts[last]?.values() ?? [])].filter(
    (decision) =>
      hasEffect(decision) &&
      !isUndone(decision) &&
      currentStatusIn(state, decision.application).status !== decision.application.status,
  )
}

/** Whether a decision was saved or may still be saved. Decisions that undo others do not count. */
function hasEffect(decision: Decision) {
  return !decision.isUndo && (isPending(decision) || decision.state === 'saved')
}

/** The progress of the current act; null if nothing is being sent, or all its decisions fit into one call. */
export function progressIn(queue: QueueState): Progress | null {
  const decisions = currentDecisions(queue).filter(({ state }) => state !== 'stopped')
  const count = decisions.length
  if (count <= stepSize || decisionsInCall(queue).length === 0) return null
  return { done: decisions.filter((decision) => !isPending(decision)).length, count }
}

/** The progress of an act: the number of decisions done, and of all. */
export interface Progress {
  done: number
  count: number
}

/** Whether the application already has the wanted status, so that the refusal needs no attention. */
export function hasWantedStatus({ application, wanted, reason }: Refusal): boolean {
  return reason.kind !== 'gone' && application.status === wanted && unconfirmedIn(reason) === null
}

/** The status that the application may have got without a response; null if its status is known. */
export function unconfirmedIn(reason: Refusal['reason']): Status | null {
  return reason.kind === 'failed' ? reason.sent : null
}

/** Whether a decision is queued or sent. */
export function isPending({ state }: Decision): boolean {
  return state === 'queued' || state === 'sent'
}

/** The decisions of the current act. */
function currentDecisions({ acts, finished }: QueueState): Decision[] {
  return [...(acts[finished]?.values() ?? [])]
}
