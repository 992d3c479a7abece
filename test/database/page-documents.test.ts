import { createHash } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import { beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'

import { deferred } from '../support/deferred.ts'
import type { Database } from '../../src/server/database/database.ts'
import type { Sql } from '../../src/server/database/connection/sql.ts'
import { createApp } from '../../src/server/app.ts'
import { startPageState } from '../../src/server/pages/page-state.ts'
import { readSettings } from '../../src/settings/server-settings.ts'
import { openTestDatabase } from '../support/database.ts'
import { resetDatabase } from '../support/reset.ts'

let database: Database

beforeAll(async () => {
  database = await openTestDatabase()
})

const sql = () => database.owner

beforeEach(() => resetDatabase(sql()))

/** Starts a server. Returns what reads its pages. */
async function startServer(environment: Record<string, string> = {}, ownDatabase = database) {
  const app = await createApp({ settings: readSettings(environment), database: ownDatabase })
  onTestFinished(async () => app.close())
  return async (path = '/') => {
    const { statusCode: status, headers, body } = await app.inject(path)
    return { status, etag: String(headers['etag']), policy: String(headers['content-security-policy']), body }
  }
}

test('a change reaches the documents of every server, with a new ETag', async () => {
  const servers = [await startServer(), await startServer()]
  const former = await Promise.all(servers.map((read) => read()))
  expect(former[0]?.body).toContain('>Unplugged.</h1>')
  await sql()`update private.page set title = 'Slow', cost = 'Free'`
  for (const read of servers) {
    await expect.poll(async () => (await read()).body).toContain('>Slow</h1>')
    const changed = await read()
    expect(changed.body).toContain('<dt>Cost</dt><dd dir="auto">Free</dd>')
    expect(changed.etag).not.toBe(former[0]?.etag)
    await expect.poll(async () => (await read('/answer/')).body).toContain('<bdi>Slow</bdi>')
    await expect.poll(async () => (await read('/desk')).body).toContain('Slow</title>')
  }
  await sql()`update private.page set title = '', cost = ''`
  for (const read of servers) await expect.poll(async () => (await read()).etag).toBe(former[0]?.etag)
})

test('a server that starts has the words in its first document', async () => {
  await sql()`update private.page set title = 'Slow'`
  const read = await startServer()
  expect((await read()).body).toContain('>Slow</h1>')
})

test('the settings of an operator win', async () => {
  await sql()`update private.page set title = 'Slow', tagline = 'By the lake'`
  const read = await startServer({ SITE_TITLE: 'Unplugged.' })
  const { body } = await read()
  expect(body).toContain('>Unplugged.</h1>')
  expect(body).toContain('By the lake')
})

test('while the database cannot be read, the last words stay, and nobody waits for it', async () => {
  await sql()`update private.page set title = 'Slow'`
  let reads = 0
  const { promise: thawed, resolve: thaw } = deferred()
  // Answers once. Later reads do not end, as those of a frozen database.
  const frozen = Object.assign(
    ((...given: Parameters<Sql>) => {
      if (!given[0].join('').includes('page_shown')) return database.server(...given)
      reads += 1
      return reads === 1 ? database.server(...given) : thawed.then(() => database.server(...given))
    }) as unknown as Sql,
    database.server,
  )
  const read = await startServer({}, { ...database, server: frozen })
  await expect.poll(() => reads, { timeout: 10_000 }).toBeGreaterThan(1)
  expect((await read()).body).toContain('>Slow</h1>')
  thaw()
})

// break: any-colour-in-style
test('a colour that is too light to read reaches no page, and the log says so once', async () => {
  await sql()`update private.page set accent = '#ffee99'`
  const read = await startServer()
  for (const path of ['/', '/answer/', '/desk']) expect((await read(path)).body).not.toContain('ffee99')
  const warn = vi.fn<(message: string) => void>()
  const pageState = await startPageState(sql(), {}, { warn } as unknown as FastifyBaseLogger)
  onTestFinished(() => pageState.stop())
  await sql()`update private.page set title = 'Slow'`
  await expect.poll(() => pageState.look().title).toBe('Slow')
  expect(warn.mock.calls).toEqual([['the accent colour of the page is not allowed, and is left out']])
})

// break: own-paragraph-unescaped
test('what organisers write is text, in no place code', async () => {
  const hostile = `"'><script>alert(1)</script></style><!--{{x}}`
  await sql()`
    update private.page set title = ${hostile}, tagline = ${hostile}, badge = ${hostile}, success = ${hostile},
      privacy_label = ${hostile}, privacy_url = 'https://example.org/?a=b&c', cost = ${hostile}, hear_back = ${hostile},
      about = ${`${hostile}\n\n${hostile} https://example.org/"onclick="alert(1)`}`
  await sql()`update private.editions set starts_on = '2027-06-12', ends_on = '2027-06-15', venue = ${hostile}`
  const read = await startServer()
  for (const path of ['/', '/answer/', '/desk']) {
    const { body, policy } = await read(path)
    expect(body).not.toContain('<script>alert')
    // Every element that could run code or style the page is the document's own: the policy has its hash.
    for (const [, style = ''] of body.matchAll(/<style>(.*?)<\/style>/gs))
      expect(policy).toContain(createHash('sha256').update(style).digest('base64'))
    expect(body).not.toMatch(/<[^>]* on\w+=/)
  }
})
