import type { Settings } from '../../settings/server-settings.ts'
import type { Sql } from './sql.ts'

/**
 * Writes down what letters and the page for answers have to know of this server: where its site is, where its mails come
 * from, and in which time zone a day ends, unless that is known. What it was not told stays as it is.
 */
export async function writeSite(
  sql: Sql,
  { siteUrl, mailServer }: Pick<Settings, 'siteUrl' | 'mailServer'>,
): Promise<void> {
  const site = siteUrl?.replace(/[?#].*$/, '').replace(/\/+$/, '') ?? ''
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
  await sql`select private.know_site(${site}, ${mailServer?.from.address ?? ''}, ${timeZone})`
}
