import { createHash } from 'node:crypto'
import type { Sql } from './sql.ts'

/**
 * What tells a database from every other one, and nothing else about it: a digest of what its PostgreSQL was given when it
 * was made. A standby that takes over keeps it; a restored backup is another database.
 *
 * @returns Null where that may not be read.
 */
export async function readMark(sql: Sql): Promise<string | null> {
  const [row] = await sql<[{ may: boolean; database: string }]>`
    select has_function_privilege('pg_control_system()', 'execute') as may, oid::text as database
    from pg_database where datname = current_database()`
  if (!row.may) return null
  const [control] = await sql<[{ system: string }]>`
    select system_identifier::text as system from pg_control_system()`
  return createHash('sha256').update(`unplugged ${control.system} ${row.database}`).digest('hex').slice(0, 16)
}
