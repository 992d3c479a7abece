import { expect, test } from 'vitest'

import { addressFrom, sourceOf } from './source.ts'

test.each([
  ['newsletter', 'newsletter'],
  ['  Our Newsletter, March ', 'our-newsletter-march'],
  ['Café_2', 'cafe_2'],
  ['#!', ''],
  ['日本', ''],
  ['x'.repeat(50), 'x'.repeat(40)],
  [`${'x'.repeat(39)} y`, 'x'.repeat(39)],
])('%j is counted as %j', (text, source) => {
  expect(sourceOf(text)).toBe(source)
  // The database accepts no other words.
  expect(source).toMatch(/^[a-z0-9_-]{0,40}$/)
})

test('the address has the source only if there is one', () => {
  expect(addressFrom('https://a.example/', '')).toBe('https://a.example/')
  expect(addressFrom('https://a.example/', 'x')).toBe('https://a.example/?from=x')
})
