import { expect, test } from 'vitest'

import { freeSentence, remindedSentences } from './places.ts'

test.each([
  [null, null, 'Nobody has said how many places there are.'],
  [30, 9, '9 of 30 places are free.'],
  [30, 1, '1 of 30 places is free.'],
  [1, 0, '0 of 1 place are free.'],
  [30, -3, '0 of 30 places are free: 3 more are accepted than there are places.'],
  [30, -1, '0 of 30 places are free: 1 more is accepted than there are places.'],
])('of %j places %j are free, which is said: %s', (places, free, sentence) => {
  expect(freeSentence({ places, free })).toBe(sentence)
})

test('what became of reminding is said of those that there are', () => {
  const none = { drafted: 0, late: 0, waiting: 0, reminded: 0, more: false }
  expect(remindedSentences(none)).toEqual(['No reminder was drafted.'])
  expect(remindedSentences({ drafted: 1_000, late: 2, waiting: 1, reminded: 3, more: true })).toEqual([
    '1,000 reminders drafted. Nothing has left.',
    '2 are late: move “Kept until” at their application before it is sent.',
    '1 has one already that did not leave yet.',
    '3 were sent one in the last three days.',
    'There are more than were drafted at once: press Remind again for the rest.',
  ])
})
