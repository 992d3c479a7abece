import { resolve } from 'node:path'

import { backUp } from '../../server/database/backups/backup.ts'
import { OperatorError } from '../../settings/operator-error.ts'
import { andAccounts, countOf } from '../formats.ts'
import { readOptions } from '../options.ts'
import { withDatabase } from '../with-database.ts'

const usage = `Usage: npm run backup -- --to <folder>

  Writes the applications, how their deliveries stand, what organisers made of them, the door, and the organisers'
  accounts into a new folder, as of one moment, while the server runs or while it does not. "npm run restore" brings
  them back.`

export async function run(): Promise<void> {
  const options = readOptions({ to: { type: 'string' } }, usage)
  if (options === undefined) return
  if (!options.to) throw new OperatorError(usage)
  const folder = resolve(options.to)
  await withDatabase(async ({ owner }) => {
    const { applications, accounts } = await backUp(owner, folder)
    console.log(`Wrote ${countOf(applications)}${andAccounts(accounts)} into ${folder}.`)
  })
}
