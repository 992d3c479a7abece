import { resolve } from 'node:path'
import { expect, test } from 'vitest'

import { readSettings } from './server-settings.ts'

test('without any variable the settings are the defaults of the README', () => {
  expect(readSettings({ PORT: '' })).toEqual({
    port: 3000,
    host: '127.0.0.1',
    dataDir: resolve('data'),
    databaseUrl: undefined,
    anonKey: 'public-anon-key',
    webhookUrl: undefined,
    webhookSecret: undefined,
    rateLimitPerMinute: 30,
    trustProxy: false,
    siteUrl: undefined,
  })
})

test.each([
  ['PORT', '80a', '"80a"'],
  ['PORT', '65536', '65535'],
  ['DATABASE_URL', 'mysql://host', 'postgres://'],
  ['ANON_KEY', 'two words', 'without spaces'],
  ['WEBHOOK_URL', 'example.com/hook', 'https://'],
  ['WEBHOOK_SECRET', 'short', 'whsec_'],
  ['RATE_LIMIT_PER_MINUTE', '-1', 'whole number'],
  ['TRUST_PROXY', 'nginx', 'ranges'],
  ['TRUST_PROXY', '10.0.0.0/33', 'ranges'],
  ['VITE_SITE_URL', 'unplugged.example', 'https://'],
  ['DATABASE_POOLER', 'session', '"transaction"'],
])('%s set to %s is refused by a sentence that says what it should be', (name, value, expected) => {
  const read = () => readSettings({ [name]: value })
  expect(read).toThrow(new RegExp(`^${name} `))
  expect(read).toThrow(expected)
})

test('secrets are not repeated in what is said about them', () => {
  expect(() => readSettings({ DATABASE_URL: 'http://u:hunter2@h/d' })).toThrow(/^(?!.*hunter2)/)
  expect(() => readSettings({ WEBHOOK_SECRET: 'hunter2' })).toThrow(/^(?!.*hunter2)/)
})

test.each([
  ['1', 1],
  ['0', false],
  ['10.0.0.0/8, ::1', ['10.0.0.0/8', '::1']],
])('TRUST_PROXY set to %s is understood', (given, expected) => {
  expect(readSettings({ TRUST_PROXY: given }).trustProxy).toEqual(expected)
})
