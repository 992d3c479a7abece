import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { atEnd } from './endings.ts'
import { outputOf, type Output } from './output.ts'
import { endDatabase, endWithTest } from './programs.ts'
import { temporaryPlace } from './temporary-place.ts'

type Environment = Record<string, string>

/** What a finished command left. */
export interface Finished {
  code: number | null
  stdout: string
  stderr: string
}

/** A server as `npm start` starts it. */
export interface RunningServer extends Output {
  origin: string
  process: ChildProcess
  /** Sends it SIGTERM; resolves with its exit code, or the signal that ended it. */
  stop(signal?: NodeJS.Signals): Promise<number | string | null>
}

function environmentWith(settings: Environment) {
  const { PATH = '', HOME = '', TEST_RUN = '' } = process.env
  return { PATH, HOME, TEST_RUN, PORT: '0', RATE_LIMIT_PER_MINUTE: '0', ...settings }
}

/** A new directory. It is gone when the test, or the file, that made it ends, with the database that runs in it. */
export async function temporaryDirectory(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(beginningOfPath())
  return {
    path,
    remove: atEnd(async () => {
      await endDatabase(path)
      await rm(path, { recursive: true, force: true, maxRetries: 10 })
    }),
  }
}

/** Short, since the path of a database's socket may have 107 bytes. */
function beginningOfPath() {
  const { TEST_RUN, VITEST } = process.env
  if (VITEST && TEST_RUN === undefined)
    throw new Error('A unit test has no database: vitest.config.ts says which folders have one.')
  return TEST_RUN === undefined ? join(temporaryPlace(), 'unplugged-') : `${TEST_RUN}/`
}

/**
 * A directory for `DATA_DIR`. Where the tests have prepared a database, it holds a copy of that, which is quicker than
 * to create one.
 *
 * @param kind `database` has the schema, `cluster` has nothing yet.
 */
export async function dataDirectory(
  kind: 'database' | 'cluster' = 'database',
): Promise<{ path: string; remove(): Promise<void> }> {
  const directory = await temporaryDirectory()
  await copyPrepared(kind, directory.path)
  return directory
}

/** The settings for a database with the schema at a path where nothing is yet. */
export async function preparedAt(path: string): Promise<{ DATA_DIR: string }> {
  await mkdir(path, { mode: 0o700 })
  await copyPrepared('database', path)
  return { DATA_DIR: path }
}

async function copyPrepared(kind: 'database' | 'cluster', path: string) {
  const prepared = process.env[kind === 'database' ? 'PREPARED_DATABASE' : 'PREPARED_CLUSTER']
  if (prepared !== undefined) await promisify(execFile)('cp', ['-a', `${prepared}/.`, path])
}

/** Where the server of a journey lies: React mounts all of its pages twice, as StrictMode has it. Outside of tests, this one. */
export function strictCheckout(): string {
  return process.env['STRICT_CHECKOUT'] ?? '.'
}

/**
 * Starts the server with these settings, on a free port and without a rate limit unless they say otherwise.
 *
 * @param checkout Where it lies; this one unless given.
 */
export async function startServer(settings: Environment, checkout = '.'): Promise<RunningServer> {
  const child = spawn(process.execPath, ['start.js'], { cwd: checkout, env: environmentWith(settings) })
  endWithTest(child, settings['DATA_DIR'])
  const { output, printed } = outputOf(child)
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  await printed(/is ready at .*\n/)
  const [, origin = ''] = /is ready at (.*)\//.exec(output()) ?? []
  return {
    origin,
    process: child,
    output,
    printed,
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      const [code, killedBy] = await exited
      return code ?? killedBy
    },
  }
}

/**
 * Runs `node start.js` with arguments, as the npm scripts do, to its end.
 *
 * @param meanwhile What is done to it on the way.
 */
export async function runCommand(
  args: string[],
  settings: Environment,
  input?: string,
  meanwhile: (child: ChildProcess) => Promise<unknown> = async () => {},
): Promise<Finished> {
  const child = spawn(process.execPath, ['start.js', ...args], { env: environmentWith(settings) })
  endWithTest(child, settings['DATA_DIR'])
  let stdout = ''
  let stderr = ''
  // A character can come in two chunks.
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk))
  child.stdin.end(input)
  const closed = once(child, 'close') as Promise<[number | null]>
  await meanwhile(child)
  const [code] = await closed
  return { code, stdout, stderr }
}
