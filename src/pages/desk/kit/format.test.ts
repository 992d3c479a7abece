import { afterEach, expect, test, vi } from 'vitest'

import {
  countOf,
  dayOf,
  formatNumber,
  momentOf,
  outOf,
  chartDayOf,
  shortMomentOf,
  shortOf,
  formatCount,
  browserTimeZone,
  today,
} from './format.ts'

afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

/** A moment in the time zone of these tests, in ISO 8601. */
const localMoment = (...parts: [number, number, number, number, number]) => new Date(...parts).toISOString()

test('a moment is shown as a local day and time; a value that cannot be parsed is unchanged', () => {
  expect(momentOf(localMoment(2026, 10, 2, 9, 3))).toBe('2 Nov 2026, 09:03')
  expect(momentOf('infinity')).toBe('infinity')
  expect(browserTimeZone()).toBe(Intl.DateTimeFormat().resolvedOptions().timeZone)
})

test.each([
  ['today', localMoment(2026, 10, 22, 9, 3), '09:03'],
  ['this year', localMoment(2026, 0, 2, 9, 3), '2 Jan'],
  ['another year', localMoment(2025, 10, 22, 9, 3), '22 Nov 2025'],
  ['no valid date', '-infinity', '-infinity'],
])('a moment of %s has a short form', (_when, iso, expected) => {
  expect(shortMomentOf(iso, new Date(2026, 10, 22, 23, 0))).toBe(expected)
})

test('a day has a long form for letters and a short form for charts', () => {
  expect(dayOf('2026-12-31')).toBe('31 December 2026')
  expect(chartDayOf('2026-12-31')).toBe('31 Dec 2026')
})

test('two moments of a day are the same today, and midnight begins another', () => {
  const todayAt = (...parts: [number, number, number, number, number, number?]) => {
    vi.useFakeTimers({ now: new Date(...parts), toFake: ['Date'] })
    return today()
  }
  expect(todayAt(2026, 10, 22, 0, 0)).toBe(todayAt(2026, 10, 22, 23, 59))
  expect(todayAt(2026, 10, 22, 23, 59)).not.toBe(todayAt(2026, 10, 23, 0, 0))
})

test('a format is created only once', () => {
  const createFormat = vi.spyOn(Intl, 'DateTimeFormat')
  momentOf(localMoment(2026, 10, 2, 9, 3))
  momentOf(localMoment(2026, 10, 3, 9, 3))
  expect(createFormat).not.toHaveBeenCalled()
})

test('numbers appear with their nouns', () => {
  expect([0, 1, 1_000].map((count) => countOf(count, 'letter'))).toEqual([
    '0 letters',
    '1 letter',
    '1,000 letters',
  ])
  expect([formatNumber(1_000_000), outOf(100, 1_000)]).toEqual(['1,000,000', '100 of 1,000'])
  expect([formatCount({ count: 1_000, more: true }), formatCount({ count: 7, more: false })]).toEqual([
    '1,000+',
    '7',
  ])
})

test('a name is limited in length and combining marks, and has no direction marks', () => {
  expect(shortOf('x'.repeat(120))).toBe('x'.repeat(120))
  expect(shortOf('x'.repeat(121))).toBe(`${'x'.repeat(120)}…`)
  expect(shortOf(`${'x'.repeat(119)} y`)).toBe(`${'x'.repeat(119)}…`)
  expect(shortOf('a\u202eb\u200fc')).toBe('abc')
  expect(shortOf('\u202e'.repeat(1_200))).toBe('')
  expect(shortOf(`${'\u202e'.repeat(1_200)}x`)).toBe('…')
  expect(shortOf(`e${'\u0301'.repeat(9)}`)).toBe(`e${'\u0301'.repeat(8)}`)
  expect(shortOf(`one\ntwo`)).toBe('one\ntwo')
})
