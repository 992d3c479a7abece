import { nextAttempt } from '../deliveries/schedule.ts'
import type { HandoverResult } from '../mail/handover.ts'
import { noProblem } from './pace.ts'
import type { Sql } from '../database/sql.ts'

/** The results of a try that are recorded. */
export type Recorded = Extract<HandoverResult, { outcome: 'sent' | 'refused' | 'retry' }>

/** What is recorded of a try. */
export type Outcome = 'sent' | 'refused' | 'retry' | 'given up' | 'withdrawn' | 'lost'

/** How often a mail leaves of which nobody knows whether it arrived: a mail server that accepts it and drops the connection gets
 * it so often. */
export const mostUncertain = 3

/** The words that organisers read where such a mail does not leave again. */
export const mayHaveArrived = 'It left three times, and nobody knows whether it arrived.'

/** The words that organisers read of a letter that asks until a day which is over. */
export const tooLate = 'The last day to answer has passed.'

/** What identifies a try of a letter. */
interface Try {
  id: string
  attempt: number
  applicationId: string
}

/**
 * Records the result of a try. Where the lease ran out meanwhile, another server may have the letter, and nothing is recorded
 * of this try.
 *
 * @param retryAfter Milliseconds that the other side asked to wait before the next try.
 */
export async function record(
  sql: Sql,
  taken: Try & { age: number; uncertain?: number },
  result: Recorded,
  retryAfter?: number,
): Promise<Outcome> {
  if (result.outcome === 'sent') return (await recordSent(sql, taken)) ? 'sent' : 'lost'
  const { answer } = result
  if (result.outcome === 'refused') return recordUnsent(sql, taken, { state: 'refused', answer })
  const { isUncertain } = result
  if (isUncertain && isOften(taken)) {
    return recordUnsent(sql, taken, { state: 'given up', answer: `${answer} ${mayHaveArrived}`, isUncertain })
  }
  const next = nextAttempt(taken.attempt, taken.age, retryAfter)
  return next === null
    ? recordUnsent(sql, taken, { state: 'given up', answer, isUncertain })
    : recordUnsent(sql, taken, { state: 'waiting', answer, isUncertain, ...next })
}

/** Whether a try of a mail that may have arrived is the last one. An automation recognises by the id what it has already. */
export function isOften({ uncertain }: { uncertain?: number }): boolean {
  return uncertain !== undefined && uncertain + 1 >= mostUncertain
}

/**
 * Gives a claim back whose try was broken off. It is due at once, and the try does not count.
 *
 * @param why.isClosing Whether the mail server closed the connection over it.
 * @param why.isUncertain Whether it may have arrived.
 */
export async function giveBack(
  sql: Sql,
  taken: Try,
  why: { isClosing?: boolean; isUncertain?: boolean } = {},
): Promise<void> {
  await recordUnsent(sql, taken, { state: 'waiting', counts: false, ...why })
}

/** Whether the claim was still this server's, so that the result could be recorded. */
async function recordSent(sql: Sql, taken: Try) {
  return (await markSent(sql, taken, { isWithdrawn: false })) || recordSentInVain(sql, taken)
}

/**
 * Records that a letter arrived that had been withdrawn on its way. Where another decision did that, a letter about what stands
 * is drafted, since the applicant was told something else.
 */
function recordSentInVain(sql: Sql, taken: Try) {
  const { applicationId } = taken
  return sql.begin(async (transaction) => {
    await lockDecision(transaction, applicationId)
    const isRecorded = await markSent(transaction, taken, { isWithdrawn: true })
    if (isRecorded) await draftWhatStands(transaction, taken.id)
    return isRecorded
  })
}

async function markSent(sql: Sql, { id, attempt }: Try, { isWithdrawn }: { isWithdrawn: boolean }) {
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
 * Locks as organisers' acts lock, and in their order, so that an erasing or a decision waits, or is seen, and no two drafts of
 * one application are made at once.
 */
async function lockDecision(transaction: Sql, applicationId: string) {
  await transaction`select from public.retreat_applications where id = ${applicationId} for no key update`
  await transaction`select from private.statuses where application_id = ${applicationId} for share`
}

/** Drafts a letter about the decision that stands, if this letter was released for another one: an answer withdraws, too. */
async function draftWhatStands(transaction: Sql, id: string) {
  await transaction`
    select private.draft(application_id, status)
    from private.letters join private.statuses using (application_id)
    where id = ${id} and status_version is distinct from statuses.version and private.is_decision(status)`
}

/**
 * Records a try that sent nothing. A letter that was withdrawn meanwhile does not wait any more. Then a letter about the decision
 * that stands is drafted, which was not possible while this one was under way. A letter to one person, whose text nobody else
 * has, is a draft again.
 */
export async function recordUnsent(
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
    await lockDecision(transaction, applicationId)
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
    if (letter?.state === 'withdrawn') {
      await transaction`
        select private.draft_text(application_id, subject, body) from private.letters where id = ${id} and occasion = ''`
      await draftWhatStands(transaction, id)
    }
    return letter?.state
  })
  if (recorded === undefined) return 'lost'
  if (recorded === 'withdrawn') return 'withdrawn'
  return state === 'waiting' ? 'retry' : state
}
