import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

import { countOf } from '../../application/count.ts'
import { backUp } from '../../server/backups/backup.ts'
import { checkRestore } from '../../server/backups/trial-restore.ts'
import { listBackups } from '../../server/backups/folder.ts'
import { checkBackup } from '../../server/backups/read-backup.ts'
import { createScheduledBackups } from '../../server/backups/scheduled.ts'
import { commandLine } from '../../settings/command-to-copy.ts'
import { OperatorError } from '../../settings/operator-error.ts'
import { readSettings } from '../../settings/server-settings.ts'
import { accountsText, localTime, onOneLine } from '../formats.ts'
import { readOptions } from '../options.ts'
import { withDatabase } from '../with-database.ts'

const usage = `Usage: ${commandLine('backup', '[--to <folder>]')}
       ${commandLine('backup', '--list')}
       ${commandLine('backup', '--check --from <folder>')}

  Writes the applications, the state of their deliveries, what organisers made of them, the door, and the organisers'
  accounts into a new folder, as of one moment, whether the server runs or not. ${commandLine('restore')} restores
  them.

  (none)     into BACKUP_DIR, as the server does each day; this may remove the oldest there
  --to       into this folder, which no server removes
  --list     lists the backups in BACKUP_DIR, the newest first
  --check    restores a backup into a temporary database below TMPDIR, and compares each row with what was written;
             it needs twice the space of the backup there`

/** Runs `npm run backup`, by its options in `usage`. */
export async function run(): Promise<void> {
  const options = readOptions(
    {
      to: { type: 'string' },
      from: { type: 'string' },
      list: { type: 'boolean', default: false },
      check: { type: 'boolean', default: false },
    },
    usage,
  )
  if (options === undefined) return
  const { to, from, list, check } = options
  if (check && from && !to && !list) return checkInTemporaryDatabase(resolve(from))
  if (from !== undefined || check || to === '' || (list && to !== undefined)) throw new OperatorError(usage)
  if (list) return printList()
  if (to === undefined) return makeAsServer()
  const folder = resolve(to)
  await withDatabase(async ({ owner }) => {
    const { applications, accounts } = await backUp(owner, folder)
    console.log(`Wrote ${countOf(applications, 'application')}${accountsText(accounts)} into ${folder}.`)
  })
}

/** The settings of backups, if there is a folder for them. */
function settingsWithFolder() {
  const { backupDir, backupAt: at, backupKeep: keep } = readSettings()
  if (backupDir !== undefined) return { dir: backupDir, at, keep }
  throw new OperatorError('BACKUP_DIR is not set: set it, or name a new folder with --to.')
}

async function makeAsServer() {
  const log = {
    info: ({ folder, applications }: { folder?: string; applications?: number }) =>
      console.log(`Wrote ${countOf(applications ?? 0, 'application')} into ${folder}.`),
    error: () => {},
  }
  const backups = createScheduledBackups({ ...settingsWithFolder(), log })
  await backups.refuseForeign()
  await withDatabase(({ owner }) => backups.makeNow(owner))
}

async function printList() {
  const { dir } = settingsWithFolder()
  const backups = await listBackups(dir)
  if (backups.length === 0) console.error(`There are no backups in ${dir}.`)
  for (const { folder, createdAt, applications, isWhole } of backups) {
    const note = isWhole ? '' : '  not whole'
    console.log(
      `${onOneLine(folder)}  ${localTime(createdAt)}  ${countOf(applications, 'application')}${note}`,
    )
  }
}

async function checkInTemporaryDatabase(folder: string) {
  const backup = await checkBackup(folder)
  const location = {
    dataDir: join(tmpdir(), `unplugged-check-${randomUUID()}`),
    databaseUrl: undefined,
    postgresBin: readSettings().postgresBin,
    isTemporary: true,
  }
  await withDatabase(
    async ({ owner }) => {
      const { applications, accounts, tables } = await checkRestore(owner, backup)
      console.log(
        `The backup of ${backup.manifest.createdAt} can be restored: ${countOf(applications, 'application')}${accountsText(accounts)}, in ${tables} tables, restored in a temporary database and compared row by row with what was written.`,
      )
    },
    'migrate',
    location,
  )
}
