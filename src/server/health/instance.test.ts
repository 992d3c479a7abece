import { beforeAll, expect, test } from 'vitest'

import { openTestDatabase } from '../../../testing/database.ts'
import type { Settings } from '../../settings/server-settings.ts'
import { createApp } from '../app.ts'
import type { Database } from '../database/database.ts'

let database: Database

beforeAll(async () => {
  database = await openTestDatabase()
})

const stranger = '203.0.113.7'
const client = '198.51.100.1'

/** The response to this `X-Forwarded-For` from a proxy's connection. */
async function ask(trustProxy: Settings['trustProxy'], header: string | undefined) {
  const settings = {
    anonKey: 'key',
    siteUrl: undefined,
    mailServer: undefined,
    rateLimitPerMinute: 0,
    trustProxy,
  }
  const app = await createApp({ settings, database })
  const answer = await app.inject({
    url: `/instance?forwarded=${stranger}`,
    remoteAddress: '10.0.0.1',
    headers: header === undefined ? {} : { 'x-forwarded-for': header },
  })
  await app.close()
  return answer.json<unknown>()
}

test.each([
  ['no proxy', false, stranger, 'direct'],
  ['no proxy, and one is trusted by its number', 1, stranger, 'anybody'],
  ['no proxy, and another address is trusted', ['10.9.9.9'], stranger, 'direct'],
  ['a trusted address of the caller', ['10.0.0.1'], stranger, 'from a trusted address'],
  ['a proxy that adds, trusted by its number', 1, `${stranger}, ${client}`, 'believed'],
  ['a proxy that adds, trusted by its address', ['10.0.0.1'], `${stranger}, ${client}`, 'believed'],
  ['a proxy that replaces the header, trusted by its number', 1, client, 'believed'],
  ['a proxy that replaces the header, trusted by its address', ['10.0.0.1'], client, 'believed'],
  ['an untrusted proxy', false, `${stranger}, ${client}`, 'unbelieved'],
  ['an untrusted proxy that replaces the header', ['10.9.9.9'], client, 'unbelieved'],
  ['two proxies of which one is trusted', 1, `${stranger}, ${client}, 10.0.0.2`, 'too few'],
  ['two proxies of which both are trusted', ['10.0.0.0/8'], `${stranger}, ${client}, 10.0.0.2`, 'believed'],
  ['one proxy where two are trusted', 2, `${stranger}, ${client}`, 'anybody'],
] as const)(
  'behind %s the caller is told how addresses are trusted',
  async (_what, trust, header, forwarded) => {
    const trustProxy = typeof trust === 'object' ? [...trust] : trust
    expect(await ask(trustProxy, header)).toEqual({ mark: database.databaseId, forwarded })
  },
)

test('a server identifies its database by a stable id, and says nothing about visitors unasked', async () => {
  expect(database.databaseId).toMatch(/^[0-9a-f]{16}$/)
  expect(await ask(false, undefined)).toEqual({ mark: database.databaseId })
})
