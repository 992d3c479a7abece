import { inBatches, type Sql } from '../database/connection/sql.ts'

/** The state of the letters, for monitoring. */
export interface LetterHealth {
  /** Deliveries that failed for good: letters, receipts, and webhooks about decisions and RSVPs. Counted up to 100,000. */
  lettersRefused: number
  /** Letters, receipts and decisions (not RSVPs) that wait or are being sent, counted up to 100,000. */
  lettersWaiting: number
  /** When the mail server began to fail; null while it accepts emails. */
  mailFailingSince: Date | null
  /** The problem that delays all emails, such as the mail server's words without addresses; null if there is none. */
  mailProblem: string | null
}

/** The state of the letters. Reads only deliveries that are not done. */
export async function letterHealth(sql: Sql): Promise<LetterHealth> {
  const [row] = await sql<[LetterHealth]>`
    select
      (select count(*)::int from (
        select from private.deliveries where kind in ('letter', 'decision', 'receipt', 'rsvp') and state = 'failed'
        limit 100000
      ) as refused) as "lettersRefused",
      (select count(*)::int from (
        select from private.deliveries
        where kind in ('letter', 'decision', 'receipt') and state in ('waiting', 'sending') limit 100000
      ) as waiting) as "lettersWaiting",
      failing_since as "mailFailingSince", nullif(problem, '') as "mailProblem"
    from private.postman`
  return row
}

/** The numbers of letters and receipts by their state. */
export interface LetterCounts {
  draft: number
  waiting: number
  sending: number
  sent: number
  refused: number
  givenUp: number
  withdrawn: number
  /** Of all these, the ones with a try whose result is unknown. They may have arrived twice. */
  uncertain: number
  /** Decisions that were delivered to the automation. */
  decisionsDelivered: number
  /** Decisions and RSVPs that wait for delivery to the automation, or are being delivered. */
  webhooksWaiting: number
  /** Decisions and RSVPs whose delivery to the automation was refused or given up. */
  webhooksFailed: number
}

/** Counts letters, receipts and webhooks to the automation by their state. */
export async function countLetters(sql: Sql): Promise<LetterCounts> {
  const [row] = await sql<[LetterCounts]>`
    select
      (select count(*)::int from private.letters where state = 'draft') as draft,
      (count(*) filter (where is_mail and state = 'waiting'))::int as waiting,
      (count(*) filter (where is_mail and state = 'sending'))::int as sending,
      (count(*) filter (where is_mail and state = 'done'))::int as sent,
      (count(*) filter (where is_mail and state = 'failed' and is_refused))::int as refused,
      (count(*) filter (where is_mail and state = 'failed' and not is_refused))::int as "givenUp",
      (count(*) filter (where is_mail and state = 'cancelled'))::int as withdrawn,
      (count(*) filter (where is_mail and may_have_arrived > 0))::int as uncertain,
      (count(*) filter (where kind = 'decision' and state = 'done'))::int as "decisionsDelivered",
      (count(*) filter (where not is_mail and state in ('waiting', 'sending')))::int as "webhooksWaiting",
      (count(*) filter (where not is_mail and state = 'failed'))::int as "webhooksFailed"
    from (
      select *, kind in ('letter', 'receipt') as is_mail from private.deliveries
      where kind in ('letter', 'receipt', 'decision', 'rsvp')
    ) as deliveries`
  return row
}

/** A letter or receipt that was not sent so far, or a decision or RSVP that has not reached the automation. */
export interface UndeliveredLetter {
  state: 'waiting' | 'refused' | 'given up'
  way: 'mail' | 'automation'
  /** The template's name; `received` for a receipt, `answer` for an RSVP, blank for a letter without a template. */
  occasion: string
  email: string
  /** When it was queued. */
  at: Date
  /** When it is retried; null if it is not. */
  nextAt: Date | null
  /** The last response of the mail server or the automation. */
  reply: string
}

/**
 * Letters, receipts, decisions and RSVPs that were refused or given up, or whose tries have failed so far, the oldest first, in
 * batches of `batch` rows. Needs a transaction.
 */
export function listUndeliveredLetters(sql: Sql, batch: number): AsyncIterable<UndeliveredLetter[]> {
  const text = `
    select state, way, occasion, private.address_of(application.id, email) as email, queued_at as at,
      due_at as "nextAt", reply
    from private.letter_deliveries join public.retreat_applications as application on application.id = application_id
    where state in ('refused', 'given up') or (state = 'waiting' and reply <> '')
    union all
    select case when state = 'failed' then 'given up' else 'waiting' end, 'automation', 'answer', email, queued_at, due_at, reply
    from private.deliveries join public.retreat_applications as application on application.id = application_id
    where kind = 'rsvp' and (state = 'failed' or state in ('waiting', 'sending') and reply <> '')
    order by at`
  return inBatches(sql, text, batch)
}

/** Whether letters are sent, and the problem if they are not. */
export interface MailSenderState {
  isStopped: boolean
  /** Whether a server that sends email is running. */
  isRunning: boolean
  /** The problem that delays all letters; blank if there is none. */
  problem: string
  failingSince: Date | null
  /** When the mail server is tried again, if that is in the future. */
  nextAt: Date | null
}

/** Reads whether emails are stopped, whether a server sends them, and the problem that delays them, if any. */
export async function mailSenderState(sql: Sql): Promise<MailSenderState> {
  const [row] = await sql<[MailSenderState]>`
    select stopped as "isStopped", private.is_recent(seen_at) as "isRunning", problem,
      failing_since as "failingSince", case when paused_until > now() then paused_until end as "nextAt"
    from private.postman`
  return row
}

/**
 * Makes failed letters, receipts, decisions and RSVPs due again, and restarts their schedule. Skips receipts older than a day,
 * letters and decisions whose deadline has passed, and RSVPs before a pending one. A running server finds them within a second.
 *
 * @returns The number of all these that are due again.
 */
export async function retryUndelivered(sql: Sql): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select private.retry_letters(array(
        select id from private.deliveries where kind in ('letter', 'decision', 'receipt') and state = 'failed'
      )) + private.retry_deliveries('rsvp') as count`
  return row.count
}
