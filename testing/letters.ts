import type { Sql } from '../src/server/database/sql.ts'

/**
 * Stores applications with a letter each that is due, as if an organiser had released it.
 *
 * @param first The number in the first one's address, `a1@example.org`.
 */
export async function storeDueLetters(sql: Sql, many: number, first = 1): Promise<void> {
  await sql`
    with application as (
      insert into public.retreat_applications (first_name, last_name, email, phone, linkedin, company, reason, consent)
      select 'Ada', 'L', 'a' || n || '@example.org', '1', 'l', 'c', 'r', true
      from generate_series(${first}::int, ${first + many - 1}::int) as n
      returning id
    ), letter as (
      insert into private.letters (application_id, template, state) select id, 'Travel', 'released' from application
      returning id, application_id
    )
    insert into private.deliveries (kind, application_id, letter_id, subject, body, author, act)
    select 'letter', application_id, id, 'How to get there', 'By train.', 'ada@example.org', gen_random_uuid() from letter`
}

/** What a delivery of a letter has that is not as usual. */
interface Trip {
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

const tripValues = ({
  kind = 'letter',
  state = 'waiting',
  subject = 's',
  body = 'b',
  author = 'bob@example.org',
  attempts = 0,
  reply = '',
  isRefused = false,
  dueIn = 0,
}: Trip) => [kind, state, subject, body, author, attempts, reply, isRefused, dueIn] as const

async function storeTrips(sql: Sql, letters: { id: string | null; application_id: string }[], trip: Trip) {
  const [kind, state, subject, body, author, attempts, reply, isRefused, dueIn] = tripValues(trip)
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

/** Releases the drafts of an application, or all, as if an organiser had; this became of them. */
export async function releaseDrafts(sql: Sql, trip: Trip, application: string | null = null): Promise<void> {
  const letters = await sql<{ id: string; application_id: string }[]>`
    update private.letters set state = 'released'
    where state = 'draft' and (${application}::uuid is null or application_id = ${application})
    returning id, application_id`
  await storeTrips(sql, letters, trip)
}

/** Stores a letter that was released, or a receipt. */
export async function storeLetter(
  sql: Sql,
  application: string,
  { template, ...trip }: Trip & { template: string },
): Promise<void> {
  const letters =
    trip.kind === 'receipt'
      ? [{ id: null, application_id: application }]
      : await sql<{ id: string; application_id: string }[]>`
          insert into private.letters (application_id, template, state) values (${application}, ${template}, 'released')
          on conflict (application_id, template) do update set state = 'released'
          returning id, application_id`
  await storeTrips(sql, letters, trip)
}

/**
 * Reads the templates that a new database has.
 *
 * @returns What brings them back.
 */
export async function templatesOf(sql: Sql): Promise<() => Promise<void>> {
  const [{ templates }] = await sql<[{ templates: unknown }]>`
    select jsonb_agg(template) as templates from private.templates as template`
  return async () => {
    await sql`delete from private.templates`
    await sql`
      insert into private.templates
      select (jsonb_populate_recordset(null::private.templates, ${JSON.stringify(templates)})).*`
  }
}
