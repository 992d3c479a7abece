import { readdir, readFile } from 'node:fs/promises'
import postgres, { type Sql } from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { anApplication } from '../../../testing/form.ts'
import { startPostgres, type TestPostgres } from '../../../testing/postgres.ts'
import { openDatabase } from './database.ts'
import { insertApplications, rowsOf } from './insert.ts'

let server: TestPostgres

beforeAll(async () => {
  server = await startPostgres()
})

afterAll(() => server.close())

const open = (databaseUrl: string) => openDatabase({ dataDir: '/nowhere', databaseUrl })

async function newDatabase(name: string, owner = 'postgres') {
  await server.admin.unsafe(`create database ${name} owner ${owner}`)
  return server.url(name, owner)
}

const count = async (sql: Sql) =>
  (await sql`select count(*)::int as n from public.retreat_applications`)[0]?.['n'] as number

test('a user who may not create roles is told the SQL for an administrator, which then suffices', async () => {
  await server.admin.unsafe('create role "just a user" login')
  const url = (await newDatabase('restricted', '"just a user"')).replace('"just a user"', 'just%20a%20user')
  const failure = await open(url).then(
    () => undefined,
    (error: unknown) => error,
  )
  const message = failure instanceof Error ? failure.message : ''
  expect(message).toMatch(
    /an administrator has to run once: create role anon .* grant anon to "just a user";$/,
  )
  await server.admin.unsafe(message.slice(message.indexOf('once: ') + 'once: '.length))
  const database = await open(url)
  await insertApplications(database.anon, rowsOf(anApplication()))
  expect(await count(database.owner)).toBe(1)
  await database.close()
})

test('a user who may create roles needs no administrator', async () => {
  const another = await startPostgres()
  await another.admin.unsafe('create role organiser login createrole')
  await another.admin.unsafe('create database organised owner organiser')
  const database = await open(another.url('organised', 'organiser'))
  await insertApplications(database.anon, rowsOf(anApplication()))
  expect(await count(database.owner)).toBe(1)
  await database.close()
  await another.close()
})

test('an empty database of another server gets the schema, recorded as the Supabase CLI does', async () => {
  const database = await open(await newDatabase('fresh'))
  await insertApplications(database.anon, rowsOf(anApplication()))
  expect(await count(database.owner)).toBe(1)
  expect(database.description).toMatch(/^PostgreSQL at 127\.0\.0\.1:\d+\/fresh$/)
  const recorded =
    await database.owner`select version, name, statements[1] as text, cardinality(statements) as parts from supabase_migrations.schema_migrations order by 1`
  const files = (await readdir('supabase/migrations')).toSorted()
  expect(recorded.map(({ version, name }) => `${version}_${name}.sql`)).toEqual(files)
  expect(recorded[0]).toMatchObject({
    text: await readFile(`supabase/migrations/${files[0]}`, 'utf8'),
    parts: 1,
  })
  await database.close()
})

test('servers that start together apply the migrations once', async () => {
  const url = await newDatabase('together')
  const databases = await Promise.all([open(url), open(url), open(url)])
  const files = await readdir('supabase/migrations')
  const recorded = await databases[0].owner`select version from supabase_migrations.schema_migrations`
  expect(recorded).toHaveLength(files.length)
  await Promise.all(databases.map((database) => database.close()))
})

test.each([
  ['nobody listens there', 'postgres://u@127.0.0.1:1/d', /cannot be used .*ECONNREFUSED/],
  ['no such host', 'postgres://u@no-such-host.invalid/d', /cannot be used/],
])('a DATABASE_URL where %s is told in a sentence without its password', async (_what, url, message) => {
  const failure = open(url.replace('u@', 'u:hunter2@'))
  await expect(failure).rejects.toThrow(message)
  await expect(failure).rejects.toThrow(/^(?!.*hunter2)/)
})

test('a database that is not there is told in a sentence', async () => {
  await expect(open(server.url('nothing'))).rejects.toThrow(
    /cannot be used \(database "nothing" does not exist\)/,
  )
})

test('the row holds the eleven answers, id and created_at, and only the owner reads it', async () => {
  const database = await open(await newDatabase('rights'))
  const columns = await database.owner`
    select column_name from information_schema.columns where table_name = 'retreat_applications'`
  expect(columns).toHaveLength(13)
  const grants = await database.owner`
    select grantee, privilege_type, count(*)::int from information_schema.column_privileges
    where table_name = 'retreat_applications' and grantee in ('anon', 'authenticated', 'PUBLIC') group by 1, 2`
  expect(grants).toEqual([{ grantee: 'anon', privilege_type: 'INSERT', count: 11 }])
  await database.close()
})

test('an application and its place in the outbox are stored together or not at all', async () => {
  const database = await open(await newDatabase('outbox'))
  const { owner, anon } = database
  await insertApplications(anon, rowsOf(anApplication()))
  await expect(insertApplications(anon, rowsOf(anApplication({ consent: false })))).rejects.toBeInstanceOf(
    postgres.PostgresError,
  )
  expect(await owner`select attempts, delivered_at from private.webhook_outbox`).toEqual([
    { attempts: 0, delivered_at: null },
  ])
  await owner`delete from public.retreat_applications`
  expect(await owner`select from private.webhook_outbox`).toHaveLength(0)
  await database.close()
})
