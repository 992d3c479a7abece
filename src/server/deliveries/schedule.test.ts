import { expect, test } from 'vitest'

import { nextAttempt } from './schedule.ts'

const hour = 3_600_000
const noJitter = () => 0

test('tries follow the schedule of Standard Webhooks, then end', () => {
  const next = Array.from({ length: 10 }, (_, index) => nextAttempt(index + 1, 0, undefined, noJitter))
  expect(next.map((attempt) => attempt?.pause)).toEqual([
    5_000,
    300_000,
    1_800_000,
    2 * hour,
    5 * hour,
    10 * hour,
    14 * hour,
    20 * hour,
    24 * hour,
    undefined,
  ])
  expect(next.slice(0, 9).every((attempt) => attempt?.counts)).toBe(true)
})

test('jitter adds up to a tenth to a pause, which spreads deliveries that failed together', () => {
  expect(nextAttempt(1, 0, undefined, () => 1)).toEqual({ pause: 5_500, counts: true })
})

test('the receiver may request a longer wait, but no more than a day', () => {
  expect(nextAttempt(1, 0, 60_000)).toEqual({ pause: 60_000, counts: true })
  expect(nextAttempt(1, 0, 100 * hour)).toEqual({ pause: 24 * hour, counts: true })
  expect(nextAttempt(10, 0, 60_000)).toBeNull()
})

test('the receiver may request an earlier retry; the failed try then does not count, unless the schedule would have ended', () => {
  expect(nextAttempt(2, 0, 60_000)).toEqual({ pause: 60_000, counts: false })
  expect(nextAttempt(2, 0, 1)).toEqual({ pause: 1_000, counts: false })
  expect(nextAttempt(2, 76 * hour, 60_000)).toEqual({ pause: 60_000, counts: true })
  // If the clock was set back, the age is unknown, so the try counts.
  expect(nextAttempt(2, -hour, 60_000)).toEqual({ pause: 60_000, counts: true })
})
