import { expect, test } from 'vitest'

import { paragraphsOf } from './paragraphs.ts'

const link = 'https://example.org/answer/#6f2f2f0e-1f1c-4a7e-9a55-0f5d7d5c9a11'
const words = 'Answer'
const button = { link, button: words }

test.each([
  ['an address at the end of a paragraph', `You can say so here: ${link}`, 'You can say so here:'],
  ['an address on a line of its own', `Here:\n${link}.`, 'Here:'],
  ['an address alone', link, ''],
])('%s leaves the text, and becomes a button below it', (_what, paragraph, text) => {
  expect(paragraphsOf(`Hello,\n\n${paragraph}\n\nBye`, link, words)).toEqual([
    { text: 'Hello,' },
    { text, ...button },
    { text: 'Bye' },
  ])
})

test('without words for a button, the address itself stands below the text', () => {
  expect(paragraphsOf(`Here: ${link}`, link, null)).toEqual([{ text: 'Here:', link }])
})

test('the lines after the address follow the button', () => {
  expect(paragraphsOf(`Here: ${link}.\nOr reply.\nBye`, link, words)).toEqual([
    { text: 'Here:', ...button },
    { text: 'Or reply.\nBye' },
  ])
})

test('a sentence that goes on after the address keeps it', () => {
  const text = `Answer (${link}) before Friday.`
  expect(paragraphsOf(text, link, words)).toEqual([{ text, ...button }])
})

test('only the first paragraph with the address has a button', () => {
  expect(paragraphsOf(`Here: ${link}\n\nAgain: ${link}`, link, words)).toEqual([
    { text: 'Here:', ...button },
    { text: `Again: ${link}` },
  ])
})

test('a text without the address has no button', () => {
  const text = 'https://elsewhere.example/?a&b'
  expect([paragraphsOf(text, '', words), paragraphsOf(text, link, words)]).toEqual([[{ text }], [{ text }]])
})
