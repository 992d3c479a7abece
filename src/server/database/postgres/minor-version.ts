import type { Sql } from '../connection/sql.ts'

/** The version of PostgreSQL that 1.0.0 ran. Databases of 1.0.0 recorded no version. */
const unrecordedVersion = '18.4'

/**
 * Rebuilds all indexes and table statistics if another minor version of PostgreSQL last ran on the embedded database. Some
 * release notes of PostgreSQL ask for this, such as those of 18.6 and 18.7. After a failure, the next start retries.
 *
 * @param sql A new connection of the superuser, without a deadline.
 * @param onEvent Called with progress messages.
 */
export async function rebuildForMinorVersion(sql: Sql, onEvent: (message: string) => void): Promise<void> {
  const [row] = await sql<[{ version: string; former: string | null; hasSchema: boolean }]>`
    select split_part(current_setting('server_version'), ' ', 1) as version,
      current_setting('unplugged.postgres_version', true) as former,
      to_regclass('public.retreat_applications') is not null as "hasSchema"`
  const { version, hasSchema } = row
  const former = row.former ?? unrecordedVersion
  if (version === former) return
  try {
    if (hasSchema) {
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
