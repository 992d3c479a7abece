/** Replaces test/support/database.ts while coverage counts the statements of the database's functions. */
import { openDatabase, type Database } from '../../src/server/database/database.ts'
import { atTestEnd } from '../../test/support/cleanup.ts'
import { connectTo } from '../../test/support/sql.ts'
import { databaseNamePlaceholder, prefix, template } from './profiled-postgres.ts'

const address = (database: string) =>
  (process.env['PROFILED_POSTGRES'] ?? '').replace(databaseNamePlaceholder, database)
let databaseCount = 0

/**
 * Opens an empty database of the profiled PostgreSQL with the current schema. The database is not dropped, because its
 * counts are read later.
 */
export async function openTestDatabase(): Promise<Database> {
  databaseCount += 1
  const name = `${prefix}${process.pid}_${databaseCount}`
  const admin = connectTo(address('postgres'))
  await admin.unsafe(`create database ${name} template ${template}`)
  await admin.end()
  const database = await openDatabase(
    { dataDir: '', databaseUrl: address(name) },
    { schema: 'migrate', holder: 'the tests' },
  )
  atTestEnd(() => database.close())
  return database
}
