import { expect, test } from 'vitest'

import { daysOf } from './ApplicationPlots.tsx'

test('days without applications are filled in, across a month end, a leap day and a clock change', () => {
  expect(daysOf({ '2028-03-01': 2, '2028-02-27': 1 })).toEqual([
    { day: '2028-02-27', count: 1 },
    { day: '2028-02-28', count: 0 },
    { day: '2028-02-29', count: 0 },
    { day: '2028-03-01', count: 2 },
  ])
  expect(daysOf({ '2026-10-24': 1, '2026-10-26': 3 }).map(({ count }) => count)).toEqual([1, 0, 3])
})

test('at most the last thirty days are shown', () => {
  const days = daysOf({ '2020-01-01': 5, '2026-11-22': 3 })
  expect(days).toHaveLength(30)
  expect(days.at(0)).toEqual({ day: '2026-10-24', count: 0 })
  expect(days.at(-1)).toEqual({ day: '2026-11-22', count: 3 })
})

test('one day gives one bar, and no days give no bars', () => {
  expect(daysOf({ '2026-11-22': 3 })).toEqual([{ day: '2026-11-22', count: 3 }])
  expect(daysOf({})).toEqual([])
})
