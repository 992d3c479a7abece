import { openDatabase, type Database } from '../../src/server/database/database.ts'
import { atTestEnd } from './cleanup.ts'
import { createTestDatabase } from './worker-postgres.ts'
import { dataDirectory } from './server.ts'

/**
 * Opens a new database with the current schema, on the PostgreSQL that all files of a Vitest worker share. A call that meets a
 * deadlock fails, since tests could not see that it was tried once more.
 */
export async function openTestDatabase(): Promise<Database> {
  const databaseUrl = await createTestDatabase()
  const onEvent = (event: string) => {
    throw new Error(event)
  }
  const database = await openDatabase({ dataDir: '', databaseUrl }, { schema: 'check', onEvent })
  atTestEnd(() => database.close())
  return database
}

/** Opens an embedded database with the current schema, as a server does. It has a PostgreSQL of its own. */
export async function openEmbeddedDatabase(): Promise<Database> {
  const { path: dataDir } = await dataDirectory()
  const database = await openDatabase(
    { dataDir, databaseUrl: undefined },
    { schema: 'migrate', holder: 'the tests' },
  )
  atTestEnd(() => database.close())
  return database
}
