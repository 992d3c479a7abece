import { expect, test } from 'vitest'

import { browserTimeZone } from '../kit/format.ts'
import { freeSentence, placesWordsOf, remindedSentences, retreatWordsOf, zonesWith } from './places.ts'

test.each([
  [null, null, 'The number of places is not set.'],
  [30, 9, '9 of 30 places are free.'],
  [30, 1, '1 of 30 places is free.'],
  [1, 0, '0 of 1 place are free.'],
  [30, -3, '0 of 30 places are free. The retreat is overbooked by 3.'],
  [null, 9, 'The number of places is not set.'],
  [30, null, 'The number of places is not set.'],
  [30, -1, '0 of 30 places are free. The retreat is overbooked by 1.'],
])('with %j seats, %j free: %s', (places, free, sentence) => {
  expect(freeSentence({ places, free })).toBe(sentence)
})

test('the result of drafting reminders omits numbers that are zero', () => {
  const none = { drafted: 0, questions: 0, late: 0, waiting: 0, reminded: 0, more: false }
  expect(remindedSentences(none)).toEqual(['No reminder was drafted.'])
  expect(
    remindedSentences({ drafted: 1_000, questions: 0, late: 2, waiting: 1, reminded: 3, more: true }),
  ).toEqual([
    '1,000 reminders drafted. Nothing has been sent.',
    '2 are late: move the deadline in their application before you send it.',
    '1 already has a reminder that has not been sent.',
    '3 were sent one in the last three days.',
    'Not all reminders were drafted. Draft reminders again for the rest.',
  ])
})

test('the result of drafting reminders uses the singular for one', () => {
  expect(
    remindedSentences({ drafted: 1, questions: 0, late: 1, waiting: 2, reminded: 1, more: false }),
  ).toEqual([
    '1 reminder drafted. Nothing has been sent.',
    '1 is late: move the deadline in their application before you send it.',
    '2 already have a reminder that has not been sent.',
    '1 was sent one in the last three days.',
  ])
})

test('the result of drafting reminders says how many are about questions', () => {
  const outcome = { drafted: 3, late: 0, waiting: 0, reminded: 0, more: false }
  expect(remindedSentences({ ...outcome, questions: 2 })).toEqual([
    '3 reminders drafted. Nothing has been sent.',
    '2 are about questions.',
  ])
  expect(remindedSentences({ ...outcome, questions: 1 })).toContain('1 is about questions.')
  expect(remindedSentences({ ...outcome, questions: 0 })).toHaveLength(1)
})

test('the settings in words include the days to answer, and the time zone if given', () => {
  expect(placesWordsOf({ places: null, days: 1 })).toBe('Number of places not set, 1 day to answer')
  expect(placesWordsOf({ places: 30, days: 14 })).toBe('30 places, 14 days to answer')
  expect(placesWordsOf({ places: 30, days: 14, zone: 'America/New_York' })).toBe(
    '30 places, 14 days to answer, time zone America/New York',
  )
})

test.each([
  [{ starts_on: '2027-03-12', ends_on: '2027-03-12', venue: 'Hof' }, 'The retreat: 12 March 2027, Hof'],
  [{ starts_on: '2027-03-12', ends_on: '2027-03-12', venue: '' }, 'The retreat: 12 March 2027'],
  [{ starts_on: null, ends_on: null, venue: 'Hof' }, 'The retreat: days not set, Hof'],
  [{}, 'The retreat: days not set'],
  [{ starts_on: '2027-03-12' }, 'The retreat: days not set'],
])('the days of the retreat and its venue in words: %j', (retreat, words) => {
  expect(retreatWordsOf(retreat)).toBe(words)
})

test('the time zones include the saved one, even if the browser does not know it', () => {
  const zones = zonesWith('Mars/Olympus_Mons')
  for (const shown of [
    ['Mars/Olympus_Mons', 'Mars/Olympus Mons'],
    ['Europe/Berlin', 'Europe/Berlin'],
    ['UTC', 'UTC'],
  ])
    expect(zones).toContainEqual(shown)
  expect(new Set(zones.map(([name]) => name)).size).toBe(zones.length)
})

test('the browser’s own time zone is the first, and the others are sorted', () => {
  const [own, ...others] = zonesWith('Europe/Berlin').map(([name]) => name)
  expect(own).toBe(browserTimeZone())
  expect(others.length).toBeGreaterThan(100)
  expect(others).toEqual(others.toSorted())
})
