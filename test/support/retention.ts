import type { Sql } from '../../src/server/database/connection/sql.ts'

/** Resets the retention, so that no application is ever erased automatically. Ends all announcements. */
export async function resetRetention(sql: Sql): Promise<void> {
  await sql`update private.retention set months = null, months_for_guests = null, version = 0`
  await sql`delete from private.announcements`
}
