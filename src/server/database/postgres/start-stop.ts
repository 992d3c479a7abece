import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { copyFile, readFile, rename, rm, stat, statfs, truncate } from 'node:fs/promises'
import { connect } from 'node:net'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'

import { OperatorError } from '../../../settings/operator-error.ts'
import type { Address } from '../connection/connection.ts'
import { codeOf, LockedError, postgresCommand } from './programs.ts'

const run = promisify(execFile)

/** The files of a database under `DATA_DIR`, and how its server is run. */
export interface Files {
  dataDir: string
  folder: string
  port: number
  /** The folder of PostgreSQL's programs; default the one from npm. */
  programs?: string | undefined
}

/** The superuser. */
export const user = 'postgres'
/** The folder of the database in use, and the port in the name of its server's socket. */
export const folder = 'pgdata'
export const port = 5432
/** The address of the embedded database, as its superuser. */
export const embedded = (dataDir: string): Address => ({ host: dataDir, port, user, database: 'postgres' })
/** The name of a folder in which `initdb` was interrupted. */
export const unfinished = /^pgdata\.[\da-f-]{36}$/
/** A server's socket in its directory, as PostgreSQL names it. */
export const socketOf = (files: Files): string => join(files.dataDir, `.s.PGSQL.${files.port}`)
const pathOf = (files: Files) => join(files.dataDir, files.folder)
/** Timeout of a start in milliseconds: recovery after a power cut replays the WAL first. */
const startTimeout = 120_000
/** Timeout of a stop in milliseconds, the same as that of `pg_ctl`. */
const stopTimeout = 60_000

/** Creates an empty database in a new folder. */
export async function createDatabaseFiles(files: Files): Promise<void> {
  const options = [
    `--pgdata=${pathOf(files)}`,
    `--username=${user}`,
    '--encoding=UTF8',
    '--no-locale',
    // Only the owner of the directory can reach the socket.
    '--auth=trust',
    '--no-instructions',
  ]
  await postgresCommand('initdb', options, { programs: files.programs })
}

/** The major version of PostgreSQL that created the files; undefined if there are none, or their version cannot be read. */
export async function majorOf(dataDir: string): Promise<number | undefined> {
  const version = await readFile(join(dataDir, folder, 'PG_VERSION'), 'utf8').catch(() => '')
  return Number.parseInt(version, 10) || undefined
}

/** Whether a server listens on the socket. It tries to connect, since the socket's file remains when a server dies. */
export async function acceptsConnections(socket: string): Promise<boolean> {
  return new Promise<boolean>((resolve) => {
    const connection = connect(socket)
    connection.once('connect', () => {
      connection.destroy()
      resolve(true)
    })
    // A frozen server has a full queue.
    connection.once('error', (error) => resolve(codeOf(error) === 'EAGAIN'))
  })
}

/**
 * Removes a stale `postmaster.pid`. PostgreSQL refuses to start while any process has the recorded pid. After a power cut or a
 * container's end, that process can be an unrelated one. If no process has the pid, PostgreSQL's own, finer check decides. This
 * runs without a lock, see docs/decisions/0034.
 */
async function removeStalePid(pgdata: string) {
  const file = join(pgdata, 'postmaster.pid')
  const content = await readFile(file, 'utf8').catch(() => '')
  const pid = Number.parseInt(content, 10)
  if (!(pid > 0) || !isAlive(pid)) return
  // If the process cannot be examined, PostgreSQL decides.
  if ((await isPostgresOn(pid, await identityOf(pgdata))) !== false) return
  // Another start may have replaced the file meanwhile, so the file is moved, checked again, and removed only then.
  const aside = `${file}.${randomUUID()}`
  await rename(file, aside).catch(() => {})
  const isTheSame = (await readFile(aside, 'utf8').catch(() => content)) === content
  await (isTheSame ? rm(aside, { force: true }) : rename(aside, file))
}

function isAlive(pid: number) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

/**
 * Whether a process is the PostgreSQL of a folder, even one that was renamed or unmounted after the start; undefined if unknown.
 */
async function isPostgresOn(pid: number, { path, dev, ino }: FolderIdentity): Promise<boolean | undefined> {
  try {
    if (existsSync('/proc/self/cwd')) {
      // A zombie, as in a container without an init, holds no files.
      if (/^.*\) Z /s.test(await readFile(`/proc/${pid}/stat`, 'utf8'))) return false
      const workingFolder = await stat(`/proc/${pid}/cwd`)
      return workingFolder.dev === dev && workingFolder.ino === ino
    }
    const { stdout } = await run('ps', ['-o', 'command=', '-p', String(pid)])
    return stdout.includes(path)
  } catch {
    return undefined
  }
}

/** A folder's path, and its device and inode numbers, which stay the same when it is renamed. */
interface FolderIdentity {
  path: string
  dev: number
  ino: number
}

async function identityOf(path: string): Promise<FolderIdentity> {
  const { dev, ino } = await stat(path)
  return { path, dev, ino }
}

/** The main process of a running PostgreSQL, and its folder. */
export interface MainProcess {
  pid: number
  folderIdentity: FolderIdentity
}

/** The main process that runs on some files; undefined if there is none, or it is not visible, as in another container. */
export async function mainProcessOf(files: Files): Promise<MainProcess | undefined> {
  const pgdata = pathOf(files)
  const pid = Number.parseInt(await readFile(join(pgdata, 'postmaster.pid'), 'utf8').catch(() => ''), 10)
  const folderIdentity = await identityOf(pgdata).catch(() => undefined)
  if (!(pid > 0) || folderIdentity === undefined) return undefined
  return (await isPostgresOn(pid, folderIdentity)) === true ? { pid, folderIdentity } : undefined
}

/**
 * The size of PostgreSQL's page cache in megabytes: a quarter of the machine's memory, as PostgreSQL advises. It is at least
 * PostgreSQL's default, and no more than a million applications need. PostgreSQL allocates it on demand.
 */
function sharedBuffers() {
  const quarter = Math.min(totalmem(), process.constrainedMemory() || Infinity) / 4
  return Math.min(512, Math.max(128, Math.floor(quarter / 2 ** 20)))
}

/**
 * Starts the server of a database.
 *
 * @param signal Aborts the retries.
 * @returns False if the server was running already.
 * @throws {OperatorError} if the server does not start.
 */
export async function startPostgresOn(files: Files, signal?: AbortSignal): Promise<boolean> {
  const { dataDir } = files
  const socket = socketOf(files)
  if (await acceptsConnections(socket)) return false
  const options = [
    ['listen_addresses', ''],
    ['port', String(files.port)],
    ['unix_socket_directories', `"${dataDir.replaceAll('"', '""')}"`],
    ['unix_socket_permissions', '0700'],
    ['max_connections', '60'],
    ['shared_buffers', `${sharedBuffers()}MB`],
    // After this time, PostgreSQL ends an autovacuum that somebody waits for. A migration waits for a lock for one second.
    ['deadlock_timeout', '500ms'],
    // Messages can quote an applicant's text, so only messages about the server itself are logged.
    ['log_min_messages', 'log'],
    ['log_min_error_statement', 'panic'],
    ['log_error_verbosity', 'terse'],
    ['log_parameter_max_length', '0'],
    ['log_checkpoints', 'off'],
  ].map(([name, value]) => `-c ${name}=${shellQuoted(String(value))}`)

  await trimLog(dataDir)
  const deadline = Date.now() + startTimeout
  for (;;) {
    const logLength = (await readLog(dataDir)).length
    try {
      const start = ['start', '-t', String(startTimeout / 1000), '-o', options.join(' ')]
      await pgCtl(files, start, pathOf(files))
      return true
    } catch (error) {
      // Another start was faster.
      if (await acceptsConnections(socket)) return false
      const newLines = (await readLog(dataDir)).slice(logLength)
      const isLocked = error instanceof LockedError
      const isFinal = Date.now() > deadline || signal?.aborted === true || !(isLocked || busy.test(newLines))
      if (isFinal) throw await startFailure(dataDir, newLines, error)
      // The recorded pid may be from another container. Here, an unrelated process may have it.
      if (!isLocked) await removeStalePid(pathOf(files))
      await wait(200)
    }
  }
}

/** Bytes of free disk below which the disk counts as full: those of one of PostgreSQL's WAL files. */
const roomToStart = 16 * 1024 * 1024

/** PostgreSQL's message while another server starts on the same directory, or the processes of the last one are still ending. */
const busy = /FATAL: .*(lock file .* already exists|pre-existing shared memory block)/

/** Bytes after which PostgreSQL's log, which grows for years, is truncated. A copy keeps its contents until the next time. */
const maxLogSize = 5 * 1024 * 1024

/** Truncates PostgreSQL's log if it is too long. PostgreSQL appends, so it continues at the new end. */
export async function trimLog(dataDir: string): Promise<void> {
  const file = join(dataDir, 'postgres.log')
  const { size } = await stat(file).catch(() => ({ size: 0 }))
  if (size <= maxLogSize) return
  // A full disk has no room for a copy, so the log is truncated without one.
  await copyFile(file, `${file}.1`).catch(() => {})
  await truncate(file)
}

async function readLog(dataDir: string) {
  return readFile(join(dataDir, 'postgres.log'), 'utf8').catch(() => '')
}

/** @param newLines The lines that this start wrote to the log. */
async function startFailure(dataDir: string, newLines: string, cause: unknown) {
  const reason = newLines.split('\n').findLast((line) => /(FATAL|PANIC|error.*):/.test(line))
  if (reason !== undefined) {
    return new OperatorError(
      `The database did not start; in ${join(dataDir, 'postgres.log')} it says: ${reason.replace(/^.*?(FATAL|PANIC): +/, '')}`,
      { cause },
    )
  }
  const { bavail, bsize } = await statfs(dataDir)
  if (bavail * bsize > roomToStart || !(cause instanceof OperatorError)) return cause
  return new OperatorError(`The disk of DATA_DIR ("${dataDir}") is full: make room (${cause.message}).`, {
    cause,
  })
}

/**
 * Stops the server of a database, if it runs. Pending transactions are rolled back.
 *
 * @param main The server's last known main process, which is signalled if the files are gone.
 * @throws {OperatorError} if the server does not end.
 */
export async function stopPostgresOn(files: Files, main?: MainProcess): Promise<void> {
  // The server may have been restarted since `main` was found.
  const server = (await mainProcessOf(files)) ?? main
  if (server === undefined) return pgCtl(files, ['stop', '-m', 'fast'])
  const isRunning = async () => (await isPostgresOn(server.pid, server.folderIdentity)) === true
  if (!(await isRunning())) return
  if (existsSync(join(pathOf(files), 'postmaster.pid'))) return pgCtl(files, ['stop', '-m', 'fast'])
  process.kill(server.pid, 'SIGINT')
  const deadline = Date.now() + stopTimeout
  while (await isRunning()) {
    if (Date.now() > deadline) {
      throw new OperatorError(
        `The database's process ${server.pid} does not end: end it before its disk is used elsewhere.`,
      )
    }
    await wait(100)
  }
}

async function pgCtl(files: Files, action: string[], lock?: string) {
  const own = [`--pgdata=${pathOf(files)}`, `--log=${join(files.dataDir, 'postgres.log')}`]
  const { programs } = files
  await postgresCommand('pg_ctl', [...action, ...own, '--wait', '--silent'], {
    programs,
    ...(lock && { lock }),
  })
}

function shellQuoted(value: string) {
  return `'${value.replaceAll("'", `'\\''`)}'`
}
