import { addOrganiser } from '../src/server/auth/manage-organisers.ts'
import { startDesk } from '../test/support/desk.ts'
import type { Sql } from '../src/server/database/connection/sql.ts'
import { importFrom } from './version.ts'

/**
 * Stores applications whose words are distributed as in a language: few words are in many applications, many words are in
 * few. Every tenth application has a decision. Of the newest 0.1 %, the others are declined.
 */
export async function fill(sql: Sql, count: number): Promise<void> {
  const [search] = await sql<[{ definition: string }]>`
    select indexdef as definition from pg_indexes where indexname = 'retreat_applications_search'`
  // Filling takes a third of the time if the index is dropped and created again.
  await sql.unsafe(`
    drop index public.retreat_applications_search;
    insert into public.retreat_applications (
      created_at, first_name, last_name, email, phone, linkedin, company, paid_solution, custom_solution, team_size,
      reason, consent)
    select now() - (${count} - n) * interval '20 seconds',
      (array['Ada', 'Émile', 'Grace', 'Alan', 'Zoë', 'Linus', 'Barbara', 'Ken'])[1 + n % 8], 'Name' || n % 5003,
      'p' || n || '@domain' || n % 997 || '.example', '+44 20 7946 ' || n, 'https://linkedin.com/in/p' || n,
      'Company ' || n % 4001, (array['not', 'screen', 'travel', 'work', 'custom', ''])[1 + n % 6],
      case when n % 6 = 4 then 'A cabin' else '' end, (array['just-me', '1-3', '3-10', '10+', ''])[1 + n % 5],
      'I want ' || case when n % 10 = 0 then 'silence ' else '' end
        || case when n % ${count / 2} = 7 then 'xylophone ' else '' end
        || (select string_agg('w' || (power(abs(hashint4(n * 31 + k)) / 2147483648.0, 4) * 30000)::int, ' ')
            from generate_series(1, 40) as k), true
    from generate_series(1, ${count}) as n;
    update private.deliveries
      set state = 'done', attempts = 1, done_at = now(), due_at = null, reply_status = 200;
    insert into private.statuses (application_id, created_at, status, version)
      select id, created_at, (array['shortlisted', 'accepted', 'waitlisted', 'declined'])[1 + row % 4], 1
      from (select id, created_at, row_number() over (order by created_at desc) as row
        from public.retreat_applications) as newest
      where row % 10 = 0;
    insert into private.statuses (application_id, created_at, status, version)
      select id, created_at, 'declined', 1 from (
        select * from public.retreat_applications order by created_at desc limit ${Math.round(count / 1000)}) as newest
      on conflict do nothing;
    ${search.definition}`)
  await storeMarks(sql)
  await sql`vacuum analyze`
}

/**
 * Stores marks of the newest tenth of all applications, alternately by ada@example.org, whose calls are measured, and by
 * somebody else. Earlier versions have no marks.
 */
async function storeMarks(sql: Sql) {
  const [{ exists }] = await sql<
    [{ exists: boolean }]
  >`select to_regclass('private.marks') is not null as exists`
  if (!exists) return
  await addOrganiser(sql, 'ada@example.org')
  await sql`
    insert into private.marks (application_id, account_id, author, mark)
    select newest.id, case when row % 2 = 0 then ada.id else md5('another')::uuid end,
      case when row % 2 = 0 then ada.email else 'another@example.org' end, (array['yes', 'maybe', 'no'])[1 + row % 3]
    from (select id, row_number() over (order by created_at desc) as row from public.retreat_applications) as newest
      join auth.users as ada on ada.email = 'ada@example.org'
    where row <= (select count(*) from public.retreat_applications) / 10`
}

/**
 * Starts a server with this many applications, and signs an organiser in.
 *
 * @param checkout The folder of the server's version, by default this checkout.
 */
export async function filledDesk(count: number, checkout = '.') {
  const versionModule = await importFrom<{ fill: typeof fill }>(checkout, 'bench/filled-desk.ts')
  const desk = await startDesk({}, undefined, checkout)
  await versionModule.fill(desk.sql, count)
  return { desk, client: await desk.signedIn('ada@example.org') }
}
