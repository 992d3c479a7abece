import { expect, test } from 'vitest'

import { isBlank, trimmed, withoutBlanks } from './blank.ts'

test('a text of white space, control characters and characters that show nothing is blank', () => {
  for (const text of ['', ' ', '\u00a0', '\u200b', '\u3164', '\u2800', '\t\r\n\u202e\u2066\ufeff']) {
    expect(isBlank(text)).toBe(true)
    expect(trimmed(text)).toBe('')
  }
  for (const text of ['.', 'A', '\u00a0.', '\u200b\nA', '0', '❤️', '王']) expect(isBlank(text)).toBe(false)
})

test('blanks are removed at both ends, and those within stay', () => {
  expect(trimmed('\u00a0\u200bAda\u00a0 Love\u200dlace\u202c\n')).toBe('Ada\u00a0 Love\u200dlace')
  expect(trimmed(`a${' '.repeat(100_000)}b`)).toHaveLength(100_002)
})

test('an emoji keeps its appearance at the end of a text', () => {
  expect(trimmed('Ada ❤️ ')).toBe('Ada ❤️')
})

test('a text can be read without any blank', () => {
  expect(withoutBlanks(' 12\u00a03\u200b4 ')).toBe('1234')
})

test('every character that JavaScript trims is blank', () => {
  const characters = Array.from({ length: 0xffff }, (_, index) => String.fromCharCode(index + 1))
  expect(characters.filter((each) => each.trim() === '' && !isBlank(each))).toEqual([])
})
