import { readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'

import { anApplication } from '../../support/form.ts'
import { storeDueLetters } from '../../support/letters.ts'
import { claimLetter } from '../../support/claimed-emails.ts'
import { newProject } from '../../support/hosted-project.ts'
import { startPostgres, type TestPostgres } from '../../support/postgres.ts'
import { record as recordLetter } from '../../../src/server/letters/outcomes.ts'
import { visitor } from '../../../src/server/database/connection/pools.ts'
import { openDatabase } from '../../../src/server/database/database.ts'
import { insertApplications, sentRowsOf } from '../../../src/server/applications/insert-rows.ts'
import { migrations } from '../../../src/server/database/schema/migration-files.ts'
import { migrate } from '../../../src/server/database/schema/migrate.ts'
import type { Sql } from '../../../src/server/database/connection/sql.ts'
import { dataDirectory, runCommand } from '../../support/server.ts'
import { connectTo, valuesOf } from '../../support/sql.ts'
import { migrationsOf } from '../../support/released-migrations.ts'
import { identifier } from '../../../src/server/database/connection/sql.ts'

let server: TestPostgres

beforeAll(async () => {
  server = await startPostgres()
  // Roles belong to the PostgreSQL server: the first schema creates them for all databases.
  await (await open(await newDatabase('current'))).close()
})

const open = (databaseUrl: string) =>
  openDatabase({ dataDir: '/nowhere', databaseUrl }, { schema: 'migrate' })

async function newDatabase(name: string, owner = 'postgres') {
  await server.admin.unsafe(`create database ${name} owner ${owner}`)
  return server.url(name, owner)
}

/** Makes a database with the current schema. A copy takes a tenth of the time of all migrations. */
async function newCurrentDatabase(name: string) {
  await server.admin.unsafe(`create database ${name} template current strategy file_copy`)
  return server.url(name)
}

const count = async (sql: Sql) =>
  (await sql`select count(*)::int as n from public.retreat_applications`)[0]?.['n'] as number

test('a user who may not create roles gets the SQL for an administrator, which then suffices', async () => {
  const another = await startPostgres()
  await another.admin.unsafe('create role "just a user" login')
  await another.admin.unsafe('create database restricted owner "just a user"')
  const url = another.url('restricted', 'just%20a%20user')
  const failure = await open(url).then(
    () => undefined,
    (error: unknown) => error,
  )
  const message = failure instanceof Error ? failure.message : ''
  expect(message).toMatch(
    /an administrator has to run once: create role anon .* grant anon, authenticated to "just a user";$/,
  )
  await another.admin.unsafe(message.slice(message.indexOf('once: ') + 'once: '.length))
  const database = await open(url)
  await insertApplications(database.as(visitor), sentRowsOf(anApplication()))
  expect(await count(database.owner)).toBe(1)
})

test('an old PostgreSQL, a database with other tables of our names, and one that dies are refused in a sentence', async () => {
  const url = await newDatabase('old_postgres')
  const sql = connectTo(url)
  await sql.unsafe(`
    create schema old;
    create function old.current_setting(name text) returns text language sql
      return case name when 'server_version' then '14.19' when 'server_version_num' then '140019' end;
    create table public.retreat_applications ()`)
  await sql.end()
  await expect(open(`${url}?options=-c%20search_path%3Dold%2Cpg_catalog`)).rejects.toThrow(
    /^PostgreSQL at .* is version 14\.19, and 15 or later is needed\.$/,
  )
  await expect(open(url)).rejects.toThrow(
    /^The schema cannot be made: \d+_\w+ fails \(.*\), and was undone\.$/,
  )
  const { path: dataDir } = await dataDirectory('cluster')
  const dying = openDatabase(
    { dataDir, databaseUrl: undefined },
    {
      schema: 'migrate',
      onMigrated: () =>
        process.kill(
          Number.parseInt(readFileSync(join(dataDir, 'pgdata/postmaster.pid'), 'utf8'), 10),
          'SIGKILL',
        ),
    },
  )
  await expect(dying).rejects.toThrow(
    /^The database in DATA_DIR \(".*"\) was lost or cannot write \(.*\): see its postgres\.log and the disk, and begin again\.$/,
  )
})

test('a user who may create roles needs no administrator', async () => {
  const another = await startPostgres()
  await another.admin.unsafe('create role organiser login createrole')
  await another.admin.unsafe('create database organised owner organiser')
  const database = await open(another.url('organised', 'organiser'))
  await insertApplications(database.as(visitor), sentRowsOf(anApplication()))
  expect(await count(database.owner)).toBe(1)
})

test('an empty database at DATABASE_URL gets the schema, and records migrations as the Supabase CLI does', async () => {
  const database = await open(await newCurrentDatabase('fresh'))
  await insertApplications(database.as(visitor), sentRowsOf(anApplication()))
  expect(await count(database.owner)).toBe(1)
  expect(database.description).toMatch(/^PostgreSQL at 127\.0\.0\.1:\d+\/fresh$/)
  const recorded = await database.owner<
    { version: string; name: string }[]
  >`select version, name, statements[1] as text, cardinality(statements) as parts from supabase_migrations.schema_migrations order by 1`
  const files = (await readdir('supabase/migrations')).toSorted()
  expect(recorded.map(({ version, name }) => `${version}_${name}.sql`)).toEqual(files)
  expect(recorded[0]).toMatchObject({
    text: await readFile(`supabase/migrations/${files[0]}`, 'utf8'),
    parts: 1,
  })
})

test('servers that start together apply the migrations once', async () => {
  const url = await newDatabase('together')
  const applied: string[] = []
  const opening = () =>
    openDatabase(
      { dataDir: '/nowhere', databaseUrl: url },
      { schema: 'migrate', onMigrated: (names) => applied.push(...names) },
    )
  const databases = await Promise.all([opening(), opening(), opening()])
  const files = await readdir('supabase/migrations')
  // Each migration is reported by only one server.
  const names = [...files, ...(await readdir('src/server/database/migrations'))].map((file) =>
    file.slice(0, -4),
  )
  expect(applied.toSorted()).toEqual(names.toSorted())
  const recorded = await databases[0].owner`select version from supabase_migrations.schema_migrations`
  expect(recorded).toHaveLength(files.length)
  await Promise.all(databases.map((database) => database.close()))
})

test.each([
  ['nobody listens', 'postgres://u@127.0.0.1:1/d', /cannot be used .*ECONNREFUSED/],
  ['no such host', 'postgres://u@no-such-host.invalid/d', /cannot be used/],
  ['no route', 'postgres://u@255.255.255.255/d', /cannot be used/],
])(
  'a DATABASE_URL that cannot be reached (%s) is refused without showing its password',
  async (_what, url, message) => {
    const failure = open(url.replace('u@', 'u:hunter2@'))
    await expect(failure).rejects.toThrow(message)
    await expect(failure).rejects.toThrow(/^(?!.*hunter2)/)
  },
)

test('the schema changes only after a pending email has been sent, and no email is claimed meanwhile', async () => {
  const url = await newCurrentDatabase('handing_over')
  const database = await open(url)
  const { owner } = database
  await storeDueLetters(owner, 2)
  const letter = await claimLetter(owner)
  if (letter === undefined) throw new Error('nothing was claimed')
  const newer = {
    ledger: 'shared',
    version: '29990101000000',
    name: 'newer',
    sql: 'create table private.newer ()',
  } as const
  const messages: string[] = []
  const migrating = migrate(connectTo(url, 2), {
    files: [...migrations, newer],
    onEvent: (message) => messages.push(message),
  })
  await expect.poll(() => messages).toEqual([expect.stringMatching(/^waiting up to 90 s for emails/)])
  expect(await claimLetter(owner)).toBeUndefined()
  expect(await owner`select to_regclass('private.newer') as made`).toEqual([{ made: null }])
  expect(await recordLetter(owner, letter, { result: 'done', code: 250 })).toBe('done')
  expect(await migrating).toMatchObject({ applied: ['29990101000000_newer'] })
  expect(await claimLetter(owner)).toMatchObject({ attempt: 1 })
})

test.each([
  [
    'letters',
    `(application_id, occasion, state, subject, body, released_at, due_at) values
      (gen_random_uuid(), 'accepted', 'sending', '', '', now(), now() + interval '90 seconds')`,
  ],
  [
    'notices',
    `(organiser_id, subject, body, due_at) values (gen_random_uuid(), '', '', now() + interval '90 seconds')`,
  ],
])('an update of 1.0 waits for pending %s, and no email is claimed meanwhile', async (table, pending) => {
  const url = await newDatabase(`pending_${table}`)
  const sql = connectTo(url, 2)
  await migrate(sql, { files: migrationsOf('1.0.1') })
  // Without foreign keys.
  await sql.unsafe(
    `begin; set local session_replication_role = replica; insert into private.${table} ${pending}; commit`,
  )
  const messages: string[] = []
  const migrating = migrate(connectTo(url, 2), { onEvent: (message) => messages.push(message) })
  await expect.poll(() => messages).toEqual([expect.stringMatching(/^waiting up to 90 s for emails/)])
  // Each claim locks this row.
  await expect(sql`select from private.postman for update nowait`).rejects.toMatchObject({ code: '55P03' })
  await sql.unsafe(`delete from private.${table}`)
  expect((await migrating).applied).toContain('20261126000000_deliveries')
})

test('a start with a missing database fails, and the error names the database', async () => {
  await expect(open(server.url('nothing'))).rejects.toThrow(
    /cannot be used \(database "nothing" does not exist\)/,
  )
})

// break: stored-together-delivered-once
test('applications and their deliveries are stored together or not at all, even several in one statement', async () => {
  const database = await open(await newCurrentDatabase('outbox'))
  const { owner } = database
  const anon = database.as(visitor)
  await insertApplications(anon, sentRowsOf(anApplication()))
  await expect(insertApplications(anon, sentRowsOf(anApplication({ consent: false })))).rejects.toMatchObject(
    {
      code: '23514',
    },
  )
  const two = [anApplication(), anApplication()].map((row) => ({ ...row }))
  await owner`insert into public.retreat_applications ${valuesOf(two)}`
  expect(await owner`select state, attempts from private.deliveries`).toEqual(
    Array.from({ length: 3 }, () => ({ state: 'waiting', attempts: 0 })),
  )
  await owner`delete from public.retreat_applications`
  expect(await owner`select from private.deliveries`).toHaveLength(0)
})

// break: other-text-accepted
test('a start fails if the database applied another text of a migration, and the error says how to go on', async () => {
  const url = await newCurrentDatabase('edited')
  const sql = connectTo(url)
  const changeRecord = async (table: string, name: string, change: (text: string) => string[]) => {
    const [row] = await sql<[{ text: string }]>`
      select statements[1] as text from ${identifier(table)} where name = ${name}`
    await sql`update ${identifier(table)} set statements = ${change(row.text)} where name = ${name}`
    return () => sql`update ${identifier(table)} set statements = ${[row.text]} where name = ${name}`
  }
  // Changed comments and white space do not count as edits, nor does the Supabase CLI's list of statements without semicolons.
  await changeRecord('supabase_migrations.schema_migrations', 'retreat_applications', (text) =>
    text.split(/;\n/).map((statement) => `${statement}  -- as it is`),
  )
  await (await open(url)).close()
  for (const [table, name] of [
    ['supabase_migrations.schema_migrations', 'webhook_outbox'],
    ['private.server_migrations', 'sign_in'],
  ] as const) {
    const putBack = await changeRecord(table, name, (text) => [text.replace('default 0', 'default 1')])
    await expect(open(url)).rejects.toThrow(
      new RegExp(
        `^The database applied another text of \\d+_${name} than this program has\\. Nothing is lost: make a backup`,
      ),
    )
    await putBack()
  }
  await (await open(url)).close()
})

test.each(['our server', 'a hosted project'])(
  'a database of %s with another text of an unreleased migration is refused, and the error says how to go on',
  async (whose) => {
    const url =
      whose === 'our server'
        ? await newCurrentDatabase('opened')
        : (await newProject(server, 'opened_project')).url
    const sql = connectTo(url, 2)
    /** All migrations, for a project only the first two, and one that is still open to edits. */
    const withOpen = (text: string) => ({
      files: [
        ...migrations.slice(0, whose === 'our server' ? undefined : 2),
        { ledger: 'shared', version: '99990101000000', name: 'open', sql: text } as const,
      ],
    })
    expect(await migrate(sql, withOpen('select 1'))).toMatchObject({ edited: [] })
    expect(await migrate(sql, withOpen('select 1 -- one'))).toMatchObject({ applied: [], edited: [] })
    await expect(migrate(sql, withOpen('select 2'))).rejects.toThrow(
      'The database applied another text of 99990101000000_open than this program has. Nothing is lost: make a backup with the program that ran last (npm run backup), and restore it with this one into a new DATA_DIR or DATABASE_URL (npm run restore).',
    )
  },
)

test('a server reports a migration that was edited since a hosted project applied it, and starts', async () => {
  const project = await newProject(server, 'editing')
  await (await open(project.url)).close()
  await project.owner`
    update supabase_migrations.schema_migrations set statements = array['select 1'] where name = 'webhook_outbox'`
  const messages: string[] = []
  await openDatabase(
    { dataDir: '/nowhere', databaseUrl: project.url },
    { schema: 'migrate', onEvent: (message) => messages.push(message) },
  )
  expect(messages).toEqual([
    expect.stringMatching(/edited after the project applied them: \d+_webhook_outbox$/),
  ])
})

/** Applies the first two shared migrations, and records them as a server or a project of the first release did. */
async function applyFirstRelease(sql: Sql) {
  await sql.unsafe(`
    create schema supabase_migrations;
    create table supabase_migrations.schema_migrations (version text not null primary key, statements text[], name text);`)
  for (const file of (await readdir('supabase/migrations')).toSorted().slice(0, 2)) {
    await sql.unsafe(await readFile(`supabase/migrations/${file}`, 'utf8'))
    await sql`insert into supabase_migrations.schema_migrations (version) values (${file.split('_')[0] ?? ''})`
  }
}

/** Stores an application as the owner; returns its id. */
async function store(sql: Sql) {
  const [row] = await sql<[{ id: string }]>`
    insert into public.retreat_applications ${valuesOf(anApplication())} returning id`
  return row.id
}

/** Reads the deliveries from the table that the first versions had for them. */
const outboxOf = (sql: Sql) =>
  sql`select application_id, attempts, next_attempt_at, delivered_at, last_status from private.webhook_outbox order by 1`
/** Reads the same from the table that replaced it. */
const deliveriesOf = (sql: Sql) => sql`
  select id as application_id, attempts, due_at as next_attempt_at, done_at as delivered_at, reply_status as last_status
  from private.deliveries order by 1`

test('an update keeps every delivery of an existing self-hosted database, and its state', async () => {
  const url = await newDatabase('upgraded')
  const sql = connectTo(url)
  await applyFirstRelease(sql)
  const [waiting, failing, givenUp, delivered] = [
    await store(sql),
    await store(sql),
    await store(sql),
    await store(sql),
  ]
  await sql`update private.webhook_outbox set attempts = 2, last_status = 500 where application_id = ${failing}`
  await sql`update private.webhook_outbox set attempts = 10, next_attempt_at = null where application_id = ${givenUp}`
  await sql`update private.webhook_outbox set attempts = 1, next_attempt_at = null, delivered_at = now(), last_status = 200 where application_id = ${delivered}`
  const before = await outboxOf(sql)
  expect(before).toHaveLength(4)
  const database = await open(url)
  expect(await deliveriesOf(sql)).toEqual(before)
  const due = await sql`select id from private.deliveries where due_at <= now()`
  expect(due.map(({ id }) => id as string).toSorted()).toEqual([waiting, failing].toSorted())

  // A new application is queued once, as before the update.
  await insertApplications(database.as(visitor), sentRowsOf(anApplication()))
  expect(await deliveriesOf(sql)).toHaveLength(5)
})

// break: schema-change-blocks-applicants
test('applications are stored while a long read delays a change of the schema, which then succeeds', async () => {
  const url = await newCurrentDatabase('long_reader')
  await server.admin`alter database long_reader set statement_timeout = '20s'`
  const sql = connectTo(url, 2)
  const newer = {
    ledger: 'shared',
    version: '29990101000000',
    name: 'newer',
    sql: 'alter table public.retreat_applications add column newer text',
  } as const
  const messages: string[] = []
  const { migrating } = await sql.begin(async (reading) => {
    await reading`select from public.retreat_applications`
    const begun = migrate(connectTo(url, 2), {
      files: [...migrations, newer],
      onEvent: (message) => messages.push(message),
    })
    await expect
      .poll(
        () => sql`select from pg_stat_activity where wait_event_type = 'Lock' and datname = 'long_reader'`,
      )
      .toHaveLength(1)
    for (let index = 0; index < 5; index += 1) await store(sql)
    await expect
      .poll(() => messages)
      .toEqual([expect.stringMatching(/^waiting for other transactions that lock the tables/)])
    return { migrating: begun }
  })
  expect(await migrating).toMatchObject({ applied: ['29990101000000_newer'] })
  expect(await count(sql)).toBe(5)
})

test('one of two servers drops an unfinished index and builds it again, while applications are stored', async () => {
  const url = await newCurrentDatabase('building')
  const [sql, one, other] = [connectTo(url, 2), connectTo(url, 2), connectTo(url, 2)]
  const insert = (connection: Sql, phone: string) =>
    connection`insert into public.retreat_applications ${valuesOf(anApplication({ phone }))}`
  await insert(sql, '1')
  await insert(sql, '1')
  const definition = 'applications_by_phone on public.retreat_applications (phone)'
  await expect(sql.unsafe(`create unique index concurrently ${definition}`)).rejects.toMatchObject({
    code: '23505',
  })
  await sql`update public.retreat_applications set phone = id::text`
  const text = `-- Finds phones.\ncreate unique index concurrently if not exists ${definition};\n`
  const files = [
    ...migrations,
    { ledger: 'shared', version: '29990101000000', name: 'phones', sql: text } as const,
  ]
  const { building } = await sql.begin(async (transaction) => {
    await insert(transaction, '2')
    const begun = Promise.all([migrate(one, { files }), migrate(other, { files })])
    await expect
      .poll(
        () =>
          sql`select from pg_stat_activity where wait_event_type = 'Lock' and query like '%index concurrently%'`,
      )
      .toHaveLength(1)
    await insert(sql, '3')
    return { building: begun }
  })
  expect((await building).flatMap(({ applied }) => applied)).toEqual(['29990101000000_phones'])
  const indexes = await sql`
    select indisvalid as valid from pg_index where indexrelid = 'public.applications_by_phone'::regclass`
  expect(indexes).toMatchObject([{ valid: true }])
  await Promise.all([sql, one, other].map((each) => each.end()))
})

test('a migration that runs alone is applied in order, and if it fails, the migrations before it stay applied', async () => {
  const url = await newCurrentDatabase('in_turn')
  await server.admin`alter database in_turn set statement_timeout = '20s'`
  const sql = connectTo(url, 2)
  const file = (version: string, text: string) =>
    ({ ledger: 'shared', version, name: 'one', sql: text }) as const
  const constraint =
    'alter table public.retreat_applications add constraint short check (length(phone) < 9) not valid'
  const index = 'create index concurrently if not exists phones on public.retreat_applications (phone)'
  const files = [
    ...migrations,
    file('29990101000000', constraint),
    file('29990101000001', 'alter table public.retreat_applications validate constraint short'),
    file('29990101000002', index),
    file('29990101000003', 'comment on index public.phones is $$How people are called.$$'),
  ]
  await sql`insert into public.retreat_applications ${valuesOf(anApplication({ phone: '123456789' }))}`
  await expect(migrate(sql, { files })).rejects.toMatchObject({ code: '23514' })
  const recorded = () =>
    sql`select version from supabase_migrations.schema_migrations where version > '2999' order by 1`
  expect(await recorded()).toMatchObject([{ version: '29990101000000' }])
  await sql`update public.retreat_applications set phone = '1'`
  expect((await migrate(sql, { files })).applied).toHaveLength(3)
  expect(await recorded()).toHaveLength(4)
})

test('a deadline set by an organiser still counts as set after the update that adds a column for this', async () => {
  const url = await newDatabase('days')
  const sql = connectTo(url, 2)
  await migrate(sql, { files: migrations.filter(({ version }) => version < '20261125000100') })
  const [withSetDeadline, withComputedDeadline] = [await store(sql), await store(sql)]
  await sql`
    insert into private.acceptances (application_id, is_accepted, kept_until)
    select id, true, '2026-12-24' from public.retreat_applications`
  await sql`insert into private.history (application_id, author, kind) values (${withSetDeadline}, 'ada@example.org', 'kept')`
  await migrate(sql)
  const rows = await sql<{ id: string; is_set: boolean }[]>`
    select application_id as id, is_deadline_set as is_set from private.invitations`
  expect(new Map(rows.map(({ id, is_set }) => [id, is_set]))).toEqual(
    new Map([
      [withSetDeadline, true],
      [withComputedDeadline, false],
    ]),
  )
})

test('a link, a reminder, an RSVP and an address survive the update that moves them to other tables', async () => {
  const url = await newDatabase('invited')
  const sql = connectTo(url, 2)
  await migrate(sql, { files: migrationsOf('1.0.1') })
  const id = await store(sql)
  const token = crypto.randomUUID()
  await sql`
    insert into private.acceptances (application_id, token, is_accepted, told_at, kept_until, answer, answered_at)
    values (${id}, ${token}, true, '2026-12-14', '2026-12-24', 'not coming', '2026-12-16')`
  await sql`
    insert into private.letters (application_id, occasion, edition, state, subject, body, released_at, sent_at)
    select ${id}, occasion, edition, 'sent', '', '', sent_at, sent_at
    from (values ('reminder', 1, timestamptz '2026-12-17'), ('reminder', 2, '2026-12-18'), ('accepted', 1, '2026-12-19'))
      as sent (occasion, edition, sent_at)`
  for (const address of ['first@example.org', 'last@example.org'])
    await sql`
      insert into private.history (application_id, author, kind, detail)
      values (${id}, 'ada@example.org', 'address', ${JSON.stringify({ address })})`
  await migrate(sql)
  expect(
    await sql`
      select application_id, token, is_accepted, told_at::date::text as told, deadline::text, is_deadline_set, rsvp,
        rsvp_at::date::text as rsvp_on, reminded_at::date::text as reminded, private.address_of(application_id, 'given@example.org') as address
      from private.invitations`,
  ).toEqual([
    {
      application_id: id,
      token,
      is_accepted: true,
      told: '2026-12-14',
      deadline: '2026-12-24',
      is_deadline_set: false,
      rsvp: 'not coming',
      rsvp_on: '2026-12-16',
      reminded: '2026-12-18',
      address: 'last@example.org',
    },
  ])
})

test('an update finds letters such as ł in every application, also in long ones that were stored at its last moment', async () => {
  const sql = connectTo(await newDatabase('letters_of_names'), 3)
  await migrate(sql, { files: migrations.filter(({ version }) => version < '20261129110000') })
  const storeBoth = async (connection: Sql) => {
    for (const reason of ['łąka', `łąka ${'dłuższy tekst '.repeat(200)}`])
      await connection`insert into public.retreat_applications ${valuesOf(anApplication({ first_name: 'Łukasz', reason }))}`
  }
  await storeBoth(sql)
  await migrate(sql, { files: migrations.filter(({ version }) => version < '20261129110100') })
  await storeBoth(sql)
  const countFound = async (word: string, blind: boolean) => {
    const [row] = await sql<[{ found: number }]>`
      select cardinality(hits) as found from private.search(${word}, ${blind})`
    return row.found
  }
  // Searches fold as the index does, until both change together.
  expect(await countFound('łukasz', false)).toBe(4)
  const { updating } = await sql.begin(async (transaction) => {
    await storeBoth(transaction)
    const begun = migrate(sql)
    await expect
      .poll(
        () =>
          sql`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
      )
      .toHaveLength(1)
    return { updating: begun }
  })
  await updating
  expect(await countFound('lukasz', false)).toBe(6)
  expect(await countFound('łukasz', false)).toBe(6)
  // Organisers who read blind search the stored vectors of long applications.
  expect(await countFound('laka', true)).toBe(6)
  const stored = await sql`
    select from private.search_vectors join public.retreat_applications as application on id = application_id
    where vector = strip(private.words(application, false)) and blind_vector = strip(private.words(application, true))`
  expect(stored).toHaveLength(3)
})

test('no new migration blocks applicants while it builds an index or checks a constraint', () => {
  const blocking = migrations.filter(({ version, sql }) => {
    const text = sql.replaceAll(/--.*/g, '')
    const newTables = [...text.matchAll(/create table (?:if not exists )?([\w.]+)/g)].map(([, name]) => name)
    const indexes = [...text.matchAll(/create (?:unique )?index (?!concurrently).*? on ([\w.]+)/gs)]
    const constraints = [
      ...text.matchAll(/alter table ([\w.]+)[^;]*\badd (?:constraint|check|foreign)\b[^;]*;/g),
    ]
    return (
      // Earlier migrations are released, and can no longer be changed.
      version > '20261125000100' &&
      [...indexes, ...constraints.filter(([statement]) => !/ not valid\b/.test(statement))].some(
        ([, table]) => !newTables.includes(table),
      )
    )
  })
  expect(
    blocking.map(({ name }) => name),
    'These migrations block applicants. docs/decisions/0041 says how to avoid it.',
  ).toEqual([])
})

test('an existing self-hosted database that never had a webhook keeps its waiting deliveries', async () => {
  const url = await newDatabase('waiting')
  const sql = connectTo(url)
  await applyFirstRelease(sql)
  await store(sql)
  await store(sql)
  const before = await outboxOf(sql)
  await open(url)
  expect(await deliveriesOf(sql)).toEqual(before)
  expect(before.every(({ next_attempt_at }) => next_attempt_at !== null)).toBe(true)
})

test("an updated hosted project queues deliveries only after a server's first start, and earlier ones are not due", async () => {
  const project = await newProject(server)
  await applyFirstRelease(project.owner)
  const before = [await store(project.owner), await store(project.owner)]
  // Does the same as `supabase db push` of this version.
  for (const file of (await readdir('supabase/migrations')).toSorted().slice(2)) {
    await project.owner.unsafe(await readFile(`supabase/migrations/${file}`, 'utf8'))
    await project.owner`
      insert into supabase_migrations.schema_migrations (version) values (${file.split('_')[0] ?? ''})`
  }
  const unqueued = await store(project.owner)
  const queued = async () =>
    (await deliveriesOf(project.owner)).map(({ application_id }) => application_id as string).toSorted()
  expect(await queued()).toEqual(before.toSorted())

  const database = await open(project.url)
  const after = await store(project.owner)
  const due = async () => {
    const rows = await project.owner`
      select id from private.deliveries where due_at is not null`
    return rows.map(({ id }) => id as string)
  }
  expect(await due()).toEqual([after])
  expect(await queued()).not.toContain(unqueued)
  await database.close()

  // A second start leaves the waiting delivery due.
  await open(project.url)
  expect(await due()).toEqual([after])
})

test('a hosted project from which a server has delivered keeps its waiting deliveries', async () => {
  const project = await newProject(server, 'delivering')
  await applyFirstRelease(project.owner)
  const [delivered, waiting] = [await store(project.owner), await store(project.owner)]
  await project.owner`
    update private.webhook_outbox set attempts = 1, next_attempt_at = null, delivered_at = now()
    where application_id = ${delivered}`
  await open(project.url)
  const due = await project.owner`select id from private.deliveries where due_at is not null`
  expect(due).toEqual([{ id: waiting }])
})

test("a start fails if the schema auth is neither ours nor Supabase's, and the error names it", async () => {
  const url = await newDatabase('foreigner')
  const sql = connectTo(url)
  await sql`create schema auth`
  await expect(open(url)).rejects.toThrow(/^The database has a schema "auth" that is not Supabase's: /)
  expect(await sql`select to_regclass('public.retreat_applications') as there`).toEqual([{ there: null }])
})

test('a command changes no schema: it works with one of 1.1.0, and says so if it needs a newer one or there is none', async () => {
  const url = await newDatabase('older')
  const sql = connectTo(url, 2)
  const list = (format: string) => runCommand(['applications', format], { DATABASE_URL: url })
  const refused = (sentence: RegExp) => ({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(sentence) as string,
  })
  expect(await list('--json')).toMatchObject(refused(/holds no applications yet: start the server once/))
  await migrate(sql, { files: migrationsOf('1.0.1') })
  const id = await store(sql)
  const schema = () =>
    sql`select nspname || '.' || relname as name from pg_class join pg_namespace on relnamespace = pg_namespace.oid
      where nspname in ('public', 'private', 'supabase_migrations') order by 1`
  const before = await schema()
  expect(await list('--json')).toMatchObject(
    refused(/The database is of an older version than this command needs: start the server once/),
  )
  expect(await schema()).toEqual(before)
  await migrate(sql, { files: migrationsOf('1.1.0') })
  expect(await list('--csv')).toMatchObject({ code: 0, stdout: expect.stringContaining(id) as string })
})

test.each(['supabase_migrations.schema_migrations', 'private.server_migrations'])(
  'servers and commands refuse a schema that a newer version recorded in %s',
  async (ledger) => {
    const url = await newCurrentDatabase(`newer_${ledger.split('_')[0]?.replace('.', '_')}`)
    const sql = connectTo(url)
    await sql`insert into ${identifier(ledger)} (version) values ('29990101000000')`
    await sql.end()
    const sentence = /^The database was updated by a newer version of this program/
    await expect(open(url)).rejects.toThrow(sentence)
    const check = openDatabase({ dataDir: '/nowhere', databaseUrl: url }, { schema: 'check' })
    await expect(check).rejects.toThrow(sentence)
  },
)

test('a migration is not kept waiting by an autovacuum', async () => {
  const { admin } = await startPostgres()
  for (const setting of ["autovacuum_naptime = '1s'", "autovacuum_vacuum_cost_delay = '50ms'"])
    await admin.unsafe(`alter system set ${setting}`)
  await admin`select pg_reload_conf()`
  await admin`create table public.applicants as select id, repeat('x', 300) as text from generate_series(1, 100000) as id`
  await admin`update public.applicants set text = text || 'y'`
  await expect
    .poll(() => admin`select from pg_stat_activity where query like 'autovacuum: VACUUM % public.applicants'`)
    .toHaveLength(1)
  await admin.begin(async (transaction) => {
    await transaction`set local lock_timeout = '1s'`
    await transaction`lock table public.applicants in share row exclusive mode`
  })
})
