import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'

import { Door } from './Door.tsx'

const render = (sentence: string) => renderToStaticMarkup(<Door sentence={sentence} />)

test('the default sentence is not shown, since the heading says the same', () => {
  expect(render('Applications are closed.')).toBe('<div class="door"><h2>Applications are closed</h2></div>')
})

test.each([
  ['Write to hello@example.org.', 'Write to <a href="mailto:hello@example.org">hello@example.org</a>.'],
  [
    'See (https://example.org/a?b=1), or http://example.org/next/!',
    'See (<a href="https://example.org/a?b=1">https://example.org/a?b=1</a>), or <a href="http://example.org/next/">http://example.org/next/</a>!',
  ],
  ['אתר: https://example.org/חופש.', 'אתר: <a href="https://example.org/חופש">https://example.org/חופש</a>.'],
  ['<a href="javascript:alert(1)">', '&lt;a href=&quot;javascript:alert(1)&quot;&gt;'],
  ['javascript:alert(1) data:text/html,x', 'javascript:alert(1) data:text/html,x'],
  ['https:// and https://[ and @example', 'https:// and https://[ and @example'],
  // A direction mark would make the address look like another one.
  ['https://example.org/\u202Egnp', '<a href="https://example.org/">https://example.org/</a>\u202Egnp'],
])('addresses in the sentence are links, and everything else is text: %s', (sentence, html) => {
  expect(render(sentence)).toContain(`<p dir="auto">${html}</p>`)
})
