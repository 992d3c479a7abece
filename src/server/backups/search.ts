import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

import { trimmed } from '../../application/blank.ts'
import { OperatorError } from '../../settings/operator-error.ts'
import { asciiDomain } from '../ascii-domain.ts'
import { backupFailure, checkRegular, fileOf, readManifest } from './manifest.ts'
import { addresses, applications } from './tables.ts'
import { linesOf } from './read-backup.ts'

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
      const files = await readdir(folder)
      if (!files.includes(fileOf(applications))) continue
      count += 1
      const matching = await countMatches(folder, files.includes(fileOf(addresses)), person)
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

/** Counts a backup's applications of a person: those with one of the ids or the email, which may be the replaced address. */
async function countMatches(
  folder: string,
  hasAddresses: boolean,
  { email, ids }: { email: string; ids: ReadonlySet<string> },
) {
  const wanted = new Set(ids)
  if (hasAddresses) {
    const file = join(folder, fileOf(addresses))
    for await (const row of rowsWith(file, 'address', email)) wanted.add(String(row['application_id']))
  }
  const found = new Set<string>()
  const file = join(folder, fileOf(applications))
  for await (const row of rowsWith(file, 'email', email, wanted)) found.add(String(row['id']))
  return found.size
}

/** Reads the rows with an email in a column, or with one of the ids. Few lines are parsed: a backup may have a million. */
async function* rowsWith(file: string, column: string, email: string, ids: ReadonlySet<string> = new Set()) {
  await checkRegular(file)
  const wanted = normalise(email)
  // What comes before the domain, which can be written in two ways, as JSON escapes it, without the quotes.
  const escapedName = JSON.stringify(nameOf(wanted)).slice(1, -1)
  for await (const line of linesOf(file)) {
    const hasId = ids.has(/"id":"([\da-f-]{36})"/.exec(line)?.[1] ?? '')
    if (!hasId && !line.toLowerCase().includes(escapedName)) continue
    const row = JSON.parse(line) as Record<string, unknown>
    const value = row[column]
    if (hasId || (typeof value === 'string' && normalise(value) === wanted)) yield row
  }
}

/** Normalises an email as `private.person` does to compare emails. */
function normalise(email: string) {
  const text = trimmed(email).toLowerCase()
  const name = nameOf(text)
  return name + asciiDomain(text.slice(name.length))
}

/** The part of an email up to its last `@`. */
const nameOf = (email: string) => email.slice(0, email.lastIndexOf('@') + 1)
