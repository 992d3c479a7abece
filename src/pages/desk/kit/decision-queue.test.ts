import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import type { CallDesk } from '../../../client/desk.ts'
import type { Decision, DecisionOutcome } from '../../../client/desk/applications.ts'
import type { Status } from '../../../application/statuses.ts'
import { countsOf, DecisionQueue, type Seen } from './decision-queue.ts'

type Answer = (given: { act: string; decisions: Decision[] }) => DecisionOutcome[]

// What a browser has.
beforeEach(() => vi.stubGlobal('navigator', { onLine: true }))
afterEach(() => vi.unstubAllGlobals())

/** A desk that answers when it is told to, and a queue that decides by it. */
function deskOf(failing = '') {
  const asked: { act: string; decisions: Decision[] }[] = []
  const waiting: { resolve: (outcomes: DecisionOutcome[]) => void; reject: (error: Error) => void }[] = []
  const outcomes: string[] = []
  let heard: (() => void) | undefined
  const callDesk = ((_name: string, given: { act: string; decisions: Decision[] }) => {
    asked.push(given)
    return new Promise<DecisionOutcome[]>((resolve, reject) => {
      waiting.push({ resolve, reject })
      heard?.()
    })
  }) as CallDesk
  const queue = new DecisionQueue(callDesk, (outcome) => {
    outcomes.push(outcome)
    heard?.()
    if (outcome === failing) throw new Error('Nobody hears this.')
  })
  const until = async (condition: () => boolean) => {
    while (!condition()) await new Promise<void>((resolve) => (heard = resolve))
  }
  return {
    queue,
    asked,
    outcomes,
    /** Answers the next call, and waits for what becomes of it. */
    answer: async (given: Answer) => {
      await until(() => waiting.length > 0)
      const said = outcomes.length
      waiting.shift()?.resolve(given(asked.at(-waiting.length - 1) ?? { act: '', decisions: [] }))
      await until(() => outcomes.length > said || waiting.length > 0)
      expect(outcomes.length, 'it goes on instead').toBeGreaterThan(said)
    },
    /** Answers a call that another one follows. */
    answerStep: async (given: Answer) => {
      await until(() => waiting.length > 0)
      waiting.shift()?.resolve(given(asked.at(-1) ?? { act: '', decisions: [] }))
      await until(() => waiting.length > 0)
    },
    refuse: async (error: Error) => {
      await until(() => waiting.length > 0)
      const said = outcomes.length
      waiting.shift()?.reject(error)
      await until(() => outcomes.length > said)
    },
  }
}

const kept: Answer = ({ decisions }) =>
  decisions.map(({ id, status, version }) => ({
    id,
    outcome: 'kept',
    status,
    version: version + 1,
    author: 'me',
    at: '2026-11-22T10:00:00Z',
  }))

/** Somebody else declined it meanwhile. */
const stale: Answer = ({ decisions }) =>
  decisions.map(({ id, version }) => ({
    id,
    outcome: 'stale',
    status: 'declined',
    version: version + 5,
    author: 'bob@example.org',
    at: '2026-11-22T10:00:00Z',
  }))

function seen(id: string, status: Status = 'new', version = 0): Seen {
  return { id, name: `Person ${id}`, status, version }
}

test('a decision is shown at once, sent with what was seen, and told when it is kept', async () => {
  const { queue, asked, outcomes, answer } = deskOf()
  queue.decide([seen('1', 'new', 3)], 'accepted')
  expect(queue.shownOf(seen('1', 'new', 3))).toEqual({ status: 'accepted', version: 3, isPending: true })
  expect(outcomes).toEqual([])
  await answer(kept)
  expect(asked[0]?.decisions).toEqual([{ id: '1', status: 'accepted', version: 3, takes_back: false }])
  expect(queue.shownOf(seen('1', 'new', 3))).toEqual({ status: 'accepted', version: 4, isPending: false })
  expect(outcomes).toEqual(['Person 1: Accepted'])
})

test('decisions on one application go one after the other, each on the version that the one before came to', async () => {
  const { queue, asked, answer } = deskOf()
  queue.decide([seen('1')], 'accepted')
  queue.decide([seen('1')], 'declined')
  expect(queue.shownOf(seen('1')).status).toBe('declined')
  await answer(kept)
  expect(queue.shownOf(seen('1'))).toMatchObject({ status: 'declined', isPending: true })
  await answer(kept)
  expect(asked.map(({ decisions }) => decisions[0])).toEqual([
    { id: '1', status: 'accepted', version: 0, takes_back: false },
    { id: '1', status: 'declined', version: 1, takes_back: false },
  ])
  expect(queue.shownOf(seen('1'))).toEqual({ status: 'declined', version: 2, isPending: false })
})

test('what somebody else changed is shown with who did, and is decided again knowingly', async () => {
  const { queue, asked, outcomes, answer } = deskOf()
  queue.decide([seen('1')], 'accepted')
  await answer(stale)
  expect(queue.shownOf(seen('1'))).toEqual({ status: 'declined', version: 5, isPending: false })
  expect(outcomes).toEqual(['Person 1: not saved'])
  const [problem] = queue.state().problems
  expect(problem).toMatchObject({ wanted: 'accepted', reason: { kind: 'stale', author: 'bob@example.org' } })
  expect(queue.state().lastAct).toBe(null)
  if (problem) queue.insist([problem])
  await answer(kept)
  expect(asked[1]?.decisions).toEqual([{ id: '1', status: 'accepted', version: 5, takes_back: false }])
  expect(queue.state().problems).toEqual([])
})

test('what was decided on top of a decision that was refused is not sent', async () => {
  const { queue, asked, outcomes, answer } = deskOf()
  queue.decide([seen('1')], 'accepted')
  queue.decide([seen('1')], 'waitlisted')
  await answer(stale)
  await expect.poll(() => outcomes).toEqual(['Person 1: not saved', 'Person 1: not saved'])
  expect(asked).toHaveLength(1)
  expect(queue.state().problems).toMatchObject([{ wanted: 'waitlisted', reason: { kind: 'stale' } }])
  expect(queue.shownOf(seen('1'))).toEqual({ status: 'declined', version: 5, isPending: false })
})

test('of several each outcome is told, and those that were kept are undone together', async () => {
  const { queue, asked, outcomes, answer } = deskOf()
  queue.decide([seen('1'), seen('2', 'waitlisted', 2), seen('3'), seen('4', 'accepted', 1)], 'accepted')
  await answer((given) => [
    ...kept({ ...given, decisions: given.decisions.slice(0, 2) }),
    { id: '3', outcome: 'gone' },
  ])
  // The fourth was accepted already.
  expect(asked[0]?.decisions.map(({ id }) => id)).toEqual(['1', '2', '3'])
  expect(outcomes).toEqual(['2 applications: Accepted (before: 1 New, 1 Waitlisted); 1 not saved'])
  expect(queue.state().problems).toMatchObject([{ seen: { id: '3' }, reason: { kind: 'gone' } }])
  expect(queue.state().lastAct).toEqual({ count: 2, status: 'accepted' })
  queue.undo()
  await answer(kept)
  expect(asked[1]?.decisions).toEqual([
    { id: '1', status: 'new', version: 1, takes_back: true },
    { id: '2', status: 'waitlisted', version: 3, takes_back: true },
  ])
  expect(outcomes[1]).toBe('2 applications: as they were before')
})

test('what is decided again takes its problems away, and those of others stay', async () => {
  const { queue, answer } = deskOf()
  queue.decide([seen('1'), seen('2'), seen('3')], 'accepted')
  await answer(stale)
  expect(queue.state().problems).toHaveLength(3)
  queue.decide([seen('1'), seen('3')], 'waitlisted')
  expect(queue.state().problems).toMatchObject([{ seen: { id: '2' } }])
})

test('an act that is undone before it was kept is undone after it', async () => {
  const { queue, asked, answer } = deskOf()
  queue.decide([seen('1')], 'accepted')
  queue.undo()
  expect(queue.shownOf(seen('1')).status).toBe('new')
  await answer(kept)
  await answer(kept)
  expect(asked[1]?.decisions).toEqual([{ id: '1', status: 'new', version: 1, takes_back: true }])
  expect(queue.shownOf(seen('1'))).toEqual({ status: 'new', version: 2, isPending: false })
})

test('a refusal brings the former status back and says why', async () => {
  const { queue, outcomes, refuse } = deskOf()
  queue.decide([seen('1', 'shortlisted', 7)], 'accepted')
  await refuse(new Error('The disk is full.'))
  expect(queue.shownOf(seen('1', 'shortlisted', 7))).toEqual({
    status: 'shortlisted',
    version: 7,
    isPending: false,
  })
  expect(queue.state().problems).toMatchObject([{ reason: { kind: 'failed', message: 'The disk is full.' } }])
  expect(outcomes).toEqual(['Person 1: not saved'])
})

test('what is read later counts where it is newer, and never while a decision is under way', async () => {
  const { queue, answer } = deskOf()
  queue.learn({ id: '1', status: 'declined', version: 4 })
  expect(queue.shownOf(seen('1', 'new', 3))).toMatchObject({ status: 'declined', version: 4 })
  queue.learn({ id: '1', status: 'new', version: 3 })
  expect(queue.shownOf(seen('1', 'new', 3))).toMatchObject({ status: 'declined', version: 4 })
  queue.decide([seen('1', 'new', 3)], 'accepted')
  queue.learn({ id: '1', status: 'waitlisted', version: 9 })
  expect(queue.shownOf(seen('1', 'new', 3)).status).toBe('accepted')
  await answer(kept)
  expect(queue.shownOf(seen('1', 'waitlisted', 9))).toMatchObject({ status: 'waitlisted', version: 9 })
})

test('before anything was decided there is nothing to undo, and what nobody decided is shown as it was read', () => {
  const { queue } = deskOf()
  const read = { id: 'a', status: 'new', version: 3 } as const
  expect(queue.shownOf(read)).toEqual({ status: 'new', version: 3, isPending: false })
  queue.learn(read)
  expect(queue.state().lastAct).toBeNull()
  expect(queue.shownOf({ ...read, version: 2 })).toMatchObject({ version: 3, isOthers: true })
})

test('undo is made on the version that it takes back, not on a newer one that was read since', async () => {
  const { queue, asked, answer } = deskOf()
  queue.decide([seen('1')], 'accepted')
  await answer(kept)
  queue.learn({ id: '1', status: 'declined', version: 2 })
  queue.undo()
  await answer(stale)
  expect(asked[1]?.decisions).toEqual([{ id: '1', status: 'new', version: 1, takes_back: true }])
})

test('what was told to an applicant is taken back only by who insists', async () => {
  const { queue, asked, answer } = deskOf()
  queue.decide([seen('1')], 'accepted')
  await answer(kept)
  queue.undo()
  await answer(() => [{ id: '1', outcome: 'told', status: 'accepted', version: 1, author: 'me', at: null }])
  const [problem] = queue.state().problems
  expect(problem).toMatchObject({ wanted: 'new', reason: { kind: 'told' } })
  expect(queue.shownOf(seen('1'))).toEqual({ status: 'accepted', version: 1, isPending: false })
  if (problem) queue.insist([problem])
  await answer(kept)
  expect(asked[2]?.decisions).toEqual([{ id: '1', status: 'new', version: 1, takes_back: false }])
})

test('several that did not stand alike are told with how they stood', async () => {
  const { queue, outcomes, answer } = deskOf()
  queue.decide([seen('1'), seen('2', 'waitlisted', 1), seen('3')], 'declined')
  await answer(kept)
  expect(outcomes).toEqual(['3 applications: Declined (before: 2 New, 1 Waitlisted)'])
})

test('what one decision throws keeps back no later one', async () => {
  const reported: unknown[] = []
  vi.stubGlobal('reportError', (error: unknown) => reported.push(error))
  const { queue, asked, answer } = deskOf('Person 1: Accepted')
  queue.decide([seen('1')], 'accepted')
  await answer(kept)
  queue.decide([seen('2')], 'accepted')
  await answer(() => null as never)
  expect(queue.shownOf(seen('2'))).toMatchObject({ status: 'new', isPending: false })
  queue.decide([seen('3')], 'accepted')
  await answer(kept)
  expect(asked).toHaveLength(3)
  expect(queue.shownOf(seen('3'))).toMatchObject({ status: 'accepted', isPending: false })
  expect(reported).toHaveLength(1)
})

test('once it has ended, nothing that waits is sent', async () => {
  const { queue, asked, answer, outcomes } = deskOf()
  queue.decide([seen('1')], 'accepted')
  await answer(kept)
  queue.decide([seen('2')], 'accepted')
  expect(queue.isWaiting()).toBe(true)
  queue.end()
  queue.decide([seen('3')], 'accepted')
  // Both turns are over by then.
  await new Promise<void>((resolve) => setImmediate(resolve))
  expect(asked.map(({ decisions }) => decisions[0]?.id)).toEqual(['1'])
  expect(outcomes).toHaveLength(1)
})

test('without a connection a decision is not sent, and that is said at once', async () => {
  const { queue, asked, outcomes } = deskOf()
  vi.stubGlobal('navigator', { onLine: false })
  queue.decide([seen('1')], 'accepted')
  await expect.poll(() => outcomes).toEqual(['Person 1: not saved'])
  expect(asked).toEqual([])
  expect(queue.state().problems).toMatchObject([
    { reason: { kind: 'failed', message: 'Not sent: there is no connection. Try again.' } },
  ])
})

const many = Array.from({ length: 250 }, (_, place) => seen(String(place)))
const shownBy = (queue: DecisionQueue) => countsOf(many.map((each) => queue.shownOf(each).status))

test('more than one call takes goes in steps, says how far it is, and is undone as one act', async () => {
  const { queue, asked, outcomes, answer, answerStep } = deskOf()
  queue.decide(many, 'accepted')
  expect(shownBy(queue)).toEqual(['250 Accepted'])
  await answerStep(kept)
  expect(queue.state().progress).toEqual({ done: 100, count: 250 })
  await answerStep(kept)
  expect(queue.state().progress).toEqual({ done: 200, count: 250 })
  await answer(kept)
  expect(queue.state()).toMatchObject({ progress: null, lastAct: { count: 250, status: 'accepted' } })
  expect(asked.map(({ decisions }) => decisions.length)).toEqual([100, 100, 50])
  // Each is known by its id.
  expect(new Set(asked.map(({ act }) => act)).size).toBe(3)
  expect(outcomes).toEqual(['250 applications: Accepted'])

  queue.undo()
  await answerStep(kept)
  await answerStep(kept)
  await answer(kept)
  expect(shownBy(queue)).toEqual(['250 New'])
  expect(queue.state()).toMatchObject({ progress: null, lastAct: null })
})

test('what is stopped leaves the rest as it was, and what was done can be undone', async () => {
  const { queue, asked, outcomes, answer, answerStep } = deskOf()
  queue.decide(many, 'accepted')
  await answerStep(kept)
  queue.stop()
  await answer(kept)
  expect(asked).toHaveLength(2)
  expect(shownBy(queue)).toEqual(['200 Accepted', '50 New'])
  expect(queue.isWaiting()).toBe(false)
  expect(queue.state()).toMatchObject({ progress: null, problems: [], lastAct: { count: 200 } })
  expect(outcomes).toEqual(['200 applications: Accepted; stopped, 50 left as they were'])

  // The undoing can be stopped and gone on with too.
  queue.undo()
  await answer((given) => {
    queue.stop()
    return kept(given)
  })
  expect(shownBy(queue)).toEqual(['150 New', '100 Accepted'])
  expect(queue.state()).toMatchObject({ lastAct: { count: 100 } })
  queue.undo()
  await answer(kept)
  expect(shownBy(queue)).toEqual(['250 New'])
  expect(asked.at(-1)?.decisions).toContainEqual({ id: '150', status: 'new', version: 1, takes_back: true })
})

test.each(['before', 'after'])('what is undone %s it is stopped stands as it did at first', async (order) => {
  const { queue, outcomes, answer, answerStep } = deskOf()
  queue.decide(many, 'accepted')
  await answerStep(kept)
  if (order === 'before') queue.undo()
  queue.stop()
  if (order === 'after') queue.undo()
  await answerStep(kept)
  await answerStep(kept)
  await answer(kept)
  expect(outcomes).toEqual([
    '200 applications: Accepted; stopped, 50 left as they were',
    '200 applications: New; stopped, 50 left as they were',
  ])
  expect(shownBy(queue)).toEqual(['250 New'])
  expect(queue.isWaiting()).toBe(false)
  // What was left is decided as ever.
  queue.decide(many.slice(200), 'accepted')
  await answer(kept)
  expect(shownBy(queue)).toEqual(['200 New', '50 Accepted'])
})

test('a step that fails keeps what was done before it, and the rest can be tried again at once', async () => {
  const { queue, refuse, answer, answerStep } = deskOf()
  queue.decide(many, 'declined')
  await answerStep(kept)
  await refuse(new Error('The disk is full.'))
  expect(shownBy(queue)).toEqual(['150 New', '100 Declined'])
  const { problems } = queue.state()
  expect(problems).toHaveLength(150)
  queue.insist(problems)
  await answerStep(kept)
  await answer(kept)
  expect(shownBy(queue)).toEqual(['250 Declined'])
})
