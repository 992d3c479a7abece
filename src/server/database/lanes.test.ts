import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { startPostgres, type TestPostgres } from '../../../testing/postgres.ts'
import { createLanes, DeadlineError, type Lanes } from './lanes.ts'

let server: TestPostgres
let lanes: Lanes
let opened = 0

beforeAll(async () => {
  server = await startPostgres()
  const connect = () => {
    opened += 1
    return postgres(server.url(), { max: 1, fetch_types: false })
  }
  lanes = createLanes(connect, 2, 1_000)
})

afterAll(async () => {
  await lanes.end(5)
  await server.close()
})

const pid = () => lanes.run(async (sql) => (await sql`select pg_backend_pid() as pid`)[0]?.['pid'] as number)

test('work goes where the least is under way', async () => {
  const both = await Promise.all([pid(), pid()])
  expect(new Set(both).size).toBe(2)
  expect(opened).toBe(2)
})

test('what is not answered in time fails, its connection is given up, and the other one goes on', async () => {
  const before = await Promise.all([pid(), pid()])
  const late = lanes.run((sql) => sql`select pg_sleep(60)`)
  const other = await pid()
  await expect(late).rejects.toBeInstanceOf(DeadlineError)
  const after = await Promise.all([pid(), pid()])
  expect(after).toContain(other)
  expect(after.filter((each) => before.includes(each))).toEqual([other])
  expect(opened).toBe(3)
})

test('an error of the work is its own', async () => {
  await expect(lanes.run((sql) => sql`select 1/0`)).rejects.toMatchObject({ code: '22012' })
  expect(opened).toBe(3)
})
