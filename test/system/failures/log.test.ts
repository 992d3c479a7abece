import { once } from 'node:events'
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { closeSync, constants, existsSync, openSync, writeSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeEach, expect, test } from 'vitest'

import { send, storedEmails } from '../../support/send-application.ts'
import { anApplication } from '../../support/form.ts'
import { endWithTest } from '../../support/end-with-test.ts'
import { outputOf } from '../../support/output.ts'
import { freePort } from '../../support/ports.ts'
import { prepareDatabase, temporaryDirectory } from '../../support/server.ts'
import { mountSmallDisk } from '../../support/small-disk.ts'
import { until } from '../../support/until.ts'

const run = promisify(execFile)

let directory: Awaited<ReturnType<typeof temporaryDirectory>>
let settings: { DATA_DIR: string }

beforeEach(async () => {
  directory = await temporaryDirectory()
  settings = await prepareDatabase(join(directory.path, 'data'))
})

/** Resolves with a program's exit. Rejects if the program hangs. */
const exitOf = async (child: ChildProcess) =>
  (await once(child, 'close', { signal: AbortSignal.timeout(45_000) })) as [number | null, string | null]

/** Starts the server with its standard output at a path. The output cannot be read here, so requests detect readiness. */
async function startLoggingTo(path: string, flags: string | number = 'a') {
  const output = openSync(path, flags)
  const port = await freePort()
  const child = spawn(process.execPath, ['start.js'], {
    stdio: ['ignore', output, 'pipe'],
    env: { PATH: process.env['PATH'] ?? '', PORT: String(port), RATE_LIMIT_PER_MINUTE: '0', ...settings },
  })
  closeSync(output)
  endWithTest(child, settings.DATA_DIR)
  const { output: errorOutput, waitForOutput } = outputOf(child)
  const origin = `http://127.0.0.1:${port}`
  await until('a server that is ready', async () => {
    if (child.exitCode !== null || child.signalCode !== null) return true
    return (await fetch(`${origin}/readyz`)).status === 200
  })
  return { child, origin, errorOutput, waitForOutput }
}

type Started = Awaited<ReturnType<typeof startLoggingTo>>

/** Ends the server with SIGTERM, and checks that it and its database ended properly. */
async function stopAndCheck({ child }: Started) {
  const exit = exitOf(child)
  child.kill('SIGTERM')
  expect(await exit).toEqual([0, null])
  expect(existsSync(join(settings.DATA_DIR, 'pgdata', 'postmaster.pid'))).toBe(false)
}

test('a server whose log cannot be written starts, stores applications, stops properly, and reports the log once', async () => {
  const server = await startLoggingTo('/dev/full')
  await server.waitForOutput('The log cannot be written (ENOSPC')
  expect(await send(server.origin, anApplication())).toBe(201)
  expect(await send(server.origin, anApplication())).toBe(201)
  await stopAndCheck(server)
  expect(server.errorOutput()).toMatch(
    /^The log cannot be written \(ENOSPC: .*\): applications are still stored, .*\.\n$/,
  )
  expect(await storedEmails(settings)).toHaveLength(2)
})

test('a server that cannot start says why in a sentence, even if its log cannot be written', async () => {
  const first = await startLoggingTo('/dev/null')
  const output = openSync('/dev/full', 'a')
  const child = spawn(process.execPath, ['start.js'], {
    stdio: ['ignore', output, 'pipe'],
    env: { PATH: process.env['PATH'] ?? '', ...settings },
  })
  closeSync(output)
  endWithTest(child)
  const { output: errorOutput } = outputOf(child)
  expect(await exitOf(child)).toEqual([1, null])
  expect(errorOutput()).toContain('which is in use by the server on')
  expect(errorOutput()).not.toContain('    at ')
  await stopAndCheck(first)
})

test('a server stores applications while the disk of its log is full, and logs again afterwards', async ({
  skip,
}) => {
  const small = join(directory.path, 'small')
  await mountSmallDisk(small, '64k', skip)
  const file = join(small, 'log')
  const filler = join(small, 'filler')
  const server = await startLoggingTo(file)
  const fill = () => run('sh', ['-c', `cat /dev/zero > ${filler} 2>/dev/null || true`])
  // Sends until stderr reports that the log's disk is full, because the last block still has room for some lines.
  const sendUntilReported = async (times: number) => {
    while (server.errorOutput().split('cannot be written (ENOSPC').length <= times) {
      expect(await send(server.origin, anApplication())).toBe(201)
    }
  }
  await fill()
  await sendUntilReported(1)
  expect(await send(server.origin, anApplication())).toBe(201)
  await rm(filler)
  await server.waitForOutput('The log can be written again. Lines that were dropped: 0.')
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n')
  const logged = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as unknown)
  expect(logged.length).toBeGreaterThan(0)
  await fill()
  await sendUntilReported(2)
  await stopAndCheck(server)
})

test('a server whose log is no longer read stores an application and stops properly', async () => {
  const pipe = join(directory.path, 'pipe')
  await run('mkfifo', [pipe])
  const { O_RDWR, O_NONBLOCK, O_WRONLY } = constants
  const reader = openSync(pipe, O_RDWR | O_NONBLOCK)
  const server = await startLoggingTo(pipe, O_WRONLY)
  // Fills the pipe to the last byte.
  for (const size of [4096, 1]) {
    const fill = () => {
      for (;;) writeSync(reader, Buffer.alloc(size))
    }
    expect(fill).toThrow('EAGAIN')
  }
  expect(await send(server.origin, anApplication())).toBe(201)
  await stopAndCheck(server)
  closeSync(reader)
})
