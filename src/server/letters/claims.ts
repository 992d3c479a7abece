import type { Message } from '../mail/compose.ts'
import type { NoticeClaim } from './notices.ts'
import { mayHaveArrived, mostUncertain, recordUnsent, tooLate } from './outcomes.ts'
import { identifier, type Sql } from '../database/sql.ts'

/** The kinds of mails. */
export type Kind = 'test' | 'letter' | 'notice' | 'receipt'

/** A letter that this server has claimed. */
export interface LetterClaim extends Message {
  kind: 'letter' | 'receipt'
  /** Which try this is, from 1. */
  attempt: number
  /** Milliseconds since it was released, by the database's clock. */
  age: number
  applicationId: string
  /** Tries of which nobody knows whether the mail arrived. */
  uncertain: number
  /** Tries at which the mail server closed the connection over it. */
  closings: number
}

export type MailClaim = LetterClaim | NoticeClaim

/** Seconds after which another server may claim a decision again: longer than any try takes. */
const lease = 90

interface Ends {
  is_withdrawn: boolean
  is_overdue: boolean
  was_sending: boolean
}

/**
 * Claims the mail that is due and waits longest. Each goes to one server. It claims nothing while organisers or a problem keep
 * all mails. A letter that ends without leaving is recorded, and the next one is claimed: one that was withdrawn on its way, one
 * that may have arrived often enough, and one that asks until a day which is over.
 *
 * @param options.pause Milliseconds between two mails, of all servers together; no pace unless given.
 * @param options.kinds Of which kinds: all, unless given.
 */
export async function claimMail(
  sql: Sql,
  {
    pause = null,
    kinds = ['test', 'letter', 'notice', 'receipt'],
  }: { pause?: number | null | undefined; kinds?: Kind[] } = {},
): Promise<MailClaim | undefined> {
  for (;;) {
    const [row] = await sql<[{ mail: NoticeClaim | (LetterClaim & Ends) | null }]>`
      select private.claim_mail(${pause}::float * interval '1 millisecond', ${kinds}::text[]) as mail`
    if (row.mail === null) return undefined
    if ('says' in row.mail) return row.mail
    const { is_withdrawn: isWithdrawn, is_overdue: isOverdue, was_sending: wasSending, ...claim } = row.mail
    if (isWithdrawn) await recordUnsent(sql, claim, { state: 'waiting', counts: false })
    else if (wasSending && claim.uncertain >= mostUncertain) {
      await recordUnsent(sql, claim, { state: 'given up', answer: mayHaveArrived })
    } else if (isOverdue) await recordUnsent(sql, claim, { state: 'given up', answer: tooLate })
    else return claim
  }
}

/** Claims the letters in `due` for this server. */
function claimed(sql: Sql) {
  return sql`
    select letter.*, private.is_overdue(letter) as is_overdue
    from due, private.move(array[due.id], 'sending', due => now() + ${lease} * interval '1 second') as letter`
}

/** A decision that this server has claimed, to tell an automation. */
export interface DecisionClaim {
  id: string
  attempt: number
  /** Milliseconds since it was released, by the database's clock. */
  age: number
  applicationId: string
  email: string
  status: string
  decidedAt: Date
  /** Of an acceptance: the link to answer, null where the site's address is not known; and the last day, as `2026-12-31`. */
  answerLink: string | null
  replyBy: string | null
}

/**
 * Claims decisions that an automation is to be told, the longest waiting first, as letters are claimed. In place of a mail, an
 * acceptance whose last day is over is given up.
 */
export async function claimDecisions(sql: Sql, most: number): Promise<DecisionClaim[]> {
  const due = sql`
    select id from private.letters as letter
    where way = 'automation' and due_at <= now()
      and not (select stopped from private.postman)
      and (withdrawn_at is not null or private.is_current(letter) and not exists (
        -- The decision that stands is told last.
        select from private.letters as other
        where other.state = 'sending' and other.way = 'automation' and other.due_at > now() and other.id <> letter.id
          and other.application_id = letter.application_id
      ))
    order by due_at limit ${most}
    for update of letter skip locked`
  const rows = await sql<(DecisionClaim & { isWithdrawn: boolean; isOverdue: boolean })[]>`
    with due as (${due}), claimed as (${claimed(sql)})
    select claimed.id, attempts as attempt, (extract(epoch from now() - released_at) * 1000)::float as age,
      application_id as "applicationId", email, occasion as status, withdrawn_at is not null as "isWithdrawn",
      is_overdue as "isOverdue",
      coalesce(
        (select max(at) from private.history where history.application_id = application.id and kind = 'status'),
        released_at
      ) as "decidedAt", invitation.link as "answerLink", invitation.deadline::text as "replyBy"
    from claimed join public.retreat_applications as application on application.id = application_id
    left join lateral private.invite(application_id) as invitation on occasion = 'accepted' and withdrawn_at is null`
  const claims: DecisionClaim[] = []
  for (const { isWithdrawn, isOverdue, ...taking } of rows) {
    if (isWithdrawn) await recordUnsent(sql, taking, { state: 'waiting', counts: false })
    else if (isOverdue) await recordUnsent(sql, taking, { state: 'given up', answer: tooLate })
    else claims.push(taking)
  }
  return claims
}

/**
 * Records that a server is at work, restarts waits that a clock delayed, and withdraws receipts that were not sent within a
 * day. Of several servers one does so.
 */
export async function beat(sql: Sql, who: 'postman' | 'automation'): Promise<void> {
  const seen = identifier(who === 'postman' ? 'seen_at' : 'automation_seen_at')
  await sql`
    update private.postman set ${seen} = now() where ${seen} not between now() - interval '10 seconds' and now()`
  // A wait that began later than now is from before the clock was set back.
  await sql`
    with put_off as (
      select id from private.letters where state in ('waiting', 'sending') and waits_since > now()
      for update skip locked
    )
    update private.letters as letter set due_at = now() + (due_at - waits_since)
    from put_off where letter.id = put_off.id`
  await sql`
    with late as (
      select id from private.letters
      where way = 'mail' and occasion = 'received' and due_at <= now()
        and released_at <= private.receipts_since()
      -- Applications that somebody is deciding on at this moment come the next time.
      for update skip locked
    )
    select from late, private.move(array[late.id], 'withdrawn', is_lost => true)`
}
