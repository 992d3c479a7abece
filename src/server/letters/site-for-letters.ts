import type { Settings } from '../../settings/server-settings.ts'
import type { Sql } from '../database/connection/sql.ts'

/**
 * Saves the settings of this server that letters and the answer page need, in `private.places`. These are the addresses of the
 * site and the sender, the title if the settings have one, and the time zone in which a deadline ends. A saved time zone stays, and so does a saved address if this
 * server's settings have none.
 */
export async function writeSite(
  sql: Sql,
  { siteUrl, mailServer, look }: Pick<Settings, 'siteUrl' | 'mailServer' | 'look'>,
): Promise<void> {
  const site = siteUrl?.replace(/[?#].*$/, '').replace(/\/+$/, '') ?? ''
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
  await sql`select private.know_site(${site}, ${mailServer?.from.address ?? ''}, ${timeZone})`
  await sql`select private.know_title(${look.title ?? ''})`
}
