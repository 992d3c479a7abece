import { once } from 'node:events'
import { execFile, spawn } from 'node:child_process'
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeEach, expect, test } from 'vitest'

import { send, storedEmails } from '../../testing/client.ts'
import { anApplication } from '../../testing/form.ts'
import { startLoad } from '../../testing/load.ts'
import { waitForExit, postmasterOf } from '../../testing/postmaster.ts'
import { mountSmallDisk } from '../../testing/small-disk.ts'
import {
  prepareDatabase,
  runCommand,
  startServer,
  temporaryDirectory,
  type RunningServer,
} from '../../testing/server.ts'
import { connectToFiles } from '../../testing/sql.ts'
import { until } from '../../testing/until.ts'

let directory: Awaited<ReturnType<typeof temporaryDirectory>>
let settings: Record<string, string>

beforeEach(async () => {
  directory = await temporaryDirectory()
  settings = await prepareDatabase(join(directory.path, 'data'))
})

const connect = () => connectToFiles(settings['DATA_DIR'] ?? '')

const postmaster = () => postmasterOf(settings['DATA_DIR'] ?? '')
const isRefused = (origin: string) =>
  fetch(origin).then(
    () => false,
    () => true,
  )

test('the database killed under load: errors meanwhile, then automatic recovery without losses', async () => {
  const server = await startServer(settings)
  const applicationLoad = startLoad(server.origin)
  await applicationLoad.waitUntil(() => applicationLoad.acknowledged.length >= 100)
  process.kill((await postmaster()) ?? 0, 'SIGKILL')
  await applicationLoad.waitUntil(() => applicationLoad.statuses.has(503))
  await server.waitForOutput('the database is back')
  const before = applicationLoad.acknowledged.length
  await applicationLoad.waitUntil(() => applicationLoad.acknowledged.length >= before + 100)
  await applicationLoad.end()
  expect([...applicationLoad.statuses].filter((status) => status !== 201 && status !== 503)).toEqual([])
  expect(await server.stop()).toBe(0)
  const stored = await storedEmails(settings)
  expect(applicationLoad.acknowledged.filter((email) => !stored.includes(email))).toEqual([])
})

test('one of the database processes killed under load: errors meanwhile, then automatic recovery without losses', async () => {
  const server = await startServer(settings)
  const sending = startLoad(server.origin)
  await sending.waitUntil(() => sending.acknowledged.length >= 100)
  const sql = connect()
  const [backend] = await sql<{ pid: number }[]>`
    select pid from pg_stat_activity where application_name = 'unplugged visitors' limit 1`
  process.kill(backend?.pid ?? 0, 'SIGKILL')
  await server.waitForOutput('the database is back')
  const before = sending.acknowledged.length
  await sending.waitUntil(() => sending.acknowledged.length >= before + 100)
  await sending.end()
  await sql.end(1_000)
  expect(await server.stop()).toBe(0)
  const stored = await storedEmails(settings)
  expect(sending.acknowledged.filter((email) => !stored.includes(email))).toEqual([])
})

test('SIGTERM: pending requests are answered, the exit code is 0, and no process remains', async () => {
  const server = await startServer(settings)
  const pid = (await postmaster()) ?? 0
  const sql = connect()
  const application = anApplication()
  let answered: Promise<number> | undefined
  // An insert that waits for a lock is pending for as long as this transaction holds it.
  await sql.begin(async (transaction) => {
    await transaction`lock table public.retreat_applications in share mode`
    answered = send(server.origin, application)
    await until('the insert that waits', async () => {
      return (await transaction`select from pg_locks where not granted`).length > 0
    })
    server.process.kill('SIGTERM')
    // New connections are refused, so it is stopping.
    await until('the refusal of connections', () => isRefused(server.origin))
  })
  expect(await answered).toBe(201)
  const closing = sql.end(1_000)
  expect(await server.stop()).toBe(0)
  // The exit event may precede the last output.
  await expect.poll(server.output).toMatch(/"signal":"SIGTERM","msg":"stopped"\}\n$/)
  await closing
  await waitForExit(pid)
  expect(await postmaster()).toBeUndefined()
  expect(await storedEmails(settings)).toEqual([application.email])
})

test('SIGTERM to npm alone, which started the server, stops the server', async () => {
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

test('SIGTERM while the server starts stops it in order', async () => {
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

test('a second server on the same DATA_DIR is refused with a sentence and harms nothing', async () => {
  const server = await startServer(settings)
  const second = await runCommand([], settings)
  expect(second.code).toBe(1)
  expect(second.stderr).toMatch(
    /^DATA_DIR is ".*", which is in use by the server on 127\.0\.0\.1:[1-9]\d*, process \d+: stop that one, or give this one another DATA_DIR\.\n$/,
  )
  expect(await send(server.origin, anApplication())).toBe(201)
  expect(await server.stop()).toBe(0)
})

test('two servers that start together on a new DATA_DIR: one runs, the other says why not', async () => {
  await rm(settings['DATA_DIR'] ?? '', { recursive: true })
  const finished = [startServer(settings), startServer(settings)].map((starting) =>
    starting.then(
      (server) => server,
      (error: unknown) => String(error),
    ),
  )
  const results = await Promise.all(finished)
  const [running, ...others] = results.filter((result): result is RunningServer => typeof result !== 'string')
  expect(others).toEqual([])
  expect(results.filter((result) => typeof result === 'string').join('')).toContain('which is in use by')
  expect(await send(running?.origin ?? '', anApplication())).toBe(201)
  expect(await running?.stop()).toBe(0)
})

test.each(['of a dead process', 'of a dead process that nobody reaped', 'of a living foreign process'])(
  'a postmaster.pid %s, left by a power cut, does not prevent a start',
  async (whose) => {
    const server = await startServer(settings)
    expect(await send(server.origin, anApplication())).toBe(201)
    const pid = (await postmaster()) ?? 0
    await server.stop('SIGKILL')
    const file = join(settings['DATA_DIR'] ?? '', 'pgdata', 'postmaster.pid')
    process.kill(pid, 'SIGKILL')
    await waitForExit(pid)
    // The shell becomes a program that does not reap its children.
    const foreign = spawn('sh', ['-c', 'true & echo $!; exec sleep 600'])
    const [unreaped] = (await once(foreign.stdout, 'data')) as [Buffer]
    const content = (await readFile(file, 'utf8')).split('\n')
    if (whose === 'of a living foreign process') content[0] = String(foreign.pid)
    if (whose === 'of a dead process that nobody reaped') content[0] = unreaped.toString().trim()
    await writeFile(file, content.join('\n'))
    const again = await startServer(settings)
    expect(await send(again.origin, anApplication())).toBe(201)
    expect(await again.stop()).toBe(0)
    expect(await storedEmails(settings)).toHaveLength(2)
    expect(foreign.exitCode).toBeNull()
    foreign.kill()
  },
)

test('a start that was interrupted during database creation does not prevent the next', async () => {
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

test('a full disk is reported to visitors and health checks, and loses no acknowledged application', async ({
  skip,
}) => {
  const small = join(directory.path, 'small')
  await mountSmallDisk(small, '120m', skip)
  settings = await prepareDatabase(join(small, 'data'))
  const server = await startServer(settings)
  const filler = join(small, 'filler')
  const acknowledged: string[] = []
  // Another file takes the rest of the disk.
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
  // Health checks notice it without another application.
  await until('a server that is ready', async () => (await ready()).status === 200)
  await until(
    'an application that is taken',
    async () => (await send(server.origin, anApplication())) === 201,
  )
  expect(await server.stop()).toBe(0)
  const stored = await storedEmails(settings)
  expect(acknowledged.filter((email) => !stored.includes(email))).toEqual([])
})

test('only the owner can read DATA_DIR, and the database listens on no port', async () => {
  const server = await startServer(settings)
  const data = settings['DATA_DIR'] ?? ''
  const open: string[] = []
  for (const name of ['.', ...(await readdir(data, { recursive: true }))]) {
    const { mode } = await stat(join(data, name)).catch(() => ({ mode: 0 }))
    if ((mode & 0o077) !== 0) open.push(name)
  }
  expect(open).toEqual([])
  const sql = connect()
  expect(await sql`show listen_addresses`).toEqual([{ listen_addresses: '' }])
  await sql.end()
  expect(await server.stop()).toBe(0)
})
