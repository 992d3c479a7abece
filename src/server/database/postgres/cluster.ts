import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chown, mkdir, readdir, rename, rm, rmdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { OperatorError } from '../../../settings/operator-error.ts'
import { refuseWritableByOthers } from './disk.ts'
import {
  acceptsConnections,
  folder,
  mainProcessOf,
  majorOf,
  createDatabaseFiles,
  port,
  socketOf,
  startPostgresOn,
  stopPostgresOn,
  type Files,
  unfinished,
  user,
} from './start-stop.ts'
import { checkInstalled, codeOf, supported, unprivileged } from './programs.ts'

/** A running embedded PostgreSQL: the directory of its Unix socket, and its superuser. */
export interface Cluster {
  socketDirectory: string
  user: string
  /** Whether `ensureCluster` started it; false if it was running. */
  started: boolean
  /** Stops it. Pending transactions are rolled back. */
  stop(): Promise<void>
  /** Removes the stopped database, and its directory if that is new. Present only if `ensureCluster` created the database. */
  remove?: () => Promise<void>
}

/** The longest path of a socket in bytes: Linux allows 108 with the closing zero, macOS 104. */
const maxSocketPath = process.platform === 'darwin' ? 103 : 107

/** There is no database, and none may be created. */
export class MissingDatabaseError extends OperatorError {}

/** The options of preparing the embedded database. */
export interface EnsureOptions {
  /** Called before a database is created, and may throw. */
  beforeCreation?: (() => Promise<void>) | undefined
  /** Aborts a pending start. */
  signal?: AbortSignal
  /** The folder of PostgreSQL's programs; default the one from npm. */
  programs?: string | undefined
}

/**
 * Makes sure that the embedded PostgreSQL runs on `dataDir`: it adopts a running server, or starts one. The server listens only
 * on a Unix socket inside `dataDir`.
 *
 * @param create Whether to create the database if it is missing.
 * @throws {MissingDatabaseError} if the database is missing and may not be created.
 * @throws {OperatorError} if the database cannot run or be created.
 */
export async function ensureCluster(
  dataDir: string,
  create: boolean,
  { programs, beforeCreation, signal }: EnsureOptions = {},
): Promise<Cluster> {
  if (process.platform === 'win32') {
    throw new OperatorError(
      'The embedded database needs Unix sockets, which Node.js does not support on Windows: run this in WSL, or set DATABASE_URL.',
    )
  }
  if (/["$`\\\n]/.test(dataDir)) {
    throw new OperatorError(
      `DATA_DIR is ${JSON.stringify(dataDir)} but must not contain any of " $ \` \\, which PostgreSQL's programs do not quote.`,
    )
  }
  const files = { dataDir, folder, port, programs }
  const socket = socketOf(files)
  if (Buffer.byteLength(socket) > maxSocketPath) {
    throw new OperatorError(
      `DATA_DIR is "${dataDir}" but should be shorter: the path of the database's socket in it may be at most ${maxSocketPath} bytes long and is ${Buffer.byteLength(socket)}.`,
    )
  }
  const toCluster = async (started: boolean, remove?: Cluster['remove']): Promise<Cluster> => {
    // The process is looked up now: its folder may be gone when the server is stopped.
    const main = await mainProcessOf(files)
    const stop = () => stopPostgresOn(files, main)
    return { socketDirectory: dataDir, user, started, stop, ...(remove && { remove }) }
  }

  if (programs !== undefined) await checkInstalled(programs)
  await refuseWritableByOthers('DATA_DIR', dataDir)
  await refuseOtherVersion(dataDir)
  if (await acceptsConnections(socket)) return toCluster(false)
  let remove: Cluster['remove']
  if (create) {
    const isNewDirectory = !existsSync(dataDir)
    if (await lacksDatabase(dataDir)) await beforeCreation?.()
    await createDirectory(dataDir)
    if (await initialise(files)) remove = () => removeFrom(dataDir, isNewDirectory)
  } else if (!existsSync(join(dataDir, folder))) {
    throw new MissingDatabaseError(
      `DATA_DIR is "${dataDir}", where there is no database: mount the disk that it is on, name the folder that the server was started with, or start the server once.`,
    )
  }
  return toCluster(await startPostgresOn(files, signal), remove)
}

/**
 * Whether a folder has no database, and nothing else that prevents creating one.
 *
 * @throws {OperatorError} if the folder has other files: the database may have been moved, or the folder is the wrong one.
 */
async function lacksDatabase(dataDir: string): Promise<boolean> {
  // If the directory cannot be listed, creating it reports why.
  const names: string[] = await readdir(dataDir).catch(() => [])
  if (names.includes(folder)) return false
  // A folder counts as empty if it only has the folder of an unfinished start, a disk's lost+found, or hidden files.
  const others = names.filter((name) => !unfinished.test(name) && !/^\.|^lost\+found$/.test(name))
  if (others.length === 0) return true
  throw new OperatorError(
    `DATA_DIR is "${dataDir}", where there is ${others.slice(0, 3).join(', ')} but no database (${folder}): put the database back, or name an empty folder, in which a new one is made.`,
  )
}

async function removeFrom(dataDir: string, isNewDirectory: boolean) {
  for (const name of ['pgdata', 'postgres.log', 'postgres.log.1']) {
    await rm(join(dataDir, name), { recursive: true, force: true })
  }
  if (!isNewDirectory) return
  // If others have put files there, the directory stays.
  await rmdir(dataDir).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOTEMPTY') throw error
  })
}

async function createDirectory(dataDir: string) {
  try {
    await makeDirectory(dataDir)
    // For an existing file or a dangling link, only this check shows the problem.
    if (!(await stat(dataDir)).isDirectory()) throw Object.assign(new Error('a file'), { code: 'ENOTDIR' })
    const account = process.getuid?.() === 0 ? (await unprivileged()).account : undefined
    if (account) await chown(dataDir, account.uid, account.gid)
  } catch (cause) {
    throw new OperatorError(
      `DATA_DIR is "${dataDir}", which cannot be used (${codeOf(cause)}): name a directory, or a place for one, that this user may write to.`,
      { cause },
    )
  }
}

/** Creates a directory and its missing parents, one by one: with `recursive`, Node.js hangs below /proc. */
async function makeDirectory(path: string) {
  if (existsSync(path)) return
  if (dirname(path) !== path) await makeDirectory(dirname(path))
  await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error
  })
}

/**
 * Creates the database if there is none: in a folder of another name, which is then renamed. So an interrupted start leaves no
 * broken database.
 *
 * @returns Whether this call created it.
 */
async function initialise(files: Files): Promise<boolean> {
  const { dataDir } = files
  const path = join(dataDir, folder)
  if (existsSync(path)) return false
  const name = `${folder}.${randomUUID()}`
  const temporary = join(dataDir, name)
  try {
    await createDatabaseFiles({ ...files, folder: name })
    return await rename(temporary, path).then(
      () => true,
      (error: unknown) => {
        // Another start was faster: its database is used.
        if (!existsSync(path)) throw error
        return false
      },
    )
  } finally {
    // A failed removal must not hide the failure above.
    await rm(temporary, { recursive: true, force: true }).catch(() => {})
  }
}

/** @throws {OperatorError} if another major version of PostgreSQL created the files, or the files' version cannot be read. */
async function refuseOtherVersion(dataDir: string) {
  const filesMajor = await majorOf(dataDir)
  if (filesMajor === undefined && existsSync(join(dataDir, folder))) {
    throw new OperatorError(
      `DATA_DIR is "${dataDir}", whose folder ${folder} is incomplete (its PG_VERSION cannot be read): put it back as it was, or restore a backup into a new DATA_DIR.`,
    )
  }
  if (filesMajor === undefined) return
  const ours = supported.major
  if (filesMajor === ours) return
  throw new OperatorError(
    `DATA_DIR is "${dataDir}", whose database is PostgreSQL ${filesMajor}'s, and this version has ${ours}: ${
      filesMajor > ours
        ? 'use the version of this program that it was last used with or a later one, or go back (docs/operate.md#go-back)'
        : 'make a backup with the version of this program that it was last used with, and restore it into a new DATA_DIR (docs/operate.md#another-major-version-of-postgresql)'
    }.`,
  )
}
