import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { copyFile, readFile, rename, rm, stat, truncate } from 'node:fs/promises'
import { connect } from 'node:net'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'

import { OperatorError } from '../../settings/operator-error.ts'
import { codeOf, LockedError, postgresCommand } from './programs.ts'

const run = promisify(execFile)

/** The files of a database under `DATA_DIR`, and how its server is run. */
export interface Files {
  dataDir: string
  folder: string
  port: number
  /** The folder of PostgreSQL's programs; of those that npm brings, unless given. */
  programs?: string | undefined
}

/** The superuser. */
export const user = 'postgres'
/** The folder of the database in use, and the port in the name of its server's socket. */
export const folder = 'pgdata'
export const port = 5432
/** A folder in which `initdb` was cut off. */
export const unfinished = /^pgdata\.[\da-f-]{36}$/
/** A server's socket in its directory, as PostgreSQL names it. */
export const socketOf = (files: Files): string => join(files.dataDir, `.s.PGSQL.${files.port}`)
const pathOf = (files: Files) => join(files.dataDir, files.folder)
/** How long a start may take before it is given up: recovery after a power cut replays the log first. */
const startTimeout = 120_000
/** As long as `pg_ctl` waits for a stop. */
const stopTimeout = 60_000

/** Makes an empty database in a folder that is not there yet. */
export async function makeFiles(files: Files): Promise<void> {
  const options = [
    `--pgdata=${pathOf(files)}`,
    `--username=${user}`,
    '--encoding=UTF8',
    '--no-locale',
    // Only the owner of the directory reaches the socket.
    '--auth=trust',
    '--no-instructions',
  ]
  await postgresCommand('initdb', options, { programs: files.programs })
}

/** The major version of PostgreSQL that made the files; nothing where there are none, or they do not say. */
export async function majorOf(dataDir: string): Promise<number | undefined> {
  const version = await readFile(join(dataDir, folder, 'PG_VERSION'), 'utf8').catch(() => '')
  return Number.parseInt(version, 10) || undefined
}

/** Whether a server listens on the socket. Only a connection tells: its file stays behind when the server dies. */
export async function accepts(socket: string): Promise<boolean> {
  return new Promise<boolean>((resolve) => {
    const connection = connect(socket)
    connection.once('connect', () => {
      connection.destroy()
      resolve(true)
    })
    // One that answers nobody has a queue, which is full then.
    connection.once('error', (error) => resolve(codeOf(error) === 'EAGAIN'))
  })
}

/**
 * PostgreSQL refuses to start while the process that `postmaster.pid` names is alive, whatever it is. After
 * a power cut, or a container's end, that can be any process: then the file is removed. Where the process
 * is dead, the file stays, for PostgreSQL's own and finer check. No lock is held meanwhile, see docs/decisions/0039.
 */
async function removeStalePid(pgdata: string) {
  const file = join(pgdata, 'postmaster.pid')
  const content = await readFile(file, 'utf8').catch(() => '')
  const pid = Number.parseInt(content, 10)
  if (!(pid > 0) || !isAlive(pid)) return
  // Where nothing is known of the process, PostgreSQL decides.
  if ((await isPostgresOn(pid, await placeOf(pgdata))) !== false) return
  // Another start may have removed it and written its own since, so the removed file is checked again.
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
 * Whether a process is the PostgreSQL of a folder, also of one that was renamed or unmounted since; nothing where that is
 * not known.
 */
async function isPostgresOn(pid: number, { path, dev, ino }: Place): Promise<boolean | undefined> {
  try {
    if (existsSync('/proc/self/cwd')) {
      // A process that was killed and not reaped, as in a container without an init, holds nothing any more.
      if (/^.*\) Z /s.test(await readFile(`/proc/${pid}/stat`, 'utf8'))) return false
      const works = await stat(`/proc/${pid}/cwd`)
      return works.dev === dev && works.ino === ino
    }
    const { stdout } = await run('ps', ['-o', 'command=', '-p', String(pid)])
    return stdout.includes(path)
  } catch {
    return undefined
  }
}

/** A folder, by what stays the same when it is renamed. */
interface Place {
  path: string
  dev: number
  ino: number
}

async function placeOf(path: string): Promise<Place> {
  const { dev, ino } = await stat(path)
  return { path, dev, ino }
}

/** The main process of a running PostgreSQL, and the folder it works in. */
export interface MainProcess {
  pid: number
  place: Place
}

/** The main process that runs on some files; nothing where it is not known, as in another container. */
export async function mainProcessOf(files: Files): Promise<MainProcess | undefined> {
  const pgdata = pathOf(files)
  const pid = Number.parseInt(await readFile(join(pgdata, 'postmaster.pid'), 'utf8').catch(() => ''), 10)
  const place = await placeOf(pgdata).catch(() => undefined)
  if (!(pid > 0) || place === undefined || (await isPostgresOn(pid, place)) !== true) return undefined
  return { pid, place }
}

/**
 * Megabytes of memory for the database's pages: a quarter of the machine's memory, as PostgreSQL advises, and no more than
 * a million applications need. PostgreSQL takes them as it needs them.
 */
function sharedBuffers() {
  const quarter = Math.min(totalmem(), process.constrainedMemory() || Infinity) / 4
  return Math.min(512, Math.max(128, Math.floor(quarter / 2 ** 20)))
}

/**
 * Starts the server of some files.
 *
 * @param signal Keeps it from trying again.
 * @returns Whether it did; false where it was running already.
 * @throws {OperatorError} where it does not start.
 */
export async function startFiles(files: Files, signal?: AbortSignal): Promise<boolean> {
  const { dataDir } = files
  const socket = socketOf(files)
  if (await accepts(socket)) return false
  const options = [
    ['listen_addresses', ''],
    ['port', String(files.port)],
    ['unix_socket_directories', `"${dataDir.replaceAll('"', '""')}"`],
    ['unix_socket_permissions', '0700'],
    ['max_connections', '60'],
    ['shared_buffers', `${sharedBuffers()}MB`],
    // Messages can quote what an applicant wrote: the log keeps only what concerns the server.
    ['log_min_messages', 'log'],
    ['log_min_error_statement', 'panic'],
    ['log_error_verbosity', 'terse'],
    ['log_parameter_max_length', '0'],
    ['log_checkpoints', 'off'],
  ].map(([name, value]) => `-c ${name}=${shellQuoted(String(value))}`)

  await trimLog(dataDir)
  const deadline = Date.now() + startTimeout
  for (;;) {
    const logged = (await readLog(dataDir)).length
    try {
      const start = ['start', '-t', String(startTimeout / 1000), '-o', options.join(' ')]
      await pgCtl(files, start, pathOf(files))
      return true
    } catch (error) {
      // Another start was faster, or the last server's processes are still on their way out.
      if (await accepts(socket)) return false
      const news = (await readLog(dataDir)).slice(logged)
      const isLocked = error instanceof LockedError
      const isFinal = Date.now() > deadline || signal?.aborted === true || !(isLocked || busy.test(news))
      if (isFinal) throw startFailure(dataDir, news, error)
      // The process that has the lock may be another container's, whose number means another one here.
      if (!isLocked) await removeStalePid(pathOf(files))
      await wait(200)
    }
  }
}

/** PostgreSQL's words where another server is just starting or stopping on the same directory. */
const busy = /FATAL: .*(lock file .* already exists|pre-existing shared memory block)/

/** Bytes after which PostgreSQL's log is cut; as many older ones are kept. It grows slowly, but for years. */
const longestLog = 5 * 1024 * 1024

/** Keeps PostgreSQL's log from growing without end; it writes at the file's end, wherever that is. */
export async function trimLog(dataDir: string): Promise<void> {
  const file = join(dataDir, 'postgres.log')
  const { size } = await stat(file).catch(() => ({ size: 0 }))
  if (size <= longestLog) return
  // On a full disk there is no room for a copy, so the log is cut without one.
  await copyFile(file, `${file}.1`).catch(() => {})
  await truncate(file)
}

async function readLog(dataDir: string) {
  return readFile(join(dataDir, 'postgres.log'), 'utf8').catch(() => '')
}

/** @param news The lines that this start wrote into the log. */
function startFailure(dataDir: string, news: string, cause: unknown) {
  const reason = news.split('\n').findLast((line) => /FATAL:|PANIC:/.test(line))
  return reason === undefined
    ? cause
    : new OperatorError(
        `The database did not start; in ${join(dataDir, 'postgres.log')} it says: ${reason.replace(/^.*?(FATAL|PANIC): +/, '')}`,
        { cause },
      )
}

/**
 * Stops the server of some files, if it runs: open transactions are rolled back, everything committed is kept.
 *
 * @param main Its main process when it was last seen, by which it is ended where its files are gone from their place.
 * @throws {OperatorError} where it does not end.
 */
export async function stopFiles(files: Files, main?: MainProcess): Promise<void> {
  // It may have been started again since.
  const server = (await mainProcessOf(files)) ?? main
  if (server === undefined) return pgCtl(files, ['stop', '-m', 'fast'])
  const runs = async () => (await isPostgresOn(server.pid, server.place)) === true
  if (!(await runs())) return
  if (existsSync(join(pathOf(files), 'postmaster.pid'))) return pgCtl(files, ['stop', '-m', 'fast'])
  process.kill(server.pid, 'SIGINT')
  const deadline = Date.now() + stopTimeout
  while (await runs()) {
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
