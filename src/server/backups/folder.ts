import { randomBytes } from 'node:crypto'
import { lstat, readdir, readFile, rename, rmdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'

import { OperatorError } from '../../settings/operator-error.ts'
import { applications, fileOf, keptTables, manifestName, type Manifest } from './manifest.ts'
import { unfinishedName } from './backup.ts'
import { refuseForeign } from '../database/disk.ts'

/** A backup that a server made by itself. */
export interface ScheduledBackup {
  folder: string
  createdAt: Date
  applications: number
}

/** A folder in `BACKUP_DIR` whose manifest says that a server made it. */
interface Found extends ScheduledBackup {
  /** What is in it. */
  entries: string[]
  /** Whether each file is there and has its length. `npm run backup -- --check` compares the content. */
  isWhole: boolean
}

export interface FolderOptions {
  /** The name of a database: only its backups count. All count, unless given. */
  installation?: string | null
  now?: Date
}

const time = String.raw`\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ`
const namePattern = new RegExp(`^unplugged-${time}$`)
const asidePattern = new RegExp(`^\\.unplugged-${time}\\.[A-Za-z0-9]{6}$`)
/** Milliseconds by which the clocks of servers may differ. A backup from later than that was made by a wrong clock. */
const clockDifference = 3_600_000
/** Milliseconds after which an empty folder does not belong to a server that has just made it. */
const abandoned = 3_600_000
/** Root may do anything in any case, and owns the folders on which disks are mounted. */
const root = 0
/** The names of all files that a backup may have, while it is written or afterwards. */
const ourFiles = new Set([manifestName, unfinishedName, ...keptTables.map(fileOf)])

/**
 * Refuses a folder that others may write to.
 *
 * @throws {OperatorError} where others may; not where it is not there.
 */
export async function refuseForeignFolder(dir: string): Promise<void> {
  return refuseForeign('BACKUP_DIR', dir, [root])
}

/** The folder's name of a backup that is made at this time. */
export function backupName(at: Date): string {
  return `unplugged-${at.toISOString().slice(0, 19).replaceAll(':', '-')}Z`
}

/**
 * The newest whole backup that a server made by itself in `BACKUP_DIR`; by any database, unless told which. One from
 * the future, by a clock that was wrong, counts as the oldest.
 *
 * @throws {OperatorError} where the folder cannot be read.
 */
export async function newestBackup(
  dir: string,
  options: FolderOptions = {},
): Promise<ScheduledBackup | undefined> {
  const found = await findBackups(dir, options)
  return found.find(({ isWhole, createdAt }) => isWhole && !isAhead(createdAt, options.now))
}

/**
 * Removes the oldest backups, so that a number of whole ones stay. It removes nothing else in the folder, and no backup that
 * somebody has put something into.
 *
 * @returns Their folders.
 */
export async function removeOldBackups(
  dir: string,
  keep: number,
  options: FolderOptions & { installation: string | null },
): Promise<string[]> {
  const found = await findBackups(dir, options)
  const lastKept = found.filter(({ isWhole }) => isWhole)[keep - 1]
  if (lastKept === undefined) return []
  const removed: string[] = []
  for (const { folder, entries } of found.slice(found.indexOf(lastKept) + 1)) {
    if (!entries.every((name) => ourFiles.has(name))) continue
    // It is renamed first, since a folder that has a backup's name has to be whole.
    const aside = folder.replace(/[^/]*$/, (name) => `.${name}.${randomBytes(3).toString('hex')}`)
    await rename(folder, aside)
    await removeFiles(aside, entries)
    removed.push(folder)
  }
  return removed
}

/**
 * Removes what was being written or removed when a server was killed. No other server of the same database may be writing
 * there meanwhile.
 */
export async function removeLeftovers(dir: string, installation: string | null, now: Date): Promise<void> {
  for (const name of (await readdir(dir)).filter((each) => asidePattern.test(each))) {
    // A folder that cannot be removed does not keep a backup from being made.
    await removeLeftover(join(dir, name), installation, now).catch(() => {})
  }
}

async function removeLeftover(folder: string, installation: string | null, now: Date) {
  const stats = await lstat(folder)
  if (!stats.isDirectory()) return
  const entries = await readdir(folder)
  if (entries.length === 0) {
    if (now.getTime() - stats.mtimeMs > abandoned) await rmdir(folder)
    return
  }
  const said =
    (await readJson<NonNullable<Manifest['scheduled']>>(join(folder, unfinishedName))) ??
    (await readJson<Manifest>(join(folder, manifestName)))?.scheduled
  if (said === undefined || !isOf(said, installation)) return
  if (entries.every((each) => ourFiles.has(each))) await removeFiles(folder, entries)
}

/** The newest first. One file after the other, see `file-work.ts`. */
async function findBackups(dir: string, { installation, now }: FolderOptions): Promise<Found[]> {
  const names = await readdir(dir).catch((cause: NodeJS.ErrnoException) => {
    const why =
      cause.code === 'ENOENT'
        ? 'is not there: make that folder, mount what it is on, or name another'
        : `cannot be read (${cause.message}): name a folder that this user may read and write`
    throw new OperatorError(`BACKUP_DIR is "${dir}", which ${why}.`, { cause })
  })
  const found: Found[] = []
  for (const name of names.filter((each) => namePattern.test(each))) {
    // A folder that cannot be read is no backup; another server may be removing it.
    const one = await readFound(dir, name, installation).catch(() => undefined)
    if (one !== undefined) found.push(one)
  }
  const age = ({ createdAt }: Found) => (isAhead(createdAt, now) ? 0 : createdAt.getTime())
  return found.toSorted((a, b) => age(b) - age(a))
}

/** Reads a backup that a server made. One whose name is not that of its time counts as none: whoever renamed or copied it wants to keep it. */
async function readFound(dir: string, name: string, installation: string | null | undefined) {
  const folder = join(dir, name)
  const manifest = await readJson<Manifest>(join(folder, manifestName))
  if (manifest?.format !== 1 || manifest.scheduled === undefined) return undefined
  const createdAt = new Date(manifest.createdAt)
  if (Number.isNaN(createdAt.getTime()) || backupName(createdAt) !== name) return undefined
  if (installation !== undefined && !isOf(manifest.scheduled, installation)) return undefined
  if (!(await lstat(folder)).isDirectory()) return undefined
  const entries = await readdir(folder)
  let isWhole = true
  for (const [file, { bytes }] of Object.entries(manifest.files)) {
    const stats = await lstat(join(folder, file)).catch(() => undefined)
    isWhole &&= stats?.isFile() === true && stats.size === bytes
  }
  const found: Found = {
    folder,
    createdAt,
    applications: manifest.files[fileOf(applications)]?.rows ?? 0,
    entries,
    isWhole,
  }
  return found
}

/** A backup from before databases had names belongs to any database. */
function isOf(said: NonNullable<Manifest['scheduled']>, installation: string | null) {
  return said.installation === null || said.installation === installation
}

function isAhead(createdAt: Date, now = new Date()) {
  return createdAt.getTime() > now.getTime() + clockDifference
}

/** Nothing where it is no regular file, or holds no object. */
async function readJson<T extends object>(path: string): Promise<T | undefined> {
  try {
    if (!(await lstat(path)).isFile()) return undefined
    const value: unknown = JSON.parse(await readFile(path, 'utf8'))
    return typeof value === 'object' && value !== null ? (value as T) : undefined
  } catch {
    return undefined
  }
}

/** The manifest, which says whose it is, is removed last. A folder into which somebody puts something meanwhile stays. */
async function removeFiles(folder: string, entries: string[]) {
  const saysWhose = (name: string) => Number(name === manifestName || name === unfinishedName)
  for (const name of entries.toSorted((a, b) => saysWhose(a) - saysWhose(b))) await unlink(join(folder, name))
  await rmdir(folder)
}
