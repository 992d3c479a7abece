import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

import { backUp } from '../../server/backups/backup.ts'
import { checkRestore, type CheckResult } from '../../server/backups/check.ts'
import { checkBackup } from '../../server/backups/restore.ts'
import { OperatorError } from '../../settings/operator-error.ts'
import { readSettings } from '../../settings/server-settings.ts'
import { accountsText, countOf } from '../formats.ts'
import { readOptions } from '../options.ts'
import { withDatabase } from '../with-database.ts'

const usage = `Usage: npm run backup -- --to <folder>
       npm run backup -- --check --from <folder>

  Writes the applications, the state of their deliveries, what organisers made of them, the door, and the organisers'
  accounts into a new folder, as of one moment, whether the server runs or not. "npm run restore" restores them.

  --check    restores a backup into a temporary database below TMPDIR, and compares each row with what was written;
             it needs twice the space of the backup there`

/** Runs `npm run backup`, by its options in `usage`. */
export async function run(): Promise<void> {
  const options = readOptions(
    { to: { type: 'string' }, from: { type: 'string' }, check: { type: 'boolean', default: false } },
    usage,
  )
  if (options === undefined) return
  const { to, from, check } = options
  if (check && from && !to) return checkInTemporaryDatabase(resolve(from))
  if (!to || from || check) throw new OperatorError(usage)
  const folder = resolve(to)
  await withDatabase(async ({ owner }) => {
    const { applications, accounts } = await backUp(owner, folder)
    console.log(`Wrote ${countOf(applications)}${accountsText(accounts)} into ${folder}.`)
  })
}

/** The end of the sentence about a checked backup, by the way in which its rows were compared. */
const comparisons: Record<CheckResult['compared'], string> = {
  rows: 'and compared row by row with what was written',
  counts: 'and counted; the version that made it wrote no row checksums',
  nothing:
    'but not compared: the version that made it wrote no manifest, and nothing shows whether it is whole',
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
      const { applications, accounts, tables, compared } = await checkRestore(owner, backup)
      const date = backup.manifest === undefined ? '' : ` of ${backup.manifest.createdAt}`
      console.log(
        `The backup${date} can be restored: ${countOf(applications)}${accountsText(accounts)}, in ${tables} tables, restored in a temporary database ${comparisons[compared]}.`,
      )
    },
    'migrate',
    location,
  )
}
