import { createHash } from 'node:crypto'
import type { Sql } from './sql.ts'

/**
 * The database's id, which reveals nothing else about it. It is a digest of the database's oid, and of the identifier that
 * PostgreSQL's files got at their creation. A standby that takes over has the same id. A restored backup is another database.
 *
 * @returns Null if the user may not read that identifier.
 */
export async function readDatabaseId(sql: Sql): Promise<string | null> {
  const [row] = await sql<[{ is_allowed: boolean; database: string }]>`
    select has_function_privilege('pg_control_system()', 'execute') as is_allowed, oid::text as database
    from pg_database where datname = current_database()`
  if (!row.is_allowed) return null
  const [control] = await sql<[{ system: string }]>`
    select system_identifier::text as system from pg_control_system()`
  return createHash('sha256').update(`unplugged ${control.system} ${row.database}`).digest('hex').slice(0, 16)
}
