import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { stepSize } from '../../../application/limits.ts'
import type { Status } from '../../../application/statuses.ts'
import type { CallDesk } from '../../../client/desk.ts'
import type { Decision, DecisionOutcome } from '../../../client/desk/applications.ts'
import { DecisionQueue, type Seen } from './decision-queue.ts'

// What a browser has.
beforeEach(() => vi.stubGlobal('navigator', { onLine: true }))
afterEach(() => vi.unstubAllGlobals())

const seen = (id: string, status: Status = 'new', version = 0): Seen => ({
  id,
  name: `Person ${id}`,
  status,
  version,
})

type Outcome = Partial<DecisionOutcome> & { outcome: DecisionOutcome['outcome'] }

/** A queue whose decisions come to these outcomes, by the ids; all others are kept. */
function queueOf(became: Record<string, Outcome | undefined>) {
  const called: string[] = []
  const said: string[] = []
  const callDesk = (async (name: string, { decisions }: { decisions: Decision[] }) => {
    called.push(name)
    return decisions.flatMap(({ id, status, version }) => {
      if (id in became && became[id] === undefined) return []
      const kept = { id, outcome: 'kept', status, version: version + 1, author: 'me', at: 'now' }
      return [{ ...kept, ...became[id] } as DecisionOutcome]
    })
  }) as CallDesk
  const queue = new DecisionQueue(callDesk, (sentence) => said.push(sentence))
  return {
    queue,
    called,
    /** Decides, and gives what is said once all of it is over. */
    decide: async (applications: Seen[], wanted: Status) => {
      queue.decide(applications, wanted)
      return settled()
    },
    settled: settled,
  }

  async function settled() {
    await vi.waitUntil(() => !queue.isWaiting() && said.length > 0)
    return said.splice(0)
  }
}

const bob = { author: 'bob@example.org', at: '2026-11-22T10:00:00Z', version: 5 }

test.each([{ outcome: 'gone' } as const, undefined])(
  'an application that is gone is told as that, and leaves nothing to undo: %j',
  async (outcome) => {
    const { queue, called, decide } = queueOf({ '1': outcome })
    expect(await decide([seen('1')], 'accepted')).toEqual(['Person 1: not saved'])
    expect(called).toEqual(['desk_decide'])
    expect(queue.state()).toMatchObject({
      problems: [{ seen: { id: '1' }, wanted: 'accepted', reason: { kind: 'gone' } }],
      lastAct: null,
    })
    expect(queue.shownOf(seen('1'))).toEqual({ status: 'new', version: 0, isPending: false })
  },
)

test('where somebody else decided the same meanwhile nothing is lost', async () => {
  const { queue, decide } = queueOf({ '1': { ...bob, outcome: 'stale', status: 'accepted' } })
  expect(await decide([seen('1')], 'accepted')).toEqual(['Person 1: Accepted already'])
  expect(queue.state()).toMatchObject({ problems: [], lastAct: null })
})

test('who decides back while the first decision is under way is told, too, that an application is gone', async () => {
  const { queue, settled } = queueOf({ '1': { outcome: 'gone' } })
  queue.decide([seen('1')], 'accepted')
  queue.decide([seen('1')], 'new')
  expect(await settled()).toEqual(['Person 1: not saved', 'Person 1: not saved'])
  expect(queue.state().problems).toMatchObject([{ wanted: 'new', reason: { kind: 'gone' } }])
})

test('who takes several back is not told how they stood, also where somebody else decided on one twice', async () => {
  const became: Record<string, Outcome> = {}
  const { queue, decide, settled } = queueOf(became)
  await decide([seen('1'), seen('2')], 'accepted')
  queue.learn(seen('1', 'declined', 2))
  became['1'] = { ...bob, outcome: 'stale', status: 'new' }
  queue.undo()
  expect(await settled()).toEqual(['2 applications: New'])
})

test('of what is under way when it ends nothing is said', async () => {
  const said = vi.fn<(sentence: string) => void>()
  const asked = vi.fn<() => void>()
  const callDesk = ((_name: string, _given: object, signal: AbortSignal) => {
    asked()
    return new Promise((_resolve, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason as Error)),
    )
  }) as CallDesk
  const queue = new DecisionQueue(callDesk, said)
  queue.decide([seen('1')], 'accepted')
  await expect.poll(() => asked.mock.calls).toHaveLength(1)
  queue.end()
  // Its turn is over by then.
  await new Promise<void>((resolve) => setImmediate(resolve))
  expect([said.mock.calls, queue.state().problems]).toEqual([[], []])
})

test('a problem goes when its application is decided on anew, and others stay', async () => {
  const { queue, decide, settled } = queueOf({
    '1': { ...bob, outcome: 'stale', status: 'declined' },
    '2': { ...bob, outcome: 'stale', status: 'declined' },
  })
  expect(await decide([seen('1'), seen('2')], 'accepted')).toEqual(['2 not saved'])
  const ids = () => queue.state().problems.map((problem) => problem.seen.id)
  expect(ids()).toEqual(['1', '2'])
  queue.decide([seen('1')], 'waitlisted')
  expect(ids()).toEqual(['2'])
  await settled()
  // One problem an application, the newest.
  expect(queue.state().problems.map(({ wanted }) => wanted)).toEqual(['accepted', 'waitlisted'])
  const [first] = queue.state().problems
  queue.dismiss(first ? [first] : [])
  expect(ids()).toEqual(['1'])
})

test('why a decision is not taken back is that a letter told of it, and nobody’s name', async () => {
  const { queue, decide } = queueOf({ '1': { ...bob, outcome: 'told', status: 'accepted' } })
  await decide([seen('1', 'accepted', 1)], 'new')
  expect(queue.state().problems[0]?.reason).toEqual({ kind: 'told' })
})

test('a decision for what stands is none', () => {
  const { queue, called } = queueOf({})
  const told = vi.fn<() => void>()
  queue.subscribe(told)
  queue.decide([seen('1', 'accepted')], 'accepted')
  expect([told.mock.calls, called, queue.isWaiting()]).toEqual([[], [], false])
})

test('what somebody else changed since is told from what was decided here', async () => {
  const { queue, decide } = queueOf({})
  const read = seen('1')
  expect(queue.isChanged(read)).toBe(false)
  queue.learn(seen('1', 'declined', 1))
  expect([queue.isChanged(read), queue.isChanged(seen('1', 'declined', 1))]).toEqual([true, false])
  expect(queue.shownOf(read)).toEqual({ status: 'declined', version: 1, isPending: false, isOthers: true })
  // The same version again is no news.
  queue.learn(seen('1', 'accepted', 1))
  expect(queue.shownOf(seen('1', 'accepted', 1)).status).toBe('declined')
  await decide([seen('1', 'declined', 1)], 'accepted')
  expect(queue.isChanged(read)).toBe(false)
  queue.learn(seen('1', 'waitlisted', 3))
  expect(queue.isChanged(read)).toBe(true)
  expect(queue.shownOf(read)).toEqual({ status: 'waitlisted', version: 3, isPending: false, isOthers: true })
})

test('whoever listens hears of each change until they stop', async () => {
  const { queue, decide } = queueOf({})
  const told = vi.fn<() => void>()
  const end = queue.subscribe(told)
  await decide([seen('1')], 'accepted')
  expect(told).toHaveBeenCalled()
  end()
  told.mockClear()
  await decide([seen('2')], 'accepted')
  expect(told).not.toHaveBeenCalled()
})

test('an act of one call has no progress, and nothing to stop', async () => {
  const { queue, decide } = queueOf({})
  const shown: unknown[] = []
  queue.subscribe(() => shown.push(queue.state().progress))
  queue.stop()
  const many = Array.from({ length: stepSize }, (_, index) => seen(String(index)))
  expect(await decide(many, 'accepted')).toEqual([`${stepSize} applications: Accepted`])
  expect(new Set(shown)).toEqual(new Set([null]))
})
