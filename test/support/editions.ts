import type { Sql } from '../../src/server/database/connection/sql.ts'

/**
 * Begins a retreat as the organiser who signed in last, and copies everything. Ends the hour in which an application to the
 * previous retreat counts as a retry. Returns the number of the edition.
 */
export async function beginEdition(sql: Sql, name: string): Promise<number> {
  return sql.begin(async (transaction) => {
    await transaction`
      select set_config('request.jwt.claims', jsonb_build_object('sub', user_id, 'session_id', id, 'aal', aal)::text, true)
      from auth.sessions join private.organisers on account_id = user_id order by sessions.created_at desc limit 1`
    const [shown] = await transaction<[{ edition: number }]>`
      select (desk_begin_edition(gen_random_uuid(), max(id), ${name}, null, null,
        '{"templates": true, "questions": true, "places": true}') ->> 'edition')::integer as edition
      from private.editions`
    await transaction`update private.door set repeats_until = null`
    return shown.edition
  })
}

/** Removes all retreats but the first, which only tests do. There must be no applications to them. */
export async function removeEditions(sql: Sql): Promise<void> {
  await sql`delete from private.questions where edition > 1`
  const removed = await sql`delete from private.editions where id > 1 returning id`
  if (removed.length === 0) return
  await sql`update private.door set opened_at = '-infinity'`
  await sql.unsafe('alter table public.retreat_applications alter column edition set default 1')
}
