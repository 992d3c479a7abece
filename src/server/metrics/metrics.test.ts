import { beforeAll, beforeEach, expect, test } from 'vitest'

import { atTestEnd } from '../../../test/support/cleanup.ts'
import { openTestDatabase } from '../../../test/support/database.ts'
import { anApplication } from '../../../test/support/form.ts'
import { storeDueLetters } from '../../../test/support/letters.ts'
import { readMetrics } from '../../../test/support/metrics.ts'
import { resetDatabase } from '../../../test/support/reset.ts'
import { recordStatements, wrapStatements } from '../../../test/support/sql.ts'
import { version } from '../../settings/version.ts'
import { insertApplications, sentRowsOf } from '../applications/insert-rows.ts'
import { visitor } from '../database/connection/pools.ts'
import type { Database } from '../database/database.ts'
import { createHealth } from '../health/readiness.ts'
import { backOffAll } from '../letters/pause-emails.ts'
import { startMetrics, type MetricsOptions } from './metrics.ts'

let database: Database

beforeAll(async () => {
  database = await openTestDatabase()
})

beforeEach(() => resetDatabase(database.owner))

/** Starts metrics of a new server. Returns its origin. */
async function start({
  sql = database.server,
  delivers = true,
  backups,
}: Partial<MetricsOptions> = {}): Promise<string> {
  const health = createHealth({ sql, delivers, backups })
  const { countConnections } = database
  const metrics = await startMetrics(
    { host: '127.0.0.1', port: 0 },
    { sql, health, delivers, backups, countConnections },
  )
  atTestEnd(() => metrics.stop())
  return `http://127.0.0.1:${metrics.port}`
}

async function scrape(origin: string) {
  const response = await fetch(`${origin}/metrics`)
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ])
  const text = await response.text()
  return { text, values: readMetrics(text) }
}

const person = {
  first_name: 'Ada',
  last_name: 'Lovelace',
  email: 'ada@example.org',
  phone: '+44 1234',
  reason: 'A quiet week.',
}

// break: metrics-quote-mail-server
test('the metrics count what is stored and stuck, and name nobody', async () => {
  const store = () => insertApplications(database.as(visitor), sentRowsOf({ ...anApplication(), ...person }))
  await store()
  await insertApplications(
    database.as(visitor),
    sentRowsOf({ ...anApplication(), ...person, company: 'Other' }),
  )
  await database.owner`
    update private.deliveries set queued_at = now() - interval '1 hour'
    where id = (select id from private.deliveries limit 1)`
  await database.owner`
    insert into private.statuses (application_id, created_at, status, version, edition)
    select id, created_at, 'accepted', 1, edition from public.retreat_applications limit 1`
  await backOffAll(database.owner, `No mailbox of ${person.email}.`)
  const newestAt = new Date(Date.now() - 3_600_000)
  const { text, values } = await scrape(
    await start({ backups: () => ({ newestAt, failingSince: new Date() }) }),
  )
  expect(values).toMatchObject({
    unplugged_up: 1,
    // The webhook and the backups. The mail server has failed for a moment only.
    unplugged_stuck: 2,
    'unplugged_applications{status="new"}': 1,
    'unplugged_applications{status="accepted"}': 1,
    'unplugged_applications{status="aside"}': 0,
    'unplugged_deliveries{kind="application",state="waiting"}': 2,
    'unplugged_deliveries{kind="application",state="failed"}': 0,
    'unplugged_deliveries{kind="notice",state="sending"}': 0,
    'unplugged_deliveries_oldest_seconds{kind="application"}': expect.closeTo(3600, -2) as number,
    'unplugged_deliveries_oldest_seconds{kind="letter"}': 0,
    unplugged_mail_problem: 1,
    unplugged_backup_timestamp_seconds: newestAt.getTime() / 1000,
    unplugged_backup_failing: 1,
    [`unplugged_build_info{version="${version}",node="${process.versions.node}"}`]: 1,
  })
  const pools = ['owner', 'server', 'sign-in', 'organisers', 'visitors']
  for (const pool of pools) expect(values).toHaveProperty([`unplugged_database_waiting{pool="${pool}"}`], 0)
  expect(values['unplugged_database_connections{pool="visitors"}']).toBeGreaterThanOrEqual(
    values['unplugged_database_connections_idle{pool="visitors"}'] ?? Infinity,
  )
  expect(values['process_resident_memory_bytes']).toBeGreaterThan(1e6)
  expect(values['nodejs_eventloop_lag_p99_seconds']).toBeLessThan(60)
  for (const value of Object.values(person)) expect(text).not.toContain(value)
})

test('without backups and webhook, neither is reported, and only deliveries that are made can be late', async () => {
  await storeDueLetters(database.owner, 2)
  const { values } = await scrape(await start({ delivers: false }))
  expect(values).toMatchObject({
    unplugged_up: 1,
    unplugged_stuck: 0,
    'unplugged_deliveries{kind="letter",state="waiting"}': 2,
  })
  for (const name of [
    'unplugged_backup_timestamp_seconds',
    'unplugged_backup_failing',
    'unplugged_deliveries_oldest_seconds{kind="application"}',
  ])
    expect(values).not.toHaveProperty([name])
})

test('while the database is away, a scrape succeeds and says so', async () => {
  const away = await openTestDatabase()
  const origin = await start({ sql: away.server })
  await away.close()
  const { values } = await scrape(origin)
  expect(values).toMatchObject({ unplugged_up: 0 })
  expect(values).toHaveProperty('process_start_time_seconds')
  expect(Object.keys(values).filter((name) => /stuck|applications|deliveries|mail/.test(name))).toEqual([])
})

// break: metrics-answer-head
test('only GET /metrics is answered', async () => {
  const origin = await start()
  for (const [method, path] of [
    ['GET', '/'],
    ['GET', '/readyz'],
    ['GET', '/metrics/more'],
    ['HEAD', '/metrics'],
    ['POST', '/metrics'],
    ['OPTIONS', '/metrics'],
  ] as const)
    expect([path, method, (await fetch(`${origin}${path}`, { method })).status]).toEqual([path, method, 404])
})

test('applications are counted once a minute, however often the metrics are read', async () => {
  const statements: string[] = []
  const origin = await start({ sql: recordStatements(database.server, statements) })
  for (let count = 0; count < 3; count += 1) await scrape(origin)
  const counting = (table: string) => statements.filter((text) => text.includes(`from ${table}`)).length
  expect(counting('public.retreat_applications')).toBe(1)
})

test('a count that failed is not begun again by the next scrape', async () => {
  let counts = 0
  const sql = wrapStatements(database.server, async (run, text) => {
    if (!text.includes('from public.retreat_applications')) return run()
    counts += 1
    throw new Error('no answer')
  })
  const origin = await start({ sql })
  for (let scrapes = 0; scrapes < 3; scrapes += 1) {
    const { values } = await scrape(origin)
    expect(Object.keys(values).filter((name) => name.startsWith('unplugged_applications'))).toEqual([])
  }
  expect(counts).toBe(1)
})

test('the start of the process is the same at each scrape', async () => {
  const origin = await start()
  const startedAt = async () => (await scrape(origin)).values['process_start_time_seconds']
  const first = await startedAt()
  expect(first).toBeGreaterThan(0)
  for (let scrapes = 0; scrapes < 3; scrapes += 1) expect(await startedAt()).toBe(first)
})
