import { beforeAll, describe, expect, test } from 'vitest'

import { migrate } from '../../src/server/database/schema/migrate.ts'
import { differencesInProject, differencesOn, pushMigrations } from '../support/catalogue.ts'
import { newProject } from '../support/hosted-project.ts'
import { cannotRun } from '../support/requirements.ts'
import {
  debianPrograms,
  fetchPostgres,
  isDebianPostgresInstalled,
  noDebianPostgres,
  noFetchedPostgres,
  startOtherPostgres,
  type OtherPostgres,
} from '../support/other-postgres.ts'
import { temporaryDirectory } from '../support/server.ts'
import type { Sql } from '../../src/server/database/connection/sql.ts'

const directory = await temporaryDirectory()
describe.each([
  ["Debian's PostgreSQL 15", isDebianPostgresInstalled() ? debianPrograms : undefined, noDebianPostgres],
  ["npm's PostgreSQL 17", await fetchPostgres(17, directory.path), noFetchedPostgres(17)],
])('on %s', (_name, programs, missing) => {
  let server: OtherPostgres | undefined

  beforeAll(async () => {
    if (programs !== undefined) server = await startOtherPostgres(programs)
  })

  test('the migrations produce the declared schema', async ({ skip }) => {
    if (server === undefined) return cannotRun(skip, missing)
    expect(await differencesOn(server)).toEqual([])
  })

  test('the migrations produce the declared schema in a new hosted project', async ({ skip }) => {
    if (server === undefined) return cannotRun(skip, missing)
    expect(await differencesInProject(server, 'push')).toEqual([])
  })

  test('the migrations that our server applies to the database of a hosted project produce the declared schema', async ({
    skip,
  }) => {
    if (server === undefined) return cannotRun(skip, missing)
    expect(await differencesInProject(server, 'server')).toEqual([])
  })
})

describe('plpgsql_check finds no problem in the functions', () => {
  test('of a database of our own server', async ({ skip }) => {
    if (!isDebianPostgresInstalled()) return cannotRun(skip, noDebianPostgres)
    const server = await startOtherPostgres(debianPrograms)
    await migrate(server.admin)
    expect(await findingsOf(server.admin)).toEqual([])
  })

  test('of a hosted project', async ({ skip }) => {
    if (!isDebianPostgresInstalled()) return cannotRun(skip, noDebianPostgres)
    const server = await startOtherPostgres(debianPrograms)
    const project = await newProject(server)
    await pushMigrations(project.owner)
    expect(await findingsOf(project.asSupabase)).toEqual([])
  })
})

/** Installs plpgsql_check in a database. Returns its findings. */
async function findingsOf(superuser: Sql) {
  await superuser`create extension plpgsql_check`
  return superuser`
    select checked.oid::regprocedure::text as function, lineno as line, message, detail, hint
    from pg_proc as checked
      left join pg_trigger on tgfoid = checked.oid and not tgisinternal,
      plpgsql_check_function_tb(checked.oid, coalesce(tgrelid, 0), oldtable => tgoldtable,
        newtable => tgnewtable, fatal_errors => false, extra_warnings => true) as finding
    where pronamespace in ('public'::regnamespace, 'private'::regnamespace)
      and prolang = (select oid from pg_language where lanname = 'plpgsql')
      -- Desks of earlier versions send the time zone, which is not used any more.
      and not (proname = 'desk_places' and message = 'unused parameter "zone"')`
}
