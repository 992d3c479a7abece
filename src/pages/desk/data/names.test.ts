import { expect, test } from 'vitest'

import { nameOf } from './names.ts'

test('a hidden name is shown as Application, with the beginning of its id', () => {
  const id = '02c90b33-435e-4c36-afa2-cef05d374b03'
  expect(nameOf({ id })).toBe('Application 02c9')
  expect(nameOf({ id, first_name: 'Ada', last_name: 'L' })).toBe('Ada L')
  expect(nameOf({ id, first_name: 'Ada' })).toBe('Ada')
  expect(nameOf({ id, first_name: '\u00a0', name: 'a@b.org' })).toBe('a@b.org')
})
