import { beforeAll, expect, test } from 'vitest'

import { differencesInProject, differencesOn } from '../../support/catalogue.ts'
import { startPostgres, type TestPostgres } from '../../support/postgres.ts'
import { connectTo } from '../../support/sql.ts'
import { migrate } from '../../../src/server/database/schema/migrate.ts'

let server: TestPostgres

beforeAll(async () => {
  server = await startPostgres()
})

test.each([
  ['a server of our own', () => differencesOn(server)],
  ['a hosted project', () => differencesInProject(server, 'push')],
  ['a hosted project that our own server uses', () => differencesInProject(server, 'server')],
])('the migrations of %s result in the declared schema', async (_name, differences) => {
  expect(
    await differences(),
    'For functions, run npm run schema. The rest needs a migration: npm run schema -- few words.',
  ).toEqual([])
})

test('an update can add columns to the applications, since no function with a parsed body takes their row type', async () => {
  const sql = connectTo(server.url(), 2)
  await migrate(sql)
  expect(
    await sql`
      select proname as name from pg_proc
      where prosqlbody is not null and 'public.retreat_applications'::regtype = any (proargtypes)`,
  ).toEqual([])
})
