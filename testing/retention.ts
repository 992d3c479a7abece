import type { Sql } from '../src/server/database/sql.ts'

/** Restores the retention of a new database, which erases nothing, and ends announcements. */
export async function resetRetention(sql: Sql): Promise<void> {
  await sql`update private.retention set months = null, months_for_guests = null, version = 0`
  await sql`delete from private.announcements`
}
