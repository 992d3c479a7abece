import { expect, test, vi } from 'vitest'

import { createAllowance } from './limits.ts'

const status = (take: () => void) => {
  try {
    take()
    return 'allowed'
  } catch (error) {
    return error
  }
}

test('an address may insert so many rows a minute, and is told when it may go on', () => {
  let now = 1_000
  const allow = createAllowance(3, () => now)
  for (let row = 0; row < 3; row += 1) expect(status(() => allow('a', 1))).toBe('allowed')
  now += 20_000
  expect(status(() => allow('a', 1))).toMatchObject({ status: 429, retryAfter: 40 })
  expect(status(() => allow('b', 1))).toBe('allowed')
  now += 40_000
  expect(status(() => allow('a', 1))).toBe('allowed')
})

test('a clock that is set forward or back changes nothing', () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  try {
    const allow = createAllowance(1)
    allow('a', 1)
    for (const hours of [1, -1]) {
      vi.setSystemTime(Date.now() + hours * 3_600_000)
      expect(status(() => allow('a', 1))).toMatchObject({ status: 429, retryAfter: 60 })
    }
  } finally {
    vi.useRealTimers()
  }
})

test('an array counts its rows', () => {
  const allow = createAllowance(3)
  expect(status(() => allow('a', 2))).toBe('allowed')
  expect(status(() => allow('a', 2))).toMatchObject({ status: 429 })
  expect(status(() => allow('b', 4))).toMatchObject({ status: 429 })
})

test('without a limit everything is allowed', () => {
  expect(status(() => createAllowance(0)('a', 1_000_000))).toBe('allowed')
})

test('addresses are forgotten, the oldest first, before they fill the memory', () => {
  let now = 0
  const allow = createAllowance(1, () => now)
  allow('first', 1)
  for (let address = 0; address < 19_999; address += 1) allow(String(address), 1)
  expect(status(() => allow('first', 1))).toMatchObject({ status: 429 })
  now = 1
  allow('one more', 1)
  expect(status(() => allow('19998', 1))).toMatchObject({ status: 429 })
  expect(status(() => allow('first', 1))).toBe('allowed')
})
