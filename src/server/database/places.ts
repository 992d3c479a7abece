import type { Settings } from '../../settings/server-settings.ts'
import type { Sql } from './sql.ts'

/**
 * Saves what letters and the answer page need to know of this server: the site's address, the sender's address, and the time zone
 * that a day ends in, unless one is saved. What this server does not know stays unchanged.
 */
export async function writeSite(
  sql: Sql,
  { siteUrl, mailServer }: Pick<Settings, 'siteUrl' | 'mailServer'>,
): Promise<void> {
  const site = siteUrl?.replace(/[?#].*$/, '').replace(/\/+$/, '') ?? ''
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
  await sql`select private.know_site(${site}, ${mailServer?.from.address ?? ''}, ${timeZone})`
}
