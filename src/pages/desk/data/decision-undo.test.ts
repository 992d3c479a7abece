import { expect, test } from 'vitest'

import {
  after,
  application,
  baseVersionsOf,
  decide,
  fail,
  finished,
  play,
  read,
  reasonsOf,
  repeat,
  reply,
  send,
  stale,
  statesOf,
  undo,
  undoableIds,
} from '../../../../test/support/decision-events.ts'
import { reduce, type QueueEvent } from './decision-reducer.ts'
import type { Status } from '../../../application/statuses.ts'
import { decisionsInCall, currentStatusIn } from './decision-state.ts'

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

test('the offer to undo begins anew with each act that changes something, and ends', () => {
  const decideAt = (at: number, wanted: Status, id = '1'): QueueEvent => ({
    type: 'decide',
    applications: [application(id)],
    wanted,
    at,
  })
  const offers = (...events: QueueEvent[]) => after(...events).offeredAt
  expect(offers(decideAt(5, 'accepted'))).toBe(5)
  expect(offers(decideAt(5, 'accepted'), decideAt(9, 'declined'))).toBe(9)
  expect(offers(decideAt(5, 'accepted'), decideAt(9, 'accepted'))).toBe(5)
  expect(offers(decideAt(5, 'accepted'), send, undo)).toBe(5)
  const failed = after(decideAt(5, 'accepted'), { type: 'end offer' }, send, fail)
  expect(failed.offeredAt).toBeNull()
  expect(reduce(failed, { ...repeat(failed), at: 7 } as QueueEvent).offeredAt).toBe(7)
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
  const lost = play(first, decide('accepted', application('1'), application('2')), send, fail)
  expect(reasonsOf(lost).map(([id]) => id)).toEqual(['1', '2'])
  expect(reasonsOf(reduce(lost, forget)).map(([id]) => id)).toEqual(['2'])
})

test('forgetting without ids forgets everything except pending decisions', () => {
  const saved = finished(after(decide('accepted', application('1'), application('2'))))
  const pending = play(saved, decide('declined', application('3')), send)
  const remaining = reduce(pending, { type: 'forget', ids: undefined })
  expect(undoableIds(remaining)).toEqual(['3'])
  expect(decisionsInCall(remaining)).toEqual(decisionsInCall(pending))
})

test('a decision that is made again after Undo can be undone again', () => {
  const undone = finished(reduce(finished(after(decide('accepted', application('1')))), undo))
  expect(undoableIds(finished(reduce(undone, decide('accepted', application('1')))))).toEqual(['1'])
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

const noResponse: QueueEvent = { type: 'fail', message: 'No response.', isUncertain: true }

test('without a response, an undone decision stays unconfirmed, and its undo is sent if it is repeated', () => {
  const pending = play(after(decide('accepted', application('1')), send), undo)
  const state = reduce(pending, noResponse)
  expect([...state.refusals.values()]).toMatchObject([
    { wanted: 'new', reason: { isUncertain: true, sent: 'accepted' } },
  ])
  // The decision may have been saved, so that the status shown is no reason to send nothing.
  expect(decisionsInCall(play(state, repeat(state), send))).toMatchObject([
    { wanted: 'new', baseVersion: 0, isUndo: true },
  ])
  // A read finds that it was saved: by this organiser, and only the undo was not sent.
  const found = reduce(state, read('1', 'accepted', 1))
  expect(currentStatusIn(found, application('1'))).toEqual({
    status: 'accepted',
    version: 1,
    isPending: false,
    isByOthers: false,
  })
  expect(statesOf(found)).toEqual([['1: saved'], ['1: refused']])
  expect([...found.refusals.values()]).toMatchObject([{ wanted: 'new', reason: { sent: null } }])
  expect(decisionsInCall(play(found, repeat(found), send))).toMatchObject([
    { wanted: 'new', baseVersion: 1, isUndo: true },
  ])
})

test('a decision without a response that a read finds saved needs no attention, and can be undone', () => {
  const state = play(after(decide('accepted', application('1')), send), noResponse)
  expect(undoableIds(state)).toEqual([])
  const found = reduce(state, read('1', 'accepted', 1))
  expect(reasonsOf(found)).toEqual([])
  expect(undoableIds(found)).toEqual(['1'])
  // The same if the organiser has closed the notice before the read.
  const dismissed = reduce(state, { type: 'dismiss', refusals: [...state.refusals.values()] })
  expect(undoableIds(reduce(dismissed, read('1', 'accepted', 1)))).toEqual(['1'])
  // Another status, or a later version, is somebody else's.
  for (const other of [read('1', 'declined', 1), read('1', 'accepted', 2)]) {
    expect(currentStatusIn(reduce(state, other), application('1')).isByOthers).toBe(true)
    expect(reasonsOf(reduce(state, other))).toHaveLength(1)
  }
})

test('Undo leaves an application that somebody else accepted after a decision failed', () => {
  const failed = after(decide('accepted', application('1')), send, fail)
  expect(undoableIds(reduce(failed, read('1', 'accepted', 1)))).toEqual([])
})
