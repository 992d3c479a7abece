import { setTimeout as wait } from 'node:timers/promises'

import { advisoryLocks } from '../connection/advisory-locks.ts'
import type { Sql } from '../connection/sql.ts'

/** Milliseconds between two polls for pending handovers. */
const pollInterval = 100

/** Emails that a server is handing over. */
const handovers = `
  select from private.deliveries
  where kind in ('letter', 'receipt', 'notice', 'test') and state = 'sending' and due_at > clock_timestamp() limit 1`

/** The same in a schema of 1.0. A notice has no state there: a wait of exactly 90 seconds means a claim. */
const formerHandovers = `
  select from private.letters where state = 'sending' and due_at > clock_timestamp()
  union all
  select from private.notices where due_at - waits_since = interval '90 seconds' and due_at > clock_timestamp() limit 1`

/**
 * Waits until no server is handing over an email, and blocks new handovers until the transaction ends. The transaction then
 * changes the schema. During a handover, a change could leave a server of the previous version unable to record the result, and
 * the email would be sent twice. The wait is bounded by a claim's lease, 90 seconds.
 *
 * @param onWait Called once if a server is handing over an email.
 */
export async function awaitHandovers(transaction: Sql, onWait: () => void): Promise<void> {
  const [schema] = await transaction<[{ has_emails: boolean; has_deliveries: boolean }]>`
    select to_regclass('private.postman') is not null as has_emails,
      to_regclass('private.deliveries') is not null as has_deliveries`
  if (!schema.has_emails) return
  if (schema.has_deliveries) await transaction`select pg_advisory_xact_lock(${advisoryLocks.claim})`
  // In 1.0, each claim locks this row.
  else await transaction`select from private.postman for update`
  for (let polls = 0; ; polls += 1) {
    const { count } = await transaction.unsafe(schema.has_deliveries ? handovers : formerHandovers)
    if (count === 0) return
    if (polls === 0) onWait()
    await wait(pollInterval)
  }
}
