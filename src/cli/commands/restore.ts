import { resolve } from 'node:path'

import { restore } from '../../server/database/backup.ts'
import { OperatorError } from '../../settings/operator-error.ts'
import { countOf } from '../formats.ts'
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
  await withDatabase(async ({ owner, description }) => {
    console.log(`Restored ${countOf(await restore(owner, resolve(from)))} to ${description}.`)
  }, 'migrate')
}
