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
