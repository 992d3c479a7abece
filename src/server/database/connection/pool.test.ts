import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { beforeAll, expect, test } from 'vitest'

import { atTestEnd } from '../../../../test/support/cleanup.ts'
import { startPostgres, type TestPostgres } from '../../../../test/support/postgres.ts'
import { parseAddress } from './address.ts'
import { createPool, type PoolOptions } from './pool.ts'
import { inBatches, type Sql } from './sql.ts'

let server: TestPostgres

beforeAll(async () => {
  server = await startPostgres()
})

function poolOf(options: PoolOptions, url = server.url()) {
  const pool = createPool(parseAddress(url).address, options)
  atTestEnd(() => pool.end(0))
  return pool
}

async function pid(sql: Sql) {
  const [row] = await sql<[{ pid: number }]>`select pg_backend_pid() as pid`
  return row.pid
}

const isRunningQuery = async (backend: number) =>
  (await server.admin`select from pg_stat_activity where pid = ${backend} and state = 'active'`).length > 0

/** Starts a proxy that cuts a connection this many bytes after the text `cut here`. Returns the database's URL through it. */
async function startCuttingProxy(bytes: number) {
  const proxy = createServer((outside) => {
    const inside = connect(Number(new URL(server.url()).port), '127.0.0.1')
    outside.pipe(inside)
    let remaining: number | undefined
    inside.on('data', (chunk: Buffer) => {
      const mark = chunk.indexOf('cut here')
      if (remaining === undefined && mark === -1) return void outside.write(chunk)
      remaining ??= mark + bytes
      outside.write(chunk.subarray(0, remaining))
      remaining -= chunk.length
      if (remaining <= 0) destroy()
    })
    const destroy = () => [outside, inside].forEach((socket: Socket) => socket.destroy())
    for (const socket of [outside, inside]) socket.on('error', destroy).on('close', destroy)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  atTestEnd(() => void proxy.close())
  return server.url().replace(/:\d+\//, `:${(proxy.address() as AddressInfo).port}/`)
}

// break: connection-shared
test('concurrent statements have a connection each, and the next statement reuses one of them', async () => {
  const pool = poolOf({ size: 2 })
  const both = await Promise.all([pid(pool), pid(pool)])
  expect(new Set(both).size).toBe(2)
  expect(both).toContain(await pid(pool))
  // Two concurrent callers never share a connection that was idle.
  expect(new Set(await Promise.all([pid(pool), pid(pool)])).size).toBe(2)
})

// break: timed-out-statement-continues
test('a statement that misses its deadline fails and is cancelled in the database, and no other statement is', async () => {
  const pool = poolOf({ size: 2, deadline: 1_000 })
  const [first] = await Promise.all([pid(pool), pid(pool)])
  const late = pool`select pg_sleep(60), pg_backend_pid()`
  const [failed, other] = await Promise.all([late.catch((error: unknown) => error), pid(pool)])
  expect(failed).toMatchObject({ code: 'DEADLINE' })
  await expect.poll(() => isRunningQuery(first === other ? 0 : first)).toBe(false)
  expect(
    await server.admin`select from pg_stat_activity where query like 'select pg_sleep(60)%' and state = 'active'`,
  ).toHaveLength(0)
  expect(await Promise.all([pid(pool), pid(pool)])).toContain(other)
})

test('the deadline counts from the start of a statement, and waiting for a connection has a separate deadline', async () => {
  const pool = poolOf({ size: 1, deadline: 3_000 })
  // On the one connection, the third statement ends after 3.15 seconds.
  const work = Array.from({ length: 3 }, () => pool`select pg_sleep(1.05)`)
  await expect(Promise.all(work)).resolves.toHaveLength(3)
  const smallPool = poolOf({ size: 1, deadline: 300 })
  let letGo = () => {}
  const held = smallPool.withConnection(() => new Promise<void>((resolve) => (letGo = resolve)))
  await expect(pid(smallPool)).rejects.toThrow('no connection was free within 300 ms')
  letGo()
  await held
  expect(await pid(smallPool)).toBeGreaterThan(0)
})

test("one person has at most half of the connections, and other people's work overtakes that person's waiting work", async () => {
  const pool = poolOf({ size: 4 })
  const order: string[] = []
  const holders: (() => void)[] = []
  const work = (person: string) =>
    pool.withConnection(async () => {
      order.push(person)
      await new Promise<void>((resolve) => holders.push(resolve))
    }, person)
  const all = [...Array.from({ length: 5 }, () => work('ada')), work('eve')]
  await expect.poll(() => order.toSorted()).toEqual(['ada', 'ada', 'eve'])
  while (order.length < 6 || holders.length > 0) {
    holders.splice(0).forEach((letGo) => letGo())
    await new Promise((resolve) => setImmediate(resolve))
  }
  await Promise.all(all)
})

test.each([
  ['22012', 'select 1 / (500 - n) as n from generate_series(1, 1000) as n'],
  ['57014', `select n, case when n > 500 then pg_sleep(1) end from generate_series(1, 1000) as n`],
])(
  'a statement that fails with %s after some rows leaves no rows for the next statement',
  async (code, text) => {
    const pool = poolOf({ size: 1 })
    await pool`set statement_timeout = 300`
    for (const prepare of [false, true]) {
      await expect(pool.unsafe(text, [], { prepare })).rejects.toMatchObject({ code })
      expect(await pool`select 'mine' as whose, 1 as n`).toEqual([{ whose: 'mine', n: 1 }])
      expect(await pool`select from pg_class where false`).toEqual([])
    }
  },
)

test.each([1, 9, 30, 200, 5_000, 20_000])(
  'a connection that is cut %i bytes into a result fails only its statement, and the next has its own result',
  async (bytes) => {
    const pool = poolOf({ size: 1 }, await startCuttingProxy(bytes))
    await pid(pool)
    const cut = pool`select 'cut here' || repeat('x', 100) as text, n from generate_series(1, 500) as n`
    const next = pool`select 'mine' as whose`
    await expect(cut).rejects.toMatchObject({
      code: expect.stringMatching(/^(CONNECTION_LOST|ECONNRESET)$/) as string,
    })
    expect(await next).toEqual([{ whose: 'mine' }])
  },
)

test('an idle connection that the database ended is not used again', async () => {
  const pool = poolOf({ size: 2 })
  const both = await Promise.all([pid(pool), pid(pool)])
  await server.admin`select pg_terminate_backend(pid) from unnest(${both}::int[]) as pid`
  await expect.poll(() => pid(pool).catch(() => 0)).toBeGreaterThan(0)
  const after = await Promise.all([pid(pool), pid(pool)])
  expect(after.filter((each) => both.includes(each))).toEqual([])
})

test('waiting callers fail at once if no connection can be opened', async () => {
  const pool = poolOf({ size: 1, deadline: 60_000 }, 'postgres://u@127.0.0.1:1/d')
  const results = await Promise.allSettled(Array.from({ length: 5 }, () => pid(pool)))
  for (const result of results)
    expect(result).toMatchObject({ status: 'rejected', reason: { code: 'ECONNREFUSED' } })
})

// break: failed-transaction-counts-as-committed
test('a transaction is committed as a whole or not at all, and a savepoint in it can fail alone', async () => {
  const pool = poolOf({ size: 1 })
  await pool`create temp table kept (n int)`
  const failing = pool.begin(async (sql) => {
    await sql`insert into kept values (1)`
    await sql`select 1 / 0`
  })
  await expect(failing).rejects.toMatchObject({ code: '22012' })
  await pool.begin(async (sql) => {
    await sql`insert into kept values (2)`
    await expect(
      sql.begin((part) => part.unsafe('insert into kept values (3); select 1 / 0')),
    ).rejects.toThrow('division by zero')
    await sql`insert into kept values (4)`
  })
  expect(await pool`select n from kept order by n`).toEqual([{ n: 2 }, { n: 4 }])
  const withCaughtError = pool.begin(async (sql) => {
    await sql`insert into kept values (5)`
    await sql`select 1 / 0`.catch(() => {})
  })
  await expect(withCaughtError).rejects.toThrow('the transaction was rolled back')
  expect(await pool`select n from kept where n = 5`).toEqual([])
})

test('prepared statements still work after the columns of a table change', async () => {
  const pool = poolOf({ size: 2 })
  await server.admin`create table public.changing (a int)`
  const read = () => pool`select * from public.changing`
  await Promise.all([read(), read()])
  await server.admin`alter table public.changing add b int`
  await server.admin`insert into public.changing values (1, 2)`
  expect(await Promise.all([read(), read()])).toEqual([[{ a: 1, b: 2 }], [{ a: 1, b: 2 }]])
  expect(await read()).toEqual([{ a: 1, b: 2 }])
})

test('values keep their types in both directions, but a bigint and a date arrive as texts', async () => {
  const pool = poolOf({ size: 1 })
  const at = new Date('2026-11-24T01:02:03.456Z')
  const [row] = await pool`
    select ${'a'} as text, ${true}::boolean as flag, ${at}::timestamptz as at, ${['x', 'y,"']}::text[] as list,
      ${null}::text as nothing, ${'{"a":[1]}'}::jsonb as json, 12::bigint as many, '2026-01-02'::date as day,
      ${pool`${1}::int + ${2}::int`} as sum`
  expect(row).toEqual({
    text: 'a',
    flag: true,
    at,
    list: ['x', 'y,"'],
    nothing: null,
    json: { a: [1] },
    many: '12',
    day: '2026-01-02',
    sum: 3,
  })
  const { count } = await pool`select from generate_series(1, 7)`
  expect(count).toBe(7)
})

test('reading in batches yields all rows in order', async () => {
  const pool = poolOf({ size: 1 })
  const batches: number[][] = []
  await pool.begin(async (sql) => {
    for await (const rows of inBatches<{ n: number }>(
      sql,
      'select n from generate_series(1, $1) as n',
      4,
      [10],
    ))
      batches.push(rows.map(({ n }) => n))
  })
  expect(batches).toEqual([
    [1, 2, 3, 4],
    [5, 6, 7, 8],
    [9, 10],
  ])
})

test('closing a pool waits for pending statements, and then cancels the rest in the database', async () => {
  const pool = poolOf({ size: 3 })
  const running = () =>
    server.admin`select from pg_stat_activity where query like 'select ''until%' and state = 'active'`
  const short = pool`select 'until then', pg_sleep(1), 1 as one`.then((rows) => rows[0])
  const long = pool`select 'until the end', pg_sleep(60)`.catch((error: unknown) => error)
  await expect.poll(running).toHaveLength(2)
  const opening = pid(pool).catch((error: unknown) => error)
  await pool.end(2_000)
  expect(await opening).toMatchObject({ code: 'CONNECTION_CLOSED' })
  expect(await short).toMatchObject({ one: 1 })
  expect(await long).toMatchObject({ code: 'CONNECTION_LOST' })
  await expect(pid(pool)).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' })
  await expect.poll(running).toHaveLength(0)
})
