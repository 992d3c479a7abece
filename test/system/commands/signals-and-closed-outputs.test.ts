import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'

import { openDatabase } from '../../../src/server/database/database.ts'
import { anApplication } from '../../support/form.ts'
import { endWithTest } from '../../support/end-with-test.ts'
import { freePort } from '../../support/ports.ts'
import { dataDirectory, startServer, temporaryDirectory } from '../../support/server.ts'
import { valuesOf } from '../../support/sql.ts'

let settings: { DATA_DIR: string }

beforeAll(async () => {
  settings = { DATA_DIR: (await dataDirectory()).path }
})

const isDatabaseRunning = () => existsSync(join(settings.DATA_DIR, 'pgdata', 'postmaster.pid'))

test.each(['SIGHUP', 'SIGTERM', 'SIGINT'] as const)('%s stops a server and its database', async (signal) => {
  const server = await startServer(settings)
  expect(isDatabaseRunning()).toBe(true)
  expect(await server.stop(signal)).toBe(0)
  expect(server.output()).toContain(`"signal":"${signal}","msg":"stopped"`)
  expect(isDatabaseRunning()).toBe(false)
})

test('a server goes on after both its outputs were closed, and stops its database', async () => {
  const port = await freePort()
  const { PATH = '' } = process.env
  const child = spawn(process.execPath, ['start.js'], { env: { PATH, PORT: String(port), ...settings } })
  endWithTest(child, settings.DATA_DIR)
  child.stdout.destroy()
  child.stderr.destroy()
  await expect
    .poll(() =>
      fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200)
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  expect(isDatabaseRunning()).toBe(false)
})

const runInShell = (command: string, env: Record<string, string>) =>
  promisify(execFile)('sh', ['-c', command], { env })

/** Arguments with which each command prints something. */
const argumentsOf = {
  applications: '--json',
  backup: '--to $FOLDER/backup',
  doctor: '',
  door: '',
  letters: '--list',
  organisers: '--add ada@example.org',
  restore: '--from $FOLDER/backup',
  start: '--dry-run',
  verify: '--url http://127.0.0.1:9 --key public-anon-key',
  webhooks: '--list',
}

test('a command whose reader is gone ends quietly and stops its database', async () => {
  const names = (await readdir('src/cli/commands')).map((name) => name.replace('.ts', ''))
  expect(Object.keys(argumentsOf)).toEqual(names.toSorted())
  const { path: FOLDER } = await temporaryDirectory()
  const { PATH = '' } = process.env
  for (const [name, args] of Object.entries(argumentsOf)) {
    const DATA_DIR = name === 'restore' ? join(FOLDER, 'restored') : settings.DATA_DIR
    const env = { PATH, FOLDER, DATA_DIR, SITE_URL: 'http://127.0.0.1:9' }
    const { stderr } = await runInShell(`node start.js ${name} ${args} | :`, env)
    const isLoud = /EPIPE|Error|Not everything/.test(stderr)
    expect({ name, isLoud, runs: isDatabaseRunning() }).toEqual({ name, isLoud: false, runs: false })
  }
})

test('a long list whose reader has enough ends quietly and stops its database', async () => {
  const database = await openDatabase(
    { dataDir: settings.DATA_DIR, databaseUrl: undefined },
    { schema: 'check' },
  )
  const rows = Array.from({ length: 1_000 }, () => anApplication())
  await database.owner`insert into public.retreat_applications ${valuesOf(rows)}`
  await database.owner`
    update private.deliveries set state = 'failed', attempts = 9, due_at = null, reply = repeat('no ', 60)`
  await database.close()
  const { PATH = '' } = process.env
  for (const command of ['webhooks --list', 'applications', 'applications --csv', 'doctor']) {
    const { stdout, stderr } = await runInShell(`node start.js ${command} | head -n 1`, { PATH, ...settings })
    const lines = stdout.split('\n').length
    const errors = stderr.replace(/^Using .*\n/, '')
    const result = { command, lines, errors, runs: isDatabaseRunning() }
    expect(result).toEqual({ command, lines: 2, errors: '', runs: false })
  }
  // Here the pipe takes both outputs.
  await runInShell('node start.js webhooks --list 2>&1 | head -n 1', { PATH, ...settings })
  expect(isDatabaseRunning()).toBe(false)
})
