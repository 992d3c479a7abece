import type { SupabaseClient } from '@supabase/supabase-js'
import { readdir, readFile } from 'node:fs/promises'
import { escapeLiteral } from 'pg'
import { beforeAll, expect, test } from 'vitest'

import { anApplication } from '../../support/form.ts'
import { newProject } from '../../support/hosted-project.ts'
import { startPostgres, type TestPostgres } from '../../support/postgres.ts'
import { resetDatabase } from '../../support/reset.ts'
import { anonKey, codeOf, startSignIn, type SignInServer } from '../../support/sign-in-server.ts'
import type { Organisers } from '../../../src/client/desk/marks.ts'
import type { DeskFunction } from '../../../src/client/desk/calls.ts'
import { addOrganiser, operatorSecret, removeOrganiser } from '../../../src/server/auth/manage-organisers.ts'
import { visitor } from '../../../src/server/database/connection/pools.ts'
import { insertApplications, sentRowsOf } from '../../../src/server/applications/insert-rows.ts'
import type { Sql } from '../../../src/server/database/connection/sql.ts'
import { valuesOf } from '../../support/sql.ts'

let server: SignInServer
let postgres: TestPostgres
let project: Awaited<ReturnType<typeof newProject>>

// `server` has our own database. `project` is a hosted Supabase project, whose database is as after `supabase db push`.
beforeAll(async () => {
  ;[server, postgres] = await Promise.all([startSignIn(), startPostgres()])
  await insertApplications(server.database.as(visitor), sentRowsOf(anApplication()))
  project = await newProject(postgres)
  for (const file of (await readdir('supabase/migrations')).toSorted()) {
    await project.owner.unsafe(await readFile(`supabase/migrations/${file}`, 'utf8'))
  }
  await store(project.asSupabase)
})

/** Stores an application as the data interface of a hosted project does. */
const store = (sql: Sql) =>
  sql.begin(async (transaction) => {
    await transaction`set local role anon`
    await transaction`insert into public.retreat_applications ${valuesOf({ ...anApplication() })}`
  })

const someId = '6f2f2f0e-1f1c-4a7e-9a55-0f5d7d5c9a11'

/** Arguments for each function of the desk; the compiler reports a missing function. */
const validArguments: Record<string, Record<string, unknown>> = {
  desk_me: {},
  desk_organisers: {},
  desk_set_reader: { account: someId, is_reader: true },
  desk_remove_organiser: { account: someId },
  desk_list: { filter: { status: 'new', search: 'ada' }, after: null },
  desk_meanwhile: { filter: {}, shown: [{ id: someId, version: 0 }], oldest: null },
  desk_overview: { filter: {}, zone: 'Europe/Berlin' },
  desk_refresh: { filter: {}, zone: 'UTC', shown: [{ id: someId, version: 0 }], oldest: null },
  desk_select: { filter: { status: 'new' }, after: null },
  desk_export: { filter: {}, after: null },
  desk_application: { application: someId, filter: { status: 'new' } },
  desk_junk: {},
  desk_stamp: { application: someId },
  desk_all_about: { application: someId },
  desk_reveal: { act: someId, application: someId },
  desk_blind: {},
  desk_mark: { act: someId, application: someId, mark: 'yes', why: '' },
  desk_set_blind: { blind: true },
  desk_set_reads_only: { reads_only: true },
  desk_set_name: { name: 'Ada' },
  desk_decide: { act: someId, decisions: [{ id: someId, status: 'accepted', version: 0 }] },
  desk_add: {
    act: someId,
    person: { first_name: 'Ada', email: 'ada@example.org' },
    again: false,
    receipt: false,
    webhook: false,
  },
  desk_see_notes: { application: someId, until: '2026-12-01T10:00Z' },
  desk_note: { act: someId, application: someId, note: 'A note.' },
  desk_erase: { applications: [someId], email: 'ada@example.com', act: someId },
  desk_door: {},
  desk_history: { after: null },
  desk_set_page: { version: 0, texts: { title: 'Slow' }, shown: {} },
  desk_set_door: { version: 0, closed: true, sentence: 'Closed.', closes_at: null, closes_after: null },
  desk_letters: {},
  desk_check_mail: {},
  desk_drafts: { occasion: 'accepted', after: null },
  desk_outbox: { state: 'waiting', after: null },
  desk_letters_of: { applications: [someId] },
  desk_letter_states: { applications: [someId] },
  desk_preview: { subject: 'Hello {{first_name}}', body: 'A letter.', application: null, occasion: null },
  desk_send_test: { subject: 'Hello', body: 'A letter.', application: null, occasion: null, act: null },
  desk_notices: {},
  desk_set_notices: { notices: 'each' },
  desk_set_template: { occasion: 'Travel', version: null, subject: 'How to get there', body: 'By train.' },
  desk_remove_template: { occasion: 'Travel', version: 0 },
  desk_write: { applications: [someId], occasion: 'accepted', again: false, act: someId },
  desk_write_to: { act: someId, application: someId, subject: 'Hello', body: 'A letter.' },
  desk_edit: { letter: someId, seen: '', subject: 'Hello', body: 'A letter.' },
  desk_discard: { letters: [someId] },
  desk_release: { act: someId, letters: [{ id: someId, seen: '' }], number: 1, again: false },
  desk_withdraw: { letters: [someId], act: someId },
  desk_retry: { letters: [someId] },
  desk_readdress: { act: someId, letter: someId, address: 'ada@example.org' },
  desk_address: { address: 'ada@example.org' },
  desk_came_back: { act: someId, letter: someId },
  desk_settle: { letters: [someId] },
  desk_sent_by_hand: { letter: someId, seen: '' },
  desk_stop: { stopped: true },
  desk_places: { zone: 'Europe/Berlin' },
  desk_visits: {},
  desk_page: {},
  desk_first_steps: {},
  desk_tick_step: { step: 'read', is_done: true },
  desk_set_places: { version: 0, places: 40, days: 10 },
  desk_set_retreat: { version: 0, starts_on: '2027-03-12', ends_on: '2027-03-15', venue: 'Bernau' },
  desk_set_answer: { act: someId, application: someId, answer: 'coming' },
  desk_keep_until: { act: someId, application: someId, until: '2100-01-01' },
  desk_remind: { act: someId },
  desk_questions: {},
  desk_guests: { after: null },
  desk_set_questions: { version: 0, questions: [], until: null, private_days: null },
  desk_answer_questions: { act: someId, application: someId, answers: {} },
  desk_erase_answers: {},
  desk_retention: {},
  desk_set_retention: { version: 0, months: null, months_for_guests: null },
  desk_hold: { act: someId, application: someId, reason: '' },
  desk_erase_due: { act: someId },
  desk_begin_edition: { act: someId, newest: 1, name: 'Spring', starts_on: null, ends_on: null, copied: {} },
  desk_name_edition: { edition: 1, name: 'Autumn' },
  desk_hand_over: {
    act: someId,
    letter: someId,
    seen: '',
    site: 'https://example.org',
    zone: 'Europe/Berlin',
  },
  desk_set_letters: { version: 0, reply_to: 'hello@example.org', receipts: true },
} satisfies Record<DeskFunction, object>

/** The error codes that an organiser gets: no application or draft has the id above, and no mail sender is running. */
const expectedCodes: Record<string, string> = {
  desk_set_reader: 'PT404',
  desk_remove_organiser: 'PT404',
  desk_application: 'PT404',
  desk_stamp: 'PT404',
  desk_all_about: 'PT404',
  desk_reveal: 'PT404',
  desk_mark: 'PT404',
  desk_see_notes: 'PT404',
  desk_note: 'PT404',
  desk_write_to: 'PT404',
  desk_edit: 'PT409',
  desk_readdress: 'PT409',
  desk_came_back: 'PT409',
  desk_sent_by_hand: 'PT409',
  desk_release: 'PT409',
  desk_send_test: 'PT409',
  desk_set_answer: 'PT404',
  desk_keep_until: 'PT404',
  desk_answer_questions: 'PT404',
  desk_hold: 'PT404',
  desk_hand_over: 'PT409',
} satisfies Partial<Record<DeskFunction, string>>

/** The calls that readers may make. All others are refused to them. */
const readerCalls: readonly string[] = [
  'desk_me',
  'desk_set_name',
  'desk_blind',
  'desk_set_blind',
  'desk_set_reads_only',
  'desk_notices',
  'desk_set_notices',
  'desk_list',
  'desk_refresh',
  'desk_application',
  'desk_stamp',
  'desk_mark',
  'desk_note',
  'desk_see_notes',
] satisfies DeskFunction[]

/** The functions for visitors. */
const visitorFunctions = [
  'answer_place',
  'answer_questions',
  'door_is_open',
  'place_by_token',
  'withdraw_application',
  'withdrawal_by_token',
]

/** The functions that index expressions use. */
const indexFunctions = [
  'ascii_email',
  'ascii_label',
  'blanks',
  'email_with_labels',
  'folded',
  'person',
  'punycode_bias',
  'search_octets',
  'search_vector',
  'trimmed',
  'unicode_label',
].map((name) => `private.${name}`)

/** All schemas except PostgreSQL's own. */
const ourSchemas = `(select oid from pg_namespace where nspname !~ '^(pg_|information_schema$)')`

/** The rights of the data interface's roles in our schemas, as PostgreSQL computes them: rights of PUBLIC are included. */
async function rightsIn(sql: Sql) {
  const roles = `(values ('anon'), ('authenticated')) as roles (role)`
  const functions = await sql.unsafe<{ role: string; name: string }[]>(`
    select role, pronamespace::regnamespace || '.' || proname as name from pg_proc, ${roles}
    where pronamespace in ${ourSchemas} and has_function_privilege(role, oid, 'execute') order by (pronamespace::regnamespace || '.' || proname) collate "C"`)
  const named = (role: string) => functions.filter((each) => each.role === role).map(({ name }) => name)
  const tables = await sql.unsafe(`
    select role, pg_class.oid::regclass || '.' || attname as what, privilege from pg_class
      join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped, ${roles},
      unnest(array['select', 'insert', 'update', 'references']) as privilege
    where relnamespace in ${ourSchemas} and relkind in ('r', 'p', 'v', 'm', 'f')
      and has_column_privilege(role, pg_class.oid, attnum, privilege)
    order by 1, 2, 3`)
  const others = await sql.unsafe(`
    select role, 'table ' || oid::regclass as what, privilege from pg_class, ${roles},
      unnest(array['delete', 'truncate', 'trigger', 'maintain']) as privilege
    where relnamespace in ${ourSchemas} and relkind in ('r', 'p', 'v', 'm', 'f') and has_table_privilege(role, oid, privilege)
    union all
    select role, 'sequence ' || oid::regclass, 'any' from pg_class, ${roles}
    where relnamespace in ${ourSchemas} and relkind = 'S' and has_sequence_privilege(role, oid, 'usage, select, update')
    union all
    select role, 'schema ' || nspname, privilege from pg_namespace, ${roles}, unnest(array['usage', 'create']) as privilege
    where oid in ${ourSchemas} and has_schema_privilege(role, oid, privilege)
    union all
    select role, 'role ' || rolname, 'member' from pg_roles, ${roles} where rolname <> role and pg_has_role(role, oid, 'member')
    order by 1, 2, 3`)
  return { functions: { anon: named('anon'), authenticated: named('authenticated') }, tables, others }
}

/** A function, with the names and types of its parameters. */
interface Callable {
  name: string
  parameters: string[]
  types: string[]
}

/** The functions of `public` that the roles of the data interface may execute, found by their rights. */
const callable = (sql: Sql) => sql<Callable[]>`
  select proname as name, to_json(coalesce(proargnames, '{}')) as parameters,
    (select coalesce(json_agg(format_type(type, null) order by position), '[]')
      from unnest(proargtypes) with ordinality as given (type, position)) as types
  from pg_proc
  where pronamespace = 'public'::regnamespace and (
    has_function_privilege('anon', oid, 'execute') or has_function_privilege('authenticated', oid, 'execute')
  ) order by 1`

/** Token claims; undefined for a caller without a token. */
type Claims = Record<string, string | undefined> | undefined

const callWithValidArguments = ({ name, parameters, types }: Callable) => {
  const given = types.map((type, index) => `sent."${parameters[index]}"::${type}`).join(', ')
  const record = types.map((type, index) => `"${parameters[index]}" ${type}`).join(', ')
  const json = escapeLiteral(JSON.stringify(validArguments[name]))
  const source = types.length === 0 ? '' : ` from json_to_record(${json}) as sent(${record})`
  return `select public."${name}"(${given})${source}`
}

/**
 * Calls functions with valid arguments, as the data interface of a hosted project does, and undoes each call.
 *
 * @returns The SQLSTATE of each call's error, or `success`.
 */
async function outcomesAs(sql: Sql, claims: Claims, functions: readonly Callable[]) {
  const [names, calls] = [functions.map(({ name }) => name), functions.map(callWithValidArguments)]
  return sql.begin(async (transaction) => {
    // In one statement, all calls take less time than one request.
    await transaction.unsafe(`
      create or replace function pg_temp.outcome_of(call text) returns text language plpgsql as $$
      begin
        execute call;
        raise exception sqlstate 'UNDO0';
      exception
        when sqlstate 'UNDO0' then return 'success';
        when others then return sqlstate;
      end
      $$`)
    await transaction`select set_config('request.jwt.claims', ${claims === undefined ? '' : JSON.stringify(claims)}, true)`
    await transaction.unsafe(`set local role ${claims === undefined ? 'anon' : 'authenticated'}`)
    const rows = await transaction<{ name: string; outcome: string }[]>`
      select name, pg_temp.outcome_of(call) as outcome from unnest(${names}::text[], ${calls}::text[]) as called (name, call)`
    return Object.fromEntries(rows.map(({ name, outcome }) => [name, outcome]))
  })
}

/** The outcome of a call for each function. */
const outcomesOf = (functions: readonly Callable[], outcomeOf: (name: string) => string) =>
  Object.fromEntries(functions.map(({ name }) => [name, outcomeOf(name)]))
const expectedOutcome = (name: string) => expectedCodes[name] ?? 'success'
const outcomeForReader = (name: string) => (readerCalls.includes(name) ? expectedOutcome(name) : '42501')

async function claimsOf(client: SupabaseClient): Promise<Claims> {
  const { data } = await client.auth.getClaims()
  return data?.claims
}

/** Signs in to an existing account without a second factor (aal1), which starts a new session. */
async function signInAgain(email: string) {
  const client = server.client()
  const token_hash = await operatorSecret(server.database.owner, email)
  const { error } = await client.auth.verifyOtp({ type: 'magiclink', token_hash })
  if (error) throw error
  return client
}

/** Callers of our own server. `refused`: each caller without rights, with their validly signed token, if any, and its claims. */
async function callersOfOurServer() {
  const { owner } = server.database
  const [stranger, removed, signedOut, organiser, reader] = await Promise.all([
    server.signedIn(),
    server.signedIn(),
    server.signedIn(),
    server.signedIn(),
    server.signedIn(),
  ])
  await owner`delete from private.organisers
    where account_id = (select id from auth.users where email = ${stranger.email})`
  await addOrganiser(owner, reader.email, { isReader: true })
  const tokenOf = async (client: SupabaseClient) =>
    (await client.auth.getSession()).data.session?.access_token ?? ''
  const tokens = { removed: await tokenOf(removed.client), signedOut: await tokenOf(signedOut.client) }
  const claims = { removed: await claimsOf(removed.client), signedOut: await claimsOf(signedOut.client) }
  await removeOrganiser(owner, removed.email)
  expect((await signedOut.client.auth.signOut({ scope: 'global' })).error).toBeNull()

  const { client: withFactor, email } = await server.signedIn()
  const { data: factor } = await withFactor.auth.mfa.enroll({ factorType: 'totp' })
  const signedInBefore = await signInAgain(email)
  const verified = await withFactor.auth.mfa.challengeAndVerify({
    factorId: factor?.id ?? '',
    code: codeOf(factor?.totp.secret ?? ''),
  })
  expect(verified.error).toBeNull()
  const signedInAfter = await signInAgain(email)
  const refused = [
    ['anon', undefined, undefined],
    ['a stranger', await tokenOf(stranger.client), await claimsOf(stranger.client)],
    ['a removed organiser', tokens.removed, claims.removed],
    ['a signed-out session', tokens.signedOut, claims.signedOut],
    ['aal1 after a factor was verified', await tokenOf(signedInAfter), await claimsOf(signedInAfter)],
    ['aal1 from before a factor was verified', await tokenOf(signedInBefore), await claimsOf(signedInBefore)],
  ] as const
  return { refused, organiser, withFactor, reader }
}

interface ProjectAccount {
  isOrganiser: boolean
  isReader?: boolean
  factor?: string
}

/** Callers of the hosted project. `refused`: each caller without rights, with their token claims, if any. */
async function callersOfProject() {
  const { asSupabase } = project
  /** Stores an account with a session. `factor`: the status of its second factor, if it has one. */
  const account = async ({ isOrganiser, isReader = false, factor }: ProjectAccount) => {
    const [id, session] = [crypto.randomUUID(), crypto.randomUUID()]
    await asSupabase`insert into auth.users (id, email) values (${id}, ${`${id}@example.org`})`
    await asSupabase`insert into auth.sessions (id, user_id, aal) values (${session}, ${id}, 'aal1')`
    if (isOrganiser)
      await asSupabase`
        insert into private.organisers (account_id, is_reader) values (${id}, ${isReader})`
    if (factor !== undefined) {
      await asSupabase`insert into auth.mfa_factors (id, user_id, status) values (gen_random_uuid(), ${id}, ${factor})`
    }
    return { sub: id, session_id: session, aal: 'aal1', role: 'authenticated' }
  }
  const removed = await account({ isOrganiser: true })
  await asSupabase`delete from auth.users where id = ${removed.sub}`
  const signedOut = await account({ isOrganiser: true })
  await asSupabase`delete from auth.sessions where id = ${signedOut.session_id}`
  const organiser = await account({ isOrganiser: true, factor: 'unverified' })
  const refused = [
    ['anon', undefined],
    ['a stranger', await account({ isOrganiser: false })],
    ['a removed organiser', removed],
    ['a signed-out session', signedOut],
    ['aal1 with a factor', await account({ isOrganiser: true, factor: 'verified' })],
    // A token claim does not raise the level of the session.
    [
      'aal2 in the token, aal1 in the session',
      { ...(await account({ isOrganiser: true, factor: 'verified' })), aal: 'aal2' },
    ],
    ["another's session", { ...organiser, sub: (await account({ isOrganiser: true })).sub }],
    ['a session that never existed', { ...organiser, session_id: crypto.randomUUID() }],
    ['no session', { ...organiser, session_id: undefined }],
    ['an unknown level', { ...(await account({ isOrganiser: true, factor: 'verified' })), aal: 'AAL2' }],
    ['a token without an account', { role: 'authenticated' }],
    ['a token with invalid ids', { role: 'authenticated', sub: 'x', session_id: 'y', aal: 'aal2' }],
  ] as const
  return { refused, organiser, reader: await account({ isOrganiser: true, isReader: true }) }
}

// break: visitor-reads-applications
// break: anybody-reads-private-table
// break: private-function-executable
test('on our own server and on a hosted project, the roles of the data interface have only the listed rights', async () => {
  const columns = Object.keys(anApplication()).toSorted()
  for (const [sql, accounts] of [
    [server.database.owner, ['auth.jwt', 'auth.role', 'auth.uid']],
    [project.asSupabase, ['auth.jwt', 'auth.uid']],
  ] as const) {
    const rights = await rightsIn(sql)
    expect(rights.functions).toEqual({
      anon: [...accounts, ...indexFunctions, ...visitorFunctions.map((name) => `public.${name}`)],
      // Each function of the desk checks that its caller is an organiser.
      authenticated: [
        ...accounts,
        ...[...Object.keys(validArguments), ...visitorFunctions].map((name) => `public.${name}`).toSorted(),
      ],
    })
    expect(rights.tables).toEqual(
      columns.map((column) => ({
        role: 'anon',
        what: `retreat_applications.${column}`,
        privilege: 'insert',
      })),
    )
    expect(rights.others).toEqual([
      { role: 'anon', what: 'schema auth', privilege: 'usage' },
      { role: 'anon', what: 'schema public', privilege: 'usage' },
      { role: 'authenticated', what: 'schema auth', privilege: 'usage' },
      { role: 'authenticated', what: 'schema public', privilege: 'usage' },
    ])
    // Row-level security is on for each table, in case a right is granted by mistake.
    const unprotectedTables = sql.unsafe(`
      select oid::regclass from pg_class where relnamespace in ${ourSchemas} and not relrowsecurity
        and relkind in ('r', 'p') and relnamespace::regnamespace::text in ('public', 'private', 'auth')
        and relname <> 'schema_migrations'`)
    expect(await unprotectedTables).toEqual([])
    // All these functions of `public` run as their owner, are written in PL/pgSQL, and have an empty search path.
    const unsafeFunctions = sql.unsafe(`
      select proname from pg_proc join pg_language on prolang = pg_language.oid
      where pronamespace = 'public'::regnamespace and has_function_privilege('authenticated', pg_proc.oid, 'execute')
        and not (prosecdef and lanname = 'plpgsql' and proconfig = array['search_path=""'])`)
    expect(await unsafeFunctions).toEqual([])
  }
})

// break: anybody-is-organiser
// break: anybody-adds-note
// break: anybody-reads-page-settings
// break: second-factor-not-asked
// break: reader-decides
// break: reader-unchecked
test('on our own server, each function of the desk refuses everybody but organisers, and readers all but theirs', async () => {
  const { refused, organiser, withFactor, reader } = await callersOfOurServer()
  const functions = (await callable(server.database.owner)).filter(
    ({ name }) => !visitorFunctions.includes(name),
  )
  expect(functions.length).toBeGreaterThan(10)
  const { owner } = server.database
  const refusals = outcomesOf(functions, () => '42501')
  for (const [caller, , claims] of refused) {
    const outcomes = await outcomesAs(owner, claims, functions)
    expect({ caller, outcomes }).toEqual({ caller, outcomes: refusals })
  }
  const client = server.client()
  for (const [index, { name }] of functions.entries()) {
    // Each function gets the request of one of the callers.
    const [caller, token] = refused[index % refused.length] ?? refused[0]
    // Without a token, the public key makes the caller a visitor.
    const { status, data, error } = await client
      .rpc(name, validArguments[name])
      .setHeader('authorization', `Bearer ${token ?? anonKey}`)
    expect({ name, caller, status, data, code: error?.code }).toEqual({
      name,
      caller,
      status: token === undefined ? 401 : 403,
      data: null,
      code: '42501',
    })
  }

  const readerClaims = await claimsOf(reader.client)
  expect(await outcomesAs(owner, readerClaims, functions)).toEqual(outcomesOf(functions, outcomeForReader))
  for (const { name } of functions.filter((each) => !readerCalls.includes(each.name))) {
    const { status, data, error } = await reader.client.rpc(name, validArguments[name])
    expect({ name, status, data, code: error?.code, message: error?.message }).toEqual({
      name,
      status: 403,
      data: null,
      code: '42501',
      message: 'Readers may not do this: ask an organiser who may do everything.',
    })
  }

  const accepted = outcomesOf(functions, expectedOutcome)
  expect(await outcomesAs(owner, await claimsOf(withFactor), functions)).toEqual(accepted)
  for (const { name } of functions) {
    await resetDatabase(owner)
    const args = validArguments[name] ?? {}
    const { error } = await organiser.client.rpc(
      name,
      args['act'] ? { ...args, act: crypto.randomUUID() } : args,
    )
    expect({ name, outcome: error?.code ?? 'success' }).toEqual({ name, outcome: expectedOutcome(name) })
  }
})

test('on a hosted project, each function of the desk refuses everybody but organisers, and readers all but theirs', async () => {
  await project.owner`update private.door set version = 0`
  const { refused, organiser, reader } = await callersOfProject()
  const functions = (await callable(project.asSupabase)).filter(
    ({ name }) => !visitorFunctions.includes(name),
  )
  expect(functions.length).toBeGreaterThan(10)
  const refusals = outcomesOf(functions, () => '42501')
  for (const [caller, claims] of refused) {
    const outcomes = await outcomesAs(project.asSupabase, claims, functions)
    expect({ caller, outcomes }).toEqual({ caller, outcomes: refusals })
  }
  expect(await outcomesAs(project.asSupabase, organiser, functions)).toEqual(
    outcomesOf(functions, expectedOutcome),
  )
  expect(await outcomesAs(project.asSupabase, reader, functions)).toEqual(
    outcomesOf(functions, outcomeForReader),
  )
})

test('visitors learn only whether the door is open and its sentence, on our own server and a hosted project', async () => {
  const close = (sql: Sql, sentence: string) =>
    sql`select private.set_door('operator', null, true, ${sentence}, null, null)`
  const { owner } = server.database
  const open = async (sql: Sql) =>
    sql`select private.set_door('operator', null, false, '', now() + interval '1 day', 5)`
  const askServer = async () => {
    const { data, error } = await server.client().rpc('door_is_open')
    return error ?? (data as unknown)
  }
  const askProject = () =>
    project.asSupabase.begin(async (transaction) => {
      await transaction`set local role anon`
      const [row] = await transaction`select public.door_is_open() as door`
      return row?.['door']
    })
  for (const [sql, readDoor] of [
    [owner, askServer],
    [project.owner, askProject],
  ] as const) {
    await open(sql)
    expect(await readDoor()).toEqual({ is_open: true })
    await close(sql, 'We are full.')
    expect(await readDoor()).toEqual({ is_open: false, sentence: 'We are full.' })
    await close(sql, '')
    expect(await readDoor()).toEqual({ is_open: false, sentence: 'Applications are closed.' })
    await open(sql)
  }
})

test('a visitor of a hosted project can apply, although indexes call functions of the schema private', async () => {
  await store(project.asSupabase)
  const [row] = await project.asSupabase`select count(*)::int as stored from public.retreat_applications`
  // `beforeAll` stored the first one.
  expect(row).toEqual({ stored: 2 })
})

test('on a hosted project, an organiser who is removed at the desk loses only the right, and the desk cannot invite', async () => {
  const { organiser } = await callersOfProject()
  const { organiser: removed } = await callersOfProject()
  const shown = await project.asSupabase.begin(async (transaction) => {
    await transaction`select set_config('request.jwt.claims', ${JSON.stringify(organiser)}, true)`
    await transaction`set local role authenticated`
    const [row] = await transaction<[{ shown: Organisers }]>`
      select public.desk_remove_organiser(${removed.sub}) as shown`
    return row.shown
  })
  expect(shown.can_invite).toBe(false)
  expect(shown.organisers.map(({ account }) => account)).not.toContain(removed.sub)
  expect(await project.asSupabase`select id from auth.users where id = ${removed.sub}`).toHaveLength(1)
})
