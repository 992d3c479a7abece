import { once } from 'node:events'
import { execFile, spawn } from 'node:child_process'
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeEach, expect, test } from 'vitest'

import { send, storedEmails } from '../../support/send-application.ts'
import { anApplication } from '../../support/form.ts'
import { startLoad } from '../../support/load.ts'
import { waitForExit, postmasterOf } from '../../support/postmaster.ts'
import { mountSmallDisk } from '../../support/small-disk.ts'
import {
  prepareDatabase,
  runCommand,
  startServer,
  temporaryDirectory,
  type RunningServer,
} from '../../support/server.ts'
import { connectToEmbedded } from '../../support/sql.ts'
import { until } from '../../support/until.ts'

let directory: Awaited<ReturnType<typeof temporaryDirectory>>
let settings: Record<string, string>

beforeEach(async () => {
  directory = await temporaryDirectory()
  settings = await prepareDatabase(join(directory.path, 'data'))
})

const connect = () => connectToEmbedded(settings['DATA_DIR'] ?? '')

const postmaster = () => postmasterOf(settings['DATA_DIR'] ?? '')
const isRefused = (origin: string) =>
  fetch(origin).then(
    () => false,
    () => true,
  )

test('if the database is killed under load, applications are refused meanwhile, and none that was acknowledged is lost', async () => {
  const server = await startServer(settings)
  const applicationLoad = startLoad(server.origin)
  await applicationLoad.waitUntil(() => applicationLoad.acknowledged.length >= 100)
  process.kill((await postmaster()) ?? 0, 'SIGKILL')
  await applicationLoad.waitUntil(() => applicationLoad.statuses.has(503))
  await server.waitForOutput('the database is back')
  const acknowledgedBefore = applicationLoad.acknowledged.length
  await applicationLoad.waitUntil(() => applicationLoad.acknowledged.length >= acknowledgedBefore + 100)
  await applicationLoad.end()
  expect([...applicationLoad.statuses].filter((status) => status !== 201 && status !== 503)).toEqual([])
  expect(await server.stop()).toBe(0)
  const stored = await storedEmails(settings)
  expect(applicationLoad.acknowledged.filter((email) => !stored.includes(email))).toEqual([])
})

test('if one process of the database is killed under load, the server recovers, and no acknowledged application is lost', async () => {
  const server = await startServer(settings)
  const sending = startLoad(server.origin)
  await sending.waitUntil(() => sending.acknowledged.length >= 100)
  const sql = connect()
  const [backend] = await sql<{ pid: number }[]>`
    select pid from pg_stat_activity where application_name = 'unplugged visitors' limit 1`
  process.kill(backend?.pid ?? 0, 'SIGKILL')
  await server.waitForOutput('the database is back')
  const acknowledgedBefore = sending.acknowledged.length
  await sending.waitUntil(() => sending.acknowledged.length >= acknowledgedBefore + 100)
  await sending.end()
  await sql.end(1_000)
  expect(await server.stop()).toBe(0)
  const stored = await storedEmails(settings)
  expect(sending.acknowledged.filter((email) => !stored.includes(email))).toEqual([])
})

test('at SIGTERM a server responds to pending requests, exits with 0, and leaves no process', async () => {
  const server = await startServer(settings)
  const pid = (await postmaster()) ?? 0
  const sql = connect()
  const application = anApplication()
  let status: Promise<number> | undefined
  // An insert stays pending while it waits for the lock of this transaction.
  await sql.begin(async (transaction) => {
    await transaction`lock table public.retreat_applications in share mode`
    status = send(server.origin, application)
    await until('the insert that waits', async () => {
      return (await transaction`select from pg_locks where not granted`).length > 0
    })
    server.process.kill('SIGTERM')
    // Waits until the server is stopping and refuses new connections.
    await until('the refusal of connections', () => isRefused(server.origin))
  })
  expect(await status).toBe(201)
  const closing = sql.end(1_000)
  expect(await server.stop()).toBe(0)
  // The exit event may come before the last output.
  await expect.poll(server.output).toMatch(/"signal":"SIGTERM","msg":"stopped"\}\n$/)
  await closing
  await waitForExit(pid)
  expect(await postmaster()).toBeUndefined()
  expect(await storedEmails(settings)).toEqual([application.email])
})

test('SIGTERM to npm stops the server that npm started', async () => {
  const { PATH = '', HOME = '' } = process.env
  const npm = spawn('npm', ['start'], { env: { PATH, HOME, PORT: '0', ...settings } })
  let output = ''
  await new Promise<void>((resolve) => {
    npm.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      if (output.includes('is ready at')) resolve()
    })
  })
  const pid = (await postmaster()) ?? 0
  expect(pid).toBeGreaterThan(0)
  npm.kill('SIGTERM')
  await once(npm, 'exit')
  await waitForExit(pid)
  const [, origin = ''] = /is ready at (.*)\//.exec(output) ?? []
  await expect(fetch(origin)).rejects.toThrow('fetch failed')
})

test('SIGTERM during a start stops the server properly', async () => {
  await rm(settings['DATA_DIR'] ?? '', { recursive: true })
  const child = spawn(process.execPath, ['start.js'], {
    env: { PATH: process.env['PATH'] ?? '', PORT: '0', ...settings },
  })
  const exited = once(child, 'exit')
  await until('the database', async () => (await postmaster()) !== undefined)
  child.kill('SIGTERM')
  expect(await exited).toEqual([0, null])
  expect(await postmaster()).toBeUndefined()
})

test('a second server on the same DATA_DIR is refused with a sentence and does not disturb the first', async () => {
  const server = await startServer(settings)
  const second = await runCommand([], settings)
  expect(second.code).toBe(1)
  expect(second.stderr).toMatch(
    /^DATA_DIR is ".*", which is in use by the server on 127\.0\.0\.1:[1-9]\d*, process \d+: stop that one, or give this one another DATA_DIR\.\n$/,
  )
  expect(await send(server.origin, anApplication())).toBe(201)
  expect(await server.stop()).toBe(0)
})

test('if two servers start together on a new DATA_DIR, one runs, and the other ends and says why', async () => {
  await rm(settings['DATA_DIR'] ?? '', { recursive: true })
  const starts = [startServer(settings), startServer(settings)].map((starting) =>
    starting.then(
      (server) => server,
      (error: unknown) => String(error),
    ),
  )
  const results = await Promise.all(starts)
  const [running, ...others] = results.filter((result): result is RunningServer => typeof result !== 'string')
  expect(others).toEqual([])
  expect(results.filter((result) => typeof result === 'string').join('')).toContain('which is in use by')
  expect(await send(running?.origin ?? '', anApplication())).toBe(201)
  expect(await running?.stop()).toBe(0)
})

test.each(['a dead process', 'a dead process that nobody reaped', 'another running process'])(
  'a postmaster.pid that a power cut left does not prevent a start, even if it names %s',
  async (owner) => {
    const server = await startServer(settings)
    expect(await send(server.origin, anApplication())).toBe(201)
    const pid = (await postmaster()) ?? 0
    await server.stop('SIGKILL')
    const file = join(settings['DATA_DIR'] ?? '', 'pgdata', 'postmaster.pid')
    process.kill(pid, 'SIGKILL')
    await waitForExit(pid)
    // `exec` replaces the shell by `sleep`, which does not reap the child.
    const otherProcess = spawn('sh', ['-c', 'true & echo $!; exec sleep 600'])
    const [unreaped] = (await once(otherProcess.stdout, 'data')) as [Buffer]
    const content = (await readFile(file, 'utf8')).split('\n')
    if (owner === 'another running process') content[0] = String(otherProcess.pid)
    if (owner === 'a dead process that nobody reaped') content[0] = unreaped.toString().trim()
    await writeFile(file, content.join('\n'))
    const restarted = await startServer(settings)
    expect(await send(restarted.origin, anApplication())).toBe(201)
    expect(await restarted.stop()).toBe(0)
    expect(await storedEmails(settings)).toHaveLength(2)
    expect(otherProcess.exitCode).toBeNull()
    otherProcess.kill()
  },
)

test('a start that is killed while it creates the database does not prevent the next start', async () => {
  await rm(settings['DATA_DIR'] ?? '', { recursive: true })
  const data = settings['DATA_DIR'] ?? ''
  const child = spawn(process.execPath, ['start.js'], {
    env: { PATH: process.env['PATH'] ?? '', PORT: '0', ...settings },
  })
  await until('the first file of the database', async () => (await readdir(data)).length > 0)
  child.kill('SIGKILL')
  const server = await startServer(settings)
  expect(await send(server.origin, anApplication())).toBe(201)
  expect(await server.stop()).toBe(0)
})

test('a full disk is reported to visitors and health checks, and no acknowledged application is lost', async ({
  skip,
}) => {
  const small = join(directory.path, 'small')
  await mountSmallDisk(small, '120m', skip)
  settings = await prepareDatabase(join(small, 'data'))
  const server = await startServer(settings)
  const filler = join(small, 'filler')
  const acknowledged: string[] = []
  // Fills the rest of the disk with another file.
  await promisify(execFile)('sh', ['-c', `cat /dev/zero > ${filler} 2>/dev/null || true`])
  for (let status = 201; status === 201;) {
    const application = anApplication({ reason: 'x'.repeat(20_000) })
    status = await send(server.origin, application)
    if (status === 201) acknowledged.push(application.email)
    expect([201, 503]).toContain(status)
  }
  const refused = await fetch(server.origin, {
    method: 'POST',
    body: new URLSearchParams({ first_name: 'Ada' }),
  })
  expect(await refused.text()).toMatch(/Submission Failed/)
  const ready = () => fetch(`${server.origin}/readyz`)
  expect([(await ready()).status, (await fetch(`${server.origin}/healthz`)).status]).toEqual([503, 200])
  await promisify(execFile)('rm', [filler])
  // Health checks notice the free space even if no application is sent.
  await until('a server that is ready', async () => (await ready()).status === 200)
  await until('an accepted application', async () => (await send(server.origin, anApplication())) === 201)
  expect(await server.stop()).toBe(0)
  expect(server.output()).toMatch(/"code":"53100","message":"The disk of the database is full\."/)
  const stored = await storedEmails(settings)
  expect(acknowledged.filter((email) => !stored.includes(email))).toEqual([])
})

test('only the owner can read DATA_DIR, and the database listens on no port', async () => {
  const server = await startServer(settings)
  const data = settings['DATA_DIR'] ?? ''
  const readableByOthers: string[] = []
  for (const name of ['.', ...(await readdir(data, { recursive: true }))]) {
    const { mode } = await stat(join(data, name)).catch(() => ({ mode: 0 }))
    if ((mode & 0o077) !== 0) readableByOthers.push(name)
  }
  expect(readableByOthers).toEqual([])
  const sql = connect()
  expect(await sql`show listen_addresses`).toEqual([{ listen_addresses: '' }])
  await sql.end()
  expect(await server.stop()).toBe(0)
})
