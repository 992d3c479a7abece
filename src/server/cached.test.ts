import { expect, test } from 'vitest'

import { cached } from './cached.ts'

/** Caches the number of loads so far, which each load increases by one. The test sets the clock. */
function cacheLoadCount(fails = () => false, options: { cachesFailures?: boolean } = {}) {
  const clock = { now: 0 }
  let loads = 0
  const load = async () => {
    loads += 1
    if (fails()) throw new Error(`load ${loads}`)
    return loads
  }
  return { clock, get: cached(load, { ...options, now: () => clock.now }) }
}

test('the first call loads the value, and later calls reuse it until it is too old', async () => {
  const { clock, get } = cacheLoadCount()
  expect(await get(1_000)).toBe(1)
  clock.now = 999
  expect(await get(1_000)).toBe(1)
  clock.now = 1_000
  expect(await get(1_000)).toBe(2)
  clock.now = 1_999
  expect(await get(1_000)).toBe(2)
})

test('each call sets how old the value may be', async () => {
  const { clock, get } = cacheLoadCount()
  await get(1_000)
  clock.now = 5_000
  expect(await get(Infinity)).toBe(1)
  expect(await get(30_000)).toBe(1)
  expect(await get(1_000)).toBe(2)
})

test('a call during a load waits for that load, however long it takes', async () => {
  const resolveLoads: ((value: string) => void)[] = []
  let now = 0
  const get = cached(() => new Promise<string>((resolve) => resolveLoads.push(resolve)), { now: () => now })
  const first = get(1_000)
  now = 10_000
  const second = get(1_000)
  expect(resolveLoads).toHaveLength(1)
  resolveLoads[0]?.('one')
  expect([await first, await second]).toEqual(['one', 'one'])
  // The age of a value counts from the start of its load.
  const third = get(1_000)
  resolveLoads[1]?.('two')
  expect(await third).toBe('two')
})

test('a failed load is retried by the next call', async () => {
  const { get } = cacheLoadCount(() => true)
  await expect(get(1_000)).rejects.toThrow('load 1')
  await expect(get(1_000)).rejects.toThrow('load 2')
})

test('a cached failure is reused for as long as a value', async () => {
  const { clock, get } = cacheLoadCount(() => clock.now < 1_000, { cachesFailures: true })
  await expect(get(1_000)).rejects.toThrow('load 1')
  clock.now = 999
  await expect(get(1_000)).rejects.toThrow('load 1')
  clock.now = 1_000
  expect(await get(1_000)).toBe(2)
})
