import { DatabaseError } from 'pg'
import { beforeAll, beforeEach, expect, test, vi } from 'vitest'

import { openTestDatabase } from '../../../test/support/database.ts'
import { anApplication } from '../../../test/support/form.ts'
import { resetDatabase } from '../../../test/support/reset.ts'
import { columns } from '../../application/application.ts'
import { visitor } from '../database/connection/pools.ts'
import type { Database } from '../database/database.ts'
import { createBatchedInserts } from './insert-together.ts'
import { insertApplications, sentRowsOf, type SentRows } from './insert-rows.ts'
import { wrapStatements } from '../../../test/support/sql.ts'

let database: Database

beforeAll(async () => {
  database = await openTestDatabase()
  // Opens all connections before the timers are faked, since the driver needs real ones.
  await Promise.all(
    many(20).map((each) => insertApplications(database.as(visitor), sentRowsOf(each)).then(stored)),
  )
})

beforeEach(async () => {
  await resetDatabase(database.owner)
  // Time passes only as the test says, on a machine of any speed.
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] })
})

/** Creates a connection that records each statement's rows, and in `sizes` their number. If held, it waits for `letGo`. */
function createRecorder({ isHeld = false } = {}) {
  const sizes: number[] = []
  const statements: unknown[] = []
  let letGo = () => {}
  const held = isHeld ? new Promise<void>((resolve) => (letGo = resolve)) : undefined
  const connection = wrapStatements(database.as(visitor), async (run, _text, [json]) => {
    const sent: unknown = JSON.parse(String(json ?? '{}'))
    sizes.push(Array.isArray(sent) ? sent.length : 1)
    statements.push(sent)
    await held
    return run()
  })
  return { connection, sizes, statements, letGo: () => letGo() }
}

/** A row as the data interface passes it on. */
function rowFrom(row: Record<string, unknown>): SentRows {
  const isWhole = Object.keys(row).length === columns.length
  const names = Object.keys(row) as SentRows['columns']
  const json = JSON.stringify(row)
  return {
    json,
    isArray: false,
    count: 1,
    columns: names,
    ...(isWhole ? { formAnswers: row } : {}),
    usesDefaults: false,
  }
}

const stored = async () => {
  const rows = await database.owner<
    { last_name: string }[]
  >`select last_name from public.retreat_applications`
  return rows.map((row) => row.last_name)
}
const many = (count: number) => Array.from({ length: count }, () => anApplication())

test('a row is sent at once and alone while nothing is pending', async () => {
  const { connection, sizes } = createRecorder()
  const insert = createBatchedInserts(connection)
  for (const application of many(5)) expect(await insert(sentRowsOf(application))).toBe(1)
  expect(sizes).toEqual([1, 1, 1, 1, 1])
})

test('waiting rows are sent together, and each gets its result when all are stored', async () => {
  const { connection, sizes, letGo } = createRecorder({ isHeld: true })
  const insert = createBatchedInserts(connection)
  const applications = many(21)
  const resolved: number[] = []
  const inserts = []
  for (const [index, application] of applications.entries()) {
    inserts.push(
      insert(sentRowsOf(application)).then(async () => {
        resolved.push(index)
        expect(await stored()).toContain(application.last_name)
      }),
    )
    // Each row arrives in another turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve))
  }
  vi.advanceTimersByTime(20)
  expect(sizes).toEqual([1])
  // More connections are free, so this does not wait for the first statement to end.
  vi.advanceTimersByTime(1)
  expect(sizes).toEqual([1, 20])
  expect(resolved).toEqual([])
  letGo()
  await Promise.all(inserts)
  expect((await stored()).toSorted()).toEqual(applications.map((each) => each.last_name).toSorted())
})

test('one statement has at most 64 rows, and the more rows wait, the more statements run concurrently', async () => {
  const { connection, sizes, letGo } = createRecorder({ isHeld: true })
  const insert = createBatchedInserts(connection)
  const inserts = many(3 * 64 + 7).map((application) => insert(sentRowsOf(application)))
  await new Promise((resolve) => setImmediate(resolve))
  expect(sizes).toEqual([64, 64, 64])
  letGo()
  await Promise.all(inserts)
  expect(sizes).toEqual([64, 64, 64, 7])
})

test('while one statement is pending, the next begins at once if 32 rows wait', async () => {
  const { connection, sizes, letGo } = createRecorder({ isHeld: true })
  const insert = createBatchedInserts(connection)
  const inserts = [insert(sentRowsOf(anApplication()))]
  await new Promise((resolve) => setImmediate(resolve))
  inserts.push(...many(32).map((application) => insert(sentRowsOf(application))))
  await new Promise((resolve) => setImmediate(resolve))
  expect(sizes).toEqual([1, 32])
  letGo()
  await Promise.all(inserts)
})

test('one statement has up to 256 KiB, and longer rows are sent alone', async () => {
  const { connection, sizes, letGo } = createRecorder({ isHeld: true })
  const insert = createBatchedInserts(connection)
  const insertWith = (reason: string) => insert(sentRowsOf(anApplication({ reason })))
  const long = 'ü'.repeat(60_000)
  const inserts = [
    insertWith('x'),
    insertWith(long),
    insertWith(long),
    insertWith(long),
    insertWith('日'.repeat(90_000)),
    insertWith('z'),
  ]
  letGo()
  await Promise.all(inserts)
  expect(sizes).toEqual([3, 1, 1, 1])
  expect(await stored()).toHaveLength(6)
})

test('if a statement has a row that is stored already, each row gets its own result, and so does a row that is sent twice', async () => {
  const [first, ...others] = many(30)
  if (first === undefined) throw new Error('there is none')
  await createBatchedInserts(database.as(visitor))(sentRowsOf(first))
  const { connection, sizes, letGo } = createRecorder({ isHeld: true })
  const insert = createBatchedInserts(connection)
  const repeated = others[20]
  if (repeated === undefined) throw new Error('there is none')
  const results = [...others, first, repeated].map((application) =>
    insert(sentRowsOf(application)).catch((error: unknown) => error),
  )
  letGo()
  const outcomes = await Promise.all(results)
  const refused = outcomes.filter((outcome) => outcome !== 1)
  expect(refused).toHaveLength(2)
  for (const error of refused) expect(error).toMatchObject({ code: '23505' })
  expect(outcomes[29]).toMatchObject({ code: '23505' })
  expect(await stored()).toHaveLength(30)
  expect(Math.max(...sizes)).toBeGreaterThan(20)
  // For a while, no rows are batched.
  const sizesOfNext = async () => {
    const before = sizes.length
    await Promise.all(many(20).map((application) => insert(sentRowsOf(application))))
    return sizes.slice(before)
  }
  vi.advanceTimersByTime(99)
  expect(await sizesOfNext()).toEqual(Array.from({ length: 20 }, () => 1))
  vi.advanceTimersByTime(1)
  expect(await sizesOfNext()).toEqual([20])
})

test.each([
  ['a blank form answer', { company: '' }, '23514'],
  ['an unknown option', { team_size: '11' }, '23514'],
  ['an inherited name as an option', { paid_solution: 'constructor' }, '23514'],
  ['no consent', { consent: false }, '23514'],
  ['a null', { phone: null }, '23502'],
  ['a form answer that is too long', { reason: 'x'.repeat(100_001) }, '23514'],
  ['a character that PostgreSQL cannot store', { reason: 'a\0b' }, '22P05'],
  ['half a surrogate pair', { reason: 'a\ud800b' }, '22P02'],
  ['a column that visitors may not set', { id: crypto.randomUUID() }, '42501'],
])('a row that would be refused is never batched with others: %s', async (_what, change, code) => {
  const { connection, sizes, letGo } = createRecorder({ isHeld: true })
  const insert = createBatchedInserts(connection)
  const inserts = many(10).map((application) => insert(sentRowsOf(application)))
  const refused = insert(rowFrom({ ...anApplication(), ...change })).catch((error: unknown) => error)
  letGo()
  expect(await refused).toMatchObject({ code })
  await Promise.all(inserts)
  expect(sizes).toEqual([1, 10])
})

test('a failure of the database is the result of every row, and no row is retried', async () => {
  let statements = 0
  const full = wrapStatements(database.as(visitor), async () => {
    statements += 1
    await Promise.resolve()
    throw Object.assign(new DatabaseError('no space left', 0, 'error'), { code: '53100' })
  })
  const insert = createBatchedInserts(full)
  const results = await Promise.allSettled(many(22).map((application) => insert(sentRowsOf(application))))
  for (const result of results)
    expect(result).toMatchObject({ status: 'rejected', reason: { code: '53100' } })
  expect(statements).toBe(1)
})

test('a row that waits too long fails, and is not stored later', async () => {
  const { connection, sizes, letGo } = createRecorder({ isHeld: true })
  const insert = createBatchedInserts(connection, 10)
  const first = insert(sentRowsOf(anApplication())).catch((error: unknown) => error)
  await expect.poll(() => sizes).toEqual([1])
  const others = many(4).map((application) => insert(sentRowsOf(application)))
  vi.advanceTimersByTime(10)
  for (const result of await Promise.allSettled(others))
    expect(result).toMatchObject({ status: 'rejected', reason: { code: 'DEADLINE' } })
  // The first row was sent already, so it may be stored although its insert has failed.
  expect(await first).toMatchObject({ code: 'DEADLINE' })
  letGo()
  await expect.poll(stored).toHaveLength(1)
  expect(sizes).toEqual([1])
})

test('a row that times out does not remove a waiting row with the same content', async () => {
  const { connection, sizes, letGo } = createRecorder({ isHeld: true })
  const insert = createBatchedInserts(connection, 10)
  const application = anApplication()
  const first = insert(sentRowsOf(application)).catch((error: unknown) => error)
  await new Promise((resolve) => setImmediate(resolve))
  expect(sizes).toEqual([1])
  vi.advanceTimersByTime(5)
  const second = insert(sentRowsOf(application)).catch((error: unknown) => error)
  vi.advanceTimersByTime(5)
  expect(await first).toMatchObject({ code: 'DEADLINE' })
  letGo()
  expect(await second).toMatchObject({ code: '23505' })
})

test('rows are sent in the same order, regardless of the order in which they arrive', async () => {
  const applications = many(20)
  const orders = []
  for (const arrivals of [applications, applications.toReversed()]) {
    const { connection, statements, letGo } = createRecorder({ isHeld: true })
    const insert = createBatchedInserts(connection)
    const settled = Promise.allSettled(arrivals.map((application) => insert(sentRowsOf(application))))
    letGo()
    await settled
    orders.push(statements[0])
  }
  expect(orders[0]).toHaveLength(20)
  expect(orders[1]).toEqual(orders[0])
})

test('two statements do not deadlock if the same rows arrived in different orders', async () => {
  const applications = many(20)
  const one = createRecorder({ isHeld: true })
  const other = createRecorder({ isHeld: true })
  const insertWithOne = createBatchedInserts(one.connection)
  const insertWithOther = createBatchedInserts(other.connection)
  const results = [
    ...applications.map((application) => insertWithOne(sentRowsOf(application))),
    ...applications.toReversed().map((application) => insertWithOther(sentRowsOf(application))),
  ].map((result) => result.catch((error: unknown) => error))
  one.letGo()
  other.letGo()
  const outcomes = await Promise.all(results)
  expect(outcomes.filter((outcome) => outcome === 1)).toHaveLength(20)
  for (const outcome of outcomes.filter((each) => each !== 1))
    expect(outcome).toMatchObject({ code: '23505' })
})
