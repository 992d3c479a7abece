import type { Message } from '../mail/compose.ts'
import { mayHaveArrived, mostUncertain, recordUnsent, tooLate } from './outcomes.ts'
import { countTurns, endOfTurn, turnOf, type Pause } from './pace.ts'
import { identifier, type Sql, type Template } from '../database/sql.ts'

/** A letter that this server has claimed. */
export interface Claim extends Message {
  /** Which try this is, from 1. */
  attempt: number
  /** Milliseconds since it was released, by the database's clock. */
  age: number
  applicationId: string
  /** Tries of which nobody knows whether the mail arrived. */
  uncertain: number
  /** Tries at which the mail server closed the connection over it. */
  closings: number
  /** How many turns there were with this claim's. */
  turns: string
}

/** Seconds after which another server may claim it again: longer than any handover takes. */
export const lease = 90

/** Whether a letter was released for the decision that stands. */
function stands(sql: Sql) {
  return sql`status_version = coalesce(
    (select version from private.statuses where application_id = letter.application_id), 0)`
}

/** Whom letters about an application go to. */
const personOf = (sql: Sql, application: Template) =>
  sql`private.person(private.address_of(${application}.id, ${application}.email))`

/** Whether another letter is under way to the same person: letters have to arrive in the order in which they were released. */
function isBusy(sql: Sql) {
  return sql`exists (
    select from private.letters as other
      join public.retreat_applications as theirs on theirs.id = other.application_id
      join public.retreat_applications as application on application.id = letter.application_id
    where other.state = 'sending' and other.way = 'mail' and other.due_at > now() and other.id <> letter.id
      and (other.application_id = letter.application_id
        or ${personOf(sql, sql`theirs`)} = ${personOf(sql, sql`application`)}))`
}

/**
 * The letters that may be handed over, or the receipts: those that were released for the decision that stands, and no receipt
 * that is older than a day. A letter that was withdrawn on its way is not handed over.
 *
 * Letters, receipts and decisions have an index each, so that none has to be searched for behind many of another kind. Only what
 * waits or is on its way has a time at which it is due: its state is not asked for. No other table is joined: PostgreSQL would
 * read everything that is due to find the first, where it has no statistics yet.
 */
export function dueLetters(sql: Sql, isReceipt: boolean) {
  return sql`
    private.letters as letter
    where way = 'mail' and due_at <= now()
      and ${isReceipt ? sql`occasion = 'received'` : sql`occasion <> 'received'`}
      and (
        withdrawn_at is not null
        or ${isReceipt ? sql`released_at > private.receipts_since()` : stands(sql)} and not ${isBusy(sql)}
      )`
}

/** Claims the letters in `due` for this server. */
function claimed(sql: Sql) {
  return sql`
    select letter.*, private.is_overdue(letter) as is_overdue, due.was_under_way
    from due, private.move(array[due.id], 'sending', due => now() + ${lease} * interval '1 second') as letter`
}

/** Milliseconds since a time, by the database's clock. */
const since = (sql: Sql, moment: Template) => sql`(extract(epoch from now() - ${moment}) * 1000)::float`

/**
 * Claims the letter, or the receipt, that is due and waits longest. Each goes to one server. It claims nothing while organisers
 * or a problem keep all letters, and no receipt where the hour has no room. A letter that asks until a day which is over is given
 * up.
 *
 * @param turns As they were counted before.
 * @param unless What comes first: while that is true, nothing is claimed.
 */
export async function claimDue(
  sql: Sql,
  {
    pause,
    isReceipt = false,
    turns,
    unless,
  }: { pause?: Pause; isReceipt?: boolean; turns?: string; unless?: Template } = {},
): Promise<Claim | undefined> {
  let counted = turns
  for (;;) {
    const due = sql`
      select letter.id, state = 'sending' as was_under_way from ${dueLetters(sql, isReceipt)}
        and exists (select from turn ${isReceipt ? sql`where has_room or withdrawn_at is not null` : sql``})
        ${unless ? sql`and not ${unless}` : sql``}
      order by due_at limit 1
      for update of letter skip locked`
    const begun = sql`select occasion = 'received' as counts from claimed where withdrawn_at is null`
    const [row] = await sql<[(Claim & { isWithdrawn: boolean; isOverdue: boolean; wasUnderWay: boolean })?]>`
      with turn as (${turnOf(sql, pause, counted ?? (await countTurns(sql)))}),
      due as (${due}),
      claimed as (${claimed(sql)}),
      ended as (${endOfTurn(sql, pause, begun)})
      select claimed.id, attempts as attempt, uncertain, closings, application_id as "applicationId",
        ${since(sql, sql`released_at`)} as age, was_under_way as "wasUnderWay",
        private.address_of(application.id, application.email) as "to", sent.subject, sent.body, sent.link, reply_to as "replyTo",
        withdrawn_at is not null as "isWithdrawn", claimed.is_overdue as "isOverdue", (select turns from ended)
      from claimed
      left join lateral private.to_send(application_id, claimed.subject, claimed.body) as sent on withdrawn_at is null
      join public.retreat_applications as application on application.id = application_id
      cross join private.letter_settings`
    if (row === undefined) return undefined
    const { isWithdrawn, isOverdue, wasUnderWay, ...taking } = row
    if (isWithdrawn) await recordUnsent(sql, taking, { state: 'waiting', counts: false })
    else if (wasUnderWay && taking.uncertain >= mostUncertain) {
      await recordUnsent(sql, taking, { state: 'given up', answer: mayHaveArrived })
    } else if (isOverdue) await recordUnsent(sql, taking, { state: 'given up', answer: tooLate })
    else return taking
    counted = undefined
  }
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
    select id, state = 'sending' as was_under_way from private.letters as letter
    where way = 'automation' and due_at <= now()
      and not (select stopped from private.postman)
      and (withdrawn_at is not null or ${stands(sql)} and not exists (
        -- The decision that stands is told last.
        select from private.letters as other
        where other.state = 'sending' and other.way = 'automation' and other.due_at > now() and other.id <> letter.id
          and other.application_id = letter.application_id
      ))
    order by due_at limit ${most}
    for update of letter skip locked`
  const rows = await sql<(DecisionClaim & { isWithdrawn: boolean; isOverdue: boolean })[]>`
    with due as (${due}), claimed as (${claimed(sql)})
    select claimed.id, attempts as attempt, ${since(sql, sql`released_at`)} as age,
      application_id as "applicationId", email, occasion as status, withdrawn_at is not null as "isWithdrawn",
      is_overdue as "isOverdue",
      coalesce(
        (select max(at) from private.history where history.application_id = application.id and kind = 'status'),
        released_at
      ) as "decidedAt", place.link as "answerLink", place.kept_until::text as "replyBy"
    from claimed join public.retreat_applications as application on application.id = application_id
    left join lateral private.keep_place(application_id) as place on occasion = 'accepted' and withdrawn_at is null`
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
