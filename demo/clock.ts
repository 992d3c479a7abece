import { day } from './plan.ts'
import type { Sql } from '../src/server/database/connection/sql.ts'

/** Creates a clock. `moveTo` moves it forward by moving nearly all stored times back. */
export async function createClock(sql: Sql, start: Date) {
  // These stay unchanged: the door's closing time, the times of applications and statuses, the ages of signing keys,
  // and the days of the retreat.
  const tables = await sql<{ name: string; columns: { name: string; is_day: boolean }[] }[]>`
    select format('%I.%I', table_schema, table_name) as name,
      json_agg(json_build_object('name', column_name, 'is_day', data_type = 'date')) as columns
    from information_schema.columns
      join information_schema.tables using (table_catalog, table_schema, table_name)
    where table_schema in ('public', 'private') and table_type = 'BASE TABLE'
      and data_type in ('timestamp with time zone', 'date')
      and (table_name, column_name) not in (
        ('door', 'closes_at'), ('retreat_applications', 'created_at'), ('statuses', 'created_at'), ('signing_keys', 'created_at'),
        ('editions', 'starts_on'), ('editions', 'ends_on')
      )
    group by 1`
  let now = start
  const dayOf = (at: Date) => Date.UTC(at.getFullYear(), at.getMonth(), at.getDate()) / day
  return {
    now: () => now,
    /**
     * Moves the dates in a text back by the days between the clock and today. Later moves do the same to the stored dates. The
     * days of the retreat stay, whose last one follows a dash.
     */
    withDemoDates: (text: string) =>
      text.replaceAll(/(?<!–\s?)\b\d{1,2} [A-Z][a-z]+ \d{4}\b/g, (writtenDate) => {
        const date = new Date((dayOf(new Date(writtenDate)) - dayOf(new Date()) + dayOf(now)) * day)
        return date.toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' })
      }),
    async moveTo(at: Date) {
      const movedColumn = (column: { name: string; is_day: boolean }) =>
        column.is_day
          ? `${column.name} = ${column.name} - ${dayOf(at) - dayOf(now)}`
          : `${column.name} = ${column.name} - interval '${at.getTime() - now.getTime()} milliseconds'`
      const updates = tables.map(
        ({ name, columns }) => `update ${name} set ${columns.map(movedColumn).join(', ')}`,
      )
      // Triggers would treat each move as a new change.
      await sql.begin((transaction) =>
        transaction.unsafe(`set local session_replication_role = replica; ${updates.join('; ')}`),
      )
      now = at
    },
  }
}
