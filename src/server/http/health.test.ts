import fastify from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { openTestDatabase } from '../../../testing/database.ts'
import { anApplication } from '../../../testing/form.ts'
import { visitor } from '../database/connections.ts'
import type { Run } from '../database/lanes.ts'
import type { Database } from '../database/database.ts'
import { insertApplications, rowsOf } from '../database/insert.ts'
import { createApp } from './app.ts'
import { health } from './health.ts'

let database: Database

beforeAll(async () => {
  database = await openTestDatabase()
})

afterAll(() => database.close())

/** A server of its own for each test: what the database said is kept for a moment. */
async function ask(path: string, delivers = true) {
  const settings = {
    anonKey: 'key',
    siteUrl: undefined,
    mailServer: undefined,
    trustProxy: false as const,
    rateLimitPerMinute: 1,
  }
  const app = await createApp({ settings, database, delivers })
  const answer = await app.inject(path)
  await app.close()
  return { status: answer.statusCode, body: answer.json() as unknown }
}

test('readiness tells how long the oldest application waits for its delivery', async () => {
  expect(await ask('/readyz')).toEqual({
    status: 200,
    body: { status: 'ok', oldestUndeliveredSeconds: null },
  })
  await insertApplications(database.as(visitor), rowsOf(anApplication()))
  await insertApplications(database.as(visitor), rowsOf(anApplication()))
  await database.owner`
    update public.retreat_applications set created_at = now() - interval '1 hour'
    where id = (select application_id from private.webhook_outbox limit 1)`
  const { body } = await ask('/readyz')
  expect(body).toMatchObject({ oldestUndeliveredSeconds: expect.closeTo(3600, -2) })
  await database.owner`update private.webhook_outbox set next_attempt_at = null, delivered_at = now()`
  expect((await ask('/readyz')).body).toMatchObject({ oldestUndeliveredSeconds: null })
})

test('where nothing is delivered, nothing is late', async () => {
  await insertApplications(database.as(visitor), rowsOf(anApplication()))
  expect((await ask('/readyz', true)).body).toMatchObject({ oldestUndeliveredSeconds: 0 })
  expect((await ask('/readyz', false)).body).toMatchObject({ oldestUndeliveredSeconds: null })
  await database.owner`update private.webhook_outbox set next_attempt_at = null, delivered_at = now()`
})

test('once an application could not be stored, the server is ready when the database can write', async () => {
  let now = 0
  const app = fastify()
  const storing = { fails: true }
  let isFull = true
  const run: Run = (work) => (isFull ? Promise.reject(new Error('the disk is full')) : database.asOwner(work))
  await app.register(health, { run, delivers: true, storing, now: () => now })
  const answer = await app.inject('/readyz')
  expect([answer.statusCode, answer.json()]).toEqual([503, { status: 'the database stores nothing' }])
  now = 1001
  isFull = false
  expect((await app.inject('/readyz')).statusCode).toBe(200)
  expect(storing.fails).toBe(false)
  await app.close()
})

test('the database is asked at most once a second, however often readiness is', async () => {
  let now = 0
  const app = fastify()
  await app.register(health, {
    run: database.asOwner,
    delivers: true,
    storing: { fails: false },
    now: () => now,
  })
  const oldest = async () => (await app.inject('/readyz')).json<{ oldestUndeliveredSeconds: unknown }>()
  expect((await oldest()).oldestUndeliveredSeconds).toBeNull()
  await insertApplications(database.as(visitor), rowsOf(anApplication()))
  now = 999
  expect((await oldest()).oldestUndeliveredSeconds).toBeNull()
  now = 1001
  expect((await oldest()).oldestUndeliveredSeconds).not.toBeNull()
  await app.close()
})

test('without its database the server is alive, but not ready', async () => {
  await database.close()
  expect(await ask('/healthz')).toEqual({ status: 200, body: { status: 'ok' } })
  expect((await ask('/readyz')).status).toBe(503)
})
