import { nextAttempt } from '../schedule.ts'
import type { Message } from '../mail/compose.ts'
import { lease } from './claims.ts'
import { isOften, type Recorded } from './outcomes.ts'
import { countTurns, endOfTurn, noProblem, turnOf, type Pause } from './pace.ts'
import type { Sql } from '../database/sql.ts'

/** A mail to an organiser that this server has claimed. */
export interface NoticeClaim {
  id: string
  /** Which try this is, from 1. */
  attempt: number
  /** Milliseconds since it was written, by the database's clock. */
  age: number
  /** Tries of which nobody knows whether the mail arrived. */
  uncertain: number
  /** Tries at which the mail server closed the connection over it. */
  closings: number
  to: string
  /** Its content: a test of a letter, or the applications and answers that it tells of. */
  says: Pick<Message, 'subject' | 'body'> | Told
}

/** Applications and answers of which an organiser is told. */
interface Told {
  /** The id of the application, where the mail is about one application or answer; null for a day's mail. */
  application: string | null
  /** The answer; null where the mail is not about an answer. */
  answer: 'coming' | 'not coming' | null
  since: Date | null
  /** Applications, counted up to a thousand. */
  count: number
  /** The first of them that have plain names, or who answered; empty for an organiser who reads blind. */
  names: string[]
  /** In a day's mail: how many answered that they come, and how many that they do not. */
  coming: number
  notComing: number
}

/** The most names in a day's mail. */
const mostNames = 50
const mostCounted = 1_000
/** The most mails about a single application that an organiser gets in an hour. The day's mail tells of the others. */
const mostSingle = 10

/** The notices that may be handed over, or the tests of letters. */
export function dueNotices(sql: Sql, isTest: boolean) {
  return sql`
    private.notices as notice
    where body ${isTest ? sql`is not null` : sql`is null`} and due_at <= now() and created_at > now() - interval '1 day'`
}

/**
 * Claims the mail to an organiser that is due and waits longest. Each goes to one server.
 *
 * @param isTest Whether to claim a test of a letter, or a notice.
 */
export async function claimNotice(
  sql: Sql,
  { pause, isTest, turns }: { pause?: Pause; isTest: boolean; turns?: string },
): Promise<NoticeClaim | undefined> {
  let counted = turns
  for (;;) {
    const row = await takeNotice(sql, { pause, isTest, turns: counted ?? (await countTurns(sql)) })
    counted = undefined
    if (row === undefined) return undefined
    const { isOver, subject, body, ...told } = row
    if (isOver) continue
    if (body !== null) return { ...told, says: { subject: subject ?? '', body } }
    const { count, answer, coming, notComing } = told
    if (answer !== null || count + coming + notComing > 0) return { ...told, says: told }
    await over(sql, row)
  }
}

async function takeNotice(
  sql: Sql,
  { pause, isTest, turns }: { pause: Pause; isTest: boolean; turns: string },
) {
  const singleInHour = sql`
    select count(*) from private.notices as other
    where organiser_id = notice.organiser_id and num_nonnulls(application_id, answer_id) = 1
      and tried_at > now() - interval '1 hour' and tried_at <= clock_timestamp()
      and created_at > now() - interval '1 day'`
  const [row] = await sql<[Row?]>`
    with turn as (${turnOf(sql, pause, turns)}),
    due as (
      select id, num_nonnulls(application_id, answer_id) = 1 and (
        attempts = 0 and (${singleInHour}) >= ${mostSingle}
        or created_at <= (
          select told_until from private.organisers
          where account_id = organiser_id and told_until <= clock_timestamp()
        )
      ) as is_over
      from ${dueNotices(sql, isTest)} and exists (select from turn where has_room or ${isTest})
      order by due_at limit 1
      for update of notice skip locked
    ),
    -- The day's mail tells what is not told singly, or has told it.
    gone as (delete from private.notices as notice using due where is_over and notice.id = due.id),
    claimed as (
      update private.notices as notice
      set attempts = attempts + 1, tried_at = coalesce(tried_at, now()),
        due_at = now() + ${lease} * interval '1 second'
      from due where notice.id = due.id and not is_over
      returning notice.*
    ),
    ended as (${endOfTurn(sql, pause, sql`select ${!isTest}::boolean as counts from claimed`)})
    select is_over as "isOver", claimed.id, attempts as attempt, uncertain, closings,
      (extract(epoch from now() - claimed.created_at) * 1000)::float as age,
      account.email as "to", subject, body, coalesce(claimed.application_id, answered.application_id) as application,
      answered.detail ->> 'answer' as answer, since, count,
      case when organiser.blind then '[]' else to_json(names) end as names, coming, not_coming as "notComing"
    from due
    left join claimed using (id)
    left join private.history as answered on answered.id = answer_id
    left join private.organisers as organiser on account_id = organiser_id
    left join auth.users as account on account.id = organiser_id
    left join lateral (
      select count(*)::int as count,
        coalesce((array_agg(name) filter (where name is not null))[:${mostNames}], '{}') as names
      from (
        select coalesce(private.plain_name(first_name || ' ' || last_name), private.plain_name(first_name)) as name
        from public.retreat_applications as application
        where application.id in (claimed.application_id, answered.application_id)
          or application.created_at > since and application.created_at <= until and not exists (
            select from private.notices as single
            where single.organiser_id = claimed.organiser_id and single.application_id = application.id
              and single.due_at is null
          )
        order by application.created_at, application.id limit ${mostCounted}
      ) as application
    ) as told on true
    left join lateral (
      select (count(*) filter (where detail ->> 'answer' = 'coming'))::int as coming,
        (count(*) filter (where detail ->> 'answer' = 'not coming'))::int as not_coming
      from private.history as answer
      where kind = 'answer' and author = 'applicant' and at > since and at <= until and not exists (
        select from private.notices as single
        where single.organiser_id = claimed.organiser_id and single.answer_id = answer.id and single.due_at is null
      )
    ) as answers on true`
  return row
}

interface Row extends Omit<NoticeClaim, 'says'>, Told {
  isOver: boolean
  subject: string | null
  body: string | null
}

/** Records the result of a try. Where the lease ran out meanwhile, nothing is recorded of this try. */
export async function recordNotice(
  sql: Sql,
  taken: NoticeClaim,
  { outcome, isUncertain = false }: { outcome: Recorded['outcome']; isUncertain?: boolean },
): Promise<'sent' | 'refused' | 'retry' | 'given up' | 'lost'> {
  if (outcome !== 'retry') {
    if (!(await over(sql, taken))) return 'lost'
    if (outcome === 'sent') await noProblem(sql, sql`select`)
    return outcome
  }
  const next = isUncertain && isOften(taken) ? null : nextAttempt(taken.attempt, taken.age)
  if (next === null) return (await over(sql, taken)) ? 'given up' : 'lost'
  const { count } = await sql`
    update private.notices
    set due_at = now() + ${next.pause} * interval '1 millisecond', uncertain = uncertain + ${isUncertain ? 1 : 0}
    where id = ${taken.id} and attempts = ${taken.attempt}`
  return count > 0 ? 'retry' : 'lost'
}

/**
 * Gives a claim back of which nothing has left. It is due at once, and the try does not count.
 *
 * @param isClosing Whether the mail server closed the connection over it.
 */
export async function giveBackNotice(
  sql: Sql,
  { id, attempt }: Pick<NoticeClaim, 'id' | 'attempt'>,
  isClosing = false,
): Promise<void> {
  await sql`
    update private.notices
    set attempts = attempts - 1, due_at = now(), tried_at = case when attempts > 1 then tried_at end,
      closings = closings + ${isClosing ? 1 : 0}
    where id = ${id} and attempts = ${attempt}`
}

/** Removes a test: nothing of it is kept. */
async function over(sql: Sql, { id, attempt }: Pick<NoticeClaim, 'id' | 'attempt'>) {
  const { count } = await sql`
    update private.notices
    set due_at = null, subject = case when body is not null then '' end, body = case when body is not null then '' end
    where id = ${id} and attempts = ${attempt}`
  return count > 0
}

/** Drops mails that were not sent within a day, and those that are done; and writes the day's mails that are due. */
export async function keepNotices(sql: Sql): Promise<void> {
  // A time later than it is ever set is from before the clock was set back.
  await sql`
    update private.notices set due_at = now() + (due_at - waits_since) where due_at is not null and waits_since > now()`
  await sql`
    update private.organisers
    set told_until = least(told_until, now() - interval '1 minute'),
      day_due_at = day_due_at
        - greatest(0, ceil(extract(epoch from day_due_at - now()) / 86400) - 1) * interval '1 day'
    where told_until > now() or day_due_at > now() + interval '1 day'`
  // Single mails are kept until the day's mail has left out what they told.
  await sql`
    delete from private.notices as notice using private.organisers
    where account_id = organiser_id and notice.created_at <= now() - interval '1 day'
      and (num_nonnulls(application_id, answer_id) = 0 or due_at is not null or notice.created_at < told_until - interval '1 hour')`
  await sql`select private.write_day_notices()`
}

/**
 * What an organiser reads.
 *
 * @param site The public address.
 */
export function noticeLetter({ id, to, says }: NoticeClaim, site: URL): Message {
  const letter = { id, to }
  if ('body' in says) return { ...letter, ...says }
  const { application, answer, since, count, names, coming, notComing } = says
  const desk = `${site.origin}${site.pathname.replace(/\/+$/, '')}/desk`
  const ending = `You get these mails because you switched them on at the desk, under “Account”. There you can switch them off:\n${desk}#/account`
  if (application !== null) {
    const [who = ''] = names
    if (answer !== null) {
      const said = `${who === '' ? 'Somebody' : who} is ${answer}`
      return {
        ...letter,
        subject: said,
        body: `${said}, as they answered.\n\n${desk}#/applications/${application}\n\n${ending}`,
      }
    }
    return {
      ...letter,
      subject: who === '' ? 'A new application' : `New application: ${who}`,
      body: `${who === '' ? 'Somebody' : who} has applied.\n\n${desk}#/applications/${application}\n\n${ending}`,
    }
  }
  const answers = [
    ...(coming > 0 ? [`${coming.toLocaleString('en')} answered that they are coming`] : []),
    ...(notComing > 0 ? [`${notComing.toLocaleString('en')} answered that they are not coming`] : []),
  ].join(', ')
  const many = `${count === mostCounted ? 'At least ' : ''}${count.toLocaleString('en')} new ${count === 1 ? 'application' : 'applications'}`
  const moment = since?.toISOString().replace('T', ' ').slice(0, 16)
  const others = count - names.length
  const list = [
    ...names.map((name) => `- ${name}`),
    ...(names.length > 0 && others > 0 ? [`and ${others.toLocaleString('en')} more`] : []),
  ]
  return {
    ...letter,
    subject: count > 0 ? many : 'New answers',
    body: [
      ...(count > 0 ? [`${many} since ${moment} UTC.`] : []),
      ...(list.length > 0 ? [list.join('\n')] : []),
      ...(answers === '' ? [] : [`${answers}${count > 0 ? '' : ` since ${moment} UTC`}.`]),
      desk,
      ending,
    ].join('\n\n'),
  }
}
