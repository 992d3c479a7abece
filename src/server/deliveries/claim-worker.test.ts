import { expect, test } from 'vitest'

import { deferred } from '../../../test/support/deferred.ts'
import { startWorker } from './claim-worker.ts'

const options = {
  attempt: () => Promise.resolve(),
  concurrency: 1,
  batch: 1,
  interval: 3_600_000,
  log: { info: () => {}, warn: () => {} },
  names: { id: 'id', unread: 'unread', unrecorded: 'unrecorded', upkeep: 'upkeep' },
}

test('a worker polls again whenever it is woken', async () => {
  // Wakes the worker zero to nine microtasks after a claim, around the end of the poll.
  for (let moment = 0; moment < 10; moment += 1) {
    let polls = 0
    const { promise: woken, resolve: isWoken } = deferred()
    const wakeAfter = (microtasks: number) => {
      if (microtasks > 0) return queueMicrotask(() => wakeAfter(microtasks - 1))
      worker.wake()
      isWoken()
    }
    const worker = startWorker({
      ...options,
      async claim() {
        polls += 1
        await Promise.resolve()
        if (polls === 1) wakeAfter(moment)
        return []
      },
    })
    await woken
    await new Promise((resolve) => setImmediate(resolve))
    await worker.stop()
    expect(polls, `polls after a wake that came ${moment} microtasks after a claim`).toBe(2)
  }
})
