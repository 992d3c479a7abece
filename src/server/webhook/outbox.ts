import { webhookBody, type Application } from '../../application/application.ts'
import type { DeliveryResult } from './delivery.ts'
import type { Outbox } from './dispatcher.ts'
import { nextAttempt } from '../schedule.ts'
import { inBatches, type Sql } from '../database/sql.ts'

/** A delivery that this server has claimed. */
export interface Claim {
  id: string
  /** Which try this is, from 1. */
  attempt: number
  /** Milliseconds since the application came, by the database's clock. */
  age: number
  body: URLSearchParams
}

/** Seconds after which another server may take a claimed delivery: longer than any try takes. */
const lease = 30
/** The most rows that one statement changes where nobody waits for it. */
const mostKept = 5_000

/** Claims deliveries that are due, the longest waiting first. Each goes to one server. */
export async function claimDue(sql: Sql, most: number): Promise<Claim[]> {
  const rows = await sql<(Application & { application_id: string; attempts: number; age: number })[]>`
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
    select claimed.*, application.*, (extract(epoch from now() - created_at) * 1000)::float as age
    from claimed join public.retreat_applications as application on id = application_id`
  return rows.map(({ application_id, attempts, age, ...application }) => ({
    id: application_id,
    attempt: attempts,
    age,
    body: webhookBody(application),
  }))
}

/**
 * Records the result of a try: delivered, to be tried again, or given up. Where the lease ran out meanwhile, another server
 * may have the delivery, and nothing is recorded of this try.
 */
export async function record(
  sql: Sql,
  { id, attempt, age }: Claim,
  { delivered, status, text, retryAfter }: DeliveryResult,
): Promise<'delivered' | 'retry' | 'given up' | 'lost'> {
  // 410: the receiver is gone and says so.
  const isOver = delivered || status === 410
  const next = isOver ? null : nextAttempt(attempt, age, retryAfter)
  const { count } = await sql`
    update private.webhook_outbox
    set delivered_at = ${delivered ? sql`now()` : null},
        next_attempt_at = ${next === null ? null : sql`now() + ${next.pause} * interval '1 millisecond'`},
        attempts = attempts - ${next?.counts === false ? 1 : 0},
        last_status = ${status},
        -- A NUL is the one character that no text of the database holds.
        last_answer = ${delivered ? '' : text.replaceAll('\0', '')}
    where application_id = ${id} and attempts = ${attempt}`
  if (count === 0) return 'lost'
  if (delivered) return 'delivered'
  return next === null ? 'given up' : 'retry'
}

/** Gives back a claim whose try was broken off. The delivery is due at once, and the try does not count. */
export async function giveBack(sql: Sql, { id, attempt }: Claim): Promise<void> {
  await sql`
    update private.webhook_outbox set attempts = attempts - 1, next_attempt_at = now()
    where application_id = ${id} and attempts = ${attempt}`
}

/**
 * Restarts waits that began later than now, because the clock was set back. It changes a limited number at a time, since all
 * applications of a launch may wait for a receiver that is down.
 */
async function keepTime(sql: Sql): Promise<void> {
  const { count: tried } = await sql`
    with put_off as (
      select application_id from private.webhook_outbox
      where next_attempt_at is not null and waits_since > now()
      limit ${mostKept} for update skip locked
    )
    update private.webhook_outbox as outbox set next_attempt_at = now() + (next_attempt_at - waits_since)
    from put_off where outbox.application_id = put_off.application_id`
  // What was never tried is due since it came.
  const { count: untried } = await sql`
    with put_off as (
      select application_id from private.webhook_outbox
      where queued_at > now() and waits_since is null and next_attempt_at > now()
      limit ${mostKept} for update skip locked
    )
    update private.webhook_outbox as outbox set next_attempt_at = now()
    from put_off where outbox.application_id = put_off.application_id`
  if (tried + untried >= mostKept) await keepTime(sql)
}

/** The outbox of applications that are sent to the webhook. */
export const applicationsOutbox: Outbox<Claim> = {
  logsAnswers: true,
  claimDue,
  record,
  giveBack,
  keep: keepTime,
}

/** The numbers of deliveries by their state. */
export interface DeliveryCounts {
  delivered: number
  /** Not tried yet. */
  waiting: number
  /** Tried, and to be tried again. */
  failing: number
  givenUp: number
}

export async function countDeliveries(sql: Sql): Promise<DeliveryCounts> {
  const [row] = await sql<[DeliveryCounts]>`
    select
      count(delivered_at)::int as delivered,
      (count(*) filter (where next_attempt_at is not null and attempts = 0))::int as waiting,
      (count(*) filter (where next_attempt_at is not null and attempts > 0))::int as failing,
      (count(*) filter (where next_attempt_at is null and delivered_at is null))::int as "givenUp"
    from private.webhook_outbox`
  return row
}

/** What the receiver refused so far, or did not respond to. */
export interface Refusals {
  /** Deliveries that failed and will be tried again. */
  failing: number
  /** Of the last try that failed: the HTTP status, null where there was no response, and the beginning of the response. */
  status: number | null
  text: string
}

/** The failed deliveries. A first try that is pending has not failed. */
export async function countRefusals(sql: Sql): Promise<Refusals | undefined> {
  const [row] = await sql<[Refusals?]>`
    select (count(*) filter (where next_attempt_at is not null) over ())::int as failing,
      last_status as status, last_answer as text
    from private.webhook_outbox
    where delivered_at is null and (last_status is not null or last_answer <> '')
    order by waits_since desc nulls last limit 1`
  return row
}

/**
 * Makes deliveries due again that were given up, from the schedule's beginning. A running server sees them within a second.
 *
 * @returns How many they are.
 */
export async function retryGivenUp(sql: Sql): Promise<number> {
  const { count } = await sql`
    update private.webhook_outbox set attempts = 0, next_attempt_at = now()
    where next_attempt_at is null and delivered_at is null`
  return count
}

/**
 * Makes deliveries due that wait for their next try. Those that are due within a lease are left, since a server may be trying
 * them now.
 *
 * @returns How many they are.
 */
export async function retryFailing(sql: Sql): Promise<number> {
  const { count } = await sql`
    update private.webhook_outbox set next_attempt_at = now()
    where next_attempt_at > now() + ${lease} * interval '1 second'`
  return count
}

/** A delivery that failed so far. */
export interface Undelivered {
  /** The application's id. */
  id: string
  email: string
  /** Since when there has been something to deliver. */
  at: Date
  attempts: number
  /** When it is tried again; null where it was given up. */
  nextAt: Date | null
  /** The HTTP status of the last answer; null where there was none. */
  status: number | null
  /** The beginning of the last answer, or what went wrong. */
  answer: string
}

/** Deliveries that failed so far, the oldest first, so many at a time, in a transaction. */
export function listUndelivered(sql: Sql, batch: number): AsyncIterable<Undelivered[]> {
  const text = `
    select application_id as id, email, queued_at as at, attempts, next_attempt_at as "nextAt",
      last_status as status, last_answer as answer
    from private.webhook_outbox join public.retreat_applications on id = application_id
    where delivered_at is null and (attempts > 0 or last_status is not null or last_answer <> '')
    order by queued_at, application_id`
  return inBatches(sql, text, batch)
}

/** What whoever watches has to know of the deliveries. */
export interface DeliveryHealth {
  /** For how long the oldest application waits for its delivery; null where none does. */
  oldestUndeliveredSeconds: number | null
  /** Deliveries that were given up, counted up to a hundred thousand. */
  deliveriesGivenUp: number
}

/** The state of the deliveries. It reads only those that were not delivered. */
export async function deliveryHealth(sql: Sql): Promise<DeliveryHealth> {
  const [row] = await sql<[DeliveryHealth]>`
    select
      (select round(extract(epoch from now() - min(queued_at)))::float8 from private.webhook_outbox
        where next_attempt_at is not null) as "oldestUndeliveredSeconds",
      (select count(*)::int from (
        select from private.webhook_outbox where next_attempt_at is null and delivered_at is null limit 100000
      ) as given_up) as "deliveriesGivenUp"`
  return row
}
