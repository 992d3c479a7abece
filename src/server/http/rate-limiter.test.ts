import { expect, test, vi } from 'vitest'

import { createAllowance, createLimiter, createWrongTokenLimit } from './rate-limiter.ts'

const outcomeOf = (call: () => void) => {
  try {
    call()
    return 'allowed'
  } catch (error) {
    return error
  }
}

test('an address may empty its bucket without waiting, and then use as much as is refilled', () => {
  let now = 0
  const take = createLimiter(30, 5, () => now)
  const atOnce = Array.from({ length: 31 }, () => take('192.0.2.1'))
  expect(atOnce).toEqual([...Array<number>(30).fill(0), 10_000])
  now = 9_000
  expect(take('192.0.2.1')).toBeCloseTo(1_000)
  now = 10_000
  expect(take('192.0.2.1')).toBe(0)
  expect(take('192.0.2.1')).toBe(10_000)
  expect(take('192.0.2.2')).toBe(0)
  // The bucket never holds more than at first.
  now = 100_000_000
  const later = Array.from({ length: 31 }, () => take('192.0.2.1'))
  expect(later.filter((wait) => wait === 0)).toHaveLength(30)
})

test.each([
  ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff', true],
  ['2001:db8:1:2::1', '2001:DB8:0001:2::2', true],
  ['2001:db8:1:2::1', '2001:db8:1:3::1', false],
  ['2001:db8::1', '2001:db8:0:0:5::1', true],
  ['2001::5:1:0:0:1', '2001::6:1:0:0:1', false],
  ['::1', '::2', true],
  ['::ffff:192.0.2.1', '::ffff:192.0.2.2', false],
  ['::ffff:192.0.2.1', '192.0.2.1', true],
  ['192.0.2.1', '192.0.2.2', false],
])('%s and %s share one bucket, for rows and for calls: %s', (one, other, isShared) => {
  const take = createLimiter(1, 5, () => 0)
  expect(take(one)).toBe(0)
  expect(take(other) > 0).toBe(isShared)
  const allow = createAllowance(1, () => 0)
  allow(one, 1)
  expect(outcomeOf(() => allow(other, 1)) !== 'allowed').toBe(isShared)
})

test('a refusal says when the address may insert again', () => {
  let now = 1_000
  const allow = createAllowance(3, () => now)
  for (let row = 0; row < 3; row += 1) expect(outcomeOf(() => allow('a', 1))).toBe('allowed')
  now += 5_000
  expect(outcomeOf(() => allow('a', 1))).toMatchObject({ status: 429, retryAfter: 15 })
  expect(outcomeOf(() => allow('b', 1))).toBe('allowed')
  now += 15_000
  expect(outcomeOf(() => allow('a', 1))).toBe('allowed')
})

test('a refusal says when the address may send a wrong token again, and does not affect other addresses', () => {
  let now = 0
  const count = createWrongTokenLimit(() => now)
  const results = Array.from({ length: 31 }, () => outcomeOf(() => count('a')))
  expect(results.slice(0, 30)).toEqual(Array<string>(30).fill('allowed'))
  expect(results[30]).toMatchObject({
    status: 429,
    retryAfter: 10,
    message: 'Too many wrong links came from your connection. Please wait 10 seconds and try again.',
  })
  expect(outcomeOf(() => count('b'))).toBe('allowed')
  now += 10_000
  expect(outcomeOf(() => count('a'))).toBe('allowed')
})

test('setting the clock forward or back does not change a limit', () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  try {
    const allow = createAllowance(1)
    allow('a', 1)
    for (const hours of [1, -1]) {
      vi.setSystemTime(Date.now() + hours * 3_600_000)
      expect(outcomeOf(() => allow('a', 1))).toMatchObject({ status: 429, retryAfter: 60 })
    }
  } finally {
    vi.useRealTimers()
  }
})

// break: array-counts-as-one
test('each row of an array counts against the limit', () => {
  const allow = createAllowance(3, () => 0)
  expect(outcomeOf(() => allow('a', 2))).toBe('allowed')
  expect(outcomeOf(() => allow('a', 2))).toMatchObject({ status: 429, retryAfter: 20 })
  expect(outcomeOf(() => allow('b', 4))).toMatchObject({ status: 429, retryAfter: 60 })
})

test('a limit of 0 allows everything', () => {
  expect(outcomeOf(() => createAllowance(0)('a', 1_000_000))).toBe('allowed')
})

test('beyond a maximum of addresses, a limiter forgets the least recently seen ones', () => {
  const take = createLimiter(1, 1, () => 0)
  take('first')
  for (let address = 0; address < 19_999; address += 1) take(String(address))
  take('one more')
  expect(take('19998')).toBeGreaterThan(0)
  expect(take('first')).toBe(0)
})
