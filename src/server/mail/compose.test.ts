import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { seed } from '../../../test/support/quick-or-long.ts'
import { defaultLook } from '../../design/look.ts'
import { compose, isAddress, type Message } from './compose.ts'

const from = { name: 'Unplugged.', address: 'hello@example.org' }
const id = '0b7a1c52-6a4e-4f5b-9a55-0d6a3c1f2e4d'

const createLetter = (changes: Partial<Message> = {}): Message => ({
  id,
  to: 'ada@example.com',
  subject: 'Your place at Unplugged',
  body: 'Hello Ada,\n\nyou are in.',
  replyTo: '',
  why: { text: 'You applied.' },
  ...changes,
})

/**
 * Composes an email. Returns it also as text (`raw`), with the lower-case names of its headers, its unfolded headers by name,
 * and the text after them (`rest`).
 */
async function composeAndParse(changes: Partial<Message> = {}, sender = from) {
  const mail = await compose(createLetter(changes), sender, defaultLook)
  const raw = mail.bytes.toString('latin1')
  const end = raw.indexOf('\r\n\r\n')
  const lines = raw
    .slice(0, end)
    .replaceAll(/\r\n[ \t]/g, ' ')
    .split('\r\n')
  const headers = lines.map((line) => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const
  })
  return {
    mail,
    raw,
    names: headers.map(([name]) => name),
    headers: Object.fromEntries(headers),
    rest: raw.slice(end),
  }
}

const expectedNames = [
  'auto-submitted',
  'content-type',
  'date',
  'from',
  'message-id',
  'mime-version',
  'subject',
  'to',
]

test('a letter has the expected headers and no others', async () => {
  const { mail, names, headers } = await composeAndParse()
  expect(names.toSorted()).toEqual(expectedNames)
  expect(headers).toMatchObject({
    from: '"Unplugged." <hello@example.org>',
    to: 'ada@example.com',
    subject: 'Your place at Unplugged',
    'message-id': `<${id}@example.org>`,
    'auto-submitted': 'auto-generated',
    'content-type': expect.stringMatching(/^multipart\/alternative;/) as string,
  })
  expect(mail).toMatchObject({ from: 'hello@example.org', to: 'ada@example.com' })
})

test('the headers and the envelope have international domains in ASCII', async () => {
  const { mail, raw, headers } = await composeAndParse(
    { to: 'ada@bücher.example', replyTo: 'team@münchen.example' },
    { name: '', address: 'hello@münchen.example' },
  )
  expect(headers).toMatchObject({
    from: 'hello@xn--mnchen-3ya.example',
    to: 'ada@xn--bcher-kva.example',
    'reply-to': 'team@xn--mnchen-3ya.example',
    'message-id': `<${id}@xn--mnchen-3ya.example>`,
  })
  expect(mail).toMatchObject({ from: 'hello@xn--mnchen-3ya.example', to: 'ada@xn--bcher-kva.example' })
  expect(raw).toMatch(/^[\s -~]*$/)
})

test('the header Reply-To has the reply address, and is left out if that is not one plain address', async () => {
  expect((await composeAndParse({ replyTo: 'organisers@example.org' })).headers).toMatchObject({
    'reply-to': 'organisers@example.org',
  })
  expect((await composeAndParse({ replyTo: 'a@example.org, b@example.org' })).names).not.toContain('reply-to')
})

/** The HTML of a composed email. */
const htmlOf = (rest: string) =>
  rest.slice(rest.indexOf('<!doctype html>')).replaceAll('=\r\n', '').replaceAll('=3D', '=')

test('an email’s HTML has the paragraphs and lines of its text, and why it was sent', async () => {
  const html = htmlOf(
    (
      await composeAndParse({
        body: 'Hello <b>"Ada"</b> & co,\nhttps://example.org/?a=1\n\n\n  \n<img src="https://example.org/x.png">\n',
      })
    ).rest,
  )
  expect(html.replaceAll(/<(\w+)[^>]*>/g, '<$1>')).toContain(
    '<h1>Unplugged.</h1>' +
      '<div><p>Hello &lt;b&gt;&quot;Ada&quot;&lt;/b&gt; &amp; co,<br>https://example.org/?a=1</p></div>' +
      '<div><p>&lt;img src=&quot;https://example.org/x.png&quot;&gt;</p></div>' +
      '<div><div><p>You applied.</p></div></div>',
  )
  expect(html).not.toMatch(/<(img|a|b|script|link)\b/)
})

test('only the RSVP link of a letter becomes a link, even if its text has other addresses', async () => {
  const link = 'https://example.org/answer/#6f2f2f0e-1f1c-4a7e-9a55-0f5d7d5c9a11'
  const { rest } = await composeAndParse({ body: `Here: ${link}\n\nhttps://elsewhere.example/?a&b`, link })
  expect(htmlOf(rest).match(/<a [^>]*?href="[^"]*"/g)).toEqual(Array(2).fill(`<a href="${link}"`))
})

test('a usual letter with a link has less than 10 kB', async () => {
  const link = 'https://retreat.example.org/unplugged/answer/#6f2f2f0e-1f1c-4a7e-9a55-0f5d7d5c9a11'
  const paragraph = 'We would love to have you with us, and look forward to meeting you. '.repeat(4)
  const body = `Hello Ada,\n\n${`${paragraph}\n\n`.repeat(6)}You can say so here: ${link}\n\nThe organisers`
  const { mail } = await composeAndParse({ body, link })
  expect(mail.bytes.length).toBeLessThan(10_000)
})

test.each([
  ['that is plain', 'ada@example.com'],
  ['with a tag', 'ada.l+retreat@mail.example.com'],
  ['with an apostrophe', "o'brien@example.com"],
  ['in another script', 'måne@exämple.com'],
])('an address %s is valid', (_how, text) => expect(isAddress(text)).toBe(true))

test.each([
  ['nothing in it', ''],
  ['no @', 'ada'],
  ['no host', 'ada@'],
  ['no name', '@example.com'],
  ['two @', 'ada@b@example.com'],
  ['two addresses', 'ada@example.com,b@example.com'],
  ['a name before it', 'Ada <ada@example.com>'],
  ['a space', 'ada @example.com'],
  ['quotes', '"ada"@example.com'],
  ['a line break and a header', 'ada@example.com\r\nBcc: b@example.com'],
  ['a line break at the end', 'ada@example.com\n'],
  ['a control character', 'ada\u0000@example.com'],
  ['a comment', 'ada(b)@example.com'],
  ['a group', 'a:ada@example.com;'],
  ['a hidden character', 'ada\u200b@example.com'],
  ['too many characters', `${'a'.repeat(250)}@example.com`],
])('an address with %s is invalid', (_what, text) => expect(isAddress(text)).toBe(false))

const odd = [
  ['\r\n', '\n', '\r', '\u0000', '\u0085', '\u2028', '\t', ' ', '"', "'", '<', '>', ',', ';', ':', '@', '\\'],
  ['=?utf-8?Q?', '?=', 'Bcc: eve@example.com', 'To: eve@example.com', '\r\nBcc: eve@example.com\r\n\r\n'],
  [
    'é',
    '漢字',
    '👩‍🚀',
    '\ud800',
    '\u202e',
    'ada',
    '.\r\n',
    '\r\n.\r\nMAIL FROM:<eve@example.com>',
    'x'.repeat(90),
  ],
].flat()

const oddText = fc
  .array(fc.constantFrom(...odd), { minLength: 1, maxLength: 8 })
  .map((parts) => parts.join(''))
const oddLetter = fc.record({ subject: oddText, body: oddText, replyTo: oddText, name: oddText })

// break: subject-begins-header
test('none of 200 random letters has an unexpected header or recipient, a stray line end or a line that is too long', async () => {
  const property = fc.asyncProperty(oddLetter, async ({ subject, name, ...rest }) => {
    const changes = { ...rest, name, subject: `Hello ${subject}` }
    const { mail, raw, names, headers } = await composeAndParse(changes, { ...from, name })
    expect({
      names: names.filter((header) => header !== 'reply-to').toSorted(),
      to: headers['to'],
      envelope: [mail.from, mail.to],
      // Each line ends with CRLF, and none is longer than email allows.
      strayEnd: /\r(?!\n)|(?<!\r)\n/.exec(raw),
      longLine: raw.split('\r\n').find((line) => line.length > 998),
    }).toEqual({
      names: expectedNames,
      to: 'ada@example.com',
      envelope: ['hello@example.org', 'ada@example.com'],
      strayEnd: null,
      longLine: undefined,
    })
  })
  await fc.assert(property, { seed, numRuns: 200 })
})
