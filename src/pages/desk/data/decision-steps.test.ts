import { expect, test } from 'vitest'

import { stepSize } from '../../../application/limits.ts'
import type { Status } from '../../../application/statuses.ts'
import type { DecisionOutcome } from '../../../client/desk/applications.ts'
import { reduce, type QueueEvent } from './decision-reducer.ts'
import {
  emptyQueue,
  isWaiting,
  progressIn,
  decisionsInCall,
  currentStatusIn,
  undoableDecisions,
  type QueueState,
  type SeenApplication,
} from './decision-state.ts'

const many = Array.from({ length: 250 }, (_, index): SeenApplication => ({
  id: String(index),
  name: `Person ${index}`,
  status: 'new',
  version: 0,
}))
const decide = (wanted: Status, applications = many): QueueEvent => ({
  type: 'decide',
  applications,
  wanted,
  at: 0,
})
const play = (state: QueueState, ...events: QueueEvent[]) => events.reduce(reduce, state)
const send: QueueEvent = { type: 'send' }
const stop: QueueEvent = { type: 'stop' }
const undo: QueueEvent = { type: 'undo' }

/** Saves everything that was sent. */
function saved(state: QueueState) {
  const outcomes = decisionsInCall(state).map(
    ({ application: { id }, wanted, baseVersion }): [string, DecisionOutcome] => [
      id,
      { id, outcome: 'kept', status: wanted, version: baseVersion + 1, author: 'me', at: null, stopped: 0 },
    ],
  )
  return reduce(state, { type: 'reply', outcomes: new Map(outcomes) })
}

const next = (state: QueueState) => saved(reduce(state, send))
const ended = (state: QueueState): QueueState => (isWaiting(state) ? ended(next(state)) : state)

/** The number of applications shown with each status. */
function shown(state: QueueState) {
  const counts: Partial<Record<Status, number>> = {}
  for (const each of many) {
    const { status } = currentStatusIn(state, each)
    counts[status] = (counts[status] ?? 0) + 1
  }
  return counts
}

test('an act larger than one call is sent in steps and undone as one act', () => {
  const queued = reduce(emptyQueue, decide('accepted'))
  expect(progressIn(queued)).toBeNull()
  const first = reduce(queued, send)
  expect(shown(first)).toEqual({ accepted: 250 })
  expect(decisionsInCall(first)).toHaveLength(stepSize)
  // A second `send`, as when the queue is started again, sends nothing more.
  expect(decisionsInCall(reduce(first, send))).toHaveLength(stepSize)
  expect(progressIn(first)).toEqual({ done: 0, count: 250 })
  const second = reduce(saved(first), send)
  expect(progressIn(second)).toEqual({ done: 100, count: 250 })
  const last = reduce(saved(second), send)
  expect(decisionsInCall(last)).toHaveLength(50)
  expect(progressIn(last)).toEqual({ done: 200, count: 250 })
  const all = saved(last)
  expect([progressIn(all), undoableDecisions(all).length]).toEqual([null, 250])
  const undone = ended(reduce(all, undo))
  expect([shown(undone), undoableDecisions(undone).length]).toEqual([{ new: 250 }, 0])
})

test('an act of one call has no progress and cannot be stopped', () => {
  const state = play(emptyQueue, decide('accepted', many.slice(0, stepSize)), stop, send, stop)
  expect(progressIn(state)).toBeNull()
  expect(shown(saved(state))).toEqual({ accepted: stepSize, new: 250 - stepSize })
})

test('stopping restores the statuses of unsent decisions immediately, and the sent decisions can be undone', () => {
  const state = play(next(reduce(emptyQueue, decide('accepted'))), send, stop)
  expect(shown(state)).toEqual({ accepted: 200, new: 50 })
  expect(progressIn(state)).toEqual({ done: 100, count: 200 })
  const stopped = saved(state)
  expect([isWaiting(stopped), undoableDecisions(stopped).length, stopped.refusals.size]).toEqual([
    false,
    200,
    0,
  ])
  // Undo can be stopped and continued too.
  const half = saved(play(stopped, undo, send, stop))
  expect([shown(half), undoableDecisions(half).length]).toEqual([{ new: 150, accepted: 100 }, 100])
  expect(shown(ended(reduce(half, undo)))).toEqual({ new: 250 })
})

test.each(['before', 'after'])(
  'an act that is undone %s it is stopped ends with the original statuses',
  (order) => {
    const state = play(
      next(reduce(emptyQueue, decide('accepted'))),
      send,
      ...(order === 'before' ? [undo, stop] : [stop, undo]),
    )
    const undoing = reduce(saved(state), send)
    // A stopped decision needs no undo.
    expect(progressIn(undoing)).toEqual({ done: 0, count: 200 })
    const end = ended(undoing)
    expect(shown(end)).toEqual({ new: 250 })
    // The remaining applications can be decided as usual.
    expect(shown(ended(reduce(end, decide('accepted', many.slice(200)))))).toEqual({ new: 200, accepted: 50 })
  },
)

test('a stopped decision does not stop later ones, which then start from the version before it', () => {
  const [some, other] = [many.slice(200, 210), many.slice(205, 215)]
  const state = play(
    next(reduce(emptyQueue, decide('accepted'))),
    send,
    decide('declined', some),
    decide('waitlisted', other),
    stop,
  )
  const end = ended(saved(state))
  expect(shown(end)).toEqual({ accepted: 200, declined: 5, waitlisted: 10, new: 35 })
  expect(currentStatusIn(end, { id: '200', status: 'new', version: 0 }).version).toBe(1)
  expect(currentStatusIn(end, { id: '205', status: 'new', version: 0 }).version).toBe(2)
})

test('after a decision was stopped, the next one that changes anything starts from the version before it', () => {
  const [one] = many.slice(200)
  const act = (wanted: Status) => decide(wanted, one && [one])
  const state = play(emptyQueue, act('accepted'), decide('declined'), act('accepted'), act('waitlisted'))
  const end = ended(saved(play(next(state), send, stop)))
  expect(currentStatusIn(end, { id: '200', status: 'new', version: 0 })).toMatchObject({
    status: 'waitlisted',
    version: 2,
  })
})

test('of two decisions after a stopped one, the second starts from the first', () => {
  const [one] = many.slice(200)
  const state = play(
    next(reduce(emptyQueue, decide('accepted'))),
    send,
    decide('waitlisted', one && [one]),
    decide('new', one && [one]),
    stop,
  )
  expect(currentStatusIn(ended(saved(state)), { id: '200', status: 'new', version: 0 })).toMatchObject({
    status: 'new',
    version: 2,
  })
})

test('a failed step keeps the earlier steps saved, and the rest can be repeated', () => {
  const failure = { type: 'fail', message: 'Full.', isUncertain: false } as const
  const sent = reduce(next(reduce(emptyQueue, decide('declined'))), send)
  const state = reduce(sent, failure)
  expect(shown(state)).toEqual({ declined: 100, new: 150 })
  expect(state.refusals.size).toBe(150)
  // A later decision on a saved application stays queued.
  expect(shown(play(sent, decide('accepted', many.slice(0, 1)), failure))).toMatchObject({ accepted: 1 })
  const again = reduce(state, { type: 'repeat', refusals: [...state.refusals.values()], at: 0 })
  expect(shown(ended(again))).toEqual({ declined: 250 })
})

test('without a response, only the decisions that were sent are unconfirmed', () => {
  const state = play(next(reduce(emptyQueue, decide('declined'))), send, {
    type: 'fail',
    message: 'No response.',
    isUncertain: true,
  })
  const sent = [...state.refusals.values()].map(({ reason }) => reason.kind === 'failed' && reason.sent)
  expect(sent.filter((status) => status === 'declined')).toHaveLength(100)
  expect(sent.filter((status) => status === null)).toHaveLength(50)
})
