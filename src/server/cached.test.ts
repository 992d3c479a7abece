import { expect, test } from 'vitest'

import { cached } from './cached.ts'

/** A load that counts, and a clock that is set. */
function counting(fails = () => false, options: { keepsFailures?: boolean } = {}) {
  const clock = { now: 0 }
  let loads = 0
  const load = async () => {
    loads += 1
    if (fails()) throw new Error(`load ${loads}`)
    return loads
  }
  return { clock, get: cached(load, { ...options, now: () => clock.now }) }
}

test('nothing is loaded before the first call, and then it is reused until it is too old', async () => {
  const { clock, get } = counting()
  expect(await get(1_000)).toBe(1)
  clock.now = 999
  expect(await get(1_000)).toBe(1)
  clock.now = 1_000
  expect(await get(1_000)).toBe(2)
  clock.now = 1_999
  expect(await get(1_000)).toBe(2)
})

test('each caller says how old the value may be', async () => {
  const { clock, get } = counting()
  await get(1_000)
  clock.now = 5_000
  expect(await get(Infinity)).toBe(1)
  expect(await get(30_000)).toBe(1)
  expect(await get(1_000)).toBe(2)
})

test('a call during a load waits for that load, however long it takes', async () => {
  const answers: ((value: string) => void)[] = []
  let now = 0
  const get = cached(() => new Promise<string>((resolve) => answers.push(resolve)), { now: () => now })
  const first = get(1_000)
  now = 10_000
  const second = get(1_000)
  expect(answers).toHaveLength(1)
  answers[0]?.('one')
  expect([await first, await second]).toEqual(['one', 'one'])
  // Its age counts from the start of its load.
  const third = get(1_000)
  answers[1]?.('two')
  expect(await third).toBe('two')
})

test('a failed load is retried by the next call', async () => {
  const { get } = counting(() => true)
  await expect(get(1_000)).rejects.toThrow('load 1')
  await expect(get(1_000)).rejects.toThrow('load 2')
})

test('a cached failure counts for as long as a value', async () => {
  const { clock, get } = counting(() => clock.now < 1_000, { keepsFailures: true })
  await expect(get(1_000)).rejects.toThrow('load 1')
  clock.now = 999
  await expect(get(1_000)).rejects.toThrow('load 1')
  clock.now = 1_000
  expect(await get(1_000)).toBe(2)
})
