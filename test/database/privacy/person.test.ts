import type { SupabaseClient } from '@supabase/supabase-js'
import { beforeAll, beforeEach, expect, test } from 'vitest'

import { anApplication } from '../../support/form.ts'
import { resetDatabase } from '../../support/reset.ts'
import { startSignIn, type SignInServer } from '../../support/sign-in-server.ts'
import { valuesOf } from '../../support/sql.ts'
import { questions } from '../../../src/application/fields.ts'
import type { AllAbout } from '../../../src/client/desk/person.ts'
import type { Sql } from '../../../src/server/database/connection/sql.ts'

let server: SignInServer
let sql: Sql
let organiser: SupabaseClient
let organiserId: string

beforeAll(async () => {
  server = await startSignIn()
  sql = server.database.owner
  organiser = (await server.signedIn('grace@example.org')).client
  organiserId = (await organiser.auth.getUser()).data.user?.id ?? ''
})

beforeEach(async () => {
  await resetDatabase(sql)
  await sql`delete from auth.users where email <> 'grace@example.org'`
})

const person = 'ada@example.com'

/** Stores an application with rows in every table that has something about it. `word` is in each of its texts. */
async function storeEverything(email: string, word: string): Promise<string> {
  const texts = {
    first_name: word,
    last_name: word,
    phone: word,
    linkedin: word,
    company: word,
    reason: word,
  }
  const [{ id }] = await sql<[{ id: string }]>`
    insert into public.retreat_applications ${valuesOf({ ...anApplication({ ...texts, email, custom_solution: word }), created_at: '2026-12-01T10:00Z' })}
    returning id`
  const [question] = await sql<[{ id: string }]>`
    insert into private.questions (edition, position, kind, text, is_required, is_private)
    values (1, 1, 'short', 'Whom do we call?', false, true) returning id`
  const [letter] = await sql<[{ id: string }]>`
    insert into private.letters (application_id, template, state, subject, body)
    values (${id}, null, 'released', ${word}, ${word}) returning id`
  await sql`
    insert into private.statuses (application_id, created_at, status, version) values (${id}, '2026-12-01T10:00Z', 'accepted', 3)`
  await sql`update private.invitations set rsvp = 'coming', rsvp_at = now(), told_at = now(), reminded_at = now(),
    deadline = '2027-01-01' where application_id = ${id}`
  await sql`insert into private.marks (application_id, account_id, author, mark, why)
    values (${id}, gen_random_uuid(), 'tim@example.org', 'no', ${word})`
  await sql`insert into private.withdrawal_links (application_id) values (${id})`
  await sql`insert into private.holds (application_id, reason, held_by) values (${id}, ${word}, 'tim@example.org')`
  await sql`insert into private.addresses values (${id}, ${`${word}@example.net`})`
  await sql`insert into private.question_answers values (${id}, ${question.id}, ${word})`
  const [event] = await sql<[{ id: string; act: string }]>`
    insert into private.history (application_id, author, kind, detail)
    values (${id}, 'applicant', 'answer', '{"answer": "coming"}') returning id, act`
  await sql`insert into private.history (application_id, author, kind, detail)
    values (${id}, 'tim@example.org', 'note', jsonb_build_object('note', ${word}::text))`
  await sql`insert into private.acts (act, account_id, call, given, result)
    values (${event.act}, ${organiserId}, 'desk_set_answer', 'x', null),
      (gen_random_uuid(), ${organiserId}, 'desk_decide', 'x', jsonb_build_array(
        jsonb_build_object('id', ${id}::text, 'outcome', ${word}::text)))`
  const done = {
    state: 'done',
    due_at: null,
    done_at: '2026-12-02T10:00Z',
    subject: word,
    body: word,
    reply: word,
  }
  const about = { application_id: id, organiser_id: null, event_id: null, letter_id: null, mailbox: null }
  await sql`insert into private.deliveries ${valuesOf([
    { kind: 'letter', ...done, ...about, letter_id: letter.id },
    { kind: 'receipt', ...done, ...about, mailbox: `${word}@example.com` },
    { kind: 'rsvp', ...done, ...about, event_id: event.id },
    { kind: 'notice', ...done, ...about, organiser_id: organiserId },
  ])}`
  await sql`insert into private.failures (delivery_id, address)
    select id, ${`${word}@example.net`} from private.deliveries where letter_id = ${letter.id}`
  await sql`insert into private.deliveries (kind, organiser_id, since, until)
    values ('notice', ${organiserId}, '2026-12-01T09:00Z', '2026-12-01T11:00Z')`
  return id
}

async function allAbout(email: string, from: Sql = sql): Promise<AllAbout> {
  const [{ about }] = await from<[{ about: AllAbout }]>`select private.all_about(${email}) as about`
  return about
}
const ask = (application: string, client = organiser) => client.rpc('desk_all_about', { application })

/** The tables that the result leaves out, each with the reason. */
const leftOutTables: Record<string, string> = {
  'private.announcements': 'the days on which servers announced an erasing',
  'private.door': 'the door, for everybody',
  'private.erasures': 'digests of random ids of applications and answers that are gone',
  'private.first_steps': 'the steps before the first retreat, for everybody',
  'private.installation': 'the id of the database',
  'private.letter_settings': 'settings of all letters',
  'private.page': 'words of the page, for everybody',
  'private.places': 'settings of the retreat',
  'private.postman': 'the state of the mail sender',
  'private.retention': 'how long applications are kept',
  'private.templates': 'texts for everybody',
  'private.visits': 'numbers of visits, without anything about a person',
  'private.decoys': 'invented rows, so that a wrong code takes as long as for an account',
  'private.signing_keys': 'keys of the server',
  'private.server_migrations': 'the version of the schema',
  'private.mail_requests': 'digests of addresses that asked for a sign-in email, for a minute',
  'private.password_tries': 'digests of addresses at which a password was tried, for a quarter of an hour',
  'private.seen_notes': 'up to when organisers have seen the notes, which the result has',
  'private.search_vectors': 'the words of the form answers, which the result has',
  // The rest is about the account of a person who is an organiser too. The result's `account` has what the desk shows of it.
  'private.account_counts': 'tries to sign in to an account, for an hour',
  'auth.identities': 'repeats the email of the account',
  'auth.flow_state': 'a sign-in that is not finished, with secrets',
  'auth.mfa_amr_claims': 'how a session of an account was signed in',
  'auth.mfa_challenges': 'a second factor that is being entered',
  'auth.mfa_factors': 'secrets of an account',
  'auth.one_time_tokens': 'secrets of an account',
  'auth.sessions': 'secrets of an account',
}

/** The columns of all other tables that the result leaves out, by the reason. */
const leftOutColumns: Record<string, readonly string[]> = {
  'a secret: whoever has it can answer for the person; `has_link` says that there is one': [
    'private.invitations.token',
  ],
  'a secret: whoever has it can withdraw the application; `has_withdrawal_link` says that there is one': [
    'private.withdrawal_links.token',
  ],
  'a digest of what was sent, with the link among it': ['private.acts.given', 'private.history.given'],
  'the account of an organiser, whose email is beside it': [
    'private.history.author_id',
    'private.marks.account_id',
    'private.organisers.account_id',
  ],
  'a number that only connects rows: a delivery names the event by its act': ['private.history.id'],
  'a copy of what the application says': ['private.statuses.created_at', 'private.statuses.edition'],
  'about the retreat and its questions, not about the person': [
    ...[
      'began_at',
      'calendar_sequence',
      'questions_version',
      'questions_until',
      'private_days',
      'places',
    ].map((column) => `private.editions.${column}`),
    ...['edition', 'position', 'kind', 'choices', 'is_required'].map(
      (column) => `private.questions.${column}`,
    ),
  ],
  'when the next notice to an organiser is due': [
    'private.organisers.told_until',
    'private.organisers.day_due_at',
  ],
  'which notes are new to an organiser': ['private.organisers.notes_from'],
  'how an account signs in': [
    'aud',
    'role',
    'encrypted_password',
    'email_confirmed_at',
    'recovery_sent_at',
    'reauthentication_sent_at',
    'email_change',
    'email_change_sent_at',
    'raw_app_meta_data',
    'raw_user_meta_data',
    'updated_at',
  ].map((column) => `auth.users.${column}`),
}

/** For each type, a value that no row has, and how JSON shows it. A boolean is inverted instead. */
const sentinels: Record<string, readonly [sql: string, json: string]> = {
  text: [`'a sentinel'`, 'a sentinel'],
  uuid: [`'5e171e15-0000-4000-8000-000000000000'`, '5e171e15-0000-4000-8000-000000000000'],
  integer: ['424242', '424242'],
  bigint: ['424242', '424242'],
  date: [`'2042-04-02'`, '2042-04-02'],
  'timestamp with time zone': [`'2042-04-02 04:02+00'`, '2042-04-02T04:02'],
  jsonb: [`'{"sentinel": true}'`, '"sentinel":true'],
}

interface Column {
  table: string
  name: string
  type: string
  isKey: boolean
}

/** The columns of all tables. `isKey`: it finds or connects rows, so a change of it may remove its row from the result. */
const readColumns = (from: Sql) => from<Column[]>`
  select format('%s.%s', relnamespace::regnamespace, relname) as table, attname as name,
    format_type(atttypid, null) as type, attname in ('email', 'edition') or attname like '%\\_id' or exists (
      select from pg_constraint where conrelid = attrelid and contype in ('p', 'f') and conkey @> array[attnum]
    ) as "isKey"
  from pg_attribute join pg_class on attrelid = pg_class.oid
  where relnamespace::regnamespace::text in ('public', 'private', 'auth') and relkind = 'r' and attnum > 0 and not attisdropped
  order by 1, attnum`

/** Changes each column, in one row after the other. Returns the columns of which no change appears in the result. */
async function missingColumns(from: Sql, email: string) {
  const excluded = new Set(Object.values(leftOutColumns).flat())
  const columns = (await readColumns(from)).filter(
    ({ table, name }) => leftOutTables[table] === undefined && !excluded.has(`${table}.${name}`),
  )
  // Without constraints, any value fits. The transaction is rolled back.
  await from.unsafe(`
    set local session_replication_role = replica;
    do $$ declare one record; begin
      for one in select conname, conrelid::regclass as name from pg_constraint where contype = 'c' and conrelid > 0 loop
        execute format('alter table %s drop constraint %I', one.name, one.conname);
      end loop;
    end $$`)
  const before = JSON.stringify(await allAbout(email, from))
  const missing: string[] = []
  for (const { table, name, type, isKey } of columns) {
    const [value, json] = sentinels[type] ?? [`not "${name}"`, undefined]
    const rows = await from.unsafe<{ row: string }[]>(`select ctid::text as row from ${table}`)
    let isContained = false
    for (const { row } of rows) {
      await from.unsafe('savepoint unchanged')
      await from.unsafe(`update ${table} set "${name}" = ${value} where ctid = '${row}'`)
      const after = JSON.stringify(await allAbout(email, from))
      await from.unsafe('rollback to savepoint unchanged')
      isContained ||= json === undefined || isKey ? after !== before : after.includes(json)
    }
    if (!isContained) missing.push(`${table}.${name}`)
  }
  return missing
}

/** Runs `work` in a transaction that is rolled back. */
async function runAndUndo<Result>(work: (transaction: Sql) => Promise<Result>): Promise<Result> {
  const undo = new Error('to be undone')
  let result: Result | undefined
  await sql
    .begin(async (transaction) => {
      result = await work(transaction)
      throw undo
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error
    })
  return result as Result
}

/** The person's own account, since an organiser may apply. */
const storeAccount = () => sql`
  with account as (insert into auth.users (email, last_sign_in_at) values (${person}, now()) returning id)
  insert into private.organisers (account_id) select id from account`

// break: person-lacks-mark-line
test('every column of every table with something about a person is in the result, or is left out for a reason', async () => {
  await storeEverything(person, 'word')
  await storeAccount()
  expect(await runAndUndo((transaction) => missingColumns(transaction, person))).toEqual([])
})

test('a new column and a new table are reported until the result has them', async () => {
  await storeEverything(person, 'word')
  await storeAccount()
  const missing = await runAndUndo(async (transaction) => {
    await transaction.unsafe(`
      alter table private.marks add column mood text;
      create table private.diets (application_id uuid, diet text);
      insert into private.diets select id, 'none' from public.retreat_applications`)
    return missingColumns(transaction, person)
  })
  expect(missing).toEqual(['private.diets.application_id', 'private.diets.diet', 'private.marks.mood'])
})

test('every table and column that is left out exists', async () => {
  const columns = await readColumns(sql)
  const names = new Set(columns.flatMap(({ table, name }) => [table, `${table}.${name}`]))
  expect(
    [...Object.keys(leftOutTables), ...Object.values(leftOutColumns).flat()].filter(
      (name) => !names.has(name),
    ),
  ).toEqual([])
})

test('the result has the consent word for word as in the form, with the time at which it was given', async () => {
  await storeEverything(person, 'word')
  const [application] = (await allAbout(person)).applications
  expect(application?.consent).toEqual({
    given: true,
    sentence: questions.consent,
    added_by: null,
    at: '2026-12-01T10:00:00+00:00',
  })
})

// break: person-names-others
// break: person-has-token
test('the result has nothing about another person, and no secret', async () => {
  const id = await storeEverything(person, 'word')
  const other = await storeEverything('tim@example.com', 'stranger')
  await sql`update private.acts set result = result || jsonb_build_array(jsonb_build_object('id', ${other}::text))
    where result is not null`
  const text = JSON.stringify(await allAbout(person))
  expect(text).not.toContain('stranger')
  expect(text).not.toContain(other)
  const secrets = await sql<{ secret: string }[]>`
    select token::text as secret from private.invitations union all select given || given from private.acts`
  for (const { secret } of secrets) expect(text).not.toContain(secret)
  expect(JSON.parse(text)).toMatchObject({ applications: [{ id, invitation: { has_link: true } }] })
})

test('a person is found by their email in upper or lower case', async () => {
  const id = await storeEverything('Ada@Example.com', 'word')
  expect((await allAbout(' ada@example.COM ')).applications.map((application) => application.id)).toEqual([
    id,
  ])
  expect(await allAbout('nobody@example.com')).toEqual({
    email: 'nobody@example.com',
    applications: [],
    left_out: 0,
    by_address: [],
    account: null,
  })
})

// break: person-has-mistyped-address
test('an application to which only a replaced address leads is apart, with that address, since organisers mistype, too', async () => {
  const store = async (email: string) => {
    const [{ id }] = await sql<[{ id: string }]>`
      insert into public.retreat_applications ${valuesOf({ ...anApplication({ email }) })} returning id`
    return id
  }
  const first = await store('ada@exampel.com')
  for (const address of ['ada@middle.example', person]) {
    await sql`insert into private.addresses values (${first}, ${address})
      on conflict (application_id) do update set address = excluded.address`
    await sql`insert into private.history (application_id, author, kind, detail)
      values (${first}, 'tim@example.org', 'address', jsonb_build_object('address', ${address}::text))`
  }
  const [middle, second] = [await store('ADA@middle.example'), await store(person)]
  await store('tim@example.com')
  const partsOf = ({ applications, by_address }: AllAbout) => ({
    given: applications.map(({ id }) => id),
    apart: by_address.map(({ id, address }) => [id, address]),
  })
  expect(partsOf((await ask(first)).data as AllAbout)).toEqual({
    given: [first],
    apart: [
      [second, null],
      [middle, null],
    ],
  })
  expect(partsOf((await ask(second)).data as AllAbout)).toEqual({ given: [second], apart: [[first, person]] })
  expect(partsOf(await allAbout('Ada@middle.example'))).toEqual({
    given: [middle],
    apart: [[first, 'ada@middle.example']],
  })
  const { by_address } = await allAbout(person)
  expect(by_address).toEqual([
    {
      id: first,
      created_at: expect.any(String) as string,
      first_name: 'Ada',
      last_name: expect.stringContaining('Lovelace') as string,
      email: 'ada@exampel.com',
      address: person,
    },
  ])
})

test('of an account that was removed, the result says how often its email is in the history and beside marks', async () => {
  const former = 'former@example.org'
  await sql`insert into private.history (author, kind) values (${former}, 'letters'), (${former}, 'letters')`
  expect((await allAbout(former)).account).toMatchObject({
    email: former,
    created_at: null,
    organiser_since: null,
    history: 2,
    marks: 0,
  })
})

test('somebody who was only invited and removed as an organiser is found by their email', async () => {
  await sql`
    insert into private.history (author, kind, detail)
    values ('ada@example.org', 'organiser', '{"organiser": "invited@example.org", "removed": true}')`
  expect((await allAbout('invited@example.org')).account).toMatchObject({ created_at: null, history: 1 })
})

test('a delivery names its recipient: the address at the time of sending, the webhook, or an organiser', async () => {
  const id = await storeEverything(person, 'word')
  const recipients = async () => {
    const [application] = (await allAbout(person)).applications
    return Object.fromEntries(application?.deliveries.map(({ kind, recipient }) => [kind, recipient]) ?? [])
  }
  const sent = { application: 'webhook', rsvp: 'webhook', notice: 'grace@example.org', receipt: person }
  expect(await recipients()).toEqual({ ...sent, letter: person })
  await sql`update private.deliveries set state = 'failed', done_at = null where kind = 'letter'`
  expect(await recipients()).toEqual({ ...sent, letter: 'word@example.net' })
  await sql`update private.deliveries set state = 'done', done_at = '2026-12-05T10:00Z' where kind = 'letter'`
  await sql`insert into private.history (application_id, at, author, kind, detail) values
    (${id}, '2026-12-04T10:00Z', 'tim@example.org', 'address', '{"address": "then@example.net"}'),
    (${id}, '2026-12-06T10:00Z', 'tim@example.org', 'address', '{"address": "word@example.net"}')`
  expect(await recipients()).toEqual({ ...sent, letter: 'then@example.net' })
})

test('an organiser reads everything about the person of an application, with the marks that they may see', async () => {
  const id = await storeEverything(person, 'word')
  await storeEverything(person, 'again')
  const { data } = await ask(id)
  expect(data).toEqual(await allAbout(person))
  expect((data as AllAbout).applications).toHaveLength(2)
  await sql`update private.statuses set status = 'shortlisted'`
  const hidden = (await ask(id)).data as AllAbout
  expect(hidden.applications[0]).toMatchObject({ marks: [], are_marks_hidden: true })
  expect(JSON.stringify(hidden)).not.toContain('"no"')
  expect((await allAbout(person)).applications[0]).toMatchObject({
    marks: [{ mark: 'no' }],
    are_marks_hidden: false,
  })
})

// break: person-shown-to-blind-reader
test('an organiser who reads blind is refused with a sentence', async () => {
  const id = await storeEverything(person, 'word')
  await sql`update private.organisers set blind = true`
  const { status, data, error } = await ask(id)
  expect({ status, data, code: error?.code, message: error?.message }).toEqual({
    status: 403,
    data: null,
    code: '42501',
    message: 'Everything about a person is hidden while blind reading is on.',
  })
})

test('an organiser gets the newest hundred applications of a person, and the number of the others', async () => {
  const rows = Array.from({ length: 103 }, (_, index) => ({
    ...anApplication({ email: person }),
    created_at: new Date(Date.UTC(2026, 0, 1, 0, index)),
  }))
  const stored = await sql<{ id: string }[]>`
    insert into public.retreat_applications ${valuesOf(rows)} returning id`
  const { data } = await ask(stored[0]?.id ?? '')
  const { applications, left_out } = data as AllAbout
  expect(left_out).toBe(3)
  expect(applications.map(({ id }) => id)).toEqual(
    stored
      .slice(3)
      .map(({ id }) => id)
      .toReversed(),
  )
  // The operator gets all of them.
  expect(await allAbout(person)).toMatchObject({ left_out: 0 })
})
