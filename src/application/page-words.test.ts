import { expect, test } from 'vitest'

import { factsOf, linked, paragraphsOf } from './page-words.ts'

test('a page without words has no facts', () => {
  expect(factsOf({})).toEqual([])
})

test('facts are in the order in which a founder asks for them', () => {
  const words = {
    hear_back: 'by 1 March',
    cost: 'Free',
    starts_on: '2027-06-12',
    ends_on: '2027-06-15',
    venue: 'Hof Sonnenau',
    closes_on: '2027-05-01',
  }
  expect(factsOf(words)).toEqual([
    { name: 'When', value: '12–15 June 2027' },
    { name: 'Where', value: 'Hof Sonnenau' },
    { name: 'Cost', value: 'Free' },
    { name: 'Apply by', value: '1 May 2027' },
    { name: 'You hear back', value: 'by 1 March' },
  ])
})

test('a closing that is not at midnight has its time and zone', () => {
  const [closing] = factsOf({ closes_on: '2027-05-01', closes_at: '18:00', zone: 'America/New_York' })
  expect(closing?.value).toBe('1 May 2027, 18:00 (America/New York)')
})

const link = (text: string, href = text) => ({ href, text })

test.each([
  ['See https://example.org/a?b=1#c.', ['See ', link('https://example.org/a?b=1#c'), '.']],
  ['(http://example.org)', ['(', link('http://example.org'), ')']],
  [
    'Write to a.b+c@example.co.uk, please',
    ['Write to ', link('a.b+c@example.co.uk', 'mailto:a.b+c@example.co.uk'), ', please'],
  ],
  ['ada@bücher.example', [link('ada@bücher.example', 'mailto:ada@bücher.example')]],
  ['javascript:alert(1) data:text/html,x', ['javascript:alert(1) data:text/html,x']],
  ['https:// and @example and a@b', ['https:// and @example and a@b']],
  ['"https://example.org/"onclick="alert(1)"', ['"', link('https://example.org/'), '"onclick="alert(1)"']],
])('the addresses of %s become links, and nothing else', (text, parts) => {
  expect(linked(text)).toEqual(parts)
})

test('a long text without an address is split in a moment', () => {
  const text = '@'.repeat(1_000) + 'a.'.repeat(500) + 'https:'.repeat(100)
  expect(linked(text)).toEqual([text])
})

test('paragraphs are between blank lines, and keep their own lines', () => {
  expect(paragraphsOf('One.\n \n\nTwo\nlines.\n\n')).toEqual(['One.', 'Two\nlines.'])
})
