import { connect, createServer, type AddressInfo } from 'node:net'
import { beforeAll, expect, test } from 'vitest'

import { atTestEnd } from '../../../../test/support/cleanup.ts'
import { startPostgres, type TestPostgres } from '../../../../test/support/postgres.ts'
import type { Caller } from './pools.ts'
import { openDatabase, type Database } from '../database.ts'
import type { Sql } from './sql.ts'

let postgres: TestPostgres
/** The same database, opened directly and as if behind a pooler in transaction mode. */
let databases: [Database, Database]
/** The sentences about events of the first. */
const events: string[] = []

beforeAll(async () => {
  postgres = await startPostgres()
  const location = { dataDir: '/nowhere', databaseUrl: postgres.url() }
  const openWith = (databasePooler: 'transaction' | undefined) =>
    openDatabase(
      { ...location, databasePooler },
      { schema: 'migrate', ...(databasePooler === undefined && { onEvent: (event) => events.push(event) }) },
    )
  databases = [await openWith(undefined), await openWith('transaction')]
  for (const database of databases) atTestEnd(() => database.close())
})

const organiser: Caller = { role: 'authenticated', claims: { sub: "o'hara", role: 'authenticated' } }
const callerSettings = `select current_user::text as role, current_setting('request.jwt.claims', true) as claims,
  current_setting('statement_timeout') as "timeout"`

test.each([0, 1] as const)(
  'a caller has their role, their token claims and their time limit, without a pooler and with one (%i)',
  async (index) => {
    const database = databases[index]
    expect(await database.as({ role: 'anon' }).unsafe(callerSettings)).toMatchObject([
      { role: 'anon', timeout: '10s' },
    ])
    const [row] = (await database.as(organiser).unsafe(callerSettings)) ?? []
    expect(row).toMatchObject({ role: 'authenticated', timeout: '10s' })
    expect(JSON.parse(String(row?.['claims']))).toEqual({ sub: "o'hara", role: 'authenticated' })
  },
)

test('the database cancels long statements of the server itself, but not of migrations and commands', async () => {
  const [database] = databases
  const limit = 'select current_setting($$statement_timeout$$) as "limit"'
  expect(await database.server.unsafe(limit)).toEqual([{ limit: '10s' }])
  expect(await database.signIn.unsafe(limit)).toEqual([{ limit: '10s' }])
  expect(await database.owner.unsafe(limit)).toEqual([{ limit: '0' }])
})

test('a transaction that a deadlock ended is tried once more, and the operator learns of it', async () => {
  const [{ owner, server, as }] = databases
  await owner.unsafe(`
    create table public.locked (id integer primary key);
    insert into public.locked values (1), (2);
    create function public.lock_row(wanted integer) returns void language plpgsql security definer set search_path = '' as $$
    begin
      perform from public.locked where id = wanted for update;
    end
    $$`)
  const lock = async (sql: Sql, id: number) => sql`select public.lock_row(${id})`
  const waiting = () => owner`select from pg_stat_activity where wait_event_type = 'Lock'`
  for (const [name, pool] of [
    ['organisers', as(organiser)],
    ['server', server],
  ] as const) {
    events.length = 0
    let tries = 0
    const { calling } = await owner.begin(async (other) => {
      // PostgreSQL ends the transaction that looks for the deadlock.
      await other`set local deadlock_timeout = '1h'`
      await lock(other, 2)
      let locking: Promise<unknown> | undefined
      const call = pool.begin(async (sql) => {
        tries += 1
        await lock(sql, 1)
        locking ??= lock(other, 1)
        await expect.poll(async () => tries > 1 || (await waiting()).length === 1).toBe(true)
        await lock(sql, 2)
      })
      await expect.poll(() => locking).toBeDefined()
      await locking
      return { calling: call }
    })
    await calling
    expect({ name, tries, events }).toEqual({
      name,
      tries: 2,
      events: ['a deadlock in public.lock_row: PostgreSQL undid the transaction, which is tried once more'],
    })
  }
})

test.each([0, 1] as const)(
  'the next caller on a connection does not get the token claims of the previous one (%i)',
  async (index) => {
    const database = databases[index]
    // More callers than connections.
    await Promise.all(Array.from({ length: 20 }, () => database.as(organiser).unsafe('select 1')))
    const callers = Array.from({ length: 20 }, (_, number) => ({
      role: 'authenticated' as const,
      claims: { sub: String(number) },
    }))
    const rows = await Promise.all(callers.map((caller) => database.as(caller).unsafe(callerSettings)))
    expect(rows.map((row) => JSON.parse(String(row?.[0]?.['claims'])) as unknown)).toEqual(
      callers.map(({ claims }) => claims),
    )
    const visitors = await Promise.all(
      Array.from({ length: 20 }, () => database.as({ role: 'anon' }).unsafe(callerSettings)),
    )
    for (const visitor of visitors) expect(visitor?.[0]?.['claims'] ?? '').toBe('')
  },
)

test.each(['select * from public.retreat_applications', 'select * from private.deliveries'])(
  'a signed-in caller may not run: %s',
  async (statement) => {
    for (const database of databases) {
      await expect(database.as(organiser).unsafe(statement)).rejects.toMatchObject({
        code: expect.stringMatching(/^42/) as string,
      })
    }
  },
)

test("if a pooler drops a connection's role, the start fails and names the setting DATABASE_POOLER, which keeps visitors' roles", async () => {
  // A stand-in for such a pooler: it drops the options of the startup packet.
  const dropping = createServer((outside) => {
    const inside = connect(Number(new URL(postgres.url()).port), '127.0.0.1')
    outside.once('data', (startup: Buffer) => {
      const text = startup.toString('latin1').replace(/options\0[^\0]*\0/, '')
      const shorter = Buffer.from(text, 'latin1')
      shorter.writeInt32BE(shorter.length, 0)
      inside.write(shorter)
      outside.pipe(inside)
    })
    inside.pipe(outside)
    for (const [one, other] of [
      [outside, inside],
      [inside, outside],
    ] as const)
      one.on('error', () => other.destroy()).on('close', () => other.destroy())
  })
  await new Promise<void>((resolve) => dropping.listen(0, '127.0.0.1', resolve))
  const { port } = dropping.address() as AddressInfo
  const databaseUrl = postgres.url().replace(/:\d+\//, `:${port}/`)
  await expect(openDatabase({ dataDir: '/nowhere', databaseUrl }, { schema: 'migrate' })).rejects.toThrow(
    /set DATABASE_POOLER=transaction\.$/,
  )
  const pooled = await openDatabase(
    { dataDir: '/nowhere', databaseUrl, databasePooler: 'transaction' },
    { schema: 'migrate' },
  )
  expect(await pooled.as({ role: 'anon' }).unsafe('select current_user as role')).toEqual([{ role: 'anon' }])
})

test('a database that takes no writes is refused by a sentence that says so', async () => {
  const databaseUrl = `${postgres.url()}?options=-c%20default_transaction_read_only%3Don`
  await expect(openDatabase({ dataDir: '/nowhere', databaseUrl }, { schema: 'migrate' })).rejects.toThrow(
    'takes no writes (cannot execute CREATE SCHEMA in a read-only transaction): name the primary, or let it write again.',
  )
})
