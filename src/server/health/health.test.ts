import fastify from 'fastify'
import pino from 'pino'
import { beforeAll, beforeEach, expect, test } from 'vitest'

import { defaultLook } from '../../design/look.ts'
import { openTestDatabase } from '../../../test/support/database.ts'
import { anApplication } from '../../../test/support/form.ts'
import { storeDueLetters } from '../../../test/support/letters.ts'
import { resetDatabase } from '../../../test/support/reset.ts'
import { createApp } from '../app.ts'
import { visitor } from '../database/connection/pools.ts'
import type { Database } from '../database/database.ts'
import { insertApplications, sentRowsOf } from '../applications/insert-rows.ts'
import { version } from '../../settings/version.ts'
import { DeadlineError } from '../database/connection/connection.ts'
import { backOffAll } from '../letters/pause-emails.ts'
import { deliveryHealth } from '../deliveries/overview.ts'
import { logOptions } from '../log.ts'
import { healthRoutes } from './health.ts'
import { createHealth } from './readiness.ts'
import { wrapStatements } from '../../../test/support/sql.ts'

let database: Database

beforeAll(async () => {
  database = await openTestDatabase()
})

beforeEach(() => resetDatabase(database.owner))

const settings = {
  anonKey: 'key',
  siteUrl: undefined,
  look: defaultLook,
  mailServer: undefined,
  trustProxy: false as const,
  rateLimitPerMinute: 0,
}

/** Sends a request to a new server, since a server caches the database's responses for a moment. */
async function ask(path: string, delivers = true) {
  const health = createHealth({ sql: database.server, delivers })
  const app = await createApp({ settings, database, health })
  const response = await app.inject(path)
  await app.close()
  return { status: response.statusCode, body: response.json<unknown>() }
}

const healthy = {
  status: 'ok',
  oldestUndeliveredSeconds: null,
  deliveriesGivenUp: 0,
  lettersRefused: 0,
  lettersWaiting: 0,
  mailFailingSince: null,
  mailProblem: null,
  newestBackupSeconds: null,
  backupsFailingSince: null,
}
/** Stores an application. Its delivery has waited for this many seconds, was given up, or was made. */
async function store(delivery: { waitsFor: number } | 'given up' | 'delivered') {
  await insertApplications(database.as(visitor), sentRowsOf(anApplication()))
  const waitsFor = typeof delivery === 'string' ? 0 : delivery.waitsFor
  await database.owner`
    update private.deliveries set queued_at = now() - ${waitsFor} * interval '1 second',
      state = ${delivery === 'given up' ? 'failed' : delivery === 'delivered' ? 'done' : 'waiting'},
      due_at = ${typeof delivery === 'string' ? null : database.owner`due_at`},
      done_at = ${delivery === 'delivered' ? database.owner`now()` : null}
    where attempts = 0`
  // The next call changes only deliveries without attempts.
  await database.owner`update private.deliveries set attempts = 1`
}

test('readiness says how long the oldest application has waited for its delivery', async () => {
  expect(await ask('/readyz')).toEqual({ status: 200, body: healthy })
  await store({ waitsFor: 3600 })
  await store({ waitsFor: 0 })
  expect((await ask('/readyz')).body).toMatchObject({ oldestUndeliveredSeconds: expect.closeTo(3600, -3) })
  // Without a webhook, no delivery is late.
  expect((await ask('/readyz', false)).body).toMatchObject({ oldestUndeliveredSeconds: null })
})

test('readiness reports given-up deliveries, refused and waiting letters, and since when emails have failed', async () => {
  await store('given up')
  await store('given up')
  await storeDueLetters(database.owner, 4)
  await database.owner`
    update private.deliveries set state = 'failed', is_refused = true, due_at = null
    where id in (select id from private.deliveries where kind = 'letter' limit 1)`
  await backOffAll(database.owner, 'It is not there.')
  const { status, body } = await ask('/readyz')
  expect({ status, body }).toMatchObject({
    status: 200,
    body: {
      ...healthy,
      oldestUndeliveredSeconds: expect.anything(),
      deliveriesGivenUp: 2,
      lettersRefused: 1,
      lettersWaiting: 3,
      mailFailingSince: expect.any(String),
      mailProblem: 'It is not there.',
    },
  })
  const { mailFailingSince } = body as { mailFailingSince: string }
  const [row] = await database.owner`select failing_since from private.postman`
  expect(new Date(mailFailingSince)).toEqual(row?.['failing_since'])
})

test('only the strict form is 503 if something is stuck, and its status says what', async () => {
  expect((await ask('/readyz?strict')).body).toEqual(healthy)
  await store('given up')
  await store({ waitsFor: 3600 })
  expect((await ask('/readyz')).status).toBe(200)
  expect((await ask('/readyz?strict', false)).status).toBe(200)
  expect(await ask('/readyz?strict')).toMatchObject({
    status: 503,
    body: {
      status:
        'Applications do not reach the webhook: npm run webhooks. Deliveries to the webhook were given up: npm run webhooks.',
      deliveriesGivenUp: 1,
    },
  })
})

test('readiness does not read successful deliveries, however many there are', async () => {
  const many = 3_000
  await database.owner`
    insert into public.retreat_applications (first_name, last_name, email, phone, linkedin, company, reason, consent)
    select 'Ada', 'L', n, '1', 'l', 'c', 'r', true from generate_series(1, ${many}::int) as n`
  await database.owner`update private.deliveries set state = 'done', attempts = 1, due_at = null, done_at = now()`
  await store({ waitsFor: 60 })
  await database.owner`vacuum analyze private.deliveries`
  const read = await database.owner.begin(async (transaction) => {
    const readSoFar = async () => {
      const [row] = await transaction<[{ read: number }]>`
        select sum(pg_stat_get_xact_tuples_returned(oid) + pg_stat_get_xact_tuples_fetched(oid))::int as read
        from pg_class where relname like 'deliveries%' or relname like 'retreat_applications%'`
      return row.read
    }
    const before = await readSoFar()
    expect(await deliveryHealth(transaction)).toEqual({
      oldestUndeliveredSeconds: expect.closeTo(60, -2),
      deliveriesGivenUp: 0,
    })
    return (await readSoFar()) - before
  })
  expect(read).toBeLessThan(many / 10)
})

test('after storing an application timed out, the server is not ready for a minute, or until one is stored', async () => {
  let fail: () => Promise<never> = () => Promise.reject(new DeadlineError('late'))
  const as: Database['as'] = () => wrapStatements(database.as(visitor), (run) => (isLate ? fail() : run()))
  let isLate = true
  const app = await createApp({ settings, database: { ...database, as } })
  const apply = async () => {
    const { statusCode } = await app.inject({
      method: 'POST',
      url: '/rest/v1/retreat_applications',
      headers: { apikey: settings.anonKey },
      payload: { ...anApplication() },
    })
    return [statusCode, (await app.inject('/readyz')).statusCode]
  }
  expect(await apply()).toEqual([503, 503])
  isLate = false
  expect(await apply()).toEqual([201, 200])
  // The database itself cancels a statement that waits too long for a lock.
  isLate = true
  fail = () => Promise.reject(Object.assign(new Error('canceling statement'), { code: '57014' }))
  expect((await apply())[1]).toBe(503)
  await app.close()

  let now = 100_000
  const routes = fastify()
  const storage = { isFailing: false, lateAt: 50_000 }
  await routes.register(healthRoutes, {
    health: createHealth({ sql: database.server, storage, now: () => now }),
  })
  expect((await routes.inject('/readyz')).json()).toEqual({ status: 'the database stores nothing in time' })
  now = 110_000
  expect((await routes.inject('/readyz')).statusCode).toBe(200)
})

test('after a failure to store an application, the server is ready once the database can write', async () => {
  let now = 0
  const app = fastify()
  const storage = { isFailing: true }
  let isFull = true
  const sql = wrapStatements(database.server, (run) =>
    isFull ? Promise.reject(new Error('the disk is full')) : run(),
  )
  await app.register(healthRoutes, { health: createHealth({ sql, storage, now: () => now }) })
  const response = await app.inject('/readyz')
  expect([response.statusCode, response.json()]).toEqual([503, { status: 'the database stores nothing' }])
  now = 1001
  isFull = false
  expect((await app.inject('/readyz')).statusCode).toBe(200)
  expect(storage.isFailing).toBe(false)
})

test('the database is queried at most once a second, however often /readyz is called', async () => {
  let now = 0
  const app = fastify()
  await app.register(healthRoutes, { health: createHealth({ sql: database.server, now: () => now }) })
  const givenUp = async () =>
    (await app.inject('/readyz')).json<{ deliveriesGivenUp: number }>().deliveriesGivenUp
  expect(await givenUp()).toBe(0)
  await store('given up')
  now = 999
  expect(await givenUp()).toBe(0)
  now = 1001
  expect(await givenUp()).toBe(1)
})

test('health requests are not logged, and every other request is logged in one line', async () => {
  const lines: string[] = []
  const log = pino(logOptions, { write: (line: string) => void lines.push(line) })
  const app = await createApp({ settings, database, log })
  for (const url of ['/healthz', '/readyz', '/desk']) expect((await app.inject(url)).statusCode).toBe(200)
  await app.close()
  const logged = lines.map((line) => JSON.parse(line) as { msg: string; route: string })
  expect(logged.filter(({ msg }) => msg === 'request').map(({ route }) => route)).toEqual(['/desk'])
})

test('the lines of the log about a request have its id, and so has the response if it failed', async () => {
  const lines: string[] = []
  const log = pino(logOptions, { write: (line: string) => void lines.push(line) })
  const health = createHealth({
    sql: wrapStatements(database.server, () => Promise.reject(new Error('away'))),
  })
  const app = await createApp({ settings, database, health, log })
  // Strangers cannot choose the id.
  const responses = [
    await app.inject({ url: '/desk', headers: { 'x-request-id': 'mine' } }),
    await app.inject('/readyz'),
  ]
  await app.close()
  const logged = lines.map((line) => JSON.parse(line) as { requestId?: string })
  const [page = '', failed = ''] = logged.flatMap(({ requestId }) => requestId ?? [])
  expect([page, failed]).toEqual([expect.stringMatching(/^[\da-f]{8}-1$/), page.replace(/1$/, '2')])
  expect(responses.map(({ headers }) => headers['x-request-id'])).toEqual([undefined, failed])
})

test('the server is alive without its database, but not ready', async () => {
  const newDatabase = await openTestDatabase()
  const app = await createApp({ settings, database: newDatabase })
  await newDatabase.close()
  expect((await app.inject('/healthz')).json()).toEqual({ status: 'ok', version })
  expect((await app.inject('/readyz')).statusCode).toBe(503)
})
