import { identifier, type Sql } from '../database/connection/sql.ts'
import { nextAttempt } from './schedule.ts'
import type { DeliveryResult } from './webhook.ts'

/** Identifies a claim: the delivery's id, and the number of the try. */
export interface DeliveryTry {
  id: string
  attempt: number
}

/** The state of a delivery after a try, `cancelled` if it was recalled meanwhile and not accepted. */
export type RecordedState = 'done' | 'waiting' | 'failed' | 'cancelled'

/**
 * What came of a try, in the words of `private.deliveries`. `waiting`: it is tried again. `cancelled`: it was recalled, and not
 * accepted. `lost`: the lease had expired, so nothing was recorded.
 */
export type Outcome = RecordedState | 'lost'

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

/** The event that a webhook reports. */
export type WebhookKind = 'application' | 'rsvp' | 'decision'

/** A try of a webhook, and the data that decide about its next try. */
export interface WebhookTry extends DeliveryTry {
  kind: WebhookKind
  /** Milliseconds since it was queued, by the database's clock. */
  age: number
}

/** Records the result of a webhook's try. */
export async function recordTry(sql: Sql, claim: WebhookTry, result: DeliveryResult): Promise<Outcome> {
  const { delivered, status, isUncertain = false, retryAfter } = result
  // 410 means that the receiver is permanently gone.
  const isRefused = status === 410
  const next = delivered || isRefused ? null : nextAttempt(claim.attempt, claim.age, retryAfter)
  const state = await recordDelivery(sql, claim, {
    state: delivered ? 'done' : next === null ? 'failed' : 'waiting',
    ...next,
    status,
    reply: delivered ? '' : mayQuote(claim) ? result.text : describeResult(result),
    isRefused,
    ...(!delivered && { isUncertain }),
  })
  return state ?? 'lost'
}

/** Whether a reply may be stored and logged. That of an automation may quote an applicant's address. */
export const mayQuote = ({ kind }: WebhookTry) => kind === 'application'

/** The result of a try, in a sentence for organisers, without any text of the response. */
function describeResult({ status, isUncertain = false }: DeliveryResult): string {
  if (status !== null) return `HTTP ${status}`
  return isUncertain ? 'No response.' : 'No connection was made.'
}

/**
 * Gives back a claim whose try was aborted. The delivery is due at once, and the try does not count.
 *
 * @param isUncertain Whether the receiver may have got the delivery.
 */
export async function giveBack(sql: Sql, claim: DeliveryTry, isUncertain = false): Promise<void> {
  await recordDelivery(sql, claim, { state: 'waiting', counts: false, isUncertain })
}

/** The column of each role's heartbeat. */
const heartbeats = {
  'mail sender': 'seen_at',
  automation: 'automation_seen_at',
  webhook: 'webhook_seen_at',
} as const

/** A role of a server, which has a heartbeat. */
export type Role = keyof typeof heartbeats

/**
 * Records the heartbeat of a server in a role: it sends emails, decisions to an automation, or applications to a webhook. Also ends
 * recalled deliveries whose server was lost, and cancels receipts that were not sent within a day.
 */
export async function recordHeartbeat(sql: Sql, role: Role): Promise<void> {
  const seen = identifier(heartbeats[role])
  await sql`
    update private.postman set ${seen} = now() where not private.happened_within(${seen}, '10 seconds')`
  await sql`select private.end_lost_deliveries()`
}
