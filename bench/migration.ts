import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

import { ensureCluster } from '../src/server/database/postgres/cluster.ts'
import { migrate } from '../src/server/database/schema/migrate.ts'
import type { Sql } from '../src/server/database/connection/sql.ts'
import { migrationsOf } from '../test/support/released-migrations.ts'
import { temporaryDirectory } from '../test/support/server.ts'
import { connectToEmbedded } from '../test/support/sql.ts'
import { printTable, checkGuarantee } from './table.ts'

const applicationCount = 1_000_000
/** The number of letters in each state, each to its own applicant. */
const lettersPerState = applicationCount / 10
/** One letter in this many also has a row for the automation, its twin. `states` has the twin's state for each letter's state. */
const twinEvery = 4
/** Milliseconds between two applications that are sent during the update. */
const interval = 100
/** The most seconds without service that an update may take. */
const maxSeconds = 120

/** The releases whose databases are updated. */
const releases = ['1.0.0', '1.0.1', '1.1.0', '1.2.0', '1.2.1'] as const
/** The states of letters in these releases, and the states of their twins. */
const states = {
  draft: undefined,
  waiting: 'waiting',
  sending: 'waiting',
  sent: 'sent',
  refused: 'given up',
  'given up': 'waiting',
  withdrawn: 'withdrawn',
} as const
const letterStates = Object.keys(states) as (keyof typeof states)[]

/** The expected rows after the update. A twin in the state `waiting` has no delivery yet, since its email was not sent. */
const expected = {
  applications: applicationCount,
  'letters draft': lettersPerState,
  'letters released': 5 * lettersPerState,
  'letters dropped': lettersPerState,
  'deliveries application': applicationCount,
  'deliveries letter': 6 * lettersPerState,
  'deliveries decision': (3 * lettersPerState) / twinEvery,
  'deliveries rsvp': lettersPerState,
  invitations: 7 * lettersPerState,
}

const sqlArray = (values: readonly (string | undefined)[]) =>
  `(array[${values.map((value) => (value === undefined ? 'null' : `'${value}'`)).join(', ')}])`

/** Fills a database of 1.0.0 or 1.0.1, which have the same columns. Triggers do not run meanwhile. */
async function fill(sql: Sql) {
  const [search] = await sql<[{ definition: string }]>`
    select indexdef as definition from pg_indexes where indexname = 'retreat_applications_search'`
  await sql.unsafe(`
    set session_replication_role = replica;
    drop index public.retreat_applications_search;
    insert into public.retreat_applications (
      id, created_at, first_name, last_name, email, phone, linkedin, company, paid_solution, team_size, reason, consent)
    select md5('a' || n)::uuid, now() - (${applicationCount} - n) * interval '20 seconds', 'Ada', 'Lovelace ' || n,
      'ada.' || n || '@example.com', '+44 (20) 7946 0958', 'in/ada', 'Analytical Engines', 'travel', '3-10',
      'To think. Without a screen. ' || n, true
    from generate_series(1, ${applicationCount}) as n;
    ${search.definition};
    insert into private.webhook_outbox (
      application_id, attempts, next_attempt_at, delivered_at, last_status, queued_at, last_answer)
    select id, 1, null, created_at, 200, created_at, '' from public.retreat_applications;
    insert into private.statuses (application_id, created_at, status, version)
    select id, created_at, 'accepted', 1
    from generate_series(1, ${7 * lettersPerState}) as n join public.retreat_applications on id = md5('a' || n)::uuid;
    insert into private.acceptances (application_id, is_accepted, told_at, kept_until)
    select application_id, true, created_at, '2027-03-01' from private.statuses;
    create temporary table rows as
    select md5('a' || n)::uuid as application_id, md5('act' || n)::uuid as act, n % ${twinEvery} = 0 as has_twin,
      ${sqlArray(letterStates)}[1 + (n - 1) / ${lettersPerState}] as mail, ${sqlArray(Object.values(states))}[1 + (n - 1) / ${lettersPerState}] as twin
    from generate_series(1, ${7 * lettersPerState}) as n;
    insert into private.letters (application_id, occasion, edition, way, state, act, author, subject, body, released_at, due_at,
      attempts, sent_at, withdrawn_at, withdrawn_by, answer)
    select application_id, 'accepted', 1, way, state, case when state <> 'draft' then act end,
      case when state <> 'draft' then 'ada@example.org' end, case when state <> 'draft' then 'Your application to Unplugged' end,
      case when state <> 'draft' then repeat('We would love to have you with us for a week. ', 12) end,
      case when state <> 'draft' then now() - interval '1 day' end,
      -- A waiting letter is due in an hour. The claim on a letter that is being sent has expired, as after a server was killed:
      -- an update would wait for other claims.
      case state when 'waiting' then now() + interval '1 hour' when 'sending' then now() end,
      case when state in ('draft', 'waiting', 'withdrawn') then 0 else 1 end, case when state = 'sent' then now() end,
      case when state = 'withdrawn' then now() end, case when state = 'withdrawn' then 'ada@example.org' end, ''
    from rows cross join lateral (
      values ('mail', mail), ('automation', case when has_twin then twin end)) as letter (way, state)
    where state is not null;
    insert into private.history (application_id, author, kind, detail)
    select application_id, '', 'answer', '{"answer": "coming"}' from rows where mail = 'sent';
    insert into private.answer_outbox (answer_id, application_id) select id, application_id from private.history;
    drop table rows;
    reset session_replication_role`)
  await sql`vacuum analyze`
  await sql`checkpoint`
}

/** Adds up the bytes of the files below a folder. A file that disappears meanwhile counts as zero. */
async function sizeOf(folder: string): Promise<number> {
  const files = await readdir(folder, { recursive: true }).catch(() => [])
  const sizes = await Promise.all(
    files.map(async (file) => ((await stat(join(folder, file)).catch(() => undefined))?.blocks ?? 0) * 512),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** Repeats work with pauses. Returns a function that ends the loop. */
function startRepeating(work: () => Promise<unknown>, pause: number) {
  let isEnding = false
  const loop = async () => {
    while (!isEnding) {
      await work()
      await wait(pause)
    }
  }
  const ended = loop()
  return async () => {
    isEnding = true
    await ended
  }
}

async function countRows(sql: Sql): Promise<Record<string, number>> {
  const rows = await sql<{ name: string; n: number }[]>`
    select 'applications' as name, count(*)::int as n from public.retreat_applications where company <> 'Meanwhile'
    union all select 'letters ' || state, count(*)::int from private.letters group by 1
    union all select 'deliveries ' || kind, count(*)::int from private.deliveries
      where kind <> 'application' or state = 'done' group by 1
    union all select 'invitations', count(*)::int from private.invitations`
  return Object.fromEntries(rows.map(({ name, n }) => [name, n]))
}

/** The size in bytes of the tables that the migrations to 1.1.0 copy, with their indexes. */
async function copiedBytes(sql: Sql): Promise<number> {
  const [row] = await sql<[{ bytes: string }]>`
    select sum(pg_total_relation_size(name::regclass))::text as bytes
    from unnest('{private.letters,private.webhook_outbox,private.answer_outbox,private.notices,private.acceptances}'::text[]) as name`
  return Number(row.bytes)
}

/** Measures how long applicants wait during an update from each release, with a million applications and all kinds of letters. */
export async function benchMigration(): Promise<void> {
  for (const release of releases) await updateFrom(release)
}

async function updateFrom(release: (typeof releases)[number]) {
  const directory = await temporaryDirectory()
  const cluster = await ensureCluster(directory.path, true)
  const sql = connectToEmbedded(directory.path, 2)
  // A database of a later release has the rows of an earlier one, as its own update left them.
  const filledBy = release === '1.0.0' ? release : '1.0.1'
  await migrate(sql, { files: migrationsOf(filledBy) })
  const visitorSql = connectToEmbedded(directory.path)
  await fill(visitorSql)
  if (release !== filledBy) {
    await migrate(sql, { files: migrationsOf(release) })
    await sql`vacuum analyze`
    await sql`checkpoint`
  }
  const copied = release === filledBy ? await copiedBytes(sql) : 0
  const pgdata = join(directory.path, 'pgdata')
  const before = { all: await sizeOf(pgdata), wal: await sizeOf(join(pgdata, 'pg_wal')) }
  const peak = { all: 0, wal: 0 }
  const stopMeasuring = startRepeating(async () => {
    peak.all = Math.max(peak.all, (await sizeOf(pgdata)) - before.all)
    peak.wal = Math.max(peak.wal, (await sizeOf(join(pgdata, 'pg_wal'))) - before.wal)
  }, interval)
  const waits: number[] = []
  const stopApplying = startRepeating(async () => {
    const began = performance.now()
    await visitorSql`
      insert into public.retreat_applications (first_name, last_name, email, phone, linkedin, company, reason, consent)
      values ('a', 'b', ${`meanwhile.${waits.length}@example.com`}, 'd', 'e', 'Meanwhile', 'g', true)`
    waits.push((performance.now() - began) / 1000)
  }, interval)
  await wait(10 * interval)
  const began = performance.now()
  await migrate(sql, { onEvent: (message) => console.log(message) })
  const updateSeconds = (performance.now() - began) / 1000
  await wait(10 * interval)
  await stopApplying()
  await stopMeasuring()
  const rowCounts = await countRows(sql)
  for (const [name, count] of Object.entries(expected)) {
    if (rowCounts[name] !== count) throw new Error(`${name}: ${rowCounts[name]} rows, not ${count}`)
  }
  const longestWait = Math.max(...waits)
  const megabytes = (bytes: number) => (bytes / 2 ** 20).toLocaleString('en', { maximumFractionDigits: 0 })
  printTable(
    `An update from ${release} over ${applicationCount.toLocaleString('en')} applications and ${lettersPerState.toLocaleString('en')} letters in each of ${letterStates.length} states`,
    [
      'without service, s',
      'in all, s',
      'rows copied, MB',
      'disk growth at its peak, MB',
      'WAL growth at its peak, MB',
    ],
    [
      [
        longestWait.toFixed(1),
        updateSeconds.toFixed(1),
        megabytes(copied),
        megabytes(peak.all),
        megabytes(peak.wal),
      ],
    ],
  )
  checkGuarantee(`less than ${maxSeconds} s without service`, longestWait < maxSeconds)
  await visitorSql.end()
  await sql.end()
  await cluster.stop()
  await directory.remove()
}
