import { setTimeout as wait } from 'node:timers/promises'

import { advisoryLocks } from '../connection/advisory-locks.ts'
import type { Sql } from '../connection/sql.ts'

/** Milliseconds between two polls for pending handovers. */
const pollInterval = 100

/**
 * The tables of emails. `isSending` is the condition for an email that a server is handing over. `column` is the newest column
 * that this condition uses: in schemas without it, the table is skipped.
 */
const emailTables = [
  // Only in schemas where letters are not deliveries yet.
  { table: 'private.letters', column: 'way', isSending: `state = 'sending'` },
  {
    table: 'private.deliveries',
    column: 'kind',
    isSending: `kind in ('letter', 'receipt', 'notice', 'test') and state = 'sending'`,
  },
  // This table stores no state: a wait of exactly 90 seconds means a claim.
  {
    table: 'private.notices',
    column: 'waits_since',
    isSending: `due_at - waits_since = interval '90 seconds'`,
  },
]

/**
 * Waits until no server is handing over an email, and blocks new handovers until the transaction ends. The transaction then
 * changes the schema. During a handover, a change could leave a server of the previous version unable to record the result, and
 * the email would be sent twice. The wait is bounded by a claim's lease, 90 seconds.
 *
 * @param onWait Called once if a server is handing over an email.
 */
export async function awaitHandovers(transaction: Sql, onWait: () => void): Promise<void> {
  const [postman] = await transaction<{ is_present: boolean }[]>`
    select to_regclass('private.postman') is not null as is_present`
  if (!postman?.is_present) return
  const [claimMail] = await transaction<{ is_present: boolean }[]>`
    select to_regprocedure('private.claim_mail(interval, text[])') is not null as is_present`
  if (claimMail?.is_present) await transaction`select pg_advisory_xact_lock(${advisoryLocks.claim})`
  // Before `claim_mail` existed, each claim locked this row.
  else await transaction`select from private.postman for update`
  const queries: string[] = []
  for (const { table, column, isSending } of emailTables) {
    const { count } = await transaction`
      select from pg_attribute where attrelid = to_regclass(${table}) and attname = ${column} and not attisdropped`
    if (count > 0)
      queries.push(`(select from ${table} where ${isSending} and due_at > clock_timestamp() limit 1)`)
  }
  for (let polls = 0; ; polls += 1) {
    const { count } = await transaction.unsafe(queries.join(' union all '))
    if (count === 0) return
    if (polls === 0) onWait()
    await wait(pollInterval)
  }
}
