import { recordDelivery, type DeliveryTry } from '../deliveries/record.ts'
import { nextAttempt } from '../deliveries/schedule.ts'
import type { HandoverResult } from '../mail/handover.ts'
import type { Sql } from '../database/sql.ts'

/** The results that `record` takes. After any other result, the claim is given back. */
export type RecordedResult = Extract<HandoverResult, { outcome: 'sent' | 'refused' | 'retry' }>

/** The outcome of a try. `withdrawn`: recalled, and not accepted. `lost`: another server has claimed the email since. */
export type Outcome = 'sent' | 'refused' | 'retry' | 'given up' | 'withdrawn' | 'lost'

/** A try of an email, and the data that decide about its next try. */
export interface MailTry extends DeliveryTry {
  /** Milliseconds since the email was queued, by the database's clock. */
  age: number
  /** Tries with an unknown result: the email may have arrived. */
  uncertain: number
  /** Tries during which the mail server closed the connection. */
  closings: number
}

/** After this many tries with an unknown result, an email is given up: each may have brought the recipient a copy. */
export const maxUncertainTries = 3

/** The reason that organisers see if an email was given up after these tries. */
export const uncertainReason = 'It was sent three times. Whether it arrived is unknown.'

/**
 * Records the result of a try. Records nothing if the lease expired and another server has claimed the email meanwhile.
 */
export async function record(
  sql: Sql,
  claim: DeliveryTry & { age: number; uncertain?: number },
  result: RecordedResult,
): Promise<Outcome> {
  const { outcome } = result
  if (outcome === 'sent')
    return outcomeOf(await recordDelivery(sql, claim, { state: 'done', reply: '' }), outcome)
  const { reply } = result
  if (outcome === 'refused') {
    return outcomeOf(await recordDelivery(sql, claim, { state: 'failed', reply, isRefused: true }), outcome)
  }
  const { isUncertain } = result
  const isUncertainTooOften = isUncertain && (claim.uncertain ?? 0) + 1 >= maxUncertainTries
  const next = isUncertainTooOften ? null : nextAttempt(claim.attempt, claim.age)
  const state = await recordDelivery(sql, claim, {
    state: next === null ? 'failed' : 'waiting',
    ...next,
    reply: isUncertainTooOften ? `${reply} ${uncertainReason}` : reply,
    isUncertain,
  })
  return outcomeOf(state, next === null ? 'given up' : 'retry')
}

function outcomeOf(state: Awaited<ReturnType<typeof recordDelivery>>, outcome: Outcome): Outcome {
  if (state === null) return 'lost'
  return state === 'cancelled' ? 'withdrawn' : outcome
}

/**
 * Gives back a claim whose try was aborted, or failed for another reason than the email. The email is due at once, and the try
 * does not count.
 *
 * @param options.isClosing Whether the mail server closed the connection during the try.
 */
export async function giveBack(sql: Sql, claim: DeliveryTry, { isClosing = false } = {}): Promise<void> {
  await recordDelivery(sql, claim, { state: 'waiting', counts: false, isClosing })
}
