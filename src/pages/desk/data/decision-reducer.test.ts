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
import { reduce } from './decision-reducer.ts'
import { emptyQueue, isWaiting, decisionsInCall, currentStatusIn } from './decision-state.ts'

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
  for (const event of [
    send,
    { type: 'stop' } as const,
    fail,
    undo,
    decide('accepted', application('1', 'accepted')),
  ])
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

test('a refusal ends if a read finds that it is already so, or if the organiser agrees with the current status', () => {
  const refused = finished(after(decide('accepted', application('1'))), { '1': stale })
  const read6 = reduce(refused, read('1', 'accepted', 6))
  expect(reasonsOf(read6)).toEqual([])
  expect(isWaiting(reduce(read6, repeat(refused)))).toBe(false)
  expect(reasonsOf(reduce(refused, read('1', 'waitlisted', 6)))).toHaveLength(1)
  const agreed = reduce(refused, decide('declined', application('1', 'declined', 5)))
  expect([reasonsOf(agreed), isWaiting(agreed)]).toEqual([[], false])
  const failed = play(after(decide('accepted', application('1', 'new', 7)), send), fail)
  expect(reasonsOf(reduce(failed, decide('new', application('1', 'new', 7))))).toEqual([])
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
    { reason: { kind: 'failed', message: 'The disk is full.', isUncertain: false, sent: null } },
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
  expect(currentStatusIn(state, application('1', 'declined', 4)).isByOthers).toBe(true)
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
