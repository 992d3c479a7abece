import { commandLine } from '../../settings/command-to-copy.ts'
import { access, constants, stat } from 'node:fs/promises'

import type { Settings } from '../../settings/server-settings.ts'
import { createFileWork } from '../backups/hanging-folder-queue.ts'
import { newestBackup, refuseFolderWritableByOthers } from '../backups/folder.ts'
import { overdueAfter, readInstallation } from '../backups/scheduled.ts'
import type { ReadOnlyDatabase } from '../database/database.ts'
import { codeOf } from '../database/postgres/programs.ts'
import { notSet, ok, wrongIf } from '../finding.ts'

const hour = 3_600_000
/** Timeout of reading the folder, in milliseconds. */
const folderTimeout = 10_000

/**
 * Checks that a backup was made within the last day, and that the next one can be made.
 *
 * @param database The database whose backups count. If it is undefined, backups of all databases count.
 */
export async function checkBackups(
  { backupDir: dir, backupAt, backupKeep }: Pick<Settings, 'backupDir' | 'backupAt' | 'backupKeep'>,
  database: ReadOnlyDatabase | undefined,
  now = new Date(),
) {
  if (dir === undefined)
    return notSet(
      `BACKUP_DIR is not set, so no backup is made automatically: ${commandLine('backup', '--to <folder>')} makes one.`,
    )
  const installation = await database?.read(readInstallation)
  const runFileWork = createFileWork(dir, folderTimeout)
  const { newest, stats, writeError } = await runFileWork(async () => {
    const options = { now, ...(installation !== undefined && { installation }) }
    const found = { newest: await newestBackup(dir, options), stats: await stat(dir) }
    await refuseFolderWritableByOthers(dir)
    return { ...found, writeError: await access(dir, constants.W_OK).catch(codeOf) }
  })
  const { mode, uid } = stats
  const age = newest && now.getTime() - newest.createdAt.getTime()
  return (
    wrongIf([
      writeError !== undefined &&
        `BACKUP_DIR is "${dir}", which this user may not write to (${writeError}): name a folder of this user's own.`,
      (mode & 0o007) !== 0 &&
        writeError === undefined &&
        `Every user of this machine can read ${dir}, and backups hold all applications: ${uid === process.getuid?.() ? `chmod o= ${dir}` : "name a folder of this user's own"}.`,
      age === undefined &&
        writeError === undefined &&
        `There is no whole backup in ${dir}: the server makes one within a minute after it starts; if it does not, see its log.`,
      age !== undefined &&
        age > overdueAfter * 1000 &&
        `The newest backup is ${Math.round(age / hour)} hours old, though one is due each day at ${backupAt}: see that the server runs, and its log.`,
    ]) ??
    ok(`${newest?.folder} has ${newest?.applications} applications, and the newest ${backupKeep} are kept.`)
  )
}
