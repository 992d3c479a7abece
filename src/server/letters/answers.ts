import { nextAttempt } from '../schedule.ts'
import { wordsOf, type Outbox } from '../webhook/dispatcher.ts'

/** An answer that this server has claimed, to tell an automation. */
interface AnswerClaim {
  id: string
  /** Which try this is, from 1. */
  attempt: number
  /** Milliseconds since it was given, by the database's clock. */
  age: number
  body: URLSearchParams
}

/** Seconds after which another server may take a claim: longer than any try takes. */
const lease = 30

/**
 * Answers of accepted people that an automation is told: those that they gave themselves, and those that organisers noted. The
 * answers of one person are told in their order. One that was given up is not told any more once a later one was.
 */
export const answersOutbox: Outbox<AnswerClaim> = {
  // The receiver's answers may quote an applicant's address.
  logsAnswers: false,
  async claimDue(sql, most) {
    const rows = await sql<
      {
        id: string
        attempt: number
        age: number
        application: string
        email: string
        answer: string
        at: Date
      }[]
    >`
      with due as (
        select id from private.answer_outbox as outbox
        where next_attempt_at <= now() and not exists (
          select from private.answer_outbox as earlier
          where earlier.application_id = outbox.application_id and earlier.answer_id < outbox.answer_id
            and earlier.next_attempt_at is not null
        )
        order by next_attempt_at limit ${most}
        for update skip locked
      ), claimed as (
        update private.answer_outbox as outbox
        set attempts = attempts + 1, next_attempt_at = now() + ${lease} * interval '1 second'
        from due where outbox.id = due.id
        returning outbox.*
      )
      select claimed.id, attempts as attempt, (extract(epoch from now() - queued_at) * 1000)::float as age,
        given.id as application, email, coalesce(detail ->> 'answer', 'none') as answer, at
      from claimed
        join private.history on history.id = answer_id
        join public.retreat_applications as given on given.id = claimed.application_id`
    return rows.map(({ id, attempt, age, application, email, answer, at }) => ({
      id,
      attempt,
      age,
      body: new URLSearchParams({
        event: 'answer',
        id: application,
        email,
        answer,
        answeredAt: at.toISOString(),
      }),
    }))
  },
  async record(sql, { id, attempt, age }, tried) {
    const { delivered, status, retryAfter } = tried
    // 410: the receiver is gone and says so.
    const next = delivered || status === 410 ? null : nextAttempt(attempt, age, retryAfter)
    // What was given up before is over then: tried again, it would be told last.
    const { count } = delivered
      ? await sql`
          with told as (
            delete from private.answer_outbox where id = ${id} and attempts = ${attempt}
            returning application_id, answer_id
          ), superseded as (
            delete from private.answer_outbox as earlier using told
            where earlier.application_id = told.application_id and earlier.answer_id < told.answer_id
          )
          select from told`
      : await sql`
          update private.answer_outbox
          set next_attempt_at = ${next === null ? null : sql`now() + ${next.pause} * interval '1 millisecond'`},
            attempts = attempts - ${next?.counts === false ? 1 : 0},
            last_answer = ${wordsOf(tried)}
          where id = ${id} and attempts = ${attempt}`
    if (count === 0) return 'lost'
    if (delivered) return 'delivered'
    return next === null ? 'given up' : 'retry'
  },
  async giveBack(sql, { id, attempt }) {
    await sql`
      update private.answer_outbox set attempts = attempts - 1, next_attempt_at = now()
      where id = ${id} and attempts = ${attempt}`
  },
  /** Restarts waits that began later than now, because the clock was set back. */
  async keep(sql) {
    await sql`
      update private.answer_outbox set next_attempt_at = now() + (next_attempt_at - waits_since)
      where next_attempt_at is not null and waits_since > now()`
  },
}
