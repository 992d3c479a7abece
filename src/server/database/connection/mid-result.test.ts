import { beforeAll, expect, test } from 'vitest'

import { startPostgres, type TestPostgres } from '../../../../test/support/postgres.ts'
import { openDatabase, type Database } from '../database.ts'

let server: TestPostgres
let database: Database

beforeAll(async () => {
  server = await startPostgres('database')
  const location = { dataDir: '/nowhere', databaseUrl: server.url() }
  database = await openDatabase(location, { schema: 'migrate' })
})

const organiser = { role: 'authenticated', claims: { sub: 'ada' } } as const

type Query = (statement: string) => Promise<readonly Record<string, unknown>[]>

/** For each pool of the database, a function that runs a statement in it. Each pool has its own connections. */
const queries: Record<string, Query> = {
  'a command': (statement) => database.owner.unsafe(statement),
  'the server': (statement) => database.server.unsafe(statement),
  'the sign-in': (statement) => database.signIn.unsafe(statement),
  'a visitor': (statement) => database.as({ role: 'anon' }).unsafe(statement),
  'an organiser': (statement) => database.as(organiser).unsafe(statement),
}

/** Expects complete results on all connections of a pool, with more statements than any pool has connections. */
async function expectWhole(query: Query) {
  const firsts = Array.from({ length: 20 }, (_each, index) => 3 * index)
  const results = await Promise.all(
    firsts.map((first) => query(`select ${first} + n as number from generate_series(0, 2) as n`)),
  )
  expect(results.map((rows) => [...rows])).toEqual(
    firsts.map((first) => [{ number: first }, { number: first + 1 }, { number: first + 2 }]),
  )
}

test.each(Object.entries(queries))(
  'a statement that fails after its first rows does not change later results of %s',
  async (_user, query) => {
    await expectWhole(query)
    const failing = query('select 1 / (n - 500) from generate_series(1, 1000) as n')
    await expect(failing).rejects.toMatchObject({ code: '22012' })
    await expectWhole(query)
  },
)

test.each(Object.entries(queries))(
  'a statement that is cancelled after its first rows does not change later results of %s',
  async (_user, query) => {
    const sleeping = `
      select repeat('x', 100), case when n = 500 then pg_sleep(600) end from generate_series(1, 1000) as n`
    const failed = query(sleeping).catch((error: unknown) => error)
    const isCancelled = async () =>
      (
        await server.admin`
          select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'PgSleep'`
      ).length === 1
    await expect.poll(isCancelled, { interval: 10 }).toBe(true)
    expect(await failed).toMatchObject({ code: '57014' })
    await expectWhole(query)
  },
)

/** By the place of the cut: a statement, and the bytes that are passed on, by the length of a part of its response. */
const cuts = {
  'inside a row': [`select repeat('x', 100) from generate_series(1, 1000)`, (length: number) => length / 2],
  'after the last row': [`select repeat('x', 4000)`, (length: number) => length - 10],
} as const

test.each(
  Object.entries(queries).flatMap(([user, query]) =>
    Object.entries(cuts).map(([where, cut]) => [where, user, query, ...cut] as const),
  ),
)(
  'a connection that is cut %s does not change later results of %s',
  async (_where, _user, query, statement, cutAt) => {
    // Opens all connections now, since one that is opened later would not be cut.
    await expectWhole(query)
    // Short responses, such as to the beginning of a transaction, are not cut.
    const stopCutting = server.cutMidData((length) => (length < 2_000 ? length : cutAt(length)))
    await expect(query(statement)).rejects.toThrow('Connection terminated unexpectedly')
    stopCutting()
    await expectWhole(query)
  },
)
