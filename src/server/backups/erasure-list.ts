import { constants } from 'node:fs'
import { lstat, open, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { OperatorError } from '../../settings/operator-error.ts'
import { advisoryLocks } from '../database/connection/advisory-locks.ts'
import { syncDirectory } from '../database/postgres/disk.ts'
import type { Sql } from '../database/connection/sql.ts'
import { runDirectly } from './hanging-folder-queue.ts'

/** The file with the erasures that a restore repeats. Each line is the digest of an application's id. */
const erasuresFile = (dir: string) => join(dir, 'erasures')

/**
 * Appends the erasures that the database has and the list lacks. The transaction that erases also stores the erasure in the
 * database, so no erasure is lost while the list cannot be written.
 *
 * @param sql Connections without a transaction timeout, since the list is written within a transaction.
 * @returns The number of erasures in the database.
 * @throws {OperatorError} if the list cannot be written.
 */
export async function appendErasures(sql: Sql, dir: string, runFileWork = runDirectly): Promise<number> {
  const path = erasuresFile(dir)
  return sql.begin(async (transaction) => {
    // One server at a time: concurrent appends are not safe on every file system.
    await transaction`select pg_advisory_xact_lock(${advisoryLocks.erasures})`
    const known = await transaction<
      { digest: string }[]
    >`select digest from private.erasures order by erased_at`
    const digests = known.map(({ digest }) => digest)
    await runFileWork(() => append(path, digests))
    return known.length
  })
}

/**
 * Reads the digests of all erased applications from two lists: the one in `BACKUP_DIR`, and the one in the backup's parent
 * folder.
 *
 * @param backup The backup's folder.
 * @param dir `BACKUP_DIR`; undefined if it is not set.
 * @returns Undefined if there is no list.
 * @throws {OperatorError} if a list cannot be read.
 */
export async function readErasures(
  backup: string,
  dir: string | undefined,
): Promise<ReadonlySet<string> | undefined> {
  const paths = new Set([dirname(backup), ...(dir === undefined ? [] : [dir])].map(erasuresFile))
  const lists = await Promise.all(
    [...paths].map(async (path) =>
      readList(path).catch((cause: unknown) => {
        if (cause instanceof OperatorError || !(cause instanceof Error && 'code' in cause)) throw cause
        throw new OperatorError(
          `The list of erasures "${path}" cannot be read (${cause.message}): run this as a user who may, or name another BACKUP_DIR.`,
          { cause },
        )
      }),
    ),
  )
  if (lists.every(({ text }) => text === undefined)) return undefined
  return new Set(lists.flatMap(({ digests }) => [...digests]))
}

async function readList(path: string) {
  const stats = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (stats === undefined) return { text: undefined, digests: new Set<string>() }
  if (!stats.isFile()) {
    throw new OperatorError(`"${path}" is not a regular file, as the list of erasures should be.`)
  }
  const text = await readFile(path, 'utf8')
  return { text, digests: new Set(text.split('\n').filter((line) => /^[0-9a-f]{64}$/.test(line))) }
}

async function append(path: string, known: string[]) {
  try {
    const { text, digests } = await readList(path)
    const missing = known.filter((digest) => !digests.has(digest))
    if (missing.length === 0) return
    // The blank first line ends a line that a full disk cut off.
    const lines = [...(text === '' || text?.endsWith('\n') !== false ? [] : ['']), ...missing]
    await write(path, `${lines.join('\n')}\n`)
    if (text === undefined) await syncDirectory(dirname(path))
  } catch (cause) {
    if (cause instanceof OperatorError || !(cause instanceof Error && 'code' in cause)) throw cause
    throw new OperatorError(
      `The list of erasures "${path}" cannot be written (${cause.message}): a restore would bring erased applications back.`,
      { cause },
    )
  }
}

async function write(path: string, text: string) {
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants
  const file = await open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}
