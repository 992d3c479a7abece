import type { MailServer } from '../../settings/mail-settings.ts'
import type { Finding } from '../finding.ts'
import { startPolling, type Polling } from '../polling.ts'
import { checkMail } from './check.ts'
import type { DnsResolver } from './sender-domain.ts'
import type { Sql } from '../database/connection/sql.ts'

/** Milliseconds between two polls for a requested check. */
const pollInterval = 1_000

/** The dependencies of the checks. */
interface MailChecksOptions {
  /** The database, as the schema's owner. */
  sql: Sql
  mailServer: MailServer
  /** The name servers to ask about the sender's domain; default the machine's. */
  resolver?: DnsResolver | undefined
  log: { warn(details: object, message: string): void }
}

/** Checks the mail server and the sender's domain whenever an organiser requests that, until `stop` is called. */
export function startMailChecks({
  sql,
  mailServer,
  resolver,
  log,
}: MailChecksOptions): Pick<Polling, 'stop'> {
  return startPolling(
    async () => {
      if (!(await claimCheck(sql))) return
      const findings = await Promise.all(checkMail(mailServer, { resolver }))
      await recordCheck(sql, findings)
    },
    pollInterval,
    (error) => log.warn({ err: error }, 'the mail server could not be checked for an organiser'),
  )
}

/** Claims a requested check so that only one server runs it. Returns whether there was one. */
async function claimCheck(sql: Sql): Promise<boolean> {
  const { count } = await sql`
    update private.postman set check_begun_at = greatest(now(), check_wanted_at)
    where check_wanted_at > check_begun_at and private.is_recent(check_wanted_at)`
  return count > 0
}

async function recordCheck(sql: Sql, findings: readonly Finding[]): Promise<void> {
  await sql`
    update private.postman
    set checked_at = greatest(now(), check_wanted_at),
      findings = ${JSON.stringify(findings.map(({ about, verdict, sentence }) => ({ about, verdict, said: sentence })))}`
}
