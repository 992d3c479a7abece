import { beforeAll, expect, test } from 'vitest'

import { defaultLook } from '../../design/look.ts'
import { openTestDatabase } from '../../../test/support/database.ts'
import type { Settings } from '../../settings/server-settings.ts'
import { createApp } from '../app.ts'
import { checkProxy } from '../doctor/site.ts'
import type { Database } from '../database/database.ts'

let database: Database

beforeAll(async () => {
  database = await openTestDatabase()
})

const forged = '203.0.113.7'
const client = '198.51.100.1'

/** Sends a request from 10.0.0.1 with this `X-Forwarded-For`. Returns the response. */
async function ask(
  trustProxy: Settings['trustProxy'],
  header: string | undefined,
  query = `?forwarded=${forged}`,
) {
  const settings = {
    anonKey: 'key',
    siteUrl: undefined,
    look: defaultLook,
    mailServer: undefined,
    rateLimitPerMinute: 0,
    trustProxy,
  }
  const app = await createApp({ settings, database })
  const response = await app.inject({
    url: `/instance${query}`,
    remoteAddress: '10.0.0.1',
    headers: header === undefined ? {} : { 'x-forwarded-for': header },
  })
  await app.close()
  return response.json<unknown>()
}

test.each([
  ['no proxy', false, forged, 'direct'],
  ['no proxy, while one hop is trusted', 1, forged, 'anybody is believed'],
  ['no proxy, while another address is trusted', ['10.9.9.9'], forged, 'direct'],
  [
    'a proxy that passes the header on, or called from a trusted address',
    ['10.0.0.1'],
    forged,
    'nothing added',
  ],
  ['a proxy that adds a trusted address', ['10.0.0.0/8'], `${forged}, 10.0.0.2`, 'from a trusted address'],
  ['a proxy that adds to the header, trusted as one hop', 1, `${forged}, ${client}`, 'believed'],
  ['a proxy that adds to the header, trusted by address', ['10.0.0.1'], `${forged}, ${client}`, 'believed'],
  ['a proxy that replaces the header, trusted as one hop', 1, client, 'believed'],
  ['a proxy that replaces the header, trusted by address', ['10.0.0.1'], client, 'believed'],
  ['a proxy that removes the header', false, undefined, 'direct'],
  ['a proxy that removes the header, trusted as one hop', 1, undefined, 'direct'],
  ['an untrusted proxy', false, `${forged}, ${client}`, 'unbelieved'],
  ['an untrusted proxy that replaces the header', ['10.9.9.9'], client, 'unbelieved'],
  ['two proxies, one of them trusted', 1, `${forged}, ${client}, 10.0.0.2`, 'too few'],
  ['two proxies, both trusted', ['10.0.0.0/8'], `${forged}, ${client}, 10.0.0.2`, 'believed'],
  ['one proxy, while two hops are trusted', 2, `${forged}, ${client}`, 'anybody is believed'],
] as const)(
  'behind %s, the response says whether the right addresses are trusted',
  async (_what, trust, header, forwarded) => {
    const trustProxy = typeof trust === 'object' ? [...trust] : trust
    expect(await ask(trustProxy, header)).toEqual({ mark: database.databaseId, forwarded })
  },
)

test.each([
  // nginx with a plain `proxy_pass`.
  ['wrong', 'https://retreat.example', ['10.0.0.1'], forged],
  ['wrong', 'https://retreat.example', 1, forged],
  ['not known', 'http://retreat.example', ['10.0.0.1'], forged],
  ['not known', 'https://retreat.example', ['10.0.0.0/8'], `${forged}, 10.0.0.2`],
  ['ok', 'https://retreat.example', ['10.0.0.1'], client],
  ['ok', 'https://retreat.example', ['10.0.0.0/8'], '10.0.0.2'],
] as const)(
  "the doctor's verdict is %s, for %s, where %s is trusted and X-Forwarded-For arrives as %s",
  async (verdict, siteUrl, trust, header) => {
    const trustProxy = typeof trust === 'object' ? [...trust] : trust
    const body = (await ask(trustProxy, header)) as Record<string, unknown>
    const answered = { status: 200, body, location: null }
    const site = { address: siteUrl, instance: answered, desk: answered }
    const settings = { siteUrl, trustProxy, mailServer: undefined, webhookUrl: undefined }
    expect(checkProxy({ here: undefined, site }, settings)).toMatchObject({ verdict })
  },
)

test('a server identifies its database by a stable id, and reports trusted addresses only if it is asked', async () => {
  expect(database.databaseId).toMatch(/^[0-9a-f]{16}$/)
  expect(await ask(false, forged, '')).toEqual({ mark: database.databaseId })
})
