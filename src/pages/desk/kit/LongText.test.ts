import { expect, test } from 'vitest'

import { shortOf } from './format.ts'
import { pieceLength, piecesOf } from './LongText.tsx'

test('a text of usual length is one piece', () => {
  for (const text of ['', 'To think.', 'A line.\n'.repeat(40), 'To think. '.repeat(300)]) {
    expect(piecesOf(text)).toEqual([text])
  }
})

test.each([
  ['a word', 'x'.repeat(100_000)],
  ['two scripts', 'xع'.repeat(50_000)],
  ['characters outside the first Unicode plane', `x${'😀'.repeat(50_000)}`],
  ['line ends', '\n'.repeat(100_000)],
  ['words', 'To think. '.repeat(10_000)],
])('a longer text is cut into bounded pieces and keeps every character: %s', (_name, text) => {
  const pieces = piecesOf(text)
  expect(pieces.join('')).toBe(text)
  expect(Math.max(...pieces.map((piece) => Array.from(piece).length))).toBeLessThanOrEqual(pieceLength * 1.2)
  expect(Math.max(...pieces.map((piece) => piece.split('\n').length))).toBeLessThanOrEqual(150)
  expect(pieces.filter((piece) => /^[\udc00-\udfff]|[\ud800-\udbff]$/.test(piece))).toEqual([])
})

test('a usual name is unchanged; excess length, excess combining marks and direction marks are removed', () => {
  for (const name of ['Émile Zola', 'עדה', 'Ngọc Trâm Nguyễn', 'x'.repeat(120)])
    expect(shortOf(name)).toBe(name)
  expect(shortOf('\u202eadA\u2066')).toBe('adA')
  expect(shortOf('x'.repeat(10_000))).toBe(`${'x'.repeat(120)}…`)
  expect(shortOf(`a${'\u0301'.repeat(10_000)}`)).toBe(`a${'\u0301'.repeat(8)}…`)
})
