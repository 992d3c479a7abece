import { expect, test } from 'vitest'

import { wrap } from './wrap.ts'

test.each([
  ['words stay whole', 'to think without a screen', ['to think', 'without a', 'screen']],
  ['a row may be filled', 'just enough away', ['just', 'enough', 'away']],
  ['a row of all columns', '0123456789 0123456789', ['0123456789', '0123456789']],
  ['a word that fills a row stays whole', 'ab 0123456789', ['ab', '0123456789']],
  ['so does one with many blanks behind it', 'ab 01234567   x', ['ab', '01234567', 'x']],
  ['a long word is broken', 'see https://example.com/a/b', ['see https:', '//example.', 'com/a/b']],
  ['the blanks of a list stay', '  - one two three', ['  - one', 'two three']],
  ['blanks between words stay', 'one   two', ['one   two']],
  ['blanks at an end go', 'to think   without   ', ['to think', 'without']],
  ['many blanks are not many rows', `a${' '.repeat(40)}b`, ['a', 'b']],
  [
    'nor are those after a long word',
    `0123456789abcdefghij${' '.repeat(40)}k`,
    ['0123456789', 'abcdefghij', 'k'],
  ],
  ['an empty line is a row', '', ['']],
  ['Chinese takes two columns', '我们需要离开屏幕', ['我们需要离', '开屏幕']],
  ['an odd column is left', 'a我们需要离开', ['a我们需要', '离开']],
  ['full-width Latin, too', 'ＡＢＣＤＥＦ', ['ＡＢＣＤＥ', 'Ｆ']],
  ['Korean is words', '화면에서 떠나', ['화면에서', '떠나']],
  [
    'Korean in parts, too',
    '화면에서 떠나'.normalize('NFD'),
    ['화면에서', '떠나'].map((row) => row.normalize('NFD')),
  ],
  ['accents take none', 'e\u0301'.repeat(11), ['e\u0301'.repeat(10), 'e\u0301']],
  ['Thai keeps its vowels with their letters', 'ที่นี่ไม่มีใครจำความเงียบ', ['ที่นี่ไม่มีใครจำ', 'ความเงียบ']],
  ['emoji take two', '🎉🎉🎉🎉🎉🎉', ['🎉🎉🎉🎉🎉', '🎉']],
  ['families stay together', '👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧', ['👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧', '👨‍👩‍👧']],
  ['so do flags', '🇩🇪🇫🇷🇮🇹🇪🇸🇵🇹🇵🇱', ['🇩🇪🇫🇷🇮🇹🇪🇸🇵🇹', '🇵🇱']],
  ['a sign made an emoji takes two', '❤️❤️❤️❤️❤️❤️', ['❤️❤️❤️❤️❤️', '❤️']],
  ['a soft hyphen takes one among Latin letters', '01234\u00ad67890', ['01234\u00ad6789', '0']],
  ['what is not seen takes none', `one${'\u200b'.repeat(20)} two`, [`one${'\u200b'.repeat(20)} two`]],
])('wrapped at ten columns, %s', (_, line, rows) => {
  expect(wrap(line, 10)).toEqual(rows)
})
