import type { Sql } from '../../src/server/database/connection/sql.ts'

/**
 * Stores applications with one due letter each, as if an organiser had released the letters.
 *
 * @param first The number in the first email address, `a1@example.org`.
 */
export async function storeDueLetters(sql: Sql, count: number, first = 1): Promise<void> {
  await sql`
    with application as (
      insert into public.retreat_applications (first_name, last_name, email, phone, linkedin, company, reason, consent)
      select 'Ada', 'L', 'a' || n || '@example.org', '1', 'l', 'c', 'r', true
      from generate_series(${first}::int, ${first + count - 1}::int) as n
      returning id
    ), letter as (
      insert into private.letters (application_id, template, state) select id, 'Travel', 'released' from application
      returning id, application_id
    )
    insert into private.deliveries (kind, application_id, letter_id, subject, body, author, act)
    select 'letter', application_id, id, 'How to get there', 'By train.', 'ada@example.org', gen_random_uuid() from letter`
}

/** Makes a database record that a server sends emails or calls an automation, or that no server does. */
export async function setMailSender(sql: Sql, sendsEmails: boolean, callsAutomation = false): Promise<void> {
  const seenAgo = (isSeen: boolean) => (isSeen ? '0' : '2 days')
  await sql`
    update private.postman set stopped = false, seen_at = now() - ${seenAgo(sendsEmails)}::interval,
      automation_seen_at = now() - ${seenAgo(callsAutomation)}::interval`
}

/** The states of all drafts, and of all letters that were released and not stopped, sorted. */
export async function letterStates(sql: Sql): Promise<string[]> {
  const rows = await sql<{ state: string }[]>`
    select state from private.letter_deliveries where state <> 'withdrawn'
    union all select state from private.letters where state = 'draft' order by state`
  return rows.map(({ state }) => state)
}

/** The properties of a delivery that differ from the defaults. */
interface DeliveryOptions {
  kind?: 'letter' | 'decision' | 'receipt'
  state?: 'waiting' | 'sending' | 'done' | 'failed'
  subject?: string
  body?: string
  author?: string
  attempts?: number
  reply?: string
  isRefused?: boolean
  /** Seconds until it is due. */
  dueIn?: number
}

const deliveryValues = ({
  kind = 'letter',
  state = 'waiting',
  subject = 's',
  body = 'b',
  author = 'bob@example.org',
  attempts = 0,
  reply = '',
  isRefused = false,
  dueIn = 0,
}: DeliveryOptions) => [kind, state, subject, body, author, attempts, reply, isRefused, dueIn] as const

async function storeDeliveries(
  sql: Sql,
  letters: { id: string | null; application_id: string }[],
  options: DeliveryOptions,
) {
  const [kind, state, subject, body, author, attempts, reply, isRefused, dueIn] = deliveryValues(options)
  for (const { id, application_id } of letters) {
    await sql`
      insert into private.deliveries (kind, application_id, letter_id, state, subject, body, author, act, attempts, reply,
        is_refused, mailbox, due_at, done_at)
      values (${kind}, ${application_id}, ${id}, ${state}, ${subject}, ${body}, ${author}, gen_random_uuid(), ${attempts}, ${reply},
        ${isRefused}, ${kind === 'receipt' ? application_id : null},
        case when ${state} in ('waiting', 'sending') then now() + ${dueIn} * interval '1 second' end,
        case when ${state} = 'done' then now() end)`
  }
}

/** Releases the drafts of one application or (null) of all, as an organiser would. Their deliveries get these properties. */
export async function releaseDrafts(
  sql: Sql,
  options: DeliveryOptions,
  application: string | null = null,
): Promise<void> {
  const letters = await sql<{ id: string; application_id: string }[]>`
    update private.letters set state = 'released'
    where state = 'draft' and (${application}::uuid is null or application_id = ${application})
    returning id, application_id`
  await storeDeliveries(sql, letters, options)
}

/** Stores a released letter, or a receipt. */
export async function storeLetter(
  sql: Sql,
  application: string,
  { template, ...options }: DeliveryOptions & { template: string },
): Promise<void> {
  const letters =
    options.kind === 'receipt'
      ? [{ id: null, application_id: application }]
      : await sql<{ id: string; application_id: string }[]>`
          insert into private.letters (application_id, template, state) values (${application}, ${template}, 'released')
          on conflict (application_id, template) do update set state = 'released'
          returning id, application_id`
  await storeDeliveries(sql, letters, options)
}

/**
 * Reads the templates of a new database.
 *
 * @returns A function that restores the templates.
 */
export async function rememberTemplates(sql: Sql): Promise<() => Promise<void>> {
  const [{ templates }] = await sql<[{ templates: unknown }]>`
    select jsonb_agg(template) as templates from private.templates as template`
  return async () => {
    await sql`delete from private.templates`
    await sql`
      insert into private.templates
      select (jsonb_populate_recordset(null::private.templates, ${JSON.stringify(templates)})).*`
  }
}

/**
 * Looks for invalid letters and deliveries. A delivery with `is_beside` tells an automation what a letter tells the applicant.
 *
 * @param discarded The ids of letters that organisers discarded: for these, the state `dropped` is no fault.
 * @returns A sentence for each fault.
 */
export async function findFaults(sql: Sql, discarded: Iterable<string> = []): Promise<string[]> {
  const rows = await sql<{ wrong: string }[]>`
    with main as (
      select delivery.*, template, delivery.state in ('waiting', 'sending', 'failed') as is_undelivered,
        delivery.state = 'done' or may_have_arrived > 0 as has_told
      from private.deliveries as delivery join private.letters as letter on letter.id = letter_id
      where kind in ('letter', 'decision') and not is_beside
    ), latest_told as (
      select distinct on (application_id) application_id, template from main
      where has_told and template in ('accepted', 'waitlisted', 'declined')
      order by application_id, coalesce(done_at, recalled_at, queued_at) desc
    ), decided as (
      select application_id, status, letter.id as letter_id, letter.state
      from private.statuses left join private.letters as letter using (application_id)
      where status in ('accepted', 'waitlisted', 'declined') and coalesce(template, status) = status
        and (letter.id is null or template is not null)
    )
    select 'two letters of a template to one applicant: ' || template as wrong from private.letters
      where template is not null group by application_id, template having count(*) > 1
    union all
    select 'two undelivered deliveries of a letter: ' || coalesce(min(template), 'to one person') from main where is_undelivered
      group by letter_id having count(*) > 1
    union all
    select 'a draft of a letter that is being sent: ' || coalesce(letter.template, 'to one person')
      from private.letters as letter join main on letter_id = letter.id and is_undelivered where letter.state = 'draft'
    union all
    select 'a released letter without a delivery: ' || coalesce(letter.template, 'to one person') from private.letters as letter
      where state = 'released'
        and not exists (select from main where letter_id = letter.id and (is_undelivered or has_told))
    union all
    select 'a letter to one person was dropped: ' || subject from private.letters
      where template is null and state = 'dropped' and id <> all (${[...discarded]}::uuid[])
    union all
    select 'a recalled delivery is ' || state from private.deliveries
      where recalled_at is not null and state in ('waiting', 'failed')
    union all
    select 'a delivery was cancelled and not recalled: ' || kind from private.deliveries
      where recalled_at is null and state = 'cancelled' and kind not in ('rsvp', 'decision')
    union all
    select 'being sent for a decision that is not the current one: ' || template
      from private.deliveries as delivery join private.letters as letter on letter.id = letter_id
        left join private.statuses as current on current.application_id = delivery.application_id
      where delivery.state in ('waiting', 'sending', 'failed') and recalled_at is null and not is_beside
        and template in ('accepted', 'waitlisted', 'declined') and template is distinct from current.status
    union all
    select 'a draft for a decision that is not the current one: ' || template
      from private.letters as letter left join private.statuses as current using (application_id)
      where letter.state = 'draft' and template in ('accepted', 'waitlisted', 'declined')
        and template is distinct from current.status
    union all
    select 'a draft without its template: ' || template from private.letters as letter
      where state = 'draft' and template is not null
        and not exists (select from private.templates where name = template)
    union all
    select 'no letter tells the decision: ' || status || ', after ' || coalesce(latest_told.template, 'nothing')
      from decided left join latest_told using (application_id)
      where latest_told.template is distinct from status and decided.state is distinct from 'draft'
        and coalesce(decided.letter_id <> all (${[...discarded]}::uuid[]), true)
        and not exists (
          select from main where main.application_id = decided.application_id and is_undelivered
            and main.template in ('accepted', 'waitlisted', 'declined')
        )
    union all
    select 'an automation is told before the applicant: ' || delivery.subject from private.deliveries as delivery
        join private.letters as letter on letter.id = letter_id
      where is_beside and not exists (
        select from main where main.letter_id = delivery.letter_id and main.act is not distinct from delivery.act and has_told
      ) and not exists (
        -- A letter that came back had been sent when the automation was told.
        select from private.history
        where application_id = delivery.application_id and history.kind = 'returned' and detail ->> 'occasion' = template
      )
    union all
    select 'an automation is told a decision twice: ' || min(subject) from private.deliveries where kind = 'decision'
      group by letter_id, act having count(*) > 1
    union all
    select 'an automation is told an earlier decision last: ' || earlier.subject
      from private.deliveries as earlier join private.deliveries as later using (application_id, kind)
      where kind = 'decision' and private.is_before(earlier, later) and later.state = 'done'
        and earlier.state in ('waiting', 'sending', 'failed')`
  return rows.map(({ wrong }) => wrong)
}

/** Stores this many sent letters, all to one applicant. */
export async function storeSentLetters(sql: Sql, count: number): Promise<void> {
  await sql`
    with application as (
      insert into public.retreat_applications (first_name, last_name, email, phone, linkedin, company, reason, consent)
      values ('Ada', 'L', 'a@example.org', '1', 'l', 'sent before', 'r', true) returning id
    ), letter as (
      insert into private.letters (application_id, template, state)
      select id, 'Before ' || n, 'released' from application, generate_series(1, ${count}::int) as n
      returning id, application_id
    )
    insert into private.deliveries (kind, application_id, letter_id, state, subject, body, due_at, done_at)
    select 'letter', application_id, id, 'done', 'How to get there', 'By train.', null, now() from letter`
  await sql`vacuum analyze private.letters, private.deliveries`
}
