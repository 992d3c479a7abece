import { expect, test } from 'vitest'

import { wrap } from './wrap.ts'

test.each([
  ['words stay whole', 'to think without a screen', ['to think', 'without a', 'screen']],
  [
    'two words that together need eleven columns are put on two rows',
    'just enough away',
    ['just', 'enough', 'away'],
  ],
  ['a word may fill a row', '0123456789 0123456789', ['0123456789', '0123456789']],
  ['a word that fills a row stays whole', 'ab 0123456789', ['ab', '0123456789']],
  ['a word with many spaces after it stays whole', 'ab 01234567   x', ['ab', '01234567', 'x']],
  ['a long word is broken', 'see https://example.com/a/b', ['see https:', '//example.', 'com/a/b']],
  ['the spaces before a list item stay', '  - one two three', ['  - one', 'two three']],
  ['spaces between words stay', 'one   two', ['one   two']],
  ['spaces at the end of a row are removed', 'to think   without   ', ['to think', 'without']],
  ['many spaces make no further rows', `a${' '.repeat(40)}b`, ['a', 'b']],
  [
    'many spaces after a long word make no further rows',
    `0123456789abcdefghij${' '.repeat(40)}k`,
    ['0123456789', 'abcdefghij', 'k'],
  ],
  ['an empty line is a row', '', ['']],
  ['a Chinese character takes two columns', '我们需要离开屏幕', ['我们需要离', '开屏幕']],
  ['an odd last column stays empty', 'a我们需要离开', ['a我们需要', '离开']],
  ['a full-width Latin letter takes two columns', 'ＡＢＣＤＥＦ', ['ＡＢＣＤＥ', 'Ｆ']],
  ['Korean is wrapped between words', '화면에서 떠나', ['화면에서', '떠나']],
  [
    'decomposed Korean is wrapped between words',
    '화면에서 떠나'.normalize('NFD'),
    ['화면에서', '떠나'].map((row) => row.normalize('NFD')),
  ],
  ['accents take no column', 'e\u0301'.repeat(11), ['e\u0301'.repeat(10), 'e\u0301']],
  ['Thai keeps its vowels with their letters', 'ที่นี่ไม่มีใครจำความเงียบ', ['ที่นี่ไม่มีใครจำ', 'ความเงียบ']],
  ['emoji take two columns', '🎉🎉🎉🎉🎉🎉', ['🎉🎉🎉🎉🎉', '🎉']],
  ['an emoji of a family stays together', '👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧', ['👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧', '👨‍👩‍👧']],
  ['a flag stays together', '🇩🇪🇫🇷🇮🇹🇪🇸🇵🇹🇵🇱', ['🇩🇪🇫🇷🇮🇹🇪🇸🇵🇹', '🇵🇱']],
  ['a symbol shown as an emoji takes two columns', '❤️❤️❤️❤️❤️❤️', ['❤️❤️❤️❤️❤️', '❤️']],
  ['a soft hyphen takes one column among Latin letters', '01234\u00ad67890', ['01234\u00ad6789', '0']],
  ['invisible characters take no column', `one${'\u200b'.repeat(20)} two`, [`one${'\u200b'.repeat(20)} two`]],
])('wrapped at ten columns, %s', (_, line, rows) => {
  expect(wrap(line, 10)).toEqual(rows)
})
