import { stepSize } from '../../../application/limits.ts'
import type { Status } from '../../../application/statuses.ts'
import type { DecisionOutcome } from '../../../client/desk/applications.ts'
import {
  hasWantedStatus,
  isPending,
  currentStatusIn,
  unconfirmedIn,
  undoableDecisions,
  type Decision,
  type DecisionAct,
  type KnownStatus,
  type QueueState,
  type Refusal,
  type SeenApplication,
} from './decision-state.ts'

/** An event of the decision queue. */
export type QueueEvent =
  | { type: 'read'; application: Omit<SeenApplication, 'name'> }
  /** Forgets the decisions on some applications; without ids, on all. */
  | { type: 'forget'; ids: readonly string[] | undefined }
  /** `at`: when, in milliseconds of `performance.now()`. Undo is offered from then on. */
  | { type: 'decide'; applications: readonly SeenApplication[]; wanted: Status; at: number }
  /** Ends the offer to undo. The last act can still be undone. */
  | { type: 'end offer' }
  | { type: 'undo' }
  /** The organiser repeats refused decisions, which is an act like `decide`. */
  | { type: 'repeat'; refusals: readonly Refusal[]; at: number }
  /** The organiser drops refusals. */
  | { type: 'dismiss'; refusals: readonly Refusal[] }
  /** Marks the first decisions of the current act as sent, up to the limit of one call. */
  | { type: 'send' }
  | { type: 'reply'; outcomes: ReadonlyMap<string, DecisionOutcome> }
  /** The call failed. The rest of its act is not sent. */
  | { type: 'fail'; message: string; isUncertain: boolean }
  /** Drops the unsent decisions of the current act. */
  | { type: 'stop' }

/** Returns the queue after an event; in most cases the same object if nothing changed. */
export function reduce(state: QueueState, event: QueueEvent): QueueState {
  switch (event.type) {
    case 'read':
      return withRead(state, event.application)
    case 'forget':
      return without(state, event.ids)
    case 'decide':
      return withAct(
        state,
        event.applications.map((application) => ({ application, wanted: event.wanted })),
        event.at,
      )
    case 'end offer':
      return { ...state, offeredAt: null }
    case 'undo':
      return withAct(state, undoableDecisions(state).map(undoOf), state.offeredAt)
    case 'repeat':
      return withAct(withoutRefusals(state, event.refusals), event.refusals.map(repeatOf), event.at)
    case 'dismiss':
      return withoutRefusals(state, event.refusals)
    case 'send':
      return withChanges(state, send)
    case 'reply':
      return withChanges(state, (queue) => applyReply(queue, event.outcomes))
    case 'fail':
      return withChanges(state, (queue) => fail(queue, event))
    case 'stop':
      return withChanges(state, stop)
  }
}

/** A decision to queue. `baseVersion`: the version to send, if it differs from the one shown. */
type NewDecision = Pick<Decision, 'application' | 'wanted'> & {
  baseVersion?: number | undefined
  isUndo?: boolean
  /** Whether the status shown may be out of date, so that the decision is sent even if it is the wanted one. */
  isUncertain?: boolean
}

function undoOf(decision: Decision): NewDecision {
  const { application } = decision
  // With the saved version, the database refuses the undo if somebody else has decided after this decision.
  const baseVersion = decision.state === 'saved' ? decision.version : undefined
  return { application, wanted: application.status, baseVersion, isUndo: true }
}

function repeatOf({ application, wanted, isUndo, reason }: Refusal): NewDecision {
  // An undo is repeated as an ordinary decision if the database refused it, because the organiser has seen the reason.
  return {
    application,
    wanted,
    baseVersion: application.version,
    isUndo: isUndo && reason.kind === 'failed',
    isUncertain: unconfirmedIn(reason) !== null,
  }
}

function withAct(
  state: QueueState,
  newDecisions: readonly NewDecision[],
  offeredAt: number | null,
): QueueState {
  const act = new Map<string, Decision>()
  const refusals = new Map(state.refusals)
  for (const { application, wanted, baseVersion, isUndo = false, isUncertain } of newDecisions) {
    const { status, version } = currentStatusIn(state, application)
    if (status === wanted && !isUncertain) {
      dropSettled(refusals, application.id)
      continue
    }
    refusals.delete(application.id)
    const current = { ...application, status, version }
    act.set(application.id, {
      application: current,
      wanted,
      baseVersion: baseVersion ?? version,
      isUndo,
      state: 'queued',
    })
  }
  if (act.size === 0) return refusals.size === state.refusals.size ? state : { ...state, refusals }
  return { ...state, acts: [...state.acts, act], refusals, offeredAt }
}

/** Drops the refusal of an application that has the status that the organiser wants now, if its status is known. */
function dropSettled(refusals: Map<string, Refusal>, id: string) {
  const refusal = refusals.get(id)
  if (refusal !== undefined && unconfirmedIn(refusal.reason) === null) refusals.delete(id)
}

function withoutRefusals(state: QueueState, refusals: readonly Refusal[]): QueueState {
  return {
    ...state,
    refusals: new Map([...state.refusals].filter(([, refusal]) => !refusals.includes(refusal))),
  }
}

function withRead(state: QueueState, { id, status, version }: Omit<SeenApplication, 'name'>): QueueState {
  const known = state.known.get(id)
  if (known && known.version >= version) return state
  const acts = state.acts.map((act) => withConfirmed(act, id, status, version))
  const isByOthers = acts.every((act, index) => act === state.acts[index])
  const refusals = new Map(state.refusals)
  const refusal = refusals.get(id)
  if (!isByOthers && refusal?.reason.kind === 'failed') {
    refusals.delete(id)
    // A later decision was not sent, such as Undo.
    if (refusal.wanted !== status)
      refusals.set(id, {
        ...refusal,
        application: { ...refusal.application, status, version },
        reason: { ...refusal.reason, sent: null },
      })
  } else if (refusal?.wanted === status) dropSettled(refusals, id)
  return { ...state, acts, refusals, known: new Map([...state.known, [id, { status, version, isByOthers }]]) }
}

/** An act after a read: its decision without a response was saved if its status is read with the next version. */
function withConfirmed(act: DecisionAct, id: string, status: Status, version: number): DecisionAct {
  const decision = act.get(id)
  const isSaved =
    decision?.state === 'refused' &&
    unconfirmedIn(decision.refusal.reason) === status &&
    decision.wanted === status &&
    decision.baseVersion + 1 === version
  return isSaved ? new Map([...act, [id, { ...decision, state: 'saved', version, stopped: 0 }]]) : act
}

/**
 * Forgets the decisions on these applications, or on all, so that Undo skips them and no screen names the applicants.
 * Pending decisions stay until the response.
 */
function without(state: QueueState, ids: readonly string[] | undefined): QueueState {
  const isForgotten = (id: string) => ids?.includes(id) ?? true
  const acts = state.acts.map(
    (act) => new Map([...act].filter(([id, decision]) => isPending(decision) || !isForgotten(id))),
  )
  return { ...state, acts, refusals: new Map([...state.refusals].filter(([id]) => !isForgotten(id))) }
}

/** The parts of the queue that an event changes while an act is being sent. */
interface MutableQueue {
  /** The current act, and the later acts. */
  act: Map<string, Decision>
  later: Map<string, Decision>[]
  known: Map<string, KnownStatus>
  refusals: Map<string, Refusal>
}

function withChanges(state: QueueState, change: (queue: MutableQueue) => void): QueueState {
  const [act, ...later] = state.acts.slice(state.finished).map((each) => new Map(each))
  if (act === undefined) return state
  const [known, refusals] = [new Map(state.known), new Map(state.refusals)]
  change({ act, later, known, refusals })
  const acts = [...state.acts.slice(0, state.finished), act, ...later]
  const firstPending = acts.findIndex((each) => [...each.values()].some(isPending))
  const finished = firstPending === -1 ? acts.length : firstPending
  return { ...state, acts, finished, known, refusals }
}

function send({ act }: MutableQueue) {
  for (const decision of [...act.values()].filter(isPending).slice(0, stepSize))
    act.set(decision.application.id, { ...decision, state: 'sent' })
}

function applyReply(queue: MutableQueue, outcomes: ReadonlyMap<string, DecisionOutcome>) {
  const { act, later, known } = queue
  for (const decision of [...act.values()].filter(({ state }) => state === 'sent')) {
    const { application } = decision
    const outcome = outcomes.get(application.id)
    if (outcome === undefined || outcome.outcome === 'gone') {
      refuse(queue, application, { kind: 'gone' })
      continue
    }
    const { outcome: kind, status, version, author, at, stopped } = outcome
    // A newer version may have been read meanwhile.
    if ((known.get(application.id)?.version ?? version) <= version)
      known.set(application.id, { status, version })
    if (kind === 'kept') {
      act.set(application.id, { ...decision, state: 'saved', version, stopped })
      rebase(later, application.id, (next) => ({ ...next, baseVersion: version }))
    } else {
      refuse(queue, { ...application, status, version }, kind === 'stale' ? { kind, author, at } : { kind })
    }
  }
}

function fail(queue: MutableQueue, { message, isUncertain }: Extract<QueueEvent, { type: 'fail' }>) {
  for (const { application, baseVersion, wanted, state } of [...queue.act.values()].filter(isPending)) {
    const sent = isUncertain && state === 'sent' ? wanted : null
    refuse(queue, { ...application, version: baseVersion }, { kind: 'failed', message, isUncertain, sent })
  }
}

/** Refuses all pending decisions on an application: the later decisions were made without knowing of the refusal. */
function refuse(
  { act, later, refusals }: MutableQueue,
  application: SeenApplication,
  reason: Refusal['reason'],
) {
  for (const each of [act, ...later]) {
    const decision = each.get(application.id)
    if (!decision || !isPending(decision)) continue
    const { wanted, isUndo } = decision
    const refusal = { application, wanted, isUndo, reason }
    each.set(application.id, { ...decision, state: 'refused', refusal })
    refusals.delete(application.id)
    if (!hasWantedStatus(refusal)) refusals.set(application.id, refusal)
  }
}

function stop({ act, later }: MutableQueue) {
  const decisions = [...act.values()]
  if (!decisions.some(({ state }) => state === 'sent')) return
  for (const decision of decisions.filter(({ state }) => state === 'queued')) {
    const { application, baseVersion } = decision
    act.set(application.id, { ...decision, state: 'stopped' })
    rebase(later, application.id, (next) => {
      const isNoChange = next.wanted === application.status
      return { ...next, application, baseVersion, state: isNoChange ? 'stopped' : 'queued' }
    })
  }
}

/** After a decision was saved or stopped, changes the later ones on its application, up to the first that stays queued. */
function rebase(later: MutableQueue['later'], id: string, change: (next: Decision) => Decision) {
  for (const act of later) {
    const next = act.get(id)
    if (next?.state !== 'queued') continue
    const changed = change(next)
    act.set(id, changed)
    if (changed.state === 'queued') return
  }
}
