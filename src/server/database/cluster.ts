import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import {
  chown,
  copyFile,
  mkdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
  truncate,
} from 'node:fs/promises'
import { connect } from 'node:net'
import { totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'

import { OperatorError } from '../../settings/operator-error.ts'
import { codeOf, postgresCommand, unprivileged } from './programs.ts'

const run = promisify(execFile)

/** Where the embedded PostgreSQL can be reached: a directory holding its Unix socket, and its superuser. */
export interface Cluster {
  socketDirectory: string
  user: string
  /** Whether this call started it; false where it was already running. */
  started: boolean
  /** Stops it: open transactions are rolled back, everything committed is kept. */
  stop(): Promise<void>
  /** Takes it away, once it is stopped, and the directory that was made for it; nothing where it was there before. */
  remove?: () => Promise<void>
}

const user = 'postgres'
const socketName = '.s.PGSQL.5432'
/** Linux allows 108 bytes with the closing zero, macOS 104. */
const longestSocketPath = process.platform === 'darwin' ? 103 : 107
/** How long a start may take before it is given up: recovery after a power cut replays the log first. */
const startTimeout = 120_000

/**
 * Makes sure that the embedded PostgreSQL runs on `dataDir`: adopts a server that still runs there, and
 * otherwise starts one. It listens on a Unix socket inside `dataDir` and nowhere else.
 *
 * @param create Whether the database is to be made where there is none.
 * @throws {OperatorError} where it cannot run, or is not there and not to be made.
 */
export async function ensureCluster(dataDir: string, create: boolean): Promise<Cluster> {
  if (process.platform === 'win32') {
    throw new OperatorError(
      'The embedded database needs Unix sockets, which Node.js has not on Windows: run this in WSL, or set DATABASE_URL.',
    )
  }
  if (/["$`\\\n]/.test(dataDir)) {
    throw new OperatorError(
      `DATA_DIR is ${JSON.stringify(dataDir)} but should hold none of " $ \` \\, which PostgreSQL's programs do not quote.`,
    )
  }
  const socket = join(dataDir, socketName)
  if (Buffer.byteLength(socket) > longestSocketPath) {
    throw new OperatorError(
      `DATA_DIR is "${dataDir}" but should be shorter: the database's socket in it may have a path of ${longestSocketPath} bytes and has ${Buffer.byteLength(socket)}.`,
    )
  }
  const cluster = { socketDirectory: dataDir, user, stop: async () => pgCtl(dataDir, 'stop', '-m', 'fast') }

  await refuseForeign(dataDir)
  if (await accepts(socket)) return { ...cluster, started: false }
  let remove: Cluster['remove']
  if (create) {
    const isNewDirectory = !existsSync(dataDir)
    await createDirectory(dataDir)
    if (await initialise(dataDir)) remove = () => removeFrom(dataDir, isNewDirectory)
  } else if (!existsSync(join(dataDir, 'pgdata'))) {
    throw new OperatorError(
      `DATA_DIR is "${dataDir}", where there is no database: name the folder that the server was started with, or start the server once.`,
    )
  }
  await removeStalePid(dataDir)
  const started = await start(dataDir, socket)
  return { ...cluster, started, ...(remove && { remove }) }
}

/**
 * Whoever else may write there could put a database, its settings or its socket in the place of ours.
 *
 * @throws {OperatorError} where that is somebody.
 */
async function refuseForeign(dataDir: string) {
  const stats = await stat(dataDir).catch(() => undefined)
  if (stats === undefined) return
  const isOurs = async () => process.getuid?.() === 0 && (await unprivileged()).account?.uid === stats.uid
  if (stats.uid !== process.getuid?.() && !(await isOurs())) {
    throw new OperatorError(
      `DATA_DIR is "${dataDir}", which belongs to another user (${stats.uid}): run this as that user, or name a directory of your own.`,
    )
  }
  if ((stats.mode & 0o022) === 0) return
  throw new OperatorError(
    `DATA_DIR is "${dataDir}", which others may write to: take that away (chmod go-w), or name another directory.`,
  )
}

async function removeFrom(dataDir: string, isNewDirectory: boolean) {
  for (const name of ['pgdata', 'postgres.log', 'postgres.log.1']) {
    await rm(join(dataDir, name), { recursive: true, force: true })
  }
  if (!isNewDirectory) return
  // Unless somebody has put something else there.
  await rmdir(dataDir).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOTEMPTY') throw error
  })
}

/** Whether a server listens on the socket. Only a connection tells: its files stay behind when it dies. */
async function accepts(socket: string) {
  return new Promise<boolean>((resolve) => {
    const connection = connect(socket)
    connection.once('connect', () => {
      connection.destroy()
      resolve(true)
    })
    connection.once('error', () => resolve(false))
  })
}

async function createDirectory(dataDir: string) {
  try {
    await makeDirectory(dataDir)
    const account = process.getuid?.() === 0 ? (await unprivileged()).account : undefined
    if (account) await chown(dataDir, account.uid, account.gid)
  } catch (cause) {
    throw new OperatorError(
      `DATA_DIR is "${dataDir}", which cannot be used (${codeOf(cause)}): name a directory, or a place for one, that this user may write to.`,
      { cause },
    )
  }
}

/** Not by `recursive`, with which Node.js never returns below /proc. */
async function makeDirectory(path: string) {
  if (existsSync(path)) return
  if (dirname(path) !== path) await makeDirectory(dirname(path))
  await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error
  })
}

/**
 * Creates the database aside and moves it into place, so that a start cut off half-way leaves nothing broken.
 *
 * @returns Whether it did, since there was none.
 */
async function initialise(dataDir: string): Promise<boolean> {
  const place = join(dataDir, 'pgdata')
  if (existsSync(place)) return false
  const aside = join(dataDir, `pgdata.${randomUUID()}`)
  try {
    await postgresCommand('initdb', [
      `--pgdata=${aside}`,
      `--username=${user}`,
      '--encoding=UTF8',
      '--no-locale',
      // Only the owner of the directory reaches the socket.
      '--auth=trust',
      '--no-instructions',
    ])
    return await rename(aside, place).then(
      () => true,
      (error: unknown) => {
        // Another start was faster; its database is as good.
        if (!existsSync(place)) throw error
        return false
      },
    )
  } finally {
    await rm(aside, { recursive: true, force: true })
  }
}

/**
 * PostgreSQL refuses to start while the process that `postmaster.pid` names is alive, whatever it is. After
 * a power cut or a container's restart that can be any process: then the file is removed. Where the process
 * is dead, the file stays, for PostgreSQL's own and finer check.
 */
async function removeStalePid(dataDir: string) {
  const pgdata = join(dataDir, 'pgdata')
  const file = join(pgdata, 'postmaster.pid')
  const content = await readFile(file, 'utf8').catch(() => '')
  const pid = Number.parseInt(content, 10)
  if (!(pid > 0) || !isAlive(pid) || (await isPostgresOn(pid, pgdata))) return
  // Another start may have removed it and written its own since: what is taken away is looked at again.
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

async function isPostgresOn(pid: number, pgdata: string) {
  try {
    if (existsSync('/proc/self/cwd')) {
      // Killed, but not reaped, as in a container without an init: it holds nothing any more.
      if (/^.*\) Z /s.test(await readFile(`/proc/${pid}/stat`, 'utf8'))) return false
      return (await readlink(`/proc/${pid}/cwd`)) === (await realpath(pgdata))
    }
    const { stdout } = await run('ps', ['-o', 'command=', '-p', String(pid)])
    return stdout.includes(pgdata)
  } catch {
    // Nothing is known of it: let PostgreSQL decide.
    return true
  }
}

/**
 * Megabytes of its pages that the database keeps at hand: a quarter of the memory, as PostgreSQL advises, and no more than
 * a million applications have use for. They are taken as they are needed.
 */
function sharedBuffers() {
  const quarter = Math.min(totalmem(), process.constrainedMemory() || Infinity) / 4
  return Math.min(512, Math.max(128, Math.floor(quarter / 2 ** 20)))
}

async function start(dataDir: string, socket: string) {
  const options = [
    ['listen_addresses', ''],
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
      await pgCtl(dataDir, 'start', '-t', String(startTimeout / 1000), '-o', options.join(' '))
      return true
    } catch (error) {
      // Another start was faster, or the last server's processes are still on their way out.
      if (await accepts(socket)) return false
      const news = (await readLog(dataDir)).slice(logged)
      if (Date.now() > deadline || !busy.test(news)) throw startFailure(dataDir, news, error)
      await wait(200)
    }
  }
}

/** What PostgreSQL says where another of its servers is just starting or going down on the same directory. */
const busy = /FATAL: .*(lock file .* already exists|pre-existing shared memory block)/

/** Bytes of PostgreSQL's log that are kept, twice: it says little, but for years. */
const longestLog = 5 * 1024 * 1024

/** Keeps PostgreSQL's log from growing without end; it writes at the file's end, wherever that is. */
export async function trimLog(dataDir: string): Promise<void> {
  const file = join(dataDir, 'postgres.log')
  const { size } = await stat(file).catch(() => ({ size: 0 }))
  if (size <= longestLog) return
  // On a full disk there is no room for a copy, and all the more reason to make some.
  await copyFile(file, `${file}.1`).catch(() => {})
  await truncate(file)
}

async function readLog(dataDir: string) {
  return readFile(join(dataDir, 'postgres.log'), 'utf8').catch(() => '')
}

/** @param news What the log holds of this start. */
function startFailure(dataDir: string, news: string, cause: unknown) {
  const reason = news.split('\n').findLast((line) => /FATAL:|PANIC:/.test(line))
  return reason === undefined
    ? cause
    : new OperatorError(
        `The database did not start; in ${join(dataDir, 'postgres.log')} it says: ${reason.replace(/^.*?(FATAL|PANIC): +/, '')}`,
        { cause },
      )
}

async function pgCtl(dataDir: string, action: 'start' | 'stop', ...options: string[]) {
  await postgresCommand('pg_ctl', [
    action,
    `--pgdata=${join(dataDir, 'pgdata')}`,
    `--log=${join(dataDir, 'postgres.log')}`,
    '--wait',
    '--silent',
    ...options,
  ])
}

function shellQuoted(value: string) {
  return `'${value.replaceAll("'", `'\\''`)}'`
}
