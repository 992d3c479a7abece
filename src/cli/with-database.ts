import postgres from 'postgres'

import { openDatabase, type Database } from '../server/database/database.ts'
import { toUpdate } from '../server/database/schema.ts'
import { OperatorError } from '../settings/operator-error.ts'
import { readSettings } from '../settings/server-settings.ts'

/**
 * Opens the database that the settings name, as it is, for as long as `act` takes. An older schema than this
 * program's is used as far as it goes.
 *
 * @throws {OperatorError} where the database cannot be used, or its schema lacks what `act` needs.
 */
export async function withDatabase(act: (database: Database) => Promise<void>): Promise<void> {
  const database = await openDatabase(readSettings(), { schema: 'check' })
  try {
    await act(database)
  } catch (error) {
    // A table, a column or a function that is not there.
    const lacking = error instanceof postgres.PostgresError && /^(42P01|42703|42883)$/.test(error.code)
    if (!lacking || database.isUpToDate) throw error
    throw new OperatorError(`The database is of an older version than this command needs: ${toUpdate}.`, {
      cause: error,
    })
  } finally {
    await database.close()
  }
}
