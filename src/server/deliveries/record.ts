import { identifier, type Sql } from '../database/connection/sql.ts'

/** Identifies a claim: the delivery's id, and the number of the try. */
export interface DeliveryTry {
  id: string
  attempt: number
}

/** The state of a delivery after a try, `cancelled` if it was recalled meanwhile and not accepted. */
export type RecordedState = 'done' | 'waiting' | 'failed' | 'cancelled'

/** The result of a try. */
export interface TryResult {
  state: Exclude<RecordedState, 'cancelled'>
  /** Milliseconds until the next try. */
  pause?: number
  /** Whether the try uses up one of the allowed tries; default true. */
  counts?: boolean
  /** The HTTP status. */
  status?: number | null
  /** The receiver's reply, or the reason of the failure. If omitted, the stored reply is unchanged. */
  reply?: string
  /** Whether the delivery may have arrived although there was no response. */
  isUncertain?: boolean
  /** Whether the mail server closed the connection during this try. */
  isClosing?: boolean
  /** Whether the receiver refused it permanently. */
  isRefused?: boolean
}

/**
 * Records the result of a try.
 *
 * @returns The delivery's state; null if the claim is no longer the current one.
 */
export async function recordDelivery(
  sql: Sql,
  { id, attempt }: DeliveryTry,
  result: TryResult,
): Promise<RecordedState | null> {
  const { state, pause = 0, counts = true, status = null, reply } = result
  const { isUncertain = false, isClosing = false, isRefused = false } = result
  const [row] = await sql<[{ state: RecordedState | null }]>`
    select private.record_delivery(${id}, ${attempt}, ${state}, ${pause} * interval '1 millisecond', ${counts}, ${status},
      -- Text in PostgreSQL cannot hold a NUL.
      ${reply?.replaceAll('\0', '') ?? null}, ${isUncertain}, ${isClosing}, ${isRefused}) as state`
  return row.state
}

/**
 * Records the heartbeat of a server that sends emails, or that sends decisions to an automation. Also ends recalled deliveries
 * whose server was lost, and cancels receipts that were not sent within a day.
 */
export async function recordHeartbeat(sql: Sql, role: 'mail sender' | 'automation'): Promise<void> {
  const seen = identifier(role === 'mail sender' ? 'seen_at' : 'automation_seen_at')
  await sql`
    update private.postman set ${seen} = now() where ${seen} not between now() - interval '10 seconds' and now()`
  await sql`select private.end_lost_deliveries()`
}
