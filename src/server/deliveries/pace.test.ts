import { expect, test, vi } from 'vitest'

import { createFailureLog } from './failure-log.ts'
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

test('equal failures are logged once and then counted, until a minute or the log is over', () => {
  vi.useFakeTimers()
  const lines: [object, string][] = []
  const failures = createFailureLog({ warn: (...line) => lines.push(line) })
  for (let index = 0; index < 1_000; index += 1)
    failures.add({ attempt: 1, status: 500, webhookId: String(index) })
  failures.add({ attempt: 1, status: null })
  const first = [
    [{ attempt: 1, status: 500, webhookId: '0' }, 'webhook failed; it will be tried again'],
    [{ attempt: 1, status: null }, 'webhook failed; it will be tried again'],
  ]
  expect(lines).toEqual(first)
  vi.advanceTimersByTime(60_000)
  const counted = [{ attempt: 1, status: 500, count: 999 }, 'more webhooks failed; they will be tried again']
  expect(lines).toEqual([...first, counted])
  failures.add({ attempt: 1, status: 500 })
  failures.add({ attempt: 1, status: 500 })
  failures.end()
  expect(lines.slice(3)).toMatchObject([
    [{ attempt: 1 }, expect.anything()],
    [{ count: 1 }, counted[1]],
  ])
  vi.useRealTimers()
})
