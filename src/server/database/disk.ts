import { open, stat } from 'node:fs/promises'

import { OperatorError } from '../../settings/operator-error.ts'
import { unprivileged } from './programs.ts'

/** Makes sure that the names in a directory are on the disk. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path)
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

/**
 * Refuses a directory that others may write to: they could put a database, its socket or a backup in place of ours.
 *
 * @param setting The setting that names it.
 * @param owners Users whose it may be, beside the one that this runs as.
 * @throws {OperatorError} where others may. A directory that is not there is not refused.
 */
export async function refuseForeign(
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
    `${setting} is "${path}", which others may write to: take that away (chmod go-w), or name another directory.`,
  )
}
