import { createClient } from '@supabase/supabase-js'
import type { AddressInfo } from 'node:net'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import ws from 'ws'

import { defaultLook } from '../../../src/design/look.ts'
import { openTestDatabase } from '../../support/database.ts'
import { atTestEnd } from '../../support/cleanup.ts'
import { anApplication } from '../../support/form.ts'
import { newProject } from '../../support/hosted-project.ts'
import { startRepeating } from '../../support/load.ts'
import { startPostgres } from '../../support/postgres.ts'
import { temporaryDirectory } from '../../support/server.ts'
import { connectTo, valuesOf } from '../../support/sql.ts'
import { migrationsOf } from '../../support/released-migrations.ts'
import { migrations } from '../../../src/server/database/schema/migration-files.ts'
import { columns, isDuplicate, type Application } from '../../../src/application/application.ts'
import { createApp } from '../../../src/server/app.ts'
import { backUp } from '../../../src/server/backups/backup.ts'
import { restore } from '../../../src/server/backups/restore.ts'
import { checkBackup } from '../../../src/server/backups/read-backup.ts'
import { isDatabaseError } from '../../../src/server/database/connection/connection.ts'
import type { Database } from '../../../src/server/database/database.ts'
import { insertApplications, sentRowsOf } from '../../../src/server/applications/insert-rows.ts'
import { migrate } from '../../../src/server/database/schema/migrate.ts'
import type { Sql } from '../../../src/server/database/connection/sql.ts'

/** Begins the next edition, as in docs/decisions/0062. */
const beginEdition = (sql: Sql, id: number) =>
  sql.unsafe(`
    insert into private.editions (id, name, began_at) values (${id}, 'Retreat ${id}', now());
    alter table public.retreat_applications alter column edition set default ${id}`)

/** Starts a server for the database. Returns an applicant's real client. */
async function startClient(database: Database) {
  const app = await createApp({
    settings: {
      anonKey: 'the-public-key',
      siteUrl: undefined,
      look: defaultLook,
      mailServer: undefined,
      trustProxy: false,
      rateLimitPerMinute: 0,
    },
    database,
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  atTestEnd(() => app.close())
  const origin = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  return createClient(origin, 'the-public-key', { realtime: { transport: ws as never } })
}

const editionsOf = async (sql: Sql, { email }: Application) =>
  (
    await sql<{ edition: number }[]>`
      select edition from public.retreat_applications where email = ${email} order by 1`
  ).map(({ edition }) => edition)

test('the same eleven form answers are stored once in an edition, and again in the next one', async () => {
  const database = await openTestDatabase()
  const client = await startClient(database)
  const application = anApplication()
  const apply = async () => {
    const { status, error } = await client.from('retreat_applications').insert(application)
    return { status, wasStoredBefore: error !== null && isDuplicate(error) }
  }
  expect(await apply()).toEqual({ status: 201, wasStoredBefore: false })
  expect(await apply()).toEqual({ status: 409, wasStoredBefore: true })
  await beginEdition(database.owner, 2)
  expect(await apply()).toEqual({ status: 201, wasStoredBefore: false })
  expect(await apply()).toEqual({ status: 409, wasStoredBefore: true })
  expect(await editionsOf(database.owner, application)).toEqual([1, 2])
})

test('an applicant cannot set the edition, regardless of the client', async () => {
  const database = await openTestDatabase()
  const client = await startClient(database)
  const application = anApplication()
  for (const rows of [{ ...application, edition: 2 }, [{ ...application, edition: 1 }]]) {
    for (const options of [{}, { defaultToNull: false }])
      expect(await client.from('retreat_applications').insert(rows as object[], options)).toMatchObject({
        status: 401,
        error: { code: '42501' },
      })
  }
  expect(await editionsOf(database.owner, application)).toEqual([])
})

test('organisers see the form answers, and letters can quote them, but not yet the edition', async () => {
  const { owner } = await openTestDatabase()
  await owner`insert into public.retreat_applications ${valuesOf({ ...anApplication() })}`
  const [shown] = await owner<[{ answers: object; placeholders: object }]>`
    select private.form_answers(application, false) as answers, private.placeholders(application, false) as placeholders
    from public.retreat_applications as application`
  expect(Object.keys(shown.answers).toSorted()).toEqual(
    ['id', 'created_at', 'added_by', ...columns].toSorted(),
  )
  expect(Object.keys(shown.placeholders).toSorted()).toEqual(
    columns.filter((column) => column !== 'consent').toSorted(),
  )
})

// break: restore-sets-older-edition
test('a backup contains the editions, and after its restore new applications belong to the newest', async () => {
  const [from, to] = await Promise.all([openTestDatabase(), openTestDatabase()])
  const folder = join((await temporaryDirectory()).path, 'backup')
  const [both, later] = [anApplication(), anApplication()]
  await from.owner`insert into public.retreat_applications ${valuesOf({ ...both })}`
  await beginEdition(from.owner, 2)
  await from.owner`update private.editions set name = 'The first' where id = 1`
  await from.owner`insert into public.retreat_applications ${valuesOf({ ...both })}`
  await backUp(from.owner, folder)

  await restore(to.owner, await checkBackup(folder))
  const editions = (sql: Sql) => sql`select id, name, began_at::text from private.editions order by id`
  expect(await editions(to.owner)).toEqual(await editions(from.owner))
  expect(await editionsOf(to.owner, both)).toEqual([1, 2])
  await to.owner`insert into public.retreat_applications ${valuesOf({ ...later })}`
  expect(await editionsOf(to.owner, later)).toEqual([2])
})

test('a backup of 1.0.0 is restored into the first edition', async () => {
  const { owner } = await openTestDatabase()
  const { applications } = await restore(owner, await checkBackup('test/fixtures/1.0.0/backup'))
  expect(
    await owner`select edition, count(*)::int as count from public.retreat_applications group by 1`,
  ).toEqual([{ edition: 1, count: applications }])
  expect(await owner`select id, name, began_at::text from private.editions`).toEqual([
    { id: 1, name: '', began_at: '-infinity' },
  ])
})

test('while a migration adds editions, each application is stored once, and duplicates are refused', async () => {
  const postgres = await startPostgres()
  await postgres.admin`create database learning`
  const [sql, applicants] = [connectTo(postgres.url('learning'), 2), connectTo(postgres.url('learning'), 4)]
  await migrate(sql, { files: migrationsOf('1.0.1') })
  const before = Array.from({ length: 500 }, () => ({ ...anApplication() }))
  await sql`insert into public.retreat_applications ${valuesOf(before)}`
  let stored = 0
  const otherErrors: unknown[] = []
  const applyTwice = async () => {
    const rows = sentRowsOf(anApplication())
    await insertApplications(applicants, rows).then(() => (stored += 1))
    await insertApplications(applicants, rows).catch((error: unknown) => {
      if (!isDatabaseError(error) || !isDuplicate(error)) otherErrors.push(error)
    })
  }
  const applying = startRepeating([applyTwice, applyTwice, applyTwice])
  await applying.waitUntil(() => stored >= 20)
  await migrate(sql)
  const migrated = stored
  await applying.waitUntil(() => stored >= migrated + 20)
  await applying.end()
  expect(otherErrors).toEqual([])
  expect(
    await sql`select edition, count(*)::int as count from public.retreat_applications group by 1`,
  ).toEqual([{ edition: 1, count: before.length + stored }])
  expect(
    await sql`select relname as name, indisvalid as valid from pg_index join pg_class on pg_class.oid = indexrelid
      where indrelid = 'public.retreat_applications'::regclass and starts_with(relname, 'retreat_applications_once')`,
  ).toEqual([{ name: 'retreat_applications_once', valid: true }])
})

test('if building the new index is interrupted, a hosted project swaps the indexes only after it is built again', async () => {
  const project = await newProject(await startPostgres())
  const [index = '', swap = ''] = await Promise.all(
    ['20261126000200_once_in_an_edition', '20261126000300_once_by_its_name'].map((name) =>
      readFile(`supabase/migrations/${name}.sql`, 'utf8'),
    ),
  )
  await migrate(project.owner, { files: migrations.filter(({ version }) => version < '20261126000200') })
  await project.owner`insert into public.retreat_applications ${valuesOf([anApplication(), anApplication()])}`
  // Fails half-way and leaves an invalid index, as an interrupted build does.
  const unfinished = index.replace(/\(\n {2}edition,[^]*\)/, '((true))')
  await expect(project.owner.unsafe(unfinished)).rejects.toMatchObject({ code: '23505' })
  await project.owner.unsafe(index)
  await expect(project.owner.unsafe(swap)).rejects.toThrow(
    'retreat_applications_once_in_edition is not complete',
  )
  // The statement that the error's hint names.
  await project.owner`drop index concurrently if exists public.retreat_applications_once_in_edition`
  await project.owner.unsafe(index)
  await project.owner.unsafe(swap)
  const indexes = await project.owner<{ definition: string }[]>`
    select indexdef as definition from pg_indexes where indexname like 'retreat_applications_once%'`
  expect(indexes).toEqual([
    {
      definition: expect.stringMatching(/^CREATE UNIQUE INDEX retreat_applications_once ON .*\(edition, md5/),
    },
  ])
})
