import { expect, test } from 'vitest'

import { nextPause } from './schedule.ts'

const hour = 3_600_000

test('tries follow each other on the schedule of Standard Webhooks, then end', () => {
  const pauses = Array.from({ length: 10 }, (_, index) => nextPause(index + 1, 0, () => 0))
  expect(pauses).toEqual([
    5_000,
    300_000,
    1_800_000,
    2 * hour,
    5 * hour,
    10 * hour,
    14 * hour,
    20 * hour,
    24 * hour,
    null,
  ])
})

test('deliveries that failed together are spread', () => {
  expect(nextPause(1, 0, () => 1)).toBe(5_500)
})

test('the receiver may ask for more time, but not for more than a day', () => {
  expect(nextPause(1, 60_000, () => 0)).toBe(60_000)
  expect(nextPause(2, 60_000, () => 0)).toBe(300_000)
  expect(nextPause(1, 100 * hour, () => 0)).toBe(24 * hour)
  expect(nextPause(10, 60_000)).toBeNull()
})
