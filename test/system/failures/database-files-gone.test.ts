import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { beforeEach, expect, test } from 'vitest'

import { send, storedEmails } from '../../support/send-application.ts'
import { anApplication } from '../../support/form.ts'
import { waitForExit } from '../../support/postmaster.ts'
import {
  prepareDatabase,
  runCommand,
  startServer,
  temporaryDirectory,
  type RunningServer,
} from '../../support/server.ts'
import { connectToEmbedded } from '../../support/sql.ts'
import { within } from '../../support/within.ts'

/** The timeout for calls that would hang forever if the product failed, in milliseconds. */
const timeout = 30_000

let directory: Awaited<ReturnType<typeof temporaryDirectory>>
let data: string
let settings: Record<string, string>

beforeEach(async () => {
  directory = await temporaryDirectory()
  data = join(directory.path, 'data')
  settings = await prepareDatabase(data)
})

async function postmaster() {
  return Number.parseInt(await readFile(join(data, 'pgdata', 'postmaster.pid'), 'utf8'), 10)
}

const ready = async ({ origin }: RunningServer) => {
  const response = await fetch(`${origin}/readyz`)
  return [response.status, ((await response.json()) as { status: string }).status]
}

const waitForGoneMessage = ({ waitForOutput }: RunningServer) =>
  within(timeout, 'the sentence', waitForOutput(/is gone: mount the disk/))

const countIn = (output: string, words: string) => output.split(words).length - 1

test.each(['DATA_DIR', 'pgdata'])(
  'if %s of a database disappears, the server reports it, creates no new database, and serves all data when it is back',
  async (what) => {
    const path = what === 'DATA_DIR' ? data : join(data, 'pgdata')
    const server = await startServer(settings)
    const before = anApplication()
    expect(await send(server.origin, before)).toBe(201)
    const pid = await postmaster()
    await rename(path, `${directory.path}/unmounted`)
    process.kill(pid, 'SIGKILL')
    await waitForGoneMessage(server)
    expect(await send(server.origin, anApplication())).toBe(503)
    expect(await ready(server)).toEqual([503, 'the files of the database are gone'])
    // These commands take a while, in which the server tries several times to start the database.
    for (let round = 0; round < 4; round += 1) {
      const doctor = await runCommand(['doctor'], settings)
      expect(doctor.code).toBe(1)
      expect(doctor.stdout).toMatch(/^database +wrong +DATA_DIR is ".*", where there is no database: mount/m)
    }
    expect(existsSync(path)).toBe(false)
    await rename(`${directory.path}/unmounted`, path)
    await server.waitForOutput('the database is back')
    const after = anApplication()
    expect(await send(server.origin, after)).toBe(201)
    expect(await ready(server)).toEqual([200, 'ok'])
    // The server logs the loss only once, although it tries repeatedly.
    expect(countIn(server.output(), 'is gone: mount the disk')).toBe(1)
    expect(await server.stop()).toBe(0)
    expect((await storedEmails(settings)).toSorted()).toEqual([before.email, after.email].toSorted())
  },
)

test.each(['with its connections', 'without connections'])(
  'a stop ends a PostgreSQL whose files were moved away, %s',
  async (how) => {
    const server = await startServer(settings)
    const application = anApplication()
    expect(await send(server.origin, application)).toBe(201)
    const pid = await postmaster()
    const sql = connectToEmbedded(data)
    const [backend] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
    await rename(data, `${directory.path}/unmounted`)
    if (how === 'without connections') {
      // PostgreSQL then ends all other connections, and the server cannot find PostgreSQL's socket.
      process.kill(backend?.pid ?? 0, 'SIGKILL')
      await waitForGoneMessage(server)
    }
    await sql.end(0)
    expect(await server.stop()).toBe(0)
    await within(timeout, 'the end of PostgreSQL', waitForExit(pid))
    expect(existsSync(data)).toBe(false)
    await rename(`${directory.path}/unmounted`, data)
    expect(await storedEmails(settings)).toEqual([application.email])
  },
)

test('a server whose database cannot be started stops properly', async () => {
  const server = await startServer(settings)
  const pid = await postmaster()
  await rename(join(data, 'pgdata'), `${directory.path}/unmounted`)
  process.kill(pid, 'SIGKILL')
  await waitForGoneMessage(server)
  expect(await server.stop()).toBe(0)
})

// break: new-database-beside-backups
test('only a first start makes a database and says so, and a start without a database but with its backups is refused', async () => {
  await rm(data, { recursive: true })
  const backups = join(directory.path, 'backups')
  await mkdir(backups, { mode: 0o700 })
  const withBackups = { ...settings, BACKUP_DIR: backups }
  const isNew = 'The database is new'
  const first = await startServer(withBackups)
  expect(first.output()).toContain(isNew)
  await first.waitForOutput('"backup made"')
  expect(await first.stop()).toBe(0)
  const second = await startServer(withBackups)
  expect(second.output()).not.toContain(isNew)
  expect(await second.stop()).toBe(0)
  const [name = ''] = await readdir(backups)
  const backup = join(backups, name)

  await rename(data, `${directory.path}/unmounted`)
  const refused = await within(timeout, 'the refusal', runCommand([], withBackups))
  expect(refused.code).toBe(1)
  expect(refused.stderr).toBe(
    `DATA_DIR has no database, but BACKUP_DIR ("${backups}") has backups of one: mount the disk of DATA_DIR, restore the newest (node ${resolve('start.js')} restore --from "${backup}"), or name another BACKUP_DIR to begin with an empty database.\n`,
  )
  expect(existsSync(data)).toBe(false)

  // A restore that was killed leaves an empty database, into which the backup can be restored.
  const killed = { ...withBackups, ...(await prepareDatabase(join(directory.path, 'killed'))) }
  const refusedEmpty = await within(timeout, 'the refusal', runCommand([], killed))
  expect(refusedEmpty.code).toBe(1)
  expect(refusedEmpty.stderr).toContain(
    `The database in DATA_DIR is empty, but BACKUP_DIR ("${backups}") has backups of another, so a restore may have been interrupted: restore the newest (node ${resolve('start.js')} restore --from "${backup}"), or`,
  )
  expect(await runCommand(['restore', '--from', backup], killed)).toMatchObject({ code: 0 })
  const complete = await startServer(killed)
  expect(await complete.stop()).toBe(0)

  // Follows the advice of the sentence: names another folder for backups, and then restores.
  const otherBackups = join(directory.path, 'another')
  await mkdir(otherBackups, { mode: 0o700 })
  const fresh = await startServer({ ...settings, BACKUP_DIR: otherBackups })
  expect(fresh.output()).toContain(isNew)
  expect(await fresh.stop()).toBe(0)
  await rm(data, { recursive: true })
  expect(await runCommand(['restore', '--from', backup], withBackups)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Restored 0 applications') as string,
  })
  const restored = await startServer(withBackups)
  expect(restored.output()).not.toContain(isNew)
  expect(await restored.stop()).toBe(0)
})

test('a first start without the backup folder is refused, because the folder may have backups of a database', async () => {
  await rm(data, { recursive: true })
  const withoutFolder = { ...settings, BACKUP_DIR: join(directory.path, 'nowhere') }
  const { code, stderr } = await within(timeout, 'the refusal', runCommand([], withoutFolder))
  expect(code).toBe(1)
  expect(stderr).toMatch(/^BACKUP_DIR is ".*", which is not there: make that folder, mount .*\n$/)
  expect(existsSync(data)).toBe(false)
})
