import { expect, test } from 'vitest'

import { isUuid } from './uuid.ts'

test('a UUID with hyphens is valid in upper or lower case, and every other format is refused', () => {
  const id = '0f6e2c1a-5b7d-4a3e-9c8f-001122334455'
  expect(isUuid(id)).toBe(true)
  expect(isUuid(id.toUpperCase())).toBe(true)
  for (const text of [
    '',
    'x',
    ` ${id}`,
    `${id}\n`,
    id.replaceAll('-', ''),
    `{${id}}`,
    id.replace('f', 'g'),
  ]) {
    expect(isUuid(text)).toBe(false)
  }
})
