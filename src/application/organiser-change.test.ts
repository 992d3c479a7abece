import { expect, test } from 'vitest'

import { organiserChangeWords, type OrganiserChange } from './organiser-change.ts'

const organiser = 'ada@example.org'

test.each<[string, OrganiserChange]>([
  ['ada@example.org was invited, and may do everything', { organiser, is_reader: false, invited: 'a1' }],
  [
    'ada@example.org was invited, and may read, mark and write notes',
    { organiser, is_reader: true, invited: 'a1' },
  ],
  ['ada@example.org may do everything', { organiser, is_reader: false }],
  ['ada@example.org may read, mark and write notes', { organiser, is_reader: true }],
  ['ada@example.org was removed', { organiser, is_removed: true }],
])('the history says who was invited, removed, or has other rights: %s', (words, change) => {
  expect(organiserChangeWords(change)).toBe(words)
})
