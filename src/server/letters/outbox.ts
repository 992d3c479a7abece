import type { Fragment, Sql, TransactionSql } from 'postgres'

import { nextAttempt } from '../schedule.ts'
import type { Letter } from './compose.ts'
import type { HandoverResult } from './handover.ts'

/** A letter that this server has taken upon itself. */
export interface Claim extends Letter {
  /** Which try this is, from 1. */
  attempt: number
  /** Milliseconds since it was released, by the database's clock. */
  age: number
  applicationId: string
  /** Tries of which nobody knows what they came to. */
  uncertain: number
  /** Tries at which the mail server closed the connection over it. */
  closings: number
}

/** What a try came to that is recorded. */
export type Recorded = Extract<HandoverResult, { outcome: 'sent' | 'refused' | 'retry' }>

/** What is recorded of a try. */
export type Outcome = 'sent' | 'refused' | 'retry' | 'given up' | 'withdrawn' | 'lost'

/** Seconds after which another server may take what was claimed: longer than any handover takes. */
export const lease = 90
/** How often a mail leaves that may have arrived: a server that takes it and drops the line gets it so often. */
const mostUncertain = 3
/** What organisers read of one that does not leave again. */
const mayHaveArrived = 'It left three times, and nobody knows whether it arrived.'
/** Milliseconds that a letter may be late without those after it being so. */
const slack = 200
/** Receipts and notices that are begun in an hour, by all servers together. */
const hourlyTotal = 100

/** The pace of all servers together: milliseconds between two letters; none where there is no pace. */
export type Pause = number | undefined

/** How long everything is kept after so many failures in a row. */
function keptFor(sql: Sql, failures: Fragment) {
  return sql`(array[5, 15, 60, 300, 600])[greatest(1, least(${failures}, 5))] * interval '1 second'`
}

/**
 * Whether something may be handed over. What lies further ahead than it is ever set was set before the clock was set
 * back, and holds up nothing.
 */
export function isOpen(sql: Sql, pause: Pause) {
  const isFar = (moment: Fragment, most: Fragment) => sql`${moment} > clock_timestamp() + ${most}`
  const kept = isFar(sql`paused_until`, keptFor(sql, sql`failures`))
  const step = pause === undefined ? undefined : sql`${pause} * interval '1 millisecond'`
  return sql`
    not stopped and (paused_until <= now() or ${kept})
    ${step === undefined ? sql`` : sql`and (next_at <= now() or ${isFar(sql`next_at`, step)})`}`
}

/** Whether the hour in which receipts and notices are counted is over; also where it began later than now. */
const isNewHour = (sql: Sql) => sql`hour_began_at not between now() - interval '1 hour' and clock_timestamp()`

/** Whether the hour has room for a receipt or a notice. */
export const hasRoom = (sql: Sql) => sql`(in_hour < ${hourlyTotal} or ${isNewHour(sql)})`

/** How many claims there were. */
export async function countTurns(sql: Sql): Promise<string> {
  const [row] = await sql<[{ turns: string }]>`select turns from private.postman`
  return row.turns
}

/**
 * The turn to hand something over, if it is one; whoever has it holds it until the claim is made. Where somebody had a
 * turn since these were counted it is none: what they claimed could not be seen.
 */
export function turnOf(sql: Sql, pause: Pause, turns: string) {
  return sql`
    select ${hasRoom(sql)} as has_room from private.postman
    where turns = ${turns} and ${isOpen(sql, pause)}
    for update`
}

/**
 * Ends a turn.
 *
 * @param begun A query of what was claimed, with `counts`: whether it is one of the hour's receipts and notices.
 */
export function endOfTurn(sql: Sql, pause: Pause, begun: Fragment) {
  const isPaced = pause !== undefined
  return sql`
    update private.postman
    set turns = turns + 1, next_at = ${
      isPaced
        ? sql`least(greatest(next_at, now() - ${slack} * interval '1 millisecond'), now())
            + ${pause} * interval '1 millisecond'`
        : sql`next_at`
    },
      hour_began_at = case when counts and ${isNewHour(sql)} then now() else hour_began_at end,
      in_hour = case when not counts then in_hour when ${isNewHour(sql)} then 1 else in_hour + 1 end
    from (${begun}) as begun`
}

/** What was released before is too old for a receipt. */
const receiptsSince = (sql: Sql) => sql`now() - interval '1 day'`

/** Whether a letter was released for what stands. */
function stands(sql: Sql) {
  return sql`status_version = coalesce(
    (select version from private.statuses where application_id = letter.application_id), 0)`
}

/** Whom letters about an application go to. */
const personOf = (sql: Sql, application: Fragment) =>
  sql`private.person(private.address_of(${application}.id, ${application}.email))`

/** Whether a letter is under way to whom this one is for: they are to arrive in the order in which they were released. */
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
 * The letters that may be handed over, or the receipts. Only what was released for the decision that stands, and no
 * receipt that is older than a day; what was withdrawn on its way is over.
 *
 * The indexes are for letters, receipts and decisions each, so that none is found behind many of another kind. No other
 * table is joined: then all that is due would be looked at for the first of it, where PostgreSQL knows no numbers yet.
 */
export function dueLetters(sql: Sql, isReceipt: boolean) {
  return sql`
    private.letters as letter
    where way = 'mail' and state in ('waiting', 'sending') and due_at <= now()
      and ${isReceipt ? sql`occasion = 'received'` : sql`occasion <> 'received'`}
      and (
        withdrawn_at is not null
        or ${isReceipt ? sql`released_at > ${receiptsSince(sql)}` : stands(sql)} and not ${isBusy(sql)}
      )`
}

/** Takes the letters in `due` upon this server. */
function claimed(sql: Sql) {
  return sql`
    select letter.*, due.was_under_way
    from due, private.move(array[due.id], 'sending', due => now() + ${lease} * interval '1 second') as letter`
}

/** Milliseconds since something, by the database's clock. */
const since = (sql: Sql, moment: Fragment) => sql`(extract(epoch from now() - ${moment}) * 1000)::float`

/**
 * Takes the letter that is due and waits longest, or the receipt; each goes to one server, and nothing while organisers
 * or a problem keep all letters, nor a receipt where the hour has no room.
 *
 * @param turns As they were counted before.
 */
export async function claimDue(
  sql: Sql,
  { pause, isReceipt = false, turns }: { pause?: Pause; isReceipt?: boolean; turns?: string } = {},
): Promise<Claim | undefined> {
  let counted = turns
  for (;;) {
    const due = sql`
      select letter.id, state = 'sending' as was_under_way from ${dueLetters(sql, isReceipt)}
        and exists (select from turn ${isReceipt ? sql`where has_room or withdrawn_at is not null` : sql``})
      order by due_at limit 1
      for update of letter skip locked`
    const begun = sql`select occasion = 'received' as counts from claimed where withdrawn_at is null`
    const [row] = await sql<[(Claim & { isWithdrawn: boolean; wasUnderWay: boolean })?]>`
      with turn as (${turnOf(sql, pause, counted ?? (await countTurns(sql)))}),
      due as (${due}),
      claimed as (${claimed(sql)}),
      ended as (${endOfTurn(sql, pause, begun)})
      select claimed.id, attempts as attempt, uncertain, closings, application_id as "applicationId",
        ${since(sql, sql`released_at`)} as age, was_under_way as "wasUnderWay",
        private.address_of(application.id, application.email) as "to", sent.subject, sent.body, sent.link, reply_to as "replyTo",
        withdrawn_at is not null as "isWithdrawn"
      from claimed
      left join lateral private.to_send(application_id, claimed.subject, claimed.body) as sent on withdrawn_at is null
      join public.retreat_applications as application on application.id = application_id
      cross join private.letter_settings`
    if (row === undefined) return undefined
    const { isWithdrawn, wasUnderWay, ...taking } = row
    if (isWithdrawn) await recordUnsent(sql, taking, { state: 'waiting', counts: false })
    else if (wasUnderWay && taking.uncertain >= mostUncertain) {
      await recordUnsent(sql, taking, { state: 'given up', answer: mayHaveArrived })
    } else return taking
    counted = undefined
  }
}

/** A decision that this server has taken upon itself to tell an automation. */
export interface DecisionClaim {
  id: string
  attempt: number
  /** Milliseconds since it was released, by the database's clock. */
  age: number
  applicationId: string
  email: string
  status: string
  decidedAt: Date
  /** Of an acceptance: where they answer, null where no site is known, and until which day, as `2026-12-31`. */
  answerLink: string | null
  replyBy: string | null
}

/** Takes decisions that an automation is to be told, the longest waiting first, as letters are taken. */
export async function claimDecisions(sql: Sql, most: number): Promise<DecisionClaim[]> {
  const due = sql`
    select id, state = 'sending' as was_under_way from private.letters as letter
    where way = 'automation' and state in ('waiting', 'sending') and due_at <= now()
      and not (select stopped from private.postman)
      and (withdrawn_at is not null or ${stands(sql)} and not exists (
        -- What stands is told last.
        select from private.letters as other
        where other.state = 'sending' and other.way = 'automation' and other.due_at > now() and other.id <> letter.id
          and other.application_id = letter.application_id
      ))
    order by due_at limit ${most}
    for update of letter skip locked`
  const rows = await sql<(DecisionClaim & { isWithdrawn: boolean })[]>`
    with due as (${due}), claimed as (${claimed(sql)})
    select claimed.id, attempts as attempt, ${since(sql, sql`released_at`)} as age,
      application_id as "applicationId", email, occasion as status, withdrawn_at is not null as "isWithdrawn",
      coalesce(
        (select max(at) from private.history where history.application_id = application.id and kind = 'status'),
        released_at
      ) as "decidedAt", place.link as "answerLink", place.kept_until::text as "replyBy"
    from claimed join public.retreat_applications as application on application.id = application_id
    left join lateral private.keep_place(application_id) as place on occasion = 'accepted' and withdrawn_at is null`
  const claims: DecisionClaim[] = []
  for (const { isWithdrawn, ...taking } of rows) {
    if (isWithdrawn) await recordUnsent(sql, taking, { state: 'waiting', counts: false })
    else claims.push(taking)
  }
  return claims
}

/** What tells a letter's try from all others. */
type Try = Pick<Claim, 'id' | 'attempt' | 'applicationId'>

/**
 * Records what a try came to. Where the lease ran out meanwhile, the letter is somebody else's, and nothing is
 * recorded of this try.
 *
 * @param retryAfter Milliseconds that the other side asked to wait before the next try.
 */
export async function record(
  sql: Sql,
  taken: Claim | DecisionClaim,
  result: Recorded,
  retryAfter?: number,
): Promise<Outcome> {
  if (result.outcome === 'sent') return (await recordSent(sql, taken)) ? 'sent' : 'lost'
  const { answer } = result
  if (result.outcome === 'refused') return recordUnsent(sql, taken, { state: 'refused', answer })
  const { isUncertain } = result
  if (isUncertain && 'uncertain' in taken && isOften(taken)) {
    return recordUnsent(sql, taken, { state: 'given up', answer: `${answer} ${mayHaveArrived}`, isUncertain })
  }
  const next = nextAttempt(taken.attempt, taken.age, retryAfter)
  return next === null
    ? recordUnsent(sql, taken, { state: 'given up', answer, isUncertain })
    : recordUnsent(sql, taken, { state: 'waiting', answer, isUncertain, ...next })
}

/** Whether a try of a mail that may have arrived is the last one; an automation knows by its id what it has. */
export function isOften({ uncertain }: { uncertain: number }): boolean {
  return uncertain + 1 >= mostUncertain
}

/**
 * Gives a claim back of which nothing has left: it is due at once, and the try does not count.
 *
 * @param isClosing Whether the mail server closed the connection over it.
 */
export async function giveBack(sql: Sql, taken: Try, isClosing = false): Promise<void> {
  await recordUnsent(sql, taken, { state: 'waiting', counts: false, isClosing })
}

/** Tells whether it was this claim's to record. */
async function recordSent(sql: Sql, taken: Try) {
  return (await markSent(sql, taken, { isWithdrawn: false })) || recordSentInVain(sql, taken)
}

/**
 * Records that a letter arrived which was withdrawn on its way, and drafts what stands: the applicant was told something
 * else.
 */
function recordSentInVain(sql: Sql, taken: Try) {
  const { applicationId } = taken
  return sql.begin(async (transaction) => {
    const decision = await lockDecision(transaction, applicationId)
    const isRecorded = await markSent(transaction, taken, { isWithdrawn: true })
    if (isRecorded) await draftWhatStands(transaction, applicationId, decision)
    return isRecorded
  })
}

async function markSent(
  sql: Sql | TransactionSql,
  { id, attempt }: Try,
  { isWithdrawn }: { isWithdrawn: boolean },
) {
  const rows = await sql`
    with tried as (
      select id from private.letters
      where id = ${id} and attempts = ${attempt} and state = 'sending'
        and (withdrawn_at is not null) = ${isWithdrawn}
      for update
    ), marked as (
      select letter.way from tried, private.move(array[tried.id], 'sent') as letter
    ), cleared as (${noProblem(sql, sql`select from marked where way = 'mail'`)})
    select from marked`
  return rows.count > 0
}

/**
 * Forgets what kept all letters.
 *
 * @param sent A query that has a row where a mail was taken.
 */
export function noProblem(sql: Sql | TransactionSql, sent: Fragment) {
  return sql`
    update private.postman
    set failures = 0, problem = '', failing_since = null, paused_until = least(paused_until, now())
    where (failures > 0 or problem <> '' or failing_since is not null) and exists (${sent})`
}

/** In the order in which organisers lock: who erases or decides waits, or is seen. */
async function lockDecision(transaction: TransactionSql, applicationId: string) {
  await transaction`select from public.retreat_applications where id = ${applicationId} for key share`
  const [decision] = await transaction<[{ status: string }?]>`
    select status from private.statuses where application_id = ${applicationId} for share`
  return decision?.status
}

async function draftWhatStands(
  transaction: TransactionSql,
  applicationId: string,
  decision: string | undefined,
) {
  if (decision === undefined) return
  await transaction`select private.draft(${applicationId}, ${decision}) where private.is_decision(${decision})`
}

/**
 * Records a try by which nothing was sent. A letter that was withdrawn meanwhile does not wait any more, and what
 * stands is drafted, which could not be while this one was under way.
 */
async function recordUnsent(
  sql: Sql,
  { id, attempt, applicationId }: Try,
  {
    state,
    answer,
    isUncertain = false,
    pause = 0,
    counts = true,
    isClosing = false,
  }: {
    state: 'waiting' | 'refused' | 'given up'
    answer?: string
    isUncertain?: boolean
    pause?: number
    counts?: boolean
    isClosing?: boolean
  },
): Promise<Outcome> {
  const recorded = await sql.begin(async (transaction) => {
    const decision = await lockDecision(transaction, applicationId)
    const { count } = await transaction`
      update private.letters
      set attempts = attempts - ${counts ? 0 : 1},
        uncertain = uncertain + ${isUncertain ? 1 : 0},
        closings = closings + ${isClosing ? 1 : 0},
        answer = coalesce(${answer ?? null}, answer)
      where id = ${id} and attempts = ${attempt} and state = 'sending'`
    if (count === 0) return undefined
    const [letter] = await transaction<[{ state: string }?]>`
      select state
      from private.move(array[${id}::uuid], ${state}, due => now() + ${pause} * interval '1 millisecond')`
    if (letter?.state === 'withdrawn') await draftWhatStands(transaction, applicationId, decision)
    return letter?.state
  })
  if (recorded === undefined) return 'lost'
  if (recorded === 'withdrawn') return 'withdrawn'
  return state === 'waiting' ? 'retry' : state
}

/**
 * Keeps all letters for a while, which is longer each time until one is sent.
 *
 * @param problem Why, for organisers: no applicant's address in it.
 * @returns Whether it was this call that did: whoever meets the same problem meanwhile adds nothing.
 */
export async function pauseAll(sql: Sql, problem: string): Promise<boolean> {
  const { count } = await sql`
    update private.postman
    set failures = failures + 1, problem = ${problem}, failing_since = coalesce(failing_since, now()),
      paused_until = now() + ${keptFor(sql, sql`failures + 1`)}
    where paused_until <= now() or paused_until > clock_timestamp() + ${keptFor(sql, sql`failures`)}`
  return count > 0
}

/**
 * Says that there is somebody at work, begins waits anew that a clock put off, and withdraws the receipts that nobody
 * carried within a day. Of several servers one says it.
 */
export async function beat(sql: Sql, who: 'postman' | 'automation'): Promise<void> {
  const seen = sql(who === 'postman' ? 'seen_at' : 'automation_seen_at')
  await sql`
    update private.postman set ${seen} = now() where ${seen} not between now() - interval '10 seconds' and now()`
  // What began later than now was told to wait before the clock was set back.
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
      where way = 'mail' and occasion = 'received' and state in ('waiting', 'sending') and due_at <= now()
        and released_at <= ${receiptsSince(sql)}
      -- Those that somebody decides on this moment are there the next time, too.
      for update skip locked
    )
    select from late, private.move(array[late.id], 'withdrawn', is_lost => true)`
}

/** What of the letters somebody has to know. */
export interface LetterHealth {
  /** Those that were refused or given up, and what the automation could not be told, up to a hundred thousand. */
  lettersRefused: number
  /** Those that were released and have not left. */
  lettersWaiting: number
  /** Since when the mail server takes nothing; null while it does. */
  mailFailingSince: Date | null
}

/** How letters stand. However many were sent, only those are looked at that were not. */
export async function letterHealth(sql: Sql): Promise<LetterHealth> {
  const [row] = await sql<[LetterHealth]>`
    select
      (select count(*)::int from (
        select from private.letters where state in ('refused', 'given up')
        union all select from private.answer_outbox where next_attempt_at is null
        limit 100000
      ) as refused) as "lettersRefused",
      (select count(*)::int from (
        select from private.letters where state in ('waiting', 'sending') limit 100000
      ) as waiting) as "lettersWaiting",
      failing_since as "mailFailingSince"
    from private.postman`
  return row
}

/** How letters stand, by number. */
export interface LetterCounts {
  draft: number
  waiting: number
  sending: number
  sent: number
  refused: number
  givenUp: number
  withdrawn: number
  /** Of all these, the ones with a try of which nobody knows what it came to: they may have arrived twice. */
  uncertain: number
  /** Decisions that an automation was told; those, and answers, that it is to be told, and could not be told. */
  told: number
  toTell: number
  untold: number
}

export async function countLetters(sql: Sql): Promise<LetterCounts> {
  const [row] = await sql<[LetterCounts]>`
    select
      (count(*) filter (where state = 'draft'))::int as draft,
      (count(*) filter (where is_mail and state = 'waiting'))::int as waiting,
      (count(*) filter (where is_mail and state = 'sending'))::int as sending,
      (count(*) filter (where is_mail and state = 'sent'))::int as sent,
      (count(*) filter (where is_mail and state = 'refused'))::int as refused,
      (count(*) filter (where is_mail and state = 'given up'))::int as "givenUp",
      (count(*) filter (where is_mail and state = 'withdrawn'))::int as withdrawn,
      (count(*) filter (where is_mail and uncertain > 0))::int as uncertain,
      (count(*) filter (where not is_mail and state = 'sent'))::int as told,
      (count(*) filter (where not is_mail and state in ('waiting', 'sending')))::int
        + (select count(*)::int from private.answer_outbox where next_attempt_at is not null) as "toTell",
      (count(*) filter (where not is_mail and state in ('refused', 'given up')))::int
        + (select count(*)::int from private.answer_outbox where next_attempt_at is null) as untold
    from (select *, way = 'mail' as is_mail from private.letters) as letters`
  return row
}

/** A letter that has not arrived so far, or a decision or an answer that the automation was not told. */
export interface Undelivered {
  state: 'waiting' | 'refused' | 'given up'
  way: 'mail' | 'automation'
  occasion: string
  email: string
  /** When it was released. */
  at: Date
  /** When it is tried again; null where it is not. */
  nextAt: Date | null
  /** What the mail server said last, or the automation. */
  answer: string
}

/** What did not arrive, or not yet though it was tried, the oldest first. */
export async function listUndelivered(sql: Sql): Promise<Undelivered[]> {
  return sql<Undelivered[]>`
    select state, way, occasion, private.address_of(application.id, email) as email, released_at as at,
      due_at as "nextAt", answer
    from private.letters join public.retreat_applications as application on application.id = application_id
    where state in ('refused', 'given up') or (state = 'waiting' and answer <> '')
    union all
    select case when next_attempt_at is null then 'given up' else 'waiting' end, 'automation', 'answer', email, queued_at,
      next_attempt_at, last_answer
    from private.answer_outbox join public.retreat_applications as application on application.id = application_id
    where next_attempt_at is null or last_answer <> ''
    order by at`
}

/** Whether letters leave, and what keeps them. */
export interface PostmanState {
  isStopped: boolean
  /** Whether a server with a mail server is at work. */
  isThere: boolean
  /** What keeps all letters; blank where nothing does. */
  problem: string
  failingSince: Date | null
  /** When the mail server is tried again, where that is still to come. */
  nextAt: Date | null
}

export async function postmanState(sql: Sql): Promise<PostmanState> {
  const [row] = await sql<[PostmanState]>`
    select stopped as "isStopped", seen_at > now() - interval '1 minute' as "isThere", problem,
      failing_since as "failingSince", case when paused_until > now() then paused_until end as "nextAt"
    from private.postman`
  return row
}

/**
 * Makes what did not arrive due again, from the schedule's beginning, but for receipts that are older than a day; a
 * running server sees it within a second.
 *
 * @returns How many those are.
 */
export async function retryUndelivered(sql: Sql): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    with answers as (
      update private.answer_outbox set attempts = 0, next_attempt_at = now() where next_attempt_at is null returning id
    )
    select private.retry(array(select id from private.letters where state in ('refused', 'given up')))
      + (select count(*)::int from answers) as count`
  return row.count
}

/** Lets no letter leave, or all of them again. */
export async function setStopped(sql: Sql, stopped: boolean): Promise<void> {
  await sql`
    with changed as (update private.postman set stopped = ${stopped} where stopped <> ${stopped} returning true)
    select private.write_down_letters('operator', jsonb_build_object('stopped', ${stopped}::boolean)) from changed`
}
