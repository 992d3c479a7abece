import { expect, test } from 'vitest'

import { codeOf, withAsciiDigits } from './digits.ts'

test.each([
  ['wide', '０１２３４５６７８９'],
  ['Arabic', '٠١٢٣٤٥٦٧٨٩'],
  ['Persian', '۰۱۲۳۴۵۶۷۸۹'],
  ['Devanagari', '०१२३४५६७८९'],
  ['Bengali', '০১২৩৪৫৬৭৮৯'],
  ['Thai', '๐๑๒๓๔๕๖๗๘๙'],
  ['bold', '𝟎𝟏𝟐𝟑𝟒𝟓𝟔𝟕𝟖𝟗'],
  ['Adlam', '𞥐𞥑𞥒𞥓𞥔𞥕𞥖𞥗𞥘𞥙'],
  ['ASCII', '0123456789'],
])('%s digits are read as 0 to 9', (_, digits) => {
  expect(withAsciiDigits(digits)).toBe('0123456789')
})

test.each([
  '１２３４５６',
  ' 123 456\n',
  '123\u00a0456',
  '123\u200b456',
  '123-456',
  '123–456',
  '\u202d123456\u202c',
  '١٢٣٤٥٦',
])('the code %j is 123456', (typed) => {
  expect(codeOf(typed)).toBe('123456')
})

test('other characters of a code stay, so that it is refused', () => {
  expect(codeOf('12345x')).toBe('12345x')
})
