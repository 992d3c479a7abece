import { expect, test, vi } from 'vitest'

import { createRepeats } from './repeats.ts'

test('what repeats is only counted, until a minute or the counter ends', () => {
  vi.useFakeTimers()
  const counts: number[] = []
  const repeats = createRepeats()
  const isRepeated = (key: string) => repeats.isRepeated(key, (count) => counts.push(count))
  expect([isRepeated('one'), isRepeated('one'), isRepeated('other'), isRepeated('one')]).toEqual([
    false,
    true,
    false,
    true,
  ])
  vi.advanceTimersByTime(60_000)
  // Nothing is said about what did not repeat.
  expect(counts).toEqual([2])
  expect([isRepeated('one'), isRepeated('one')]).toEqual([false, true])
  repeats.end()
  expect(counts).toEqual([2, 1])
  vi.useRealTimers()
})

test('more keys than are counted do not count as repeated', () => {
  const repeats = createRepeats(1)
  expect(['one', 'other', 'other', 'one'].map((key) => repeats.isRepeated(key, () => {}))).toEqual([
    false,
    false,
    false,
    true,
  ])
  repeats.end()
})
