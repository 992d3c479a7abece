import { inBatches, type Sql } from '../database/connection/sql.ts'

/** The numbers of deliveries by their state. */
export interface DeliveryCounts {
  delivered: number
  /** Not tried yet. */
  waiting: number
  /** Tried, and to be tried again. */
  failing: number
  givenUp: number
}

const isPending = (sql: Sql) => sql`state in ('waiting', 'sending')`
/** Whether a try has failed. A first try that is pending has not. */
const hasFailed = (sql: Sql) => sql`attempts > (state = 'sending')::integer`

/** Counts the deliveries of applications to the webhook by their state. */
export async function countDeliveries(sql: Sql): Promise<DeliveryCounts> {
  const [row] = await sql<[DeliveryCounts]>`
    select
      (count(*) filter (where state = 'done'))::int as delivered,
      (count(*) filter (where ${isPending(sql)} and not ${hasFailed(sql)}))::int as waiting,
      (count(*) filter (where ${isPending(sql)} and ${hasFailed(sql)}))::int as failing,
      (count(*) filter (where state = 'failed'))::int as "givenUp"
    from private.deliveries where kind = 'application'`
  return row
}

/** A summary of the failed tries of deliveries. */
export interface Refusals {
  /** Deliveries that failed and will be tried again. */
  failing: number
  /** Of the last failed try: the HTTP status, null without a response; and the response's beginning, or what went wrong. */
  status: number | null
  text: string
}

/**
 * Counts the failed deliveries of some kinds that will be tried again. Describes the last failed try, which may be one of a
 * delivery that was given up. Undefined if there is no failed delivery. Reads only deliveries that are not done.
 */
export async function countRefusals(sql: Sql, kinds: readonly string[]): Promise<Refusals | undefined> {
  const [row] = await sql<[Refusals?]>`
    select (count(*) filter (where ${isPending(sql)}) over ())::int as failing, reply_status as status, reply as text
    from private.deliveries
    where kind = any (${kinds}::text[]) and (${isPending(sql)} or state = 'failed')
      and (reply_status is not null or reply <> '')
    order by tried_at desc nulls last limit 1`
  return row
}

/**
 * Makes deliveries that were given up due again, and restarts their schedule. A running server finds them within a second.
 *
 * @returns The number of deliveries.
 */
export async function retryGivenUpApplications(sql: Sql): Promise<number> {
  const [row] = await sql<[{ count: number }]>`select private.retry_deliveries('application') as count`
  return row.count
}

/**
 * Makes deliveries that wait for their next try due now.
 *
 * @returns The number of deliveries.
 */
export async function retryFailingApplications(sql: Sql): Promise<number> {
  const { count } = await sql`
    update private.deliveries set due_at = now()
    where kind = 'application' and state = 'waiting' and due_at > now()`
  return count
}

/** A delivery of an application that was tried and is not done. Its first try may be pending. */
export interface UndeliveredApplication {
  /** The application's id. */
  id: string
  email: string
  /** When it was queued. */
  at: Date
  attempts: number
  /** When it is tried again, or when the lease of a pending try ends; null if it was given up. */
  nextAt: Date | null
  /** The HTTP status of the last response; null if there was none. */
  status: number | null
  /** The beginning of the last response, or what went wrong. */
  reply: string
}

/** Deliveries that were tried and are not done, the oldest first, in batches of `batch` rows. Needs a transaction. */
export function listUndeliveredApplications(
  sql: Sql,
  batch: number,
): AsyncIterable<UndeliveredApplication[]> {
  const text = `
    select application.id, email, queued_at as at, attempts, due_at as "nextAt",
      reply_status as status, reply
    from private.deliveries join public.retreat_applications as application using (id)
    where kind = 'application' and state in ('waiting', 'sending', 'failed')
      and (attempts > 0 or reply_status is not null or reply <> '')
    order by queued_at, id`
  return inBatches(sql, text, batch)
}

/** Seconds after which a waiting delivery is late, and a mail server that accepts nothing has failed. */
export const lateAfter = 600

/** The state of the deliveries, for monitoring. */
export interface DeliveryHealth {
  /** Seconds since the oldest pending delivery was queued; null if none is pending. */
  oldestUndeliveredSeconds: number | null
  /** Deliveries that were given up, counted up to 100,000. */
  deliveriesGivenUp: number
}

/** The state of the deliveries. Reads only deliveries that are not done. */
export async function deliveryHealth(sql: Sql): Promise<DeliveryHealth> {
  const [row] = await sql<[DeliveryHealth]>`
    select
      (select round(extract(epoch from now() - least(
        (select min(queued_at) from private.deliveries where kind = 'application' and state = 'waiting'),
        (select min(queued_at) from private.deliveries where kind = 'application' and state = 'sending')
      )))::float8) as "oldestUndeliveredSeconds",
      (select count(*)::int from (
        select from private.deliveries where kind = 'application' and state = 'failed' limit 100000
      ) as given_up) as "deliveriesGivenUp"`
  return row
}

/** All kinds of deliveries: to webhooks, to applicants, and to organisers. */
const deliveryKinds = ['application', 'decision', 'rsvp', 'letter', 'receipt', 'notice', 'test']

/** The deliveries of a kind that are not done. */
export interface OpenDeliveries {
  kind: string
  /** Counted up to 100,000. */
  waiting: number
  sending: number
  failed: number
  /** Seconds since the oldest one was queued that waits or is being sent; 0 if there is none. */
  oldestSeconds: number
}

/** Counts the deliveries of each kind that are not done. Reads no others. */
export async function countOpenDeliveries(sql: Sql): Promise<OpenDeliveries[]> {
  // The index is chosen only by a condition that repeats its own.
  const ofState = (state: string) => sql`
    from private.deliveries
    where deliveries.kind = kinds.kind and state = ${state} and state in ('waiting', 'sending', 'failed')`
  const countOf = (state: string) => sql`
    (select count(*)::int from (select ${ofState(state)} limit 100000) as counted)`
  const firstOf = (state: string) => sql`(select min(queued_at) ${ofState(state)})`
  return sql<OpenDeliveries[]>`
    select kind, ${countOf('waiting')} as waiting, ${countOf('sending')} as sending, ${countOf('failed')} as failed,
      greatest(extract(epoch from now() - least(${firstOf('waiting')}, ${firstOf('sending')})), 0)::float8 as "oldestSeconds"
    from unnest(${deliveryKinds}::text[]) as kinds (kind)`
}
