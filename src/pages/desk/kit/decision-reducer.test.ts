import { expect, test } from 'vitest'

import type { Status } from '../../../application/statuses.ts'
import type { DecisionOutcome } from '../../../client/desk/applications.ts'
import { reduce, type QueueEvent } from './decision-reducer.ts'
import {
  emptyQueue,
  isWaiting,
  sentIn,
  shownIn,
  undoable,
  type QueueState,
  type Seen,
} from './decision-state.ts'

const seen = (id: string, status: Status = 'new', version = 0): Seen => ({
  id,
  name: `Person ${id}`,
  status,
  version,
})
const decide = (wanted: Status, ...applications: Seen[]): QueueEvent => ({
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
const insist = ({ refusals }: QueueState): QueueEvent => ({
  type: 'insist',
  refusals: [...refusals.values()],
})

type Outcomes = Record<string, Partial<DecisionOutcome> | undefined>
/** The outcome if somebody else declined the application meanwhile. */
const stale = { outcome: 'stale', status: 'declined', version: 5, author: 'bob@example.org' } as const

const play = (state: QueueState, ...events: QueueEvent[]) => events.reduce(reduce, state)
const after = (...events: QueueEvent[]) => play(emptyQueue, ...events)

/** The reply to the sent decisions. They are saved unless `became` has another outcome; undefined leaves one out. */
function reply(state: QueueState, became: Outcomes = {}): QueueEvent {
  const outcomes = sentIn(state).flatMap(({ seen: { id }, wanted: status, base }) => {
    if (id in became && became[id] === undefined) return []
    const saved = { id, outcome: 'kept', status, version: base + 1, author: 'me', at: null }
    return [[id, { ...saved, ...became[id] } as DecisionOutcome] as const]
  })
  return { type: 'reply', outcomes: new Map(outcomes) }
}

/** Sends the decisions of one call, and settles them. */
function settled(state: QueueState, became: Outcomes = {}) {
  const sent = reduce(state, send)
  return reduce(sent, reply(sent, became))
}

/** The states of each act's decisions, such as `1: saved`. */
const statesOf = ({ acts }: QueueState) =>
  acts.map((act) => [...act.values()].map((decision) => `${decision.seen.id}: ${decision.state}`))
const baseOf = (state: QueueState) => sentIn(reduce(state, send)).map(({ base }) => base)
const reasonsOf = ({ refusals }: QueueState) =>
  [...refusals.values()].map(({ seen: { id }, wanted, reason }) => [id, wanted, reason.kind])
const undoneBy = (state: QueueState) => undoable(state).map(({ seen: { id } }) => id)

test('a decision is queued, sent and saved, and is shown immediately', () => {
  const read3 = seen('1', 'new', 3)
  const queued = after(decide('accepted', read3))
  expect(statesOf(queued)).toEqual([['1: queued']])
  expect(shownIn(queued, read3)).toEqual({ status: 'accepted', version: 3, isPending: true })
  const sent = reduce(queued, send)
  expect(statesOf(sent)).toEqual([['1: sent']])
  expect(sentIn(sent)).toMatchObject([{ wanted: 'accepted', base: 3, takesBack: false }])
  const saved = reduce(sent, reply(sent))
  expect(statesOf(saved)).toEqual([['1: saved']])
  expect(shownIn(saved, read3)).toEqual({ status: 'accepted', version: 4, isPending: false })
  expect([queued, sent, saved].map(isWaiting)).toEqual([true, true, false])
})

test('nothing changes if nothing is queued or the status is already the wanted one', () => {
  for (const event of [send, stop, fail, undo, decide('accepted', seen('1', 'accepted'))])
    expect(reduce(emptyQueue, event)).toBe(emptyQueue)
})

test('an act is sent after the previous one, based on the version that it produced', () => {
  const both = after(decide('accepted', seen('1', 'new', 3)), decide('declined', seen('1', 'new', 3)))
  expect(statesOf(reduce(both, send))).toEqual([['1: sent'], ['1: queued']])
  const first = settled(both, { '1': { version: 8 } })
  expect(shownIn(first, seen('1'))).toMatchObject({ status: 'declined', isPending: true })
  expect(baseOf(first)).toEqual([8])
  expect(shownIn(settled(first), seen('1'))).toEqual({ status: 'declined', version: 9, isPending: false })
})

test('a decision made on top of a refused one is refused with it', () => {
  const state = settled(after(decide('accepted', seen('1')), decide('waitlisted', seen('1'))), { '1': stale })
  expect(statesOf(state)).toEqual([['1: refused'], ['1: refused']])
  expect(reasonsOf(state)).toEqual([['1', 'waitlisted', 'stale']])
  expect(shownIn(state, seen('1'))).toEqual({ status: 'declined', version: 5, isPending: false })
  expect(isWaiting(state)).toBe(false)
})

test('a decision repeated after a conflict is based on the newer version', () => {
  const state = settled(after(decide('accepted', seen('1'))), { '1': stale })
  expect([...state.refusals.values()]).toMatchObject([{ reason: { author: 'bob@example.org' } }])
  const again = reduce(state, insist(state))
  expect(again.refusals.size).toBe(0)
  expect(baseOf(again)).toEqual([5])
})

test('a conflict with an equal decision is no refusal', () => {
  const state = settled(after(decide('declined', seen('1'))), { '1': stale })
  expect([reasonsOf(state), undoneBy(state)]).toEqual([[], []])
})

test('a refused decision is no refusal if the next one wanted the current status', () => {
  const state = settled(after(decide('accepted', seen('1')), decide('declined', seen('1'))), { '1': stale })
  expect([statesOf(state), reasonsOf(state)]).toEqual([[['1: refused'], ['1: refused']], []])
})

test.each([{ outcome: 'gone' } as const, undefined])('an application may be gone: %j', (outcome) => {
  const state = settled(after(decide('accepted', seen('1')), decide('new', seen('1'))), { '1': outcome })
  // The application is reported as gone even if the last decision wanted its original status.
  expect(reasonsOf(state)).toEqual([['1', 'new', 'gone']])
  expect(undoneBy(state)).toEqual([])
  expect(shownIn(state, seen('1'))).toEqual({ status: 'new', version: 0, isPending: false })
})

test('a failure brings the former status back and can be tried again', () => {
  const was = seen('1', 'shortlisted', 7)
  const state = play(after(decide('accepted', was), send), fail)
  expect(shownIn(state, was)).toEqual({ status: 'shortlisted', version: 7, isPending: false })
  expect([...state.refusals.values()]).toMatchObject([
    { reason: { kind: 'failed', message: 'The disk is full.', isUncertain: false } },
  ])
  expect(baseOf(reduce(state, insist(state)))).toEqual([7])
})

test('a new decision removes the refusal of its application only', () => {
  const all = { '1': stale, '2': stale, '3': stale }
  const state = settled(after(decide('accepted', seen('1'), seen('2'), seen('3'))), all)
  expect(reasonsOf(state).map(([id]) => id)).toEqual(['1', '2', '3'])
  const again = reduce(state, decide('waitlisted', seen('1')))
  expect(reasonsOf(again).map(([id]) => id)).toEqual(['2', '3'])
  // One refusal per application, the newest last.
  const twice = settled(again, { '1': { ...stale, version: 6 } })
  expect(reasonsOf(twice).map(([id]) => id)).toEqual(['2', '3', '1'])
  const [first] = twice.refusals.values()
  const dismissed = reduce(twice, { type: 'dismiss', refusals: first ? [first] : [] })
  expect(reasonsOf(dismissed).map(([id]) => id)).toEqual(['3', '1'])
})

test('a newer read is used, but a pending decision is shown first', () => {
  const state = after(read('1', 'declined', 4))
  expect(shownIn(state, seen('1', 'new', 3))).toEqual({
    status: 'declined',
    version: 4,
    isPending: false,
    isOthers: true,
  })
  expect(reduce(state, read('1', 'accepted', 4))).toBe(state)
  const pending = play(state, decide('accepted', seen('1', 'new', 3)), read('1', 'waitlisted', 9))
  expect(shownIn(pending, seen('1', 'new', 3)).status).toBe('accepted')
  // The reply is older than the read.
  expect(shownIn(settled(pending), seen('1', 'new', 3))).toMatchObject({ status: 'waitlisted', version: 9 })
  expect(shownIn(state, seen('1', 'new', 5))).toEqual({ status: 'new', version: 5, isPending: false })
})

test('a read of one’s own decision before its reply is not a change by somebody else', () => {
  const state = settled(after(decide('accepted', seen('1')), read('1', 'accepted', 1)))
  expect(shownIn(state, seen('1'))).toEqual({ status: 'accepted', version: 1, isPending: false })
})

test('Undo undoes the saved decisions of the last act, once, based on their saved version', () => {
  const act = decide('accepted', seen('1'), seen('2', 'waitlisted', 2), seen('3'), seen('4', 'accepted', 1))
  const state = settled(after(decide('declined', seen('9')), act), { '9': {} })
  const saved = settled(state, { '3': { outcome: 'gone' } })
  expect(statesOf(saved)[1]).toEqual(['1: saved', '2: saved', '3: refused'])
  expect(undoneBy(saved)).toEqual(['1', '2'])
  const undone = play(saved, read('1', 'declined', 7), undo)
  expect(sentIn(reduce(undone, send))).toMatchObject([
    { seen: { id: '1' }, wanted: 'new', base: 1, takesBack: true },
    { seen: { id: '2' }, wanted: 'waitlisted', base: 3, takesBack: true },
  ])
  expect(undoneBy(undone)).toEqual([])
  expect(reduce(undone, undo)).toBe(undone)
  expect(undoneBy(settled(undone))).toEqual([])
})

test.each(['1', '2'])('after a failed decision on %s, Undo undoes the act before it', (id) => {
  const before = settled(after(decide('accepted', seen('1'))))
  const pending = play(before, decide('declined', seen(id)), send)
  expect(undoneBy(pending)).toEqual([id])
  const failed = reduce(pending, fail)
  expect(undoneBy(failed)).toEqual(['1'])
  expect(undoneBy(settled(reduce(before, decide('declined', seen(id))), { [id]: stale }))).toEqual(['1'])
  const undone = reduce(failed, undo)
  expect(sentIn(reduce(undone, send))).toMatchObject([{ wanted: 'new', base: 1, takesBack: true }])
  expect(undoneBy(settled(undone))).toEqual([])
  expect(undoneBy(play(undone, send, fail))).toEqual([])
})

test('decisions on an erased application are forgotten', () => {
  const forget: QueueEvent = { type: 'forget', ids: ['1'] }
  const first = settled(after(decide('accepted', seen('3'))))
  const saved = settled(reduce(first, decide('accepted', seen('1'), seen('2'))))
  expect(undoneBy(reduce(saved, forget))).toEqual(['2'])
  // Undo now applies to the act before.
  const alone = settled(reduce(first, decide('accepted', seen('1'))))
  expect(undoneBy(reduce(alone, forget))).toEqual(['3'])
  expect(reduce(first, forget)).toEqual(first)
  const pending = play(first, decide('accepted', seen('1')), send)
  expect(reduce(pending, forget)).toEqual(pending)
  // Refusals are forgotten too.
  const lost = play(pending, fail)
  expect(reasonsOf(lost)).toHaveLength(1)
  expect(reasonsOf(reduce(lost, forget))).toEqual([])
})

test('without ids everything but pending decisions is forgotten', () => {
  const saved = settled(after(decide('accepted', seen('1'), seen('2'))))
  const pending = play(saved, decide('declined', seen('3')), send)
  const left = reduce(pending, { type: 'forget', ids: undefined })
  expect(undoneBy(left)).toEqual(['3'])
  expect(sentIn(left)).toEqual(sentIn(pending))
})

test('Undo leaves out an application that somebody else has set back already', () => {
  const state = settled(after(decide('accepted', seen('1'), seen('2'))))
  expect(undoneBy(reduce(state, read('1', 'new', 2)))).toEqual(['2'])
})

test('an act undone while it is pending is undone after it was saved', () => {
  const state = after(decide('accepted', seen('1')), send, undo)
  expect(shownIn(state, seen('1'))).toMatchObject({ status: 'new', isPending: true })
  const first = reduce(state, reply(state))
  expect(baseOf(first)).toEqual([1])
  expect(shownIn(settled(first), seen('1'))).toEqual({ status: 'new', version: 2, isPending: false })
})

test('a decision that an applicant was told is undone only if the organiser insists', () => {
  const saved = reduce(settled(after(decide('accepted', seen('1')))), undo)
  const state = settled(saved, { '1': { outcome: 'told', status: 'accepted', version: 1 } })
  expect([...state.refusals.values()]).toMatchObject([{ wanted: 'new', reason: { kind: 'told' } }])
  expect([...state.refusals.values()].map(({ reason }) => reason)).toEqual([{ kind: 'told' }])
  expect(shownIn(state, seen('1'))).toEqual({ status: 'accepted', version: 1, isPending: false })
  expect(undoneBy(state)).toEqual([])
  expect(sentIn(play(state, insist(state), send))).toMatchObject([{ base: 1, takesBack: false }])
})

test('a retried undo still checks whether the applicant was told', () => {
  const state = play(settled(after(decide('accepted', seen('1')))), undo, send, fail)
  expect(sentIn(play(state, insist(state), send))).toMatchObject([{ wanted: 'new', takesBack: true }])
})
