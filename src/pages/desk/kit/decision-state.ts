import { stepSize } from '../../../application/limits.ts'
import type { Status } from '../../../application/statuses.ts'

/** An application as the organiser saw it. */
export interface Seen {
  id: string
  name: string
  status: Status
  /** Counts the decisions on it. */
  version: number
}

/** The status that is shown for an application. */
export interface Shown extends Pick<Seen, 'status' | 'version'> {
  /** Whether the database has not confirmed it yet. */
  isPending: boolean
  /** Whether somebody else set it, or the same organiser in another window. */
  isOthers?: boolean
}

/** What the database said of an application. */
export type Known = Omit<Shown, 'isPending'>

/** A decision that was not saved, and why. */
export interface Refusal {
  /** The application as it is now, as far as that is known. */
  seen: Seen
  wanted: Status
  takesBack: boolean
  reason:
    | { kind: 'stale'; author: string | null; at: string | null }
    | { kind: 'gone' }
    /** A letter about the decision that was to be undone has been sent. */
    | { kind: 'told' }
    /** `isUncertain`: it may have been saved all the same. */
    | { kind: 'failed'; message: string; isUncertain: boolean }
}

/** A decision on one application. It is queued, then sent, then saved or refused; while it is queued it can be stopped. */
export type Decision = {
  /** The application as it was shown. */
  seen: Seen
  wanted: Status
  /** The version that is sent with it: the database refuses it where that is not the newest one. */
  base: number
  /** Whether it undoes another one. */
  takesBack: boolean
} & (
  | { state: 'queued' | 'sent' | 'stopped' }
  | { state: 'saved'; version: number }
  | { state: 'refused'; refusal: Refusal }
)

/** What was decided at once, by the application's id. */
export type Act = ReadonlyMap<string, Decision>

/** The decision queue. */
export interface QueueState {
  /** All acts of the session, in their order. One is sent after the other. */
  acts: readonly Act[]
  /** How many of them, from the first one on, have nothing queued or sent any more. */
  settled: number
  /** What the database said of applications last, by their ids. */
  known: ReadonlyMap<string, Known>
  /** The refusals that the organiser has not dealt with, by the application's id, the newest last. */
  refusals: ReadonlyMap<string, Refusal>
}

export const emptyQueue: QueueState = { acts: [], settled: 0, known: new Map(), refusals: new Map() }

/** Whether something is queued or sent. */
export function isWaiting({ acts, settled }: QueueState): boolean {
  return settled < acts.length
}

/** What is being sent. */
export function sentIn(queue: QueueState): Decision[] {
  return firstIn(queue).filter(({ state }) => state === 'sent')
}

/** The status to show for an application, given what was read of it. */
export function shownIn(state: QueueState, { id, status, version }: Omit<Seen, 'name'>): Shown {
  const decisions = state.acts.slice(state.settled).map((act) => act.get(id))
  const pending = decisions.findLast((decision) => decision && isPending(decision))
  if (pending) return { status: pending.wanted, version: pending.seen.version, isPending: true }
  const known = state.known.get(id)
  return { ...(known && known.version >= version ? known : { status, version }), isPending: false }
}

/** The decisions that Undo undoes: those of the last act of which anything was saved, or may be, that are not undone yet. */
export function undoable(state: QueueState): Decision[] {
  const last = state.acts.findLastIndex((act) => [...act.values()].some(hasEffect))
  const later = state.acts.slice(last + 1)
  const isUndone = ({ seen }: Decision) =>
    later.some((act) => {
      const undoing = act.get(seen.id)
      return undoing?.takesBack === true && undoing.state !== 'stopped'
    })
  return [...(state.acts[last]?.values() ?? [])].filter(
    (decision) =>
      hasEffect(decision) &&
      !isUndone(decision) &&
      shownIn(state, decision.seen).status !== decision.seen.status,
  )
}

/** Whether there is something to undo of a decision, or may be. */
function hasEffect(decision: Decision) {
  return !decision.takesBack && (isPending(decision) || decision.state === 'saved')
}

/** How many decisions of an act that takes several calls are done; null where none is being sent. */
export function progressIn(queue: QueueState): Progress | null {
  const decisions = firstIn(queue).filter(({ state }) => state !== 'stopped')
  const count = decisions.length
  if (count <= stepSize || sentIn(queue).length === 0) return null
  return { done: decisions.filter((decision) => !isPending(decision)).length, count }
}

export interface Progress {
  done: number
  count: number
}

/** Whether nothing is lost with a decision that was not saved, because somebody else decided the same. */
export function isAsWanted({ seen, wanted, reason }: Refusal): boolean {
  return reason.kind !== 'gone' && seen.status === wanted
}

/** Whether nobody knows yet what becomes of a decision. */
export function isPending({ state }: Decision): boolean {
  return state === 'queued' || state === 'sent'
}

/** The act that is being sent. */
function firstIn({ acts, settled }: QueueState): Decision[] {
  return [...(acts[settled]?.values() ?? [])]
}
