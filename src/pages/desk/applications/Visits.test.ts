import { expect, test } from 'vitest'

import { daysFromFirstCount } from './Visits.tsx'

const day = (number: number, counts = {}) => ({
  day: `2026-11-0${number}`,
  visits: 0,
  starts: 0,
  applications: 0,
  ...counts,
})

test('the days begin with the first one that has a count, and later days without counts stay', () => {
  for (const counts of [{ visits: 1 }, { starts: 1 }, { applications: 1 }]) {
    const days = [day(1), day(2), day(3, counts), day(4), day(5)]
    expect(daysFromFirstCount(days)).toEqual(days.slice(2))
  }
  expect(daysFromFirstCount([day(1), day(2)])).toEqual([])
})
