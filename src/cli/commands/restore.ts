import { resolve } from 'node:path'

import { checkBackup, restore } from '../../server/database/backup.ts'
import { OperatorError } from '../../settings/operator-error.ts'
import { andAccounts, countOf } from '../formats.ts'
import { readOptions } from '../options.ts'
import { withDatabase } from '../with-database.ts'

const usage = `Usage: npm run restore -- --from <folder>

  Brings back what "npm run backup" wrote, into an empty database: set DATA_DIR to a new folder, or DATABASE_URL
  to a new database. What was delivered to the webhook is not delivered again.`

export async function run(): Promise<void> {
  const options = readOptions({ from: { type: 'string' } }, usage)
  if (options === undefined) return
  const { from } = options
  if (!from) throw new OperatorError(usage)
  const backup = await checkBackup(resolve(from))
  if (!backup.isWhole) {
    console.error(
      'This backup was made by a version that wrote no manifest: nothing shows whether it is whole. Compare how many applications come back.',
    )
  }
  await withDatabase(async ({ owner, description }) => {
    const { applications, accounts } = await restore(owner, backup)
    console.log(`Restored ${countOf(applications)}${andAccounts(accounts)} to ${description}.`)
    if (accounts === 0) return
    console.log(
      'Of the accounts, passwords came back; sessions, second factors and keys did not: organisers sign in anew, and set up a second factor again.',
    )
  }, 'migrate')
}
