import { openDatabase, type Database } from '../src/server/database/database.ts'
import { dataDirectory } from './server.ts'

/** Opens an embedded database that holds nothing, its schema up to date. It is gone when it is closed. */
export async function openTestDatabase(): Promise<Database> {
  const directory = await dataDirectory()
  const database = await openDatabase(
    { dataDir: directory.path, databaseUrl: undefined },
    { schema: 'migrate', holder: 'the tests' },
  )
  return {
    ...database,
    async close(how) {
      await database.close(how)
      await directory.remove()
    },
  }
}
