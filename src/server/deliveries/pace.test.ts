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

test('without a limit any number of tries may begin', () => {
  const pace = createPace(0)
  pace.take(1_000_000)
  expect(pace.free()).toBe(Number.POSITIVE_INFINITY)
})
