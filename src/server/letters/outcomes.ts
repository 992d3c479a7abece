import {
  recordDelivery,
  type DeliveryTry,
  type Outcome as DeliveryOutcome,
  type RecordedState,
  type TryResult,
} from '../deliveries/record-result.ts'
import { nextAttempt } from '../deliveries/schedule.ts'
import type { HandoverResult } from '../mail/handover.ts'
import { withoutAddresses, type Blame } from '../mail/refusals.ts'
import type { Sql } from '../database/connection/sql.ts'

/** The results that `record` takes. After any other result, the claim is given back. */
export type RecordedResult = Extract<HandoverResult, { result: 'done' | 'failed' | 'waiting' }>

/**
 * What came of a try. `paused`: the try does not count, and all emails wait. `waits`: the same, and they waited before.
 */
export type Outcome = DeliveryOutcome | 'paused' | 'waits'

/** A try of an email, and the data that decide about its next try. */
export interface MailTry extends DeliveryTry {
  /** Milliseconds since the email was queued, by the database's clock. */
  age: number
  /** Tries with an unknown result: the email may have arrived. */
  uncertain: number
  /** Tries during which the mail server closed the connection, or which began a pause of all emails. */
  closings: number
}

/** A try whose result is recorded. Without the numbers, none failed before. */
type RecordedTry = DeliveryTry & Pick<MailTry, 'age'> & Partial<Pick<MailTry, 'uncertain' | 'closings'>>

/** After this many tries with an unknown result, an email is given up: each may have brought the recipient a copy. */
export const maxUncertainTries = 3

/** When one email made the mail server close the connection, or began a pause of all emails, this often, it is the cause. */
const maxClosings = 3

/** Whether another failure of this kind counts as the email's own. Then it does not delay other emails. */
export function isCause({ closings = 0 }: Partial<Pick<MailTry, 'closings'>>): boolean {
  return closings + 1 >= maxClosings
}

/** Milliseconds until an email whose last try had an unknown result is sent again: the recipient may get a copy. */
const uncertainPause = 5 * 60_000

/** The reason that organisers see if an email was given up after these tries. */
export const uncertainReason = 'It was sent three times. Whether it arrived is unknown.'

/**
 * Records the result of a try. Records nothing if the lease expired and another server has claimed the email meanwhile.
 *
 * @param blame What a refusal is about. If it may be about all emails, the next email decides whether this try counts.
 */
export async function record(
  sql: Sql,
  claim: RecordedTry,
  handover: RecordedResult,
  blame: Blame = 'email',
): Promise<Outcome> {
  if (handover.result === 'done') {
    return (await recordDelivery(sql, claim, { state: 'done', reply: '' })) ?? 'lost'
  }
  const recorded = triedAgain(claim, handover)
  const state =
    blame === 'email'
      ? await recordDelivery(sql, claim, recorded)
      : await recordRefusal(sql, claim, { ...recorded, isOurs: blame === 'all' })
  return state ?? 'lost'
}

/** Decides whether and when an email that was not accepted is tried again. */
function triedAgain(
  { attempt, age, uncertain = 0 }: RecordedTry,
  handover: Exclude<RecordedResult, { result: 'done' }>,
): TryResult & { reply: string } {
  const { result, reply } = handover
  if (result === 'failed') return { state: 'failed', reply, isRefused: true }
  const { isUncertain } = handover
  const isUncertainTooOften = isUncertain && uncertain + 1 >= maxUncertainTries
  const next = isUncertainTooOften ? null : nextAttempt(attempt, age)
  if (next === null) {
    const reason = isUncertainTooOften ? `${reply} ${uncertainReason}` : reply
    return { state: 'failed', reply: reason, isUncertain }
  }
  const pause = isUncertain ? Math.max(next.pause, uncertainPause) : next.pause
  return { ...next, state: 'waiting', pause, reply, isUncertain }
}

/** Records a refusal that is (`isOurs`) or may be about all emails. */
async function recordRefusal(
  sql: Sql,
  claim: RecordedTry,
  refusal: TryResult & { reply: string; isOurs: boolean },
) {
  const { state, pause = 0, isUncertain = false, isRefused = false, isOurs } = refusal
  // Text in PostgreSQL cannot hold a NUL.
  const reply = refusal.reply.replaceAll('\0', '')
  const [row] = await sql<[{ state: RecordedState | 'paused' | 'waits' | null }]>`
    select private.record_refusal(${claim.id}, ${claim.attempt}, ${state}, ${pause} * interval '1 millisecond', ${reply},
      ${isUncertain}, ${isRefused}, ${isOurs}, ${isCause(claim)}, ${withoutAddresses(reply)}) as state`
  return row.state
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
