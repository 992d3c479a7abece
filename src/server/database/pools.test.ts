import { connect, createServer, type AddressInfo } from 'node:net'
import { beforeAll, expect, test } from 'vitest'

import { atTestEnd } from '../../../test/support/cleanup.ts'
import { startPostgres, type TestPostgres } from '../../../test/support/postgres.ts'
import type { Caller } from './pools.ts'
import { openDatabase, type Database } from './database.ts'

let server: TestPostgres
/** The same database, opened directly and as if behind a pooler in transaction mode. */
let databases: [Database, Database]

beforeAll(async () => {
  server = await startPostgres()
  const location = { dataDir: '/nowhere', databaseUrl: server.url() }
  const openWith = (databasePooler: 'transaction' | undefined) =>
    openDatabase({ ...location, databasePooler }, { schema: 'migrate' })
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
    const inside = connect(Number(new URL(server.url()).port), '127.0.0.1')
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
  const databaseUrl = server.url().replace(/:\d+\//, `:${port}/`)
  await expect(openDatabase({ dataDir: '/nowhere', databaseUrl }, { schema: 'migrate' })).rejects.toThrow(
    /set DATABASE_POOLER=transaction\.$/,
  )
  const pooled = await openDatabase(
    { dataDir: '/nowhere', databaseUrl, databasePooler: 'transaction' },
    { schema: 'migrate' },
  )
  expect(await pooled.as({ role: 'anon' }).unsafe('select current_user as role')).toEqual([{ role: 'anon' }])
})

test('the first host that responds is used, but no read-only host if the address asks for a writable one', async () => {
  const twoHosts = server.url().replace('127.0.0.1', '127.0.0.2,127.0.0.1')
  const open = (databaseUrl: string) =>
    openDatabase({ dataDir: '/nowhere', databaseUrl }, { schema: 'migrate' })
  const database = await open(`${twoHosts}?target_session_attrs=read-write`)
  expect(await database.server`select 1 as one`).toEqual([{ one: 1 }])
  await database.close()
  const readOnly = `${twoHosts}?options=-c%20default_transaction_read_only%3Don`
  for (const [url, reason] of [
    [`${readOnly}&target_session_attrs=primary`, 'the server only reads'],
    [readOnly, 'cannot execute CREATE SCHEMA in a read-only transaction'],
  ] as const)
    await expect(open(url)).rejects.toThrow(
      `takes no writes (${reason}): name the primary, or let it write again.`,
    )
})
