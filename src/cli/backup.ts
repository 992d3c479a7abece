import { resolve } from 'node:path'

import { backUp } from '../server/database/backup.ts'
import { openDatabase } from '../server/database/database.ts'
import { OperatorError, runProgram } from '../server/operator-error.ts'
import { readSettings } from '../server/settings.ts'
import { readOptions } from './options.ts'

const usage = `Usage: npm run backup -- --to <folder>

  Writes the applications and how their deliveries stand into a new folder, as of one moment, while the server
  runs or while it does not. "npm run restore" brings them back.`

async function main() {
  const options = readOptions({ to: { type: 'string' } }, usage)
  if (options === undefined) return
  if (!options.to) throw new OperatorError(usage)
  const folder = resolve(options.to)
  const database = await openDatabase(readSettings())
  try {
    const count = await backUp(database.owner, folder)
    console.log(`Wrote ${count} ${count === 1 ? 'application' : 'applications'} into ${folder}.`)
  } finally {
    await database.close()
  }
}

await runProgram(main)
