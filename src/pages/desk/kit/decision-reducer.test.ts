import { expect, test } from 'vitest'

import type { Status } from '../../../application/statuses.ts'
import type { DecisionOutcome } from '../../../client/desk/applications.ts'
import { reduce, type QueueEvent } from './decision-reducer.ts'
import {
  emptyQueue,
  isWaiting,
  decisionsInCall,
  currentStatusIn,
  undoableDecisions,
  type QueueState,
  type SeenApplication,
} from './decision-state.ts'

const application = (id: string, status: Status = 'new', version = 0): SeenApplication => ({
  id,
  name: `Person ${id}`,
  status,
  version,
})
const decide = (wanted: Status, ...applications: SeenApplication[]): QueueEvent => ({
  type: 'decide',
  applications,
  wanted,
})
const read = (id: string, status: Status, version: number): QueueEvent => ({
  type: 'read',
  application: { id, status, version },
})
const undo: QueueEvent = { type: 'undo' }
const send: QueueEvent = { type: 'send' }
const stop: QueueEvent = { type: 'stop' }
const fail: QueueEvent = { type: 'fail', message: 'The disk is full.', isUncertain: false }
const repeat = ({ refusals }: QueueState): QueueEvent => ({
  type: 'repeat',
  refusals: [...refusals.values()],
})

type Outcomes = Record<string, Partial<DecisionOutcome> | undefined>
/** The outcome if somebody else declined the application meanwhile. */
const stale = { outcome: 'stale', status: 'declined', version: 5, author: 'bob@example.org' } as const

const play = (state: QueueState, ...events: QueueEvent[]) => events.reduce(reduce, state)
const after = (...events: QueueEvent[]) => play(emptyQueue, ...events)

/** The reply to the sent decisions. All are saved, except those in `others`; an undefined outcome is omitted. */
function reply(state: QueueState, others: Outcomes = {}): QueueEvent {
  const outcomes = decisionsInCall(state).flatMap(({ application: { id }, wanted: status, baseVersion }) => {
    if (id in others && others[id] === undefined) return []
    const saved = { id, outcome: 'kept', status, version: baseVersion + 1, author: 'me', at: null }
    return [[id, { ...saved, ...others[id] } as DecisionOutcome] as const]
  })
  return { type: 'reply', outcomes: new Map(outcomes) }
}

/** Sends the decisions of one call, and settles them. */
function finished(state: QueueState, others: Outcomes = {}) {
  const sent = reduce(state, send)
  return reduce(sent, reply(sent, others))
}

/** The states of each act's decisions, such as `1: saved`. */
const statesOf = ({ acts }: QueueState) =>
  acts.map((act) => [...act.values()].map((decision) => `${decision.application.id}: ${decision.state}`))
/** The base versions of the decisions that the next call sends. */
const baseVersionsOf = (state: QueueState) =>
  decisionsInCall(reduce(state, send)).map(({ baseVersion }) => baseVersion)
/** Each refusal as an id, the wanted status and the kind of the reason. */
const reasonsOf = ({ refusals }: QueueState) =>
  [...refusals.values()].map(({ application: { id }, wanted, reason }) => [id, wanted, reason.kind])
const undoableIds = (state: QueueState) => undoableDecisions(state).map(({ application: { id } }) => id)

test('a decision is queued, sent and saved, and is shown immediately', () => {
  const read3 = application('1', 'new', 3)
  const queued = after(decide('accepted', read3))
  expect(statesOf(queued)).toEqual([['1: queued']])
  expect(currentStatusIn(queued, read3)).toEqual({ status: 'accepted', version: 3, isPending: true })
  const sent = reduce(queued, send)
  expect(statesOf(sent)).toEqual([['1: sent']])
  expect(decisionsInCall(sent)).toMatchObject([{ wanted: 'accepted', baseVersion: 3, isUndo: false }])
  const saved = reduce(sent, reply(sent))
  expect(statesOf(saved)).toEqual([['1: saved']])
  expect(currentStatusIn(saved, read3)).toEqual({ status: 'accepted', version: 4, isPending: false })
  expect([queued, sent, saved].map(isWaiting)).toEqual([true, true, false])
})

test('nothing changes if nothing is queued or the status is already the wanted one', () => {
  for (const event of [send, stop, fail, undo, decide('accepted', application('1', 'accepted'))])
    expect(reduce(emptyQueue, event)).toBe(emptyQueue)
})

test('an act is sent after the previous act, based on the version that the previous act produced', () => {
  const both = after(
    decide('accepted', application('1', 'new', 3)),
    decide('declined', application('1', 'new', 3)),
  )
  expect(statesOf(reduce(both, send))).toEqual([['1: sent'], ['1: queued']])
  const first = finished(both, { '1': { version: 8 } })
  expect(currentStatusIn(first, application('1'))).toMatchObject({ status: 'declined', isPending: true })
  expect(baseVersionsOf(first)).toEqual([8])
  expect(currentStatusIn(finished(first), application('1'))).toEqual({
    status: 'declined',
    version: 9,
    isPending: false,
  })
})

test('if a decision is refused, a later decision on the same application is refused too', () => {
  const state = finished(
    after(decide('accepted', application('1')), decide('waitlisted', application('1'))),
    { '1': stale },
  )
  expect(statesOf(state)).toEqual([['1: refused'], ['1: refused']])
  expect(reasonsOf(state)).toEqual([['1', 'waitlisted', 'stale']])
  expect(currentStatusIn(state, application('1'))).toEqual({
    status: 'declined',
    version: 5,
    isPending: false,
  })
  expect(isWaiting(state)).toBe(false)
})

test('a decision repeated after a conflict is based on the newer version', () => {
  const state = finished(after(decide('accepted', application('1'))), { '1': stale })
  expect([...state.refusals.values()]).toMatchObject([{ reason: { author: 'bob@example.org' } }])
  const again = reduce(state, repeat(state))
  expect(again.refusals.size).toBe(0)
  expect(baseVersionsOf(again)).toEqual([5])
})

test('a conflict with an equal decision is not reported as a refusal', () => {
  const state = finished(after(decide('declined', application('1'))), { '1': stale })
  expect([reasonsOf(state), undoableIds(state)]).toEqual([[], []])
})

test('a refused decision is not reported if the next decision wanted the status that somebody else set meanwhile', () => {
  const state = finished(after(decide('accepted', application('1')), decide('declined', application('1'))), {
    '1': stale,
  })
  expect([statesOf(state), reasonsOf(state)]).toEqual([[['1: refused'], ['1: refused']], []])
})

test.each([{ outcome: 'gone' } as const, undefined])(
  'a decision on an erased application is refused as gone: %j',
  (outcome) => {
    const state = finished(after(decide('accepted', application('1')), decide('new', application('1'))), {
      '1': outcome,
    })
    // The application is reported as gone even if the last decision wanted its original status.
    expect(reasonsOf(state)).toEqual([['1', 'new', 'gone']])
    expect(undoableIds(state)).toEqual([])
    expect(currentStatusIn(state, application('1'))).toEqual({ status: 'new', version: 0, isPending: false })
  },
)

test('a failed decision restores the former status and can be repeated', () => {
  const shortlisted = application('1', 'shortlisted', 7)
  const state = play(after(decide('accepted', shortlisted), send), fail)
  expect(currentStatusIn(state, shortlisted)).toEqual({ status: 'shortlisted', version: 7, isPending: false })
  expect([...state.refusals.values()]).toMatchObject([
    { reason: { kind: 'failed', message: 'The disk is full.', isUncertain: false } },
  ])
  expect(baseVersionsOf(reduce(state, repeat(state)))).toEqual([7])
})

test('a new decision removes the refusal of its application only', () => {
  const all = { '1': stale, '2': stale, '3': stale }
  const state = finished(after(decide('accepted', application('1'), application('2'), application('3'))), all)
  expect(reasonsOf(state).map(([id]) => id)).toEqual(['1', '2', '3'])
  const again = reduce(state, decide('waitlisted', application('1')))
  expect(reasonsOf(again).map(([id]) => id)).toEqual(['2', '3'])
  // One refusal per application, the newest last.
  const twice = finished(again, { '1': { ...stale, version: 6 } })
  expect(reasonsOf(twice).map(([id]) => id)).toEqual(['2', '3', '1'])
  const [first] = twice.refusals.values()
  const dismissed = reduce(twice, { type: 'dismiss', refusals: first ? [first] : [] })
  expect(reasonsOf(dismissed).map(([id]) => id)).toEqual(['3', '1'])
})

test('a newer status from a read is shown, unless a decision is pending', () => {
  const state = after(read('1', 'declined', 4))
  expect(currentStatusIn(state, application('1', 'new', 3))).toEqual({
    status: 'declined',
    version: 4,
    isPending: false,
    isByOthers: true,
  })
  expect(reduce(state, read('1', 'accepted', 4))).toBe(state)
  const pending = play(state, decide('accepted', application('1', 'new', 3)), read('1', 'waitlisted', 9))
  expect(currentStatusIn(pending, application('1', 'new', 3)).status).toBe('accepted')
  // The reply is older than the read.
  expect(currentStatusIn(finished(pending), application('1', 'new', 3))).toMatchObject({
    status: 'waitlisted',
    version: 9,
  })
  expect(currentStatusIn(state, application('1', 'new', 5))).toEqual({
    status: 'new',
    version: 5,
    isPending: false,
  })
})

test('the organiser’s own decision, read before its reply arrives, is not a change by somebody else', () => {
  const state = finished(after(decide('accepted', application('1')), read('1', 'accepted', 1)))
  expect(currentStatusIn(state, application('1'))).toEqual({
    status: 'accepted',
    version: 1,
    isPending: false,
  })
})

test('Undo undoes the saved decisions of the last act, once, based on their saved version', () => {
  const act = decide(
    'accepted',
    application('1'),
    application('2', 'waitlisted', 2),
    application('3'),
    application('4', 'accepted', 1),
  )
  const state = finished(after(decide('declined', application('9')), act), { '9': {} })
  const saved = finished(state, { '3': { outcome: 'gone' } })
  expect(statesOf(saved)[1]).toEqual(['1: saved', '2: saved', '3: refused'])
  expect(undoableIds(saved)).toEqual(['1', '2'])
  const undone = play(saved, read('1', 'declined', 7), undo)
  expect(decisionsInCall(reduce(undone, send))).toMatchObject([
    { application: { id: '1' }, wanted: 'new', baseVersion: 1, isUndo: true },
    { application: { id: '2' }, wanted: 'waitlisted', baseVersion: 3, isUndo: true },
  ])
  expect(undoableIds(undone)).toEqual([])
  expect(reduce(undone, undo)).toBe(undone)
  expect(undoableIds(finished(undone))).toEqual([])
})

test.each(['1', '2'])('after a failed decision on application %s, Undo undoes the previous act', (id) => {
  const before = finished(after(decide('accepted', application('1'))))
  const pending = play(before, decide('declined', application(id)), send)
  expect(undoableIds(pending)).toEqual([id])
  const failed = reduce(pending, fail)
  expect(undoableIds(failed)).toEqual(['1'])
  expect(undoableIds(finished(reduce(before, decide('declined', application(id))), { [id]: stale }))).toEqual(
    ['1'],
  )
  const undone = reduce(failed, undo)
  expect(decisionsInCall(reduce(undone, send))).toMatchObject([
    { wanted: 'new', baseVersion: 1, isUndo: true },
  ])
  expect(undoableIds(finished(undone))).toEqual([])
  expect(undoableIds(play(undone, send, fail))).toEqual([])
})

test('decisions on an erased application are forgotten', () => {
  const forget: QueueEvent = { type: 'forget', ids: ['1'] }
  const first = finished(after(decide('accepted', application('3'))))
  const saved = finished(reduce(first, decide('accepted', application('1'), application('2'))))
  expect(undoableIds(reduce(saved, forget))).toEqual(['2'])
  // Undo now applies to the previous act.
  const alone = finished(reduce(first, decide('accepted', application('1'))))
  expect(undoableIds(reduce(alone, forget))).toEqual(['3'])
  expect(reduce(first, forget)).toEqual(first)
  const pending = play(first, decide('accepted', application('1')), send)
  expect(reduce(pending, forget)).toEqual(pending)
  // Refusals are forgotten too.
  const lost = play(pending, fail)
  expect(reasonsOf(lost)).toHaveLength(1)
  expect(reasonsOf(reduce(lost, forget))).toEqual([])
})

test('forgetting without ids forgets everything except pending decisions', () => {
  const saved = finished(after(decide('accepted', application('1'), application('2'))))
  const pending = play(saved, decide('declined', application('3')), send)
  const remaining = reduce(pending, { type: 'forget', ids: undefined })
  expect(undoableIds(remaining)).toEqual(['3'])
  expect(decisionsInCall(remaining)).toEqual(decisionsInCall(pending))
})

test('Undo skips an application that somebody else has already set back', () => {
  const state = finished(after(decide('accepted', application('1'), application('2'))))
  expect(undoableIds(reduce(state, read('1', 'new', 2)))).toEqual(['2'])
})

test('if an act is undone while it is pending, it is saved first and then undone', () => {
  const state = after(decide('accepted', application('1')), send, undo)
  expect(currentStatusIn(state, application('1'))).toMatchObject({ status: 'new', isPending: true })
  const first = reduce(state, reply(state))
  expect(baseVersionsOf(first)).toEqual([1])
  expect(currentStatusIn(finished(first), application('1'))).toEqual({
    status: 'new',
    version: 2,
    isPending: false,
  })
})

test('Undo is refused if the applicant was told of the decision, unless the organiser repeats the undo', () => {
  const saved = reduce(finished(after(decide('accepted', application('1')))), undo)
  const state = finished(saved, { '1': { outcome: 'told', status: 'accepted', version: 1 } })
  expect([...state.refusals.values()]).toMatchObject([{ wanted: 'new', reason: { kind: 'told' } }])
  expect([...state.refusals.values()].map(({ reason }) => reason)).toEqual([{ kind: 'told' }])
  expect(currentStatusIn(state, application('1'))).toEqual({
    status: 'accepted',
    version: 1,
    isPending: false,
  })
  expect(undoableIds(state)).toEqual([])
  expect(decisionsInCall(play(state, repeat(state), send))).toMatchObject([{ baseVersion: 1, isUndo: false }])
})

test('an undo that failed is repeated as an undo, for which the database checks whether the applicant was told', () => {
  const state = play(finished(after(decide('accepted', application('1')))), undo, send, fail)
  expect(decisionsInCall(play(state, repeat(state), send))).toMatchObject([{ wanted: 'new', isUndo: true }])
})
