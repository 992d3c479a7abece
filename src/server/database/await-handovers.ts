import { setTimeout as wait } from 'node:timers/promises'

import type { Sql } from './sql.ts'

/** Milliseconds between two looks at what is being handed over. */
const lookPause = 100

/** What each claim of a mail shares (supabase/schemas/23_mails.sql). */
const claimLock = 5_610_748

/** What tells of each table which mails a server is handing over, with the newest column that this needs. */
const handedOver = [
  // Before letters were deliveries.
  { table: 'private.letters', column: 'way', isSending: `state = 'sending'` },
  {
    table: 'private.deliveries',
    column: 'kind',
    isSending: `kind in ('letter', 'receipt', 'notice', 'test') and state = 'sending'`,
  },
  // Its state is not stored: a claim is for 90 seconds, and no other wait is.
  {
    table: 'private.notices',
    column: 'waits_since',
    isSending: `due_at - waits_since = interval '90 seconds'`,
  },
]

/**
 * Waits until no server is handing a mail over, and lets none begin until the transaction ends: a server of the version before
 * may not be able to record what became of it, and the mail would leave twice. It waits for as long as a claim is, 90 seconds.
 *
 * @param onWait Called where there is something to wait for.
 */
export async function awaitHandovers(transaction: Sql, onWait: () => void): Promise<void> {
  const [postman] = await transaction<{ there: boolean }[]>`
    select to_regclass('private.postman') is not null as there`
  if (!postman?.there) return
  const [claims] = await transaction<{ known: boolean }[]>`
    select to_regprocedure('private.claim_mail(interval, text[])') is not null as known`
  if (claims?.known) await transaction`select pg_advisory_xact_lock(${claimLock})`
  // Before there was that function, each claim locked this row.
  else await transaction`select from private.postman for update`
  const queries: string[] = []
  for (const { table, column, isSending } of handedOver) {
    const { count } = await transaction`
      select from pg_attribute where attrelid = to_regclass(${table}) and attname = ${column} and not attisdropped`
    if (count > 0)
      queries.push(`(select from ${table} where ${isSending} and due_at > clock_timestamp() limit 1)`)
  }
  for (let looks = 0; ; looks += 1) {
    const { count } = await transaction.unsafe(queries.join(' union all '))
    if (count === 0) return
    if (looks === 0) onWait()
    await wait(lookPause)
  }
}
