import { randomBytes } from 'node:crypto'
import { lstat, readdir, readFile, rename, rmdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'

import { OperatorError } from '../../settings/operator-error.ts'
import { fileOf, manifestName, type Manifest } from './manifest.ts'
import { applications, backupTables } from './tables.ts'
import { unfinishedName } from './backup.ts'
import { refuseWritableByOthers } from '../database/postgres/disk.ts'

/** A backup that a server made automatically. */
export interface ScheduledBackup {
  folder: string
  createdAt: Date
  applications: number
  bytes: number
  /** The newest migration of the database that was backed up. */
  schema: string
  /** Whether an operator asked for it. */
  isRequested: boolean
}

/** A backup with a manifest. */
interface FoundBackup extends ScheduledBackup {
  /** The manifest's field, which only backups of a server have. */
  scheduled: Manifest['scheduled']
  /** The names of the files in it. */
  entries: string[]
  /** Whether each file exists and has the manifest's length. `npm run backup -- --check` compares the content. */
  isWhole: boolean
}

/** The options for finding backups in a folder. */
export interface FolderOptions {
  /** Finds only the backups of the database with this id; by default all. */
  installation?: string
  now?: Date
}

const timePattern = String.raw`\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ`
const namePattern = new RegExp(`^unplugged-${timePattern}$`)
const temporaryPattern = new RegExp(`^\\.unplugged-${timePattern}\\.[A-Za-z0-9]{6}$`)
/** Milliseconds by which servers' clocks may differ. A backup dated further ahead was made with a wrong clock. */
const clockDifference = 3_600_000
/** Milliseconds after which an empty folder counts as abandoned. Another server may have just created a younger one. */
const abandonedAfter = 3_600_000
/** The user id of root, who may own the folder: root can do anything anyway, and owns the folders of mounted disks. */
const rootUser = 0
/** The names of all files that a backup may have, while it is written or afterwards. */
const ourFiles = new Set([manifestName, unfinishedName, ...backupTables.map(fileOf)])

/**
 * Refuses a folder that other users may write to.
 *
 * @throws {OperatorError} if others may write to it; not if the folder is missing.
 */
export async function refuseFolderWritableByOthers(dir: string): Promise<void> {
  return refuseWritableByOthers('BACKUP_DIR', dir, [rootUser])
}

/** The folder name of a backup that is made at this time. */
export function backupName(at: Date): string {
  return `unplugged-${at.toISOString().slice(0, 19).replaceAll(':', '-')}Z`
}

/**
 * Finds the newest complete backup that a server made automatically in `BACKUP_DIR`, of any database unless one is given. It
 * ignores a backup dated in the future, which was made with a wrong clock.
 *
 * @throws {OperatorError} if the folder cannot be read.
 */
export async function newestBackup(
  dir: string,
  options: FolderOptions = {},
): Promise<ScheduledBackup | undefined> {
  const found = await findBackups(dir, options)
  return found.find(({ isWhole, createdAt }) => isWhole && !isInFuture(createdAt, options.now))
}

/**
 * Removes the automatic backups that are older than the newest `keep` complete ones. Backups dated in the future count as the
 * oldest. A backup stays if it contains a file that no backup has. Everything else in the folder stays, too.
 *
 * @returns The removed folders.
 */
export async function removeOldBackups(
  dir: string,
  keep: number,
  options: FolderOptions & { installation: string },
): Promise<string[]> {
  const found = await findBackups(dir, options)
  const lastKept = found.filter(({ isWhole }) => isWhole)[keep - 1]
  if (lastKept === undefined) return []
  const removed: string[] = []
  for (const { folder, entries } of found.slice(found.indexOf(lastKept) + 1)) {
    if (!entries.every((name) => ourFiles.has(name))) continue
    // The folder is renamed before any file is removed: a folder with the name of a backup has to be complete.
    const temporary = folder.replace(/[^/]*$/, (name) => `.${name}.${randomBytes(3).toString('hex')}`)
    await rename(folder, temporary)
    await removeFiles(temporary, entries)
    removed.push(folder)
  }
  return removed
}

/**
 * Removes folders that a killed server was writing or removing. Call it only while no other server of the same database writes
 * there.
 */
export async function removeLeftovers(dir: string, installation: string, now: Date): Promise<void> {
  for (const name of (await readdir(dir)).filter((each) => temporaryPattern.test(each))) {
    // A folder that cannot be removed does not prevent a backup.
    await removeLeftover(join(dir, name), installation, now).catch(() => {})
  }
}

async function removeLeftover(folder: string, installation: string, now: Date) {
  const stats = await lstat(folder)
  if (!stats.isDirectory()) return
  const entries = await readdir(folder)
  if (entries.length === 0) {
    if (now.getTime() - stats.mtimeMs > abandonedAfter) await rmdir(folder)
    return
  }
  const scheduled =
    (await readJson<NonNullable<Manifest['scheduled']>>(join(folder, unfinishedName))) ??
    (await readJson<Manifest>(join(folder, manifestName)))?.scheduled
  if (scheduled?.installation !== installation) return
  if (entries.every((each) => ourFiles.has(each))) await removeFiles(folder, entries)
}

async function namesIn(dir: string) {
  return readdir(dir).catch((cause: NodeJS.ErrnoException) => {
    const why =
      cause.code === 'ENOENT'
        ? 'is not there: make that folder, mount its disk, or name another'
        : `cannot be read (${cause.message}): name a folder that this user may read and write`
    throw new OperatorError(`BACKUP_DIR is "${dir}", which ${why}.`, { cause })
  })
}

/** Finds backups, the newest first. Files are read one at a time, so that a hanging disk blocks only one thread. */
async function findBackups(dir: string, { installation, now }: FolderOptions): Promise<FoundBackup[]> {
  const found: FoundBackup[] = []
  for (const name of (await namesIn(dir)).filter((each) => namePattern.test(each))) {
    // A folder that cannot be read is skipped: another server may be removing it.
    const backup = await readBackup(dir, name, installation).catch(() => undefined)
    if (backup !== undefined) found.push(backup)
  }
  // Backups dated in the future come last: they were made with a wrong clock.
  const sortKey = ({ createdAt }: FoundBackup) => (isInFuture(createdAt, now) ? 0 : createdAt.getTime())
  return found.toSorted((a, b) => sortKey(b) - sortKey(a) || b.createdAt.getTime() - a.createdAt.getTime())
}

/**
 * Lists all backups in a folder, the newest first, also those that an operator made, renamed or copied.
 *
 * @throws {OperatorError} if the folder cannot be read.
 */
export async function listBackups(dir: string): Promise<(ScheduledBackup & { isWhole: boolean })[]> {
  const found: FoundBackup[] = []
  for (const name of await namesIn(dir)) {
    const backup = name.startsWith('.') ? undefined : await readFolder(join(dir, name)).catch(() => undefined)
    if (backup !== undefined) found.push(backup)
  }
  return found.toSorted((a, b) => b.createdAt.getTime() - a.createdAt.getTime())
}

/**
 * Reads a backup that a server made. Returns undefined for any other folder, and for a renamed or copied backup, whose name
 * does not match its time: somebody wants to keep it.
 */
async function readBackup(dir: string, name: string, installation: string | undefined) {
  const backup = await readFolder(join(dir, name))
  if (backup?.scheduled === undefined || backupName(backup.createdAt) !== name) return undefined
  return installation === undefined || installation === backup.scheduled.installation ? backup : undefined
}

/** Reads a backup. Returns undefined for any other folder, and for a backup without a manifest. */
async function readFolder(folder: string): Promise<FoundBackup | undefined> {
  const manifest = await readJson<Manifest>(join(folder, manifestName))
  if (manifest?.format !== 1) return undefined
  const createdAt = new Date(manifest.createdAt)
  if (Number.isNaN(createdAt.getTime()) || !(await lstat(folder)).isDirectory()) return undefined
  const entries = await readdir(folder)
  let isWhole = true
  for (const [file, { bytes }] of Object.entries(manifest.files)) {
    const stats = await lstat(join(folder, file)).catch(() => undefined)
    isWhole &&= stats?.isFile() === true && stats.size === bytes
  }
  return {
    folder,
    createdAt,
    applications: manifest.files[fileOf(applications)]?.rows ?? 0,
    bytes: Object.values(manifest.files).reduce((sum, file) => sum + file.bytes, 0),
    schema: manifest.schema,
    scheduled: manifest.scheduled,
    isRequested: manifest.scheduled?.requested === true,
    entries,
    isWhole,
  }
}

function isInFuture(createdAt: Date, now = new Date()) {
  return createdAt.getTime() > now.getTime() + clockDifference
}

/** Reads a JSON object; undefined if the path is not a regular file, or the file has no object. */
async function readJson<T extends object>(path: string): Promise<T | undefined> {
  try {
    if (!(await lstat(path)).isFile()) return undefined
    const value: unknown = JSON.parse(await readFile(path, 'utf8'))
    return typeof value === 'object' && value !== null ? (value as T) : undefined
  } catch {
    return undefined
  }
}

/**
 * Removes files, and then their folder. The file with the database's id is removed last, so that the remains of a killed
 * removal can be recognised. If another file has appeared in the folder, the folder stays, and this throws.
 */
async function removeFiles(folder: string, entries: string[]) {
  const identifiesDatabase = (name: string) => Number(name === manifestName || name === unfinishedName)
  for (const name of entries.toSorted((a, b) => identifiesDatabase(a) - identifiesDatabase(b)))
    await unlink(join(folder, name))
  await rmdir(folder)
}
