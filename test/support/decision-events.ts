import type { Status } from '../../src/application/statuses.ts'
import type { DecisionOutcome } from '../../src/client/desk/applications.ts'
import { reduce, type QueueEvent } from '../../src/pages/desk/data/decision-reducer.ts'
import {
  decisionsInCall,
  emptyQueue,
  undoableDecisions,
  type QueueState,
  type SeenApplication,
} from '../../src/pages/desk/data/decision-state.ts'

/** An application, as an organiser saw it. */
export const application = (id: string, status: Status = 'new', version = 0): SeenApplication => ({
  id,
  name: `Person ${id}`,
  status,
  version,
})

/** The event of an act on these applications. */
export const decide = (wanted: Status, ...applications: SeenApplication[]): QueueEvent => ({
  type: 'decide',
  applications,
  wanted,
  at: 0,
})

/** The event of a read. */
export const read = (id: string, status: Status, version: number): QueueEvent => ({
  type: 'read',
  application: { id, status, version },
})

/** The event that undoes the last act. */
export const undo: QueueEvent = { type: 'undo' }
/** The event that sends the decisions of one call. */
export const send: QueueEvent = { type: 'send' }
/** The event of a call that failed. */
export const fail: QueueEvent = { type: 'fail', message: 'The disk is full.', isUncertain: false }

/** The event that repeats all refused decisions. */
export const repeat = ({ refusals }: QueueState): QueueEvent => ({
  type: 'repeat',
  refusals: [...refusals.values()],
  at: 0,
})

type Outcomes = Record<string, Partial<DecisionOutcome> | undefined>

/** The outcome if somebody else declined the application meanwhile. */
export const stale = {
  outcome: 'stale',
  status: 'declined',
  version: 5,
  author: 'bob@example.org',
} as const

/** The queue after these events. */
export const play = (state: QueueState, ...events: QueueEvent[]): QueueState => events.reduce(reduce, state)

/** An empty queue after these events. */
export const after = (...events: QueueEvent[]): QueueState => play(emptyQueue, ...events)

/** The reply to the sent decisions. All are saved, except those in `others`; an undefined outcome is omitted. */
export function reply(state: QueueState, others: Outcomes = {}): QueueEvent {
  const outcomes = decisionsInCall(state).flatMap(({ application: { id }, wanted: status, baseVersion }) => {
    if (id in others && others[id] === undefined) return []
    const saved = { id, outcome: 'kept', status, version: baseVersion + 1, author: 'me', at: null }
    return [[id, { ...saved, ...others[id] } as DecisionOutcome] as const]
  })
  return { type: 'reply', outcomes: new Map(outcomes) }
}

/** Sends the decisions of one call, and settles them. */
export function finished(state: QueueState, others: Outcomes = {}): QueueState {
  const sent = reduce(state, send)
  return reduce(sent, reply(sent, others))
}

/** The states of each act's decisions, such as `1: saved`. */
export const statesOf = ({ acts }: QueueState): string[][] =>
  acts.map((act) => [...act.values()].map((decision) => `${decision.application.id}: ${decision.state}`))

/** The base versions of the decisions that the next call sends. */
export const baseVersionsOf = (state: QueueState): number[] =>
  decisionsInCall(reduce(state, send)).map(({ baseVersion }) => baseVersion)

/** Each refusal as an id, the wanted status and the kind of the reason. */
export const reasonsOf = ({ refusals }: QueueState): string[][] =>
  [...refusals.values()].map(({ application: { id }, wanted, reason }) => [id, wanted, reason.kind])

/** The ids of the decisions that Undo would undo. */
export const undoableIds = (state: QueueState): string[] =>
  undoableDecisions(state).map(({ application: { id } }) => id)
