import type { Sql } from './sql.ts'

/** The version that 1.0.0 brought; it recorded none. */
const unrecorded = '18.4'

/**
 * Rebuilds the indexes of all tables and counts their rows again where another minor version of PostgreSQL ran on the embedded
 * database before: that is what release notes ask for, such as those of 18.6 and 18.7. Where it fails, the next start tries again.
 *
 * @param sql A new connection of the superuser, without a deadline.
 * @param onEvent Called with what whoever waits should know.
 */
export async function followMinorVersion(sql: Sql, onEvent: (message: string) => void): Promise<void> {
  const [row] = await sql<[{ version: string; former: string | null; isInUse: boolean }]>`
    select split_part(current_setting('server_version'), ' ', 1) as version,
      current_setting('unplugged.postgres_version', true) as former,
      to_regclass('public.retreat_applications') is not null as "isInUse"`
  const { version, isInUse } = row
  const former = row.former ?? unrecorded
  if (version === former) return
  try {
    if (isInUse) {
      onEvent(`PostgreSQL is ${version}, and was ${former} before: rebuilding all indexes`)
      await sql`reindex database`
      await sql`analyze`
      onEvent('all indexes are rebuilt')
    }
    await sql.unsafe(`alter database postgres set unplugged.postgres_version = '${version}'`)
  } catch (error) {
    onEvent(
      `the indexes could not be rebuilt for PostgreSQL ${version}, which the next start tries again: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}
