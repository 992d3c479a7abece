import { expect, test } from 'vitest'

import { darken } from '../../design/accent.ts'
import { contrast } from '../../design/contrast.ts'
import { renderMail } from './layout.tsx'

const values = {
  title: 'VALUE',
  text: 'VALUE',
  code: 'VALUE',
  link: 'https://example.org/VALUE',
  button: 'VALUE',
  why: 'VALUE',
}

const render = ({ title, why, ...paragraph }: typeof values, accent?: string) =>
  renderMail({ paragraphs: [paragraph], lang: '', why: { text: why } }, { title, accent })

const hostile = `"><script>alert(1)</script><img src=x onerror='alert(2)'></style>&lt;`
const escaped =
  '&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=&#x27;alert(2)&#x27;&gt;&lt;/style&gt;&amp;lt;'

// break: mail-html-unescaped
// break: mail-title-unescaped
test.each(Object.keys(values) as (keyof typeof values)[])('a hostile %s stays text', (name) => {
  const quiet = { title: '1', text: '2', code: '3', link: 'https://example.org/4', button: '5', why: '6' }
  const expected = render({ ...quiet, [name]: values[name] }).replaceAll('VALUE', () => escaped)
  expect(render({ ...quiet, [name]: values[name].replace('VALUE', hostile) })).toBe(expected)
  expect(expected).toContain(escaped)
})

test('an address of a script is no link', () => {
  expect(render({ ...values, link: 'javascript:alert(1)' })).not.toMatch(/href="javascript:alert\(1\)/)
})

// break: letter-loads-picture
test('an email has one button, the bare address below it, and nothing that is loaded', () => {
  const html = render(values)
  expect(html.match(/href="[^"]*"/g)).toEqual(Array(2).fill(`href="${values.link}"`))
  expect(html).toMatch(/>VALUE<\/a><\/td>.*>https:\/\/example\.org\/VALUE<\/a><\/p>/)
  expect(html).not.toMatch(/<(?!!|\/?(html|head|meta|title|style|body|div|table|tbody|tr|td|h1|p|a|br)\b)/)
  expect(html).not.toMatch(/\b(src|background|srcset)=|url\(|@import/)
})

test('without the style element, each text has its colour and its background', () => {
  const html = render(values).replace(/<style>.*<\/style>/, '')
  const styled = [...html.matchAll(/ class="(\w+)"[^>]* style="([^"]*)"/g)]
  expect(styled).toHaveLength(html.match(/ class=/g)?.length ?? 0)
  for (const [, name, style] of styled) {
    expect([name, style]).toEqual([
      name,
      expect.stringMatching(name === 'page' || name === 'card' ? /background-color:#/ : /(^|;)color:#/),
    ])
  }
})

test.each([undefined, '#7a1f3d', '#4a1f6d', '#000000', darken('#ffe000')])(
  'the words of a button of the accent %s are readable in both schemes',
  (accent) => {
    const buttons = [
      ...render(values, accent).matchAll(/background-color:(#\w{6})(?:!important)?;color:(#\w{6})/g),
    ]
    expect(buttons.length).toBeGreaterThan(2)
    for (const [, background = '', words = ''] of buttons)
      expect(contrast(background, words)).toBeGreaterThanOrEqual(4.5)
  },
)
