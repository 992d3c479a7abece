import { resolve } from 'node:path'

import { countOf } from '../../application/count.ts'
import { readErasures } from '../../server/backups/erasure-list.ts'
import { restore } from '../../server/backups/restore.ts'
import { checkBackup } from '../../server/backups/read-backup.ts'
import { commandLine } from '../../settings/command-to-copy.ts'
import { OperatorError } from '../../settings/operator-error.ts'
import { readSettings } from '../../settings/server-settings.ts'
import { accountsText } from '../formats.ts'
import { readOptions } from '../options.ts'
import { withDatabase } from '../with-database.ts'

const usage = `Usage: ${commandLine('restore', '--from <folder> [--keep-erased]')}

  Restores a backup into an empty database: set DATA_DIR to a new folder, or DATABASE_URL to a
  new database. Deliveries to the webhook are not repeated. Applications that were erased since are erased again, by
  the list "erasures" in BACKUP_DIR or beside the backup.

  --keep-erased    restores them too`

/** Runs `npm run restore`, by its options in `usage`. */
export async function run(): Promise<void> {
  const options = readOptions(
    { from: { type: 'string' }, 'keep-erased': { type: 'boolean', default: false } },
    usage,
  )
  if (options === undefined) return
  const { from, 'keep-erased': keepErased } = options
  if (!from) throw new OperatorError(usage)
  const backup = await checkBackup(resolve(from))
  const { backupDir } = readSettings()
  const listed = keepErased ? undefined : await readErasures(backup.folder, backupDir)
  await withDatabase(async ({ owner, description }) => {
    const { applications, accounts, erased, erasedAnswers } = await restore(owner, backup, { erased: listed })
    console.log(
      `Restored ${countOf(applications, 'application')}${accountsText(accounts)} to ${description}.`,
    )
    if (listed !== undefined)
      console.log(`Erased ${countOf(erased, 'application')} again, by the list of erasures.`)
    else if (keepErased) {
      console.log(
        'Erased applications were restored, too. A later restore erases them again, unless it has --keep-erased.',
      )
    } else if (backupDir !== undefined) {
      console.log(
        'No list of erasures is beside the backup or in BACKUP_DIR. If applications were erased since the backup, they were restored, too.',
      )
    }
    if (erasedAnswers > 0)
      console.log(
        `Private answers that were erased since the backup, or are due: ${erasedAnswers}. They were erased.`,
      )
    if (accounts === 0) return
    console.log(
      'Passwords were restored; sessions, second factors and keys were not: organisers sign in again, and set up a second factor again.',
    )
    console.log(
      `Organisers are those of the backup, with their rights of then. Remove who has left since: ${commandLine('organisers')} lists them.`,
    )
  }, 'migrate')
}
