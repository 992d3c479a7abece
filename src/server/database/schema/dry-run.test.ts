import { beforeAll, expect, test } from 'vitest'

import { anApplication } from '../../../../test/support/form.ts'
import { startPostgres, type TestPostgres } from '../../../../test/support/postgres.ts'
import { connectTo } from '../../../../test/support/sql.ts'
import { until } from '../../../../test/support/until.ts'
import { migrationsOf } from '../../../../test/support/released-migrations.ts'
import { dryRun } from './dry-run.ts'
import { insertApplications, sentRowsOf } from '../../applications/insert-rows.ts'
import { migrations, nameOf, type Migration } from './migration-files.ts'
import { migrate } from './migrate.ts'

let postgres: TestPostgres

beforeAll(async () => {
  postgres = await startPostgres()
})

const released = migrationsOf('1.0.1')

/** Creates a database with the schema of 1.0.1. */
async function createOlderDatabase(name: string) {
  await postgres.admin.unsafe(`create database ${name}`)
  const sql = connectTo(postgres.url(name), 4)
  await migrate(sql, { files: released })
  return sql
}

const migration = (version: string, sql: string): Migration => ({
  ledger: 'shared',
  version,
  name: 'of_a_test',
  sql,
})

test('an update is refused before its backup if the disk is too full, and runs if the disk has space', async () => {
  const sql = await createOlderDatabase('without_room')
  const readVersions = () => sql`select version from supabase_migrations.schema_migrations`
  const before = await readVersions()
  const called: string[] = []
  const options = { before: async () => void called.push('backup') }
  const sentence =
    /^The update needs [\d,]+ MB of disk for a while, and 1 MB are free where DATA_DIR is: make room there and start again; nothing was changed\.$/
  await expect(migrate(sql, { ...options, freeDisk: async () => 1_000_000 })).rejects.toThrow(sentence)
  await expect(dryRun(sql, { freeDisk: async () => 1_000_000 })).rejects.toThrow(sentence)
  expect(called).toEqual([])
  expect(await readVersions()).toEqual(before)

  await migrate(sql, { ...options, freeDisk: async () => 2 ** 40 })
  expect(called).toEqual(['backup'])
  expect((await readVersions()).length).toBeGreaterThan(before.length)
})

test('an update needs more disk space the more rows it copies, and no space if it copies no table', async () => {
  const sql = await createOlderDatabase('disk')
  const readNeeded = async (files = migrations) => (await dryRun(sql, { files })).disk.needed
  const few = await readNeeded()
  await sql`insert into private.templates (occasion, subject, body) select 'a' || n, '', '' from generate_series(1, 5000) as n`
  expect(await readNeeded()).toBe(few)
  await insertApplications(sql, sentRowsOf(anApplication()))
  await sql`
    insert into private.letters (application_id, occasion, edition, state, subject, body, released_at, sent_at)
    select id, 'a', n, 'sent', 'Hello', repeat('a', 100), now(), now()
    from public.retreat_applications, generate_series(1, 5000) as n`
  const [letters] = await sql<[{ size: number }]>`
    select pg_total_relation_size('private.letters')::float8 as size`
  expect((await readNeeded()) - few).toBeGreaterThan(2 * letters.size)
  expect(await readNeeded([...released, migration('20270101000000', 'select 1')])).toBe(0)
})

test('a dry run ends when an applicant has waited too long for its lock, and the application is stored', async () => {
  const sql = await createOlderDatabase('others')
  const slow = migration(
    '20270101000000',
    'lock table public.retreat_applications; create table private.new (); select pg_sleep(20)',
  )
  const failure = dryRun(sql, { files: [...released, slow] }).catch(String)
  await until(
    'its lock',
    async () =>
      (
        await sql`select from pg_locks where mode = 'AccessExclusiveLock' and granted
        and relation = 'public.retreat_applications'::regclass`
      ).length > 0,
  )
  await insertApplications(sql, sentRowsOf(anApplication()))
  expect(await failure).toMatch(/was ended since others waited for it, and nothing was changed: run it again/)
  expect(await sql`select from public.retreat_applications`).toHaveLength(1)
  expect(await sql`select from pg_class where relname = 'new'`).toEqual([])
})

test('a dry run lists migrations that cannot run in a transaction, and tries the rest', async () => {
  const sql = await createOlderDatabase('alone')
  const index = migration(
    '20270101000000',
    'create index concurrently if not exists letters_of_author on private.letters (author);',
  )
  const rest = migration('20270101000001', 'create table private.new as select generate_series(1, 3)')
  const result = await dryRun(sql, { files: [...released, index, rest] })
  expect(result).toMatchObject({ applied: [nameOf(rest)], untried: [nameOf(index)] })
  expect(result.tables).toEqual([{ name: 'private.new', before: null, after: 3 }])
  expect(await sql`select from pg_class where relname in ('new', 'letters_of_author')`).toEqual([])
})
