import { expect, test } from 'vitest'

import { anApplication } from '../../support/form.ts'
import { startServer } from '../../support/server.ts'
import { connectTo } from '../../support/sql.ts'
import { createTestDatabase } from '../../support/worker-postgres.ts'

const phone =
  'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36'

test('requests for the page and its script are counted by source and saved at the stop, except those of robots and prefetches', async () => {
  const databaseUrl = await createTestDatabase()
  const server = await startServer({ DATABASE_URL: databaseUrl })
  const { origin } = server
  const get = async (address: string, headers: Record<string, string> = {}, method = 'GET') => {
    const response = await fetch(origin + address, {
      method,
      headers: { 'user-agent': phone, ...headers },
    })
    const { status } = response
    return { status, headers: response.headers, body: await response.text() }
  }
  const plain = await get('/')
  const named = await get('/?from=Newsletter')
  // A source changes neither the page nor its headers nor its caching.
  const withoutDate = ({ headers }: typeof plain) => [...headers].filter(([name]) => name !== 'date')
  expect(withoutDate(named)).toEqual(withoutDate(plain))
  expect(named.body).toBe(plain.body)
  expect(named.body).not.toMatch(/newsletter/i)
  const etag = plain.headers.get('etag') ?? ''
  expect((await get('/?from=newsletter&x=1', { 'if-none-match': etag })).status).toBe(304)

  const [script = ''] = /assets\/apply-[\w-]+\.js/.exec(plain.body) ?? []
  expect((await get(`/${script}`)).headers.get('cache-control')).toContain('immutable')
  expect((await get(`/${script}?1`, { referer: `${origin}/?from=newsletter` })).status).toBe(200)

  const ignored: Record<string, string>[] = [
    { 'user-agent': 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)' },
    { 'user-agent': 'WhatsApp/2.24.1 A' },
    { 'sec-purpose': 'prefetch;prerender' },
    { purpose: 'prefetch' },
  ]
  for (const headers of ignored) {
    expect((await get('/?from=robots', headers)).status).toBe(200)
    expect((await get(`/${script}`, headers)).status).toBe(200)
  }
  // These requests are no visits.
  expect((await get('/?from=head', {}, 'HEAD')).status).toBe(200)
  expect((await get('/?from=post', {}, 'POST')).status).toBe(400)
  const body = new URLSearchParams(
    Object.entries(anApplication()).map(([key, value]) => [key, String(value)]),
  )
  expect((await fetch(`${origin}/?from=form`, { method: 'POST', body })).status).toBe(200)
  for (const address of [
    '/desk?from=desk',
    '/answer?from=answer',
    '/healthz?from=health',
    '/nothing?from=404',
  ])
    await get(address)
  expect((await get('/assets/apply-nothing.js')).status).toBe(404)
  expect((await get(`/${script}`, {}, 'HEAD')).status).toBe(200)

  // Anybody may write anything into `from`.
  expect((await get('/?from=%3Cscript%3Ealert(1)%3C/script%3E')).status).toBe(200)
  expect((await get(`/?from=${'x'.repeat(20_000)}`)).status).toBe(431)

  expect(await server.stop()).toBe(0)
  const rows = connectTo(databaseUrl)`select source, visits, starts from private.visits order by source`
  expect(await rows).toEqual([
    { source: '', visits: 1, starts: 2 },
    { source: 'newsletter', visits: 2, starts: 0 },
    { source: 'other', visits: 1, starts: 0 },
  ])
})
