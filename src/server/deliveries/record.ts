import { identifier, type Sql } from '../database/sql.ts'

/** What identifies a claim: each try of a delivery has another number. */
export interface Try {
  id: string
  attempt: number
}

/** The result of a try. */
export interface TryResult {
  state: 'done' | 'waiting' | 'failed'
  /** Milliseconds until the next try. */
  pause?: number
  /** Whether the try is one of the schedule's. */
  counts?: boolean
  /** The HTTP status. */
  status?: number | null
  /** What the receiver replied, or what went wrong. Without it, the former reply stays. */
  reply?: string
  /** Whether it may have arrived, though no reply came. */
  isUncertain?: boolean
  /** Whether the mail server closed the connection over it. */
  isClosing?: boolean
  /** Whether the receiver refused it for good. */
  isRefused?: boolean
}

/**
 * Records the result of a try.
 *
 * @returns The delivery's state, `cancelled` where it was recalled meanwhile; null where the claim was not this server's any more.
 */
export async function recordDelivery(
  sql: Sql,
  { id, attempt }: Try,
  result: TryResult,
): Promise<TryResult['state'] | 'cancelled' | null> {
  const { state, pause = 0, counts = true, status = null, reply } = result
  const { isUncertain = false, isClosing = false, isRefused = false } = result
  const [row] = await sql<[{ state: TryResult['state'] | 'cancelled' | null }]>`
    select private.record_delivery(${id}, ${attempt}, ${state}, ${pause} * interval '1 millisecond', ${counts}, ${status},
      -- A NUL is the one character that no text of the database holds.
      ${reply?.replaceAll('\0', '') ?? null}, ${isUncertain}, ${isClosing}, ${isRefused}) as state`
  return row.state
}

/**
 * Records that a server is at work which sends mails, or which tells an automation of decisions; ends letters whose server was lost
 * after they were recalled; and drops receipts that were not sent within a day.
 */
export async function beat(sql: Sql, who: 'postman' | 'automation'): Promise<void> {
  const seen = identifier(who === 'postman' ? 'seen_at' : 'automation_seen_at')
  await sql`
    update private.postman set ${seen} = now() where ${seen} not between now() - interval '10 seconds' and now()`
  await sql`select private.end_lost_deliveries()`
}
