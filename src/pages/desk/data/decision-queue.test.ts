import { QueryClient } from '@tanstack/react-query'
import { expect, test, vi } from 'vitest'

import type { Status } from '../../../application/statuses.ts'
import type { CallDesk } from '../../../client/desk.ts'
import type { Decision, DecisionOutcome } from '../../../client/desk/applications.ts'
import { OfflineError } from '../../../client/session.ts'
import { createDecisionQueue } from './decision-queue.ts'
import { undoableDecisions, type DecisionAct, type SeenApplication } from './decision-state.ts'
import { dropReadData } from './acts.ts'
import { createFailedActs } from './failed-acts.ts'

interface Args {
  act: string
  decisions: Decision[]
}

const application = (id: string, status: Status = 'new', version = 0): SeenApplication => ({
  id,
  name: `Person ${id}`,
  status,
  version,
})

/** Runs a queue at a desk. If `waitsForReply`, each response waits until `reply` is called. */
function runQueue({
  onFinished = (_act: DecisionAct): void => {},
  waitsForReply = false,
  isOffline = false,
} = {}) {
  const calls: Args[] = []
  const finished: string[] = []
  const waiting: (() => void)[] = []
  const callDesk = (async (_name: string, args: Args, signal: AbortSignal) => {
    calls.push(args)
    if (isOffline) throw new OfflineError(new TypeError('no connection'))
    if (waitsForReply)
      await new Promise<void>((resolve, reject) => {
        waiting.push(resolve)
        signal.addEventListener('abort', () => reject(signal.reason as Error))
      })
    return args.decisions.map(({ id, status, version }): DecisionOutcome => ({
      id,
      outcome: 'kept',
      status,
      version: version + 1,
      author: 'me',
      at: null,
      stopped: 0,
    }))
  }) as CallDesk
  const queue = createDecisionQueue(callDesk, (act) => {
    finished.push([...act.values()].map((decision) => `${decision.application.id}: ${decision.state}`).join())
    onFinished(act)
  })
  return {
    queue,
    end: queue.start(),
    calls,
    finished,
    reply: () => waiting.shift()?.(),
    idle: () => vi.waitUntil(() => !queue.isWaiting()),
  }
}

/** Lets pending promises settle, except for responses that wait for `reply`. */
const promisesSettled = () => new Promise<void>((resolve) => setImmediate(resolve))

test('acts are sent one after another, each with its own id, and reported when they are settled', async () => {
  const { queue, calls, finished, reply, idle } = runQueue({ waitsForReply: true })
  queue.decide([application('1', 'new', 3)], 'accepted')
  queue.decide([application('1', 'new', 3), application('2')], 'declined')
  await promisesSettled()
  expect(calls.map(({ decisions }) => decisions)).toEqual([
    [{ id: '1', status: 'accepted', version: 3, takes_back: false }],
  ])
  expect(finished).toEqual([])
  reply()
  await promisesSettled()
  expect(finished).toEqual(['1: saved'])
  expect(calls[1]?.decisions).toEqual([
    { id: '1', status: 'declined', version: 4, takes_back: false },
    { id: '2', status: 'declined', version: 0, takes_back: false },
  ])
  reply()
  await idle()
  expect(finished).toEqual(['1: saved', '1: saved,2: saved'])
  expect(new Set(calls.map(({ act }) => act)).size).toBe(2)
  queue.undo()
  await promisesSettled()
  expect(calls[2]?.decisions[1]).toEqual({ id: '2', status: 'new', version: 1, takes_back: true })
})

test('acts that are refused together are each reported', async () => {
  const { queue, finished, idle } = runQueue({ isOffline: true })
  queue.decide([application('1')], 'accepted')
  queue.decide([application('1')], 'declined')
  await idle()
  expect(finished).toEqual(['1: refused', '1: refused'])
})

test('a decision made offline is refused with a reason', async () => {
  const { queue, idle } = runQueue({ isOffline: true })
  queue.decide([application('1')], 'accepted')
  await idle()
  expect([...queue.state().refusals.values()]).toMatchObject([
    { reason: { kind: 'failed', message: 'You were offline.', isUncertain: false } },
  ])
  queue.repeat([...queue.state().refusals.values()])
  expect(queue.state().refusals.size).toBe(0)
})

test('an invalid reply or an error in onFinished does not block later decisions', async () => {
  const reported = vi.fn<(error: unknown) => void>()
  vi.stubGlobal('reportError', reported)
  const replies = [null, []]
  const error = new Error('The outcome cannot be shown.')
  const queue = createDecisionQueue((async () => replies.shift()) as unknown as CallDesk, () => {
    throw error
  })
  queue.start()
  queue.decide([application('1')], 'accepted')
  queue.decide([application('2')], 'accepted')
  await vi.waitUntil(() => !queue.isWaiting())
  expect([...queue.state().refusals.values()].map(({ reason }) => reason.kind)).toEqual(['failed', 'gone'])
  expect(reported.mock.calls).toEqual([[error], [error]])
})

test('a queue that has ended sends nothing and ignores the pending response', async () => {
  const { queue, calls, finished, end } = runQueue({ waitsForReply: true })
  queue.decide([application('1')], 'accepted')
  queue.decide([application('2')], 'accepted')
  await promisesSettled()
  end()
  queue.decide([application('3')], 'accepted')
  await promisesSettled()
  expect(calls.map(({ decisions }) => decisions[0]?.id)).toEqual(['1'])
  expect([finished, queue.state().refusals.size, queue.isWaiting()]).toEqual([[], 0, true])
})

test('a queue that ends and starts again sends its pending decisions, as in StrictMode', async () => {
  const { queue, calls, finished, end, reply, idle } = runQueue({ waitsForReply: true })
  queue.decide([application('1')], 'accepted')
  end()
  queue.start()
  await promisesSettled()
  expect(calls).toHaveLength(2)
  reply()
  reply()
  await idle()
  expect(finished).toEqual(['1: saved'])
})

test('a subscriber is called on each change until it unsubscribes', async () => {
  const { queue, idle } = runQueue()
  const listener = vi.fn<() => void>()
  const unsubscribe = queue.subscribe(listener)
  queue.decide([application('1', 'accepted')], 'accepted')
  expect(listener).not.toHaveBeenCalled()
  queue.decide([application('1')], 'accepted')
  expect(listener).toHaveBeenCalled()
  unsubscribe()
  listener.mockClear()
  await idle()
  expect(listener).not.toHaveBeenCalled()
})

test('a change by somebody else is distinguished from a decision made here', async () => {
  const { queue, idle } = runQueue()
  const read = application('1')
  expect(queue.isChanged(read)).toBe(false)
  queue.recordRead(application('1', 'declined', 1))
  expect([queue.isChanged(read), queue.isChanged(application('1', 'declined', 1))]).toEqual([true, false])
  expect(queue.currentOf(read)).toMatchObject({ status: 'declined', version: 1 })
  queue.decide([application('1', 'declined', 1)], 'accepted')
  expect(queue.isChanged(read)).toBe(false)
  await idle()
  expect(queue.isChanged(read)).toBe(false)
  queue.recordRead(application('1', 'waitlisted', 3))
  expect(queue.isChanged(read)).toBe(true)
})

test('stopping drops the unsent steps of an act', async () => {
  const { queue, calls, finished, reply, idle } = runQueue({ waitsForReply: true })
  queue.decide(
    Array.from({ length: 250 }, (_, index) => application(String(index))),
    'accepted',
  )
  await promisesSettled()
  queue.stop()
  reply()
  await idle()
  expect(calls).toHaveLength(1)
  expect(finished[0]?.split(',').filter((each) => each.endsWith('stopped'))).toHaveLength(150)
})

test('decisions that are pending when blind reading begins are reported and then forgotten', async () => {
  const { queue, finished, reply, idle } = runQueue({ waitsForReply: true })
  queue.decide([application('1')], 'accepted')
  queue.decide([application('2')], 'accepted')
  await promisesSettled()
  dropReadData(new QueryClient(), { queue, failedActs: createFailedActs() }, true)
  expect(undoableDecisions(queue.state())).toHaveLength(1)
  reply()
  await promisesSettled()
  reply()
  await idle()
  await promisesSettled()
  expect(finished).toEqual(['1: saved', '2: saved'])
  expect(undoableDecisions(queue.state())).toEqual([])
})

test('a dismissed refusal is removed', async () => {
  const { queue, idle } = runQueue({ isOffline: true })
  queue.decide([application('200')], 'declined')
  await idle()
  expect(queue.state().refusals.size).toBe(1)
  queue.dismiss([...queue.state().refusals.values()])
  expect(queue.state().refusals.size).toBe(0)
})
