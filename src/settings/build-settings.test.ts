import { expect, test } from 'vitest'

import { OperatorError } from './operator-error.ts'
import { readPageFile, readPageSettings } from './build-settings.ts'

const jwtOf = (role: string) =>
  `e30.${Buffer.from(JSON.stringify({ iss: 'supabase', role })).toString('base64url')}.sign`

test.each(['sb_publishable_abc-DEF_1', jwtOf('anon')])('a page may contain the key %s', (key) => {
  expect(readPageSettings({ VITE_SUPABASE_ANON_KEY: key }).anonKey).toBe(key)
})

// break: page-has-secret-key
test.each(['sb_secret_abc', ' sb_secret_abc', jwtOf('service_role')])(
  'a page is not built with the secret key %s, and the error does not show the key',
  (key) => {
    expect(() => readPageSettings({ VITE_SUPABASE_ANON_KEY: key })).toThrow(
      'VITE_SUPABASE_ANON_KEY (not shown) is a secret key, which may do everything, but should be the key that everybody may read: sb_publishable_… of a hosted project, or its older one, called anon.',
    )
  },
)

test.each(['VITE_SUPABASE_PUBLISHABLE_KEY', 'VITE_SUPABASE_PUBLISHABLE_DEFAULT_KEY'])(
  'a key under the name %s is refused, unless our own setting has a key too',
  (name) => {
    expect(() => readPageSettings({ [name]: 'sb_publishable_a' })).toThrow(
      `${name} is no setting: VITE_SUPABASE_ANON_KEY is, for a publishable key, too.`,
    )
    const both = { [name]: 'sb_publishable_a', VITE_SUPABASE_ANON_KEY: 'sb_publishable_b' }
    expect(readPageSettings(both).anonKey).toBe('sb_publishable_b')
  },
)

test('a page is built with the backend and the addresses that the VITE_ settings name', () => {
  const environment = {
    VITE_SUPABASE_URL: 'https://project.example',
    VITE_SUPABASE_ANON_KEY: 'key',
    VITE_WEBHOOK_URL: 'https://automation.example/hook',
    VITE_SITE_URL: 'https://site.example',
  }
  expect(readPageSettings(environment)).toEqual({
    backendUrl: 'https://project.example',
    anonKey: 'key',
    webhookUrl: 'https://automation.example/hook',
    siteUrl: 'https://site.example',
    look: {},
  })
  for (const name of Object.keys(environment)) {
    expect(() => readPageSettings({ ...environment, [name]: 'two words' })).toThrow(new RegExp(`^${name} `))
  }
  expect(readPageSettings({ VITE_SUPABASE_URL: ' https://project.example\n' }).backendUrl).toBe(
    'https://project.example',
  )
})

test.each(['VITE_SUPABASE_URL', 'VITE_WEBHOOK_URL', 'VITE_SITE_URL'])(
  '%s is refused if browsers cannot call it, or if it would publish a password',
  (name) => {
    expect(() => readPageSettings({ [name]: 'https:/project.example' })).toThrow(
      `${name} (not shown: it may hold a password) should be an address that begins with https:// or http://.`,
    )
    expect(() => readPageSettings({ [name]: 'https://ada:hunter2@project.example' })).toThrow(
      `${name} ("https://…@project.example", without its secrets) holds a user or a password, which every visitor could read: remove them.`,
    )
    expect(() => readPageSettings({ [name]: 'https://project.example:6667' })).toThrow(
      `${name} ("https://project.example:6667") names port 6667, which belongs to another service than the web and cannot be called: use another.`,
    )
  },
)

test.each([{}, { HOME: '/home/ada' }])(
  'a page that is built without settings calls its own origin, and no webhook: %j',
  (environment) => {
    expect(readPageSettings(environment)).toEqual({
      backendUrl: null,
      anonKey: 'public-anon-key',
      webhookUrl: undefined,
      siteUrl: undefined,
      look: {},
    })
  },
)

test('the file that the desk exports is read, and no file says nothing', () => {
  const words = {
    title: 'Langsam',
    about: 'One.\n\nTwo.',
    accent: '#7a0019',
    privacy_url: 'https://example.org/privacy',
    starts_on: '2027-06-12',
    ends_on: '2027-06-15',
    closes_on: '2027-05-01',
  }
  expect(readPageFile(JSON.stringify(words))).toEqual(words)
  expect(readPageFile(undefined)).toEqual({})
})

test('the file may lack a colour and days, and its privacy notice may be at an address without encryption', () => {
  const words = { title: 'Langsam', privacy_url: 'http://example.org/privacy' }
  expect(readPageFile(JSON.stringify(words))).toEqual(words)
})

test('a build refuses a colour that is too light to read, and says which one is allowed', () => {
  expect(() => readPageFile('{"accent": "#ffee99"}')).toThrow(
    new OperatorError(
      'The accent colour in page.json is "#ffee99", whose contrast with the page is 1.0 to 1 but should be at least 4.5 to 1: choose a darker colour, such as "#7a6600".',
    ),
  )
})

test.each([
  '',
  'null',
  '"Langsam"',
  '{"title": 1}',
  '{"title": ["Langsam"]}',
  '{"unknown": "text"}',
  '{"title": "Langsam", "unknown": "text"}',
  `{"title": "${'x'.repeat(121)}"}`,
  '{"title": "Slow \\u202e"}',
  '{"accent": "red"}',
  '{"accent": "red #7a0019"}',
  '{"accent": "#7a0019; x"}',
  '{"privacy_url": "javascript:alert(1)"}',
  '{"privacy_url": "javascript:alert(1)//https://example.org"}',
])('a build refuses another file: %s', (text) => {
  expect(() => readPageFile(text)).toThrow(OperatorError)
  expect(() => readPageFile(text)).toThrow(/^page\.json is not the file that the desk exports: /)
})
