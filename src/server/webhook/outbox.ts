import type { Sql } from 'postgres'

import type { Application } from '../../application/application.ts'
import type { DeliveryResult } from './delivery.ts'
import { nextPause } from './schedule.ts'

/** A delivery that this server has taken upon itself. */
export interface Claim {
  id: string
  /** Which try this is, from 1. */
  attempt: number
  application: Application
}

/** Seconds after which another server may take a claimed delivery: longer than any try takes. */
const lease = 30

/** Takes deliveries that are due, the longest waiting first; each goes to one server. */
export async function claimDue(sql: Sql, most: number): Promise<Claim[]> {
  const rows = await sql<(Application & { application_id: string; attempts: number })[]>`
    with due as (
      select application_id from private.webhook_outbox
      where next_attempt_at <= now()
      order by next_attempt_at
      limit ${most}
      for update skip locked
    ), claimed as (
      update private.webhook_outbox as outbox
      set attempts = attempts + 1, next_attempt_at = now() + ${lease} * interval '1 second'
      from due where outbox.application_id = due.application_id
      returning outbox.application_id, outbox.attempts
    )
    select claimed.*, application.*
    from claimed join public.retreat_applications as application on id = application_id`
  return rows.map(({ application_id, attempts, ...application }) => ({
    id: application_id,
    attempt: attempts,
    application,
  }))
}

/** Records what a try came to: delivered, to be tried again, or given up. */
export async function settle(
  sql: Sql,
  { id, attempt }: Claim,
  result: DeliveryResult,
): Promise<'delivered' | 'retry' | 'given up'> {
  const { delivered, status } = result
  // 410: the receiver is gone and says so.
  const pause = delivered || status === 410 ? null : nextPause(attempt, result.retryAfter)
  // Where the lease ran out, the row is somebody else's by now.
  await sql`
    update private.webhook_outbox
    set delivered_at = ${delivered ? sql`now()` : null},
        next_attempt_at = ${pause === null ? null : sql`now() + ${pause} * interval '1 millisecond'`},
        last_status = ${status}
    where application_id = ${id} and attempts = ${attempt}`
  if (delivered) return 'delivered'
  return pause === null ? 'given up' : 'retry'
}

/** Gives back a claim whose try was broken off: it is due at once, and does not count. */
export async function giveBack(sql: Sql, { id, attempt }: Claim): Promise<void> {
  await sql`
    update private.webhook_outbox set attempts = attempts - 1, next_attempt_at = now()
    where application_id = ${id} and attempts = ${attempt}`
}
