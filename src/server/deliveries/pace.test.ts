import { expect, test } from 'vitest'

import { createPace } from './pace.ts'

test.each([
  [600, 600],
  [90, 90],
  [20, 20],
])(
  'a limit of %i tries a minute lets %i begin in a minute of polls, after a burst',
  (perMinute, expected) => {
    let now = 0
    const pace = createPace(perMinute, () => now)
    const begun = { all: 0, first: pace.free() }
    pace.take(begun.first)
    for (let second = 1; second <= 60; second += 1) {
      now = second * 1000
      const free = pace.free()
      begun.all += free
      pace.take(free)
    }
    expect(begun).toEqual({ all: expected, first: Math.max(Math.floor(perMinute / 30), 1) })
  },
)

test('failed tries slow the pace down to one a second, and deliveries restore it', () => {
  let now = 0
  const pace = createPace(3_000, () => now)
  /** The tries of the next minute, of polls each second. */
  const triesOfAMinute = () => {
    const until = now + 60_000
    let tries = 0
    for (; now < until; now += 1_000) {
      const free = pace.free()
      tries += free
      pace.take(free)
    }
    return tries
  }
  pace.record(false)
  expect(triesOfAMinute()).toBeLessThanOrEqual(1_600)
  for (let failed = 0; failed < 20; failed += 1) pace.record(false)
  expect(triesOfAMinute()).toBe(60)
  pace.record(true)
  expect(triesOfAMinute()).toBe(120)
  for (let delivered = 0; delivered < 20; delivered += 1) pace.record(true)
  expect(triesOfAMinute()).toBe(3_000)
  // A limit below one a second stays.
  const slow = createPace(20, () => now)
  slow.take(1)
  slow.record(false)
  now += 3_000
  expect(slow.free()).toBe(1)
})

test('without a limit any number of tries may begin', () => {
  const pace = createPace(0)
  pace.take(1_000_000)
  expect(pace.free()).toBe(Number.POSITIVE_INFINITY)
})
