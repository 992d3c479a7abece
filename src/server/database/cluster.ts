import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chown, mkdir, rename, rm, rmdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { OperatorError } from '../../settings/operator-error.ts'
import {
  accepts,
  folder,
  majorOf,
  makeFiles,
  port,
  socketOf,
  startFiles,
  stopFiles,
  user,
  type Files,
} from './files.ts'
import { checkInstalled, codeOf, known, lastVersions, unprivileged } from './programs.ts'

/** Where the embedded PostgreSQL can be reached: a directory holding its Unix socket, and its superuser. */
export interface Cluster {
  socketDirectory: string
  user: string
  /** Whether this call started it. */
  started: boolean
  /** Stops it: open transactions are rolled back, everything committed is kept. */
  stop(): Promise<void>
  /** Removes the stopped database, and the directory that was made for it. Does nothing where it existed before. */
  remove?: () => Promise<void>
}

/** Linux allows 108 bytes with the closing zero, macOS 104. */
const longestSocketPath = process.platform === 'darwin' ? 103 : 107

export interface EnsureOptions {
  /** The folder of PostgreSQL's programs; of those that npm brings, unless given. */
  programs?: string | undefined
}

/**
 * Makes sure that the embedded PostgreSQL runs on `dataDir`: adopts a server that still runs there, and
 * otherwise starts one. It listens on a Unix socket inside `dataDir` and nowhere else.
 *
 * @param create Whether the database is to be made where there is none.
 * @throws {OperatorError} where it cannot run, or is not there and not to be made.
 */
export async function ensureCluster(
  dataDir: string,
  create: boolean,
  { programs }: EnsureOptions = {},
): Promise<Cluster> {
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
  const files = { dataDir, folder, port, programs }
  const socket = socketOf(files)
  if (Buffer.byteLength(socket) > longestSocketPath) {
    throw new OperatorError(
      `DATA_DIR is "${dataDir}" but should be shorter: the database's socket in it may have a path of ${longestSocketPath} bytes and has ${Buffer.byteLength(socket)}.`,
    )
  }
  const cluster = { socketDirectory: dataDir, user, stop: async () => stopFiles(files) }

  if (programs !== undefined) await checkInstalled(programs)
  await refuseForeign(dataDir)
  await refuseOtherVersion(dataDir)
  if (await accepts(socket)) return { ...cluster, started: false }
  let remove: Cluster['remove']
  if (create) {
    const isNewDirectory = !existsSync(dataDir)
    await createDirectory(dataDir)
    if (await initialise(files)) remove = () => removeFrom(dataDir, isNewDirectory)
  } else if (!existsSync(join(dataDir, folder))) {
    throw new OperatorError(
      `DATA_DIR is "${dataDir}", where there is no database: name the folder that the server was started with, or start the server once.`,
    )
  }
  const started = await startFiles(files)
  return { ...cluster, started, ...(remove && { remove }) }
}

/**
 * Refuses a directory that others may write to: they could put a database, its settings or its socket in place of ours.
 *
 * @throws {OperatorError} where others may.
 */
export async function refuseForeign(dataDir: string): Promise<void> {
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
  // Only where nobody has put anything else there.
  await rmdir(dataDir).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOTEMPTY') throw error
  })
}

async function createDirectory(dataDir: string) {
  try {
    await makeDirectory(dataDir)
    // A file counts as there already, and of a link to nothing only this tells.
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

/** Not by `recursive`, with which Node.js never returns below /proc. */
async function makeDirectory(path: string) {
  if (existsSync(path)) return
  if (dirname(path) !== path) await makeDirectory(dirname(path))
  await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error
  })
}

/**
 * Creates the database in another folder and moves it into place, so that a start that is cut off leaves nothing broken.
 *
 * @returns Whether it created one.
 */
async function initialise(files: Files): Promise<boolean> {
  const { dataDir } = files
  const place = join(dataDir, folder)
  if (existsSync(place)) return false
  const name = `${folder}.${randomUUID()}`
  const aside = join(dataDir, name)
  try {
    await makeFiles({ ...files, folder: name })
    return await rename(aside, place).then(
      () => true,
      (error: unknown) => {
        // Another start was faster; its database is as good.
        if (!existsSync(place)) throw error
        return false
      },
    )
  } finally {
    // What is left does not matter; why it could not be made does.
    await rm(aside, { recursive: true, force: true }).catch(() => {})
  }
}

/** @throws {OperatorError} where another major version of PostgreSQL made the files, or they do not say which. */
async function refuseOtherVersion(dataDir: string) {
  const made = await majorOf(dataDir)
  if (made === undefined && existsSync(join(dataDir, folder))) {
    throw new OperatorError(
      `DATA_DIR is "${dataDir}", whose folder ${folder} is no whole database, for its PG_VERSION cannot be read: put it back as it was, or restore a backup into a new DATA_DIR.`,
    )
  }
  if (made === undefined) return
  const ours = known.major
  if (made === ours) return
  if (made < ours && lastVersions[made] === undefined) throw tooOld(dataDir, made)
  throw new OperatorError(
    made > ours
      ? `DATA_DIR is "${dataDir}", whose database is PostgreSQL ${made}'s, and this version has ${ours}: use the version of this program that it was last used with, or a later one.`
      : `DATA_DIR is "${dataDir}", whose database is PostgreSQL ${made}'s, and this version has ${ours}: start the server once, which brings it over.`,
  )
}

/** The sentence about files that are too old to be brought over. */
export function tooOld(dataDir: string, made: number): OperatorError {
  return new OperatorError(
    `DATA_DIR is "${dataDir}", whose database is PostgreSQL ${made}'s, which this version does not bring over: start a version of this program in between first, which does.`,
  )
}
