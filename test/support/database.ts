import { openDatabase, type Database } from '../../src/server/database/database.ts'
import { atTestEnd } from './cleanup.ts'
import { dataDirectory } from './server.ts'

/** Opens an empty embedded database with the current schema. */
export async function openTestDatabase(): Promise<Database> {
  const directory = await dataDirectory()
  const database = await openDatabase(
    { dataDir: directory.path, databaseUrl: undefined },
    { schema: 'migrate', holder: 'the tests' },
  )
  atTestEnd(() => database.close())
  return database
}
