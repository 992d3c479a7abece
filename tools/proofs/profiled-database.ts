/** Replaces test/support/worker-postgres.ts while coverage counts the statements of the database's functions. */
import { connectTo } from '../../test/support/sql.ts'
import { databaseNamePlaceholder, prefix, template } from './profiled-postgres.ts'

const address = (database: string) =>
  (process.env['PROFILED_POSTGRES'] ?? '').replace(databaseNamePlaceholder, database)
let databaseCount = 0

/**
 * Creates a database with the current schema on the profiled PostgreSQL. It is not dropped, because its counts are read later.
 *
 * @returns Its address.
 */
export async function createTestDatabase(): Promise<string> {
  databaseCount += 1
  const name = `${prefix}${process.pid}_${databaseCount}`
  const admin = connectTo(address('postgres'))
  await admin.unsafe(`create database ${name} template ${template}`)
  await admin.end()
  return address(name)
}

/** There is no PostgreSQL of a worker that could start early: the profiled one runs already. */
export const workerPostgres = () => Promise.resolve()
