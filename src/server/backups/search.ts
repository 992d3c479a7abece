import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

import { OperatorError } from '../../settings/operator-error.ts'
import { applications, backupFailure, checkRegular, fileOf, readManifest } from './manifest.ts'
import { linesOf } from './restore.ts'

/** A backup that has applications of a person. */
interface MatchingBackup {
  folder: string
  /** When it was made; null if its manifest does not say so. */
  created_at: string | null
  /** The number of the person's applications in it. */
  applications: number
}

/** A backup that could not be searched. */
interface UnreadBackup {
  folder: string
  problem: string
}

/** The result of a search. */
interface Search {
  /** The number of backups in the folder, including those that could not be searched. */
  count: number
  /** The matching backups, the newest first, and then those that could not be searched. */
  backups: (MatchingBackup | UnreadBackup)[]
}

/**
 * Searches all backups in a folder for a person, including copies and unfinished backups. Reads the files, because a backup may
 * have applications that were erased from the database.
 *
 * @param dir The folder, as `BACKUP_DIR`.
 * @param person Their email, and the ids of their applications in the database.
 * @throws {OperatorError} if the folder cannot be read.
 */
export async function searchBackups(
  dir: string,
  person: { email: string; ids: ReadonlySet<string> },
): Promise<Search> {
  const entries = await readdir(dir, { withFileTypes: true }).catch((cause: NodeJS.ErrnoException) => {
    throw new OperatorError(`BACKUP_DIR is "${dir}", which cannot be read (${cause.message}).`, { cause })
  })
  const found: MatchingBackup[] = []
  const unread: UnreadBackup[] = []
  let count = 0
  // One backup after the other: all are on one disk.
  for (const { name } of entries.filter((entry) => entry.isDirectory())) {
    const folder = join(dir, name)
    try {
      if (!(await readdir(folder)).includes(fileOf(applications))) continue
      count += 1
      const matching = await countMatches(join(folder, fileOf(applications)), person)
      if (matching === 0) continue
      const manifest = await readManifest(folder).catch(() => undefined)
      found.push({ folder, created_at: manifest?.createdAt ?? null, applications: matching })
    } catch (error) {
      const failure = backupFailure(error, folder)
      if (!(failure instanceof OperatorError)) throw failure
      unread.push({ folder, problem: failure.message })
    }
  }
  const newestFirst = found.toSorted((a, b) => (b.created_at ?? '').localeCompare(a.created_at ?? ''))
  return { count, backups: [...newestFirst, ...unread] }
}

/** Counts the lines of a file that are applications of a person. Few lines are parsed: a backup may have a million. */
async function countMatches(file: string, { email, ids }: { email: string; ids: ReadonlySet<string> }) {
  await checkRegular(file)
  const wanted = normalise(email)
  // The email as JSON escapes it, without the quotes.
  const escapedEmail = JSON.stringify(wanted).slice(1, -1)
  let count = 0
  for await (const line of linesOf(file)) {
    if (ids.has(/"id":"([\da-f-]{36})"/.exec(line)?.[1] ?? '')) count += 1
    else if (line.toLowerCase().includes(escapedEmail)) {
      const row = JSON.parse(line) as { email?: unknown }
      if (typeof row.email === 'string' && normalise(row.email) === wanted) count += 1
    }
  }
  return count
}

/** Normalises an email as `private.person` does to compare emails. */
function normalise(email: string) {
  return email.replaceAll(/^ +| +$/g, '').toLowerCase()
}
