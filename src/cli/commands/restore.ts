import { resolve } from 'node:path'

import { restore } from '../../server/database/backup.ts'
import { openDatabase } from '../../server/database/database.ts'
import { OperatorError } from '../../settings/operator-error.ts'
import { readSettings } from '../../settings/server-settings.ts'
import { countOf } from '../formats.ts'
import { readOptions } from '../options.ts'

const usage = `Usage: npm run restore -- --from <folder>

  Brings back what "npm run backup" wrote, into an empty database: set DATA_DIR to a new folder, or DATABASE_URL
  to a new database. What was delivered to the webhook is not delivered again.`

export async function run(): Promise<void> {
  const options = readOptions({ from: { type: 'string' } }, usage)
  if (options === undefined) return
  if (!options.from) throw new OperatorError(usage)
  const database = await openDatabase(readSettings(), { schema: 'migrate' })
  try {
    const count = await restore(database.owner, resolve(options.from))
    console.log(`Restored ${countOf(count)} to ${database.description}.`)
  } finally {
    await database.close()
  }
}
