import type { Settings } from '../../settings/server-settings.ts'
import type { Sql } from './sql.ts'

/**
 * Saves what letters and the answer page need to know of this server: the addresses of the site and the sender, and the time zone
 * in which a day ends. A saved time zone is kept, and so is everything that this server does not know.
 */
export async function writeSite(
  sql: Sql,
  { siteUrl, mailServer }: Pick<Settings, 'siteUrl' | 'mailServer'>,
): Promise<void> {
  const site = siteUrl?.replace(/[?#].*$/, '').replace(/\/+$/, '') ?? ''
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
  await sql`select private.know_site(${site}, ${mailServer?.from.address ?? ''}, ${timeZone})`
}
