import { expect, test } from 'vitest'

import { countOf } from './count.ts'

test('a number is followed by its noun, in the singular or plural, and has separators', () => {
  expect([countOf(0, 'letter'), countOf(1, 'letter'), countOf(1200, 'delivery', 'deliveries')]).toEqual([
    '0 letters',
    '1 letter',
    '1,200 deliveries',
  ])
})
