import { stat, statfs } from 'node:fs/promises'

import type { Settings } from '../../../settings/server-settings.ts'
import { createFileWork } from '../../backups/hanging-folder-queue.ts'
import { newestBackup } from '../../backups/folder.ts'
import { notSet, ok, wrong } from '../../finding.ts'

/** Timeout of reading the folder, in milliseconds. */
const timeout = 10_000
/** Bytes that have to be free beside the next backup. */
const reserve = 64 * 2 ** 20

/** The facts about the disk of `BACKUP_DIR`. */
interface BackupDisk {
  freeBytes: number
  /** The size of the newest backup; 0 if there is none. */
  backupBytes: number
  isDatabaseDisk: boolean
}

/** Checks that the next backup fits on the disk of `BACKUP_DIR`, and that this disk is not the database's. */
export async function checkBackupDisk(
  { backupDir: dir, dataDir, databaseUrl }: Pick<Settings, 'backupDir' | 'dataDir' | 'databaseUrl'>,
  read: (dir: string, dataDir: string | undefined) => Promise<BackupDisk> = readDisk,
) {
  if (dir === undefined) return notSet('BACKUP_DIR is not set.')
  const { freeBytes, backupBytes, isDatabaseDisk } = await read(
    dir,
    databaseUrl === undefined ? dataDir : undefined,
  )
  // The oldest backup is removed only when the new one is whole. A backup may have grown since the newest.
  const neededBytes = 2 * backupBytes + reserve
  const free = `${megabytes(freeBytes)} are free in ${dir}`
  if (freeBytes < neededBytes) {
    return wrong(
      `${free}, and the next backup needs up to ${megabytes(neededBytes)}: make room, or lower BACKUP_KEEP.`,
    )
  }
  return isDatabaseDisk
    ? notSet(
        `${dir} is on the disk of the database, so one lost disk takes both: mount another disk there, or copy the backups to another machine (docs/backups.md). ${free}.`,
      )
    : ok(`${free}, which is not the disk of the database.`)
}

async function readDisk(dir: string, dataDir: string | undefined): Promise<BackupDisk> {
  return createFileWork(
    dir,
    timeout,
  )(async () => {
    const [disk, { bavail, bsize }] = [await stat(dir), await statfs(dir)]
    const database = dataDir === undefined ? undefined : await stat(dataDir).catch(() => undefined)
    return {
      freeBytes: bavail * bsize,
      backupBytes: (await newestBackup(dir))?.bytes ?? 0,
      isDatabaseDisk: database?.dev === disk.dev,
    }
  })
}

const megabytes = (bytes: number) => `${Math.floor(bytes / 2 ** 20).toLocaleString('en')} MB`
