import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { atTestEnd } from './cleanup.ts'
import { outputOf, type Output } from './output.ts'
import { endDatabase, endWithTest } from './end-with-test.ts'
import { temporaryFolder } from './temporary-folder.ts'

type Environment = Record<string, string>

/** The result of a finished command. */
export interface CommandResult {
  code: number | null
  stdout: string
  stderr: string
}

/** A server as `npm start` starts it. */
export interface RunningServer extends Output {
  origin: string
  process: ChildProcess
  /** Sends a signal, by default SIGTERM. Resolves with the exit code, or with the signal that ended the server. */
  stop(signal?: NodeJS.Signals): Promise<number | string | null>
}

function environmentWith(settings: Environment) {
  const { PATH = '', HOME = '', TEST_RUN = '' } = process.env
  return { PATH, HOME, TEST_RUN, PORT: '0', RATE_LIMIT_PER_MINUTE: '0', WEBHOOK_PER_MINUTE: '0', ...settings }
}

/** Makes a directory. It is removed after the test or the file that made it, and a database that runs in it is ended. */
export async function temporaryDirectory(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(pathPrefix())
  return {
    path,
    remove: atTestEnd(async () => {
      await endDatabase(path)
      await rm(path, { recursive: true, force: true, maxRetries: 10 })
    }),
  }
}

/** A short path, because the path of a database's socket may have at most 107 bytes. */
function pathPrefix() {
  const { TEST_RUN, VITEST } = process.env
  if (VITEST && TEST_RUN === undefined)
    throw new Error('A unit test has no database: vitest.config.ts says which folders have one.')
  return TEST_RUN === undefined ? join(temporaryFolder(), 'unplugged-') : `${TEST_RUN}/`
}

/**
 * Makes a directory for `DATA_DIR`. If the test run has prepared a database, it is copied, which is faster than a new one.
 *
 * @param kind `database` has the schema, `cluster` is empty.
 */
export async function dataDirectory(
  kind: 'database' | 'cluster' = 'database',
): Promise<{ path: string; remove(): Promise<void> }> {
  const directory = await temporaryDirectory()
  await copyPrepared(kind, directory.path)
  return directory
}

/** Makes a database with the schema at an unused path. Returns the settings for it. */
export async function prepareDatabase(path: string): Promise<{ DATA_DIR: string }> {
  await mkdir(path, { mode: 0o700 })
  await copyPrepared('database', path)
  return { DATA_DIR: path }
}

/** Copies the prepared database, if there is one, into a folder. */
export async function copyPrepared(kind: 'database' | 'cluster', path: string): Promise<void> {
  const prepared = process.env[kind === 'database' ? 'PREPARED_DATABASE' : 'PREPARED_CLUSTER']
  if (prepared !== undefined) await promisify(execFile)('cp', ['-a', `${prepared}/.`, path])
}

/**
 * Starts the server with these settings. By default it takes a free port and has no rate limit.
 *
 * @param checkout The folder with the built server, by default this checkout.
 */
export async function startServer(settings: Environment, checkout = '.'): Promise<RunningServer> {
  const child = spawn(process.execPath, ['start.js'], { cwd: checkout, env: environmentWith(settings) })
  endWithTest(child, settings['DATA_DIR'])
  const { output, waitForOutput } = outputOf(child)
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  await waitForOutput(/is ready at .*\n/)
  const [, origin = ''] = /is ready at (.*)\//.exec(output()) ?? []
  return {
    origin,
    process: child,
    output,
    waitForOutput: waitForOutput,
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      const [code, killedBy] = await exited
      return code ?? killedBy
    },
  }
}

/**
 * Runs `node start.js` with arguments to its end, as the npm scripts do.
 *
 * @param input The command's standard input.
 * @param meanwhile A step to run while the command runs.
 */
export async function runCommand(
  args: string[],
  settings: Environment,
  input?: string,
  meanwhile: (child: ChildProcess) => Promise<unknown> = async () => {},
): Promise<CommandResult> {
  const child = spawn(process.execPath, ['start.js', ...args], { env: environmentWith(settings) })
  endWithTest(child, settings['DATA_DIR'])
  let stdout = ''
  let stderr = ''
  // A character may be split over two chunks.
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk))
  child.stdin.end(input)
  const closed = once(child, 'close') as Promise<[number | null]>
  await meanwhile(child)
  const [code] = await closed
  return { code, stdout, stderr }
}
