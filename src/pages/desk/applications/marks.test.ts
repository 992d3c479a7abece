import { expect, test } from 'vitest'

import { initialsOf } from './marks.ts'

test.each([
  ['Ada', 'AD'],
  ['Ada Lovelace', 'AL'],
  ['ada king-lovelace', 'AL'],
  ['Ada Augusta King', 'AK'],
  ['ada@example.org', 'AD'],
  ['ada.lovelace@example.org', 'AL'],
  ['ada_l+desk@example.org', 'AD'],
  ['Ü', 'Ü'],
  ['王小明', '王小'],
  ['🌲🏕', '🌲🏕'],
  ['-', '-'],
])('the initials of %s are %s', (author, initials) => {
  expect(initialsOf(author)).toBe(initials)
})
