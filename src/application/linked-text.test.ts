import { expect, test } from 'vitest'

import { linked, paragraphsOf } from './linked-text.ts'

const link = (text: string, href = text) => ({ href, text })

// break: any-scheme-linked
test.each([
  ['See https://example.org/a?b=1#c.', ['See ', link('https://example.org/a?b=1#c'), '.']],
  ['(http://example.org)', ['(', link('http://example.org'), ')']],
  [
    'Write to a.b+c@example.co.uk, please',
    ['Write to ', link('a.b+c@example.co.uk', 'mailto:a.b+c@example.co.uk'), ', please'],
  ],
  ['ada@bücher.example', [link('ada@bücher.example', 'mailto:ada@bücher.example')]],
  ['javascript:alert(1) data:text/html,x', ['javascript:alert(1) data:text/html,x']],
  ['javascript://example.org/%0aalert(1)', ['javascript://example.org/%0aalert(1)']],
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
  expect(paragraphsOf('  One.\n\nTwo. \n')).toEqual(['One.', 'Two.'])
})
