import { open, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'

import { OperatorError } from '../../../settings/operator-error.ts'
import { folder } from './start-stop.ts'
import { unprivileged } from './programs.ts'

/** Flushes a directory's entries to disk. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path)
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

/**
 * Refuses a directory that other users may write to: they could replace a database, its socket or a backup.
 *
 * @param setting The setting that names it.
 * @param owners Ids of users who may own it, besides the users of this process and of the embedded PostgreSQL.
 * @throws {OperatorError} if it belongs to another user, or others may write to it. A missing directory is not refused.
 */
export async function refuseWritableByOthers(
  setting: 'DATA_DIR' | 'BACKUP_DIR',
  path: string,
  owners: number[] = [],
): Promise<void> {
  const stats = await stat(path).catch(() => undefined)
  if (stats === undefined) return
  const isOurs = async () => process.getuid?.() === 0 && (await unprivileged()).account?.uid === stats.uid
  if (![process.getuid?.(), ...owners].includes(stats.uid) && !(await isOurs())) {
    throw new OperatorError(
      `${setting} is "${path}", which belongs to another user (${stats.uid}): run this as that user, or name a directory of your own.`,
    )
  }
  if ((stats.mode & 0o022) === 0) return
  throw new OperatorError(
    `${setting} is "${path}", which others may write to: remove their write permission (chmod go-w), or name another directory.`,
  )
}

/** The free bytes on the disk of the embedded database. */
export async function freeDisk(dataDir: string): Promise<number> {
  const { bavail, bsize } = await statfs(join(dataDir, folder))
  return bavail * bsize
}
