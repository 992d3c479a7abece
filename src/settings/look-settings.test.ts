import { expect, test } from 'vitest'

import { defaultLook } from '../design/look.ts'
import { lookOf } from '../pages/look.ts'
import { readLook } from './look-settings.ts'
import { readPageSettings } from './build-settings.ts'
import { readSettings } from './server-settings.ts'

const own = {
  SITE_TITLE: 'Slow & <Steady>',
  SITE_TAGLINE: 'Four days by the lake',
  SITE_BADGE: '“Ten places”',
  SITE_SUCCESS: 'Thanks! חופש',
  SITE_PRIVACY_URL: 'https://example.org/privacy?a=1&b=2#top',
  SITE_ACCENT: '#7A0019',
}
const look = {
  title: own.SITE_TITLE,
  tagline: own.SITE_TAGLINE,
  badge: own.SITE_BADGE,
  success: own.SITE_SUCCESS,
  privacyUrl: own.SITE_PRIVACY_URL,
  accent: '#7a0019',
}
const hosted = Object.fromEntries(Object.entries(own).map(([name, value]) => [`VITE_${name}`, value]))

/**
 * The message of the refusal, or `accepted`. It has to be the same for our own server and for a page that is built for a hosted
 * project, and has to be one line.
 */
function refusal(name: string, value: string) {
  const messages = (['SITE', 'VITE_SITE'] as const).map((prefix) => {
    try {
      readLook({ [name.replace('SITE', prefix)]: value }, prefix)
      return 'accepted'
    } catch (error) {
      return (error as Error).message.replace(/^VITE_/, '')
    }
  })
  expect(messages[0]).toBe(messages[1])
  expect(messages[0]).not.toMatch(/[\p{Cc}\u202e]/u)
  return messages[0]
}

test('our own server reads SITE_ settings, and a build for a hosted project reads VITE_SITE_ settings', () => {
  expect(readSettings(own).look).toEqual(look)
  expect(readPageSettings(hosted).look).toEqual(look)
  expect(readSettings(hosted).look).toEqual({})
  expect(readPageSettings(own).look).toEqual({})
})

test('a setting that is missing or empty has its default', () => {
  expect(readSettings({}).look).toEqual({})
  const empty = Object.fromEntries(Object.keys(own).map((name) => [name, '']))
  expect(readSettings(empty).look).toEqual({})
  expect(lookOf(readSettings(empty).look, {})).toEqual(defaultLook)
  expect(lookOf(readSettings({ SITE_BADGE: own.SITE_BADGE }).look, { title: 'Slow' }).title).toBe('Slow')
})

test('the default words as settings are the same as no settings', () => {
  const { title, tagline, badge, success } = defaultLook
  const words = { SITE_TITLE: title, SITE_TAGLINE: tagline, SITE_BADGE: ` ${badge} `, SITE_SUCCESS: success }
  expect(lookOf(readSettings(words).look, {})).toEqual(defaultLook)
})

test.each([
  ['SITE_TITLE', 60],
  ['SITE_TAGLINE', 120],
  ['SITE_BADGE', 60],
  ['SITE_SUCCESS', 400],
])('%s has at most %i characters, and spaces around it do not count', (name, most) => {
  expect(refusal(name, ` ${'🌲'.repeat(most)} `)).toBe('accepted')
  expect(refusal(name, 'x'.repeat(most + 1))).toBe(
    `${name} has ${most + 1} characters but may have at most ${most}: shorten it.`,
  )
  expect(refusal(name, 'x'.repeat(10_000))).toContain(`${name} has 10000 characters`)
})

test.each([
  ['a\nb', 'U+000A'],
  ['a\tb', 'U+0009'],
  ['a\u0000b', 'U+0000'],
  ['a\u001b[31mb', 'U+001B'],
  ['a\u0085b', 'U+0085'],
  ['a\u2028b', 'U+2028'],
  ['a\u2029b', 'U+2029'],
  ['a\u202ab', 'U+202A'],
  ['a\u202eb', 'U+202E'],
  ['a\u2066b', 'U+2066'],
  ['a\u2069b', 'U+2069'],
  ['a\ud800b', 'U+D800'],
  ['caf\ufffd', 'U+FFFD'],
])('%j is refused for a character that could confuse a reader or a terminal', (value, code) => {
  for (const name of ['SITE_TITLE', 'SITE_TAGLINE', 'SITE_BADGE', 'SITE_SUCCESS']) {
    expect(refusal(name, value)).toBe(
      `${name} contains the character ${code} but should be plain text on one line: remove it.`,
    )
  }
})

test('text of invisible characters is refused, and letters of every script are visible', () => {
  for (const value of [' ', '\u200b', '\u00a0\u2060', '\u0301'])
    expect(refusal('SITE_TITLE', value)).toBe(
      'SITE_TITLE has no visible character: write some text, or remove the setting.',
    )
  for (const value of ['x', '7', '.', '€', 'ש', '休', '</script>', '\u200fx'])
    expect(refusal('SITE_TITLE', value)).toBe('accepted')
})

test('the privacy link is a web address without a user or a password, and its unusual characters are encoded', () => {
  for (const value of [
    'javascript:alert(1)',
    'javascript://x/%0aalert(1)',
    'data:text/html,x',
    '/privacy',
    'example.org/privacy',
    'x y',
  ])
    expect(refusal('SITE_PRIVACY_URL', value)).toMatch(
      /^SITE_PRIVACY_URL .* should be an address that begins with https:\/\/ or http:\/\/\.$/,
    )
  for (const user of ['ada:hunter2', 'ada', ':hunter2']) {
    const message = refusal('SITE_PRIVACY_URL', `https://${user}@example.org/`)
    expect(message).toBe(
      'SITE_PRIVACY_URL ("https://…@example.org/", without its secrets) holds a user or a password, which every visitor could read: remove them.',
    )
  }
  expect(refusal('SITE_PRIVACY_URL', `https://example.org/${'x'.repeat(1_981)}`)).toBe(
    'SITE_PRIVACY_URL has 2001 characters but may have at most 2000: name a shorter address.',
  )
  expect(refusal('SITE_PRIVACY_URL', `https://example.org/${'x'.repeat(1_980)}`)).toBe('accepted')
  const odd = { SITE_PRIVACY_URL: ' https://exämple.org/a"b\n<\u202ec>' }
  expect(readLook(odd, 'SITE').privacyUrl).toBe('https://xn--exmple-cua.org/a%22b%3C%E2%80%AEc%3E')
})

test('the accent is one colour with or without #, since # begins a comment in .env', () => {
  for (const value of ['7a0019', '#7a0019', ' #7A0019 '])
    expect(readLook({ SITE_ACCENT: value }, 'SITE').accent).toBe('#7a0019')
  for (const value of ['red', '#fff', '#7a00199', 'rgb(1,2,3)', '#7a001g', '#7a0019;}', '7a0019 7a0019'])
    expect(refusal('SITE_ACCENT', value)).toBe(
      `SITE_ACCENT is "${value}" but should be one colour in six hexadecimal digits, such as "#7a1f3d".`,
    )
  expect(refusal('SITE_ACCENT', 'x\n'.repeat(5_000))?.length).toBeLessThan(200)
})

test.each([
  ['#ffee99', '1.0', '#7a6600'],
  ['#ffffff', '1.0', '#676767'],
  // 4.45 is not rounded to the needed 4.5.
  ['#696969', '4.4', '#686868'],
])('the accent %s is refused with its contrast and the nearest darker colour', (value, ratio, darker) => {
  expect(refusal('SITE_ACCENT', value)).toBe(
    `SITE_ACCENT is "${value}", whose contrast with the page is ${ratio} to 1 but should be at least 4.5 to 1: choose a darker colour, such as "${darker}".`,
  )
  expect(refusal('SITE_ACCENT', darker)).toBe('accepted')
})
