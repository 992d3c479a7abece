import type { SupabaseClient } from '@supabase/supabase-js'
import { beforeAll, expect, test, vi } from 'vitest'

import { deferred } from '../../../test/support/deferred.ts'
import { defaultLook } from '../../design/look.ts'
import { anonKey, bearerOf, startSignIn, type SignInServer } from '../../../test/support/sign-in-server.ts'
import { wrapStatements } from '../../../test/support/sql.ts'
import { createApp } from '../app.ts'

let server: SignInServer
let client: SupabaseClient

// The server reads the list of functions once, so the functions of these tests have to exist before the first call.
beforeAll(async () => {
  server = await startSignIn()
  await server.database.owner.unsafe(`
    create function public.desk_probe(word text, amount integer default 7, ids uuid[] default '{}', extra jsonb default null)
      returns jsonb language plpgsql as $$ begin
        return jsonb_build_object('word', word, 'amount', amount, 'ids', ids, 'extra', extra);
      end $$;
    create function public.desk_probe_mode() returns jsonb language plpgsql stable as $$ begin
      return jsonb_build_object('read_only', current_setting('transaction_read_only'), 'role', current_user);
    end $$;
    create function public.desk_probe_writing() returns jsonb language plpgsql as $$ begin
      return jsonb_build_object('read_only', current_setting('transaction_read_only'));
    end $$;
    create function public.desk_probe_any(kind text) returns jsonb language sql as $$
      select case kind when 'number' then '12.50' when 'text' then '"ä\\""' when 'list' then '[1,null]' when 'null' then 'null' end::jsonb
    $$;
    create function public.desk_probe_refusal(code text) returns jsonb language plpgsql as $$ begin
      raise exception using errcode = code, message = 'what it says, 100%', detail = 'the detail', hint = 'the hint';
    end $$;
    create function public.desk_probe_slow() returns jsonb language plpgsql as $$ begin
      perform pg_advisory_xact_lock(4711);
      return 'null';
    end $$;
    create function public.not_of_the_desk() returns jsonb language sql as 'select null::jsonb';
  `)
  client = (await server.signedIn()).client
})

async function post(name: string, body: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${server.origin}/rest/v1/rpc/${name}`, {
    method: 'POST',
    headers: { apikey: anonKey, 'content-type': 'application/json', ...(await bearerOf(client)), ...headers },
    body,
  })
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
}

test('arguments are passed by name, in any order, and omitted ones get their defaults', async () => {
  const ids = [crypto.randomUUID(), crypto.randomUUID()]
  const extra = { deep: [1, 'ü"\\', { null: null }], number: 1.5 }
  expect((await client.rpc('desk_probe', { extra, ids, word: 'a "word", \\ 🌲' })).data).toEqual({
    word: 'a "word", \\ 🌲',
    amount: 7,
    ids,
    extra,
  })
  expect((await client.rpc('desk_probe', { word: null, amount: 0 })).data).toEqual({
    word: null,
    amount: 0,
    ids: [],
    extra: null,
  })
})

test("a call with a missing or unknown argument, or of an unknown function, gets PostgREST's 404 and message", async () => {
  const refusal = async (name: string, args: object) => {
    const { status, data, error } = await client.rpc(name, args)
    return { status, data, code: error?.code, message: error?.message, details: error?.details }
  }
  const searched =
    'or with a single unnamed json/jsonb parameter, but no matches were found in the schema cache.'
  expect(await refusal('desk_probe', { amount: 1 })).toMatchObject({
    status: 404,
    data: null,
    code: 'PGRST202',
    message: 'Could not find the function public.desk_probe(amount) in the schema cache',
    details: `Searched for the function public.desk_probe with parameter amount ${searched}`,
  })
  expect(await refusal('desk_probe', { word: '', other: 1 })).toMatchObject({
    status: 404,
    message: 'Could not find the function public.desk_probe(other, word) in the schema cache',
    details: `Searched for the function public.desk_probe with parameters other, word ${searched}`,
  })
  expect(await refusal('desk_probe', {})).toMatchObject({
    status: 404,
    message: 'Could not find the function public.desk_probe without parameters in the schema cache',
    details: `Searched for the function public.desk_probe without parameters ${searched}`,
  })
  for (const name of ['desk_nothing', 'not_of_the_desk', 'pg_sleep', 'desk_probe(text)', '__proto__']) {
    expect(await refusal(name, {})).toMatchObject({ status: 404, code: 'PGRST202' })
  }
  expect(await post('desk_probe', '{"word":"a","__proto__":1}')).toMatchObject({ status: 404 })
})

test('a stable function runs as its caller in a read-only transaction, and a volatile one in a transaction that can write', async () => {
  expect((await client.rpc('desk_probe_mode')).data).toEqual({ read_only: 'on', role: 'authenticated' })
  expect((await server.client().rpc('desk_probe_mode')).data).toMatchObject({ role: 'anon' })
  expect((await client.rpc('desk_probe_writing')).data).toEqual({ read_only: 'off' })
})

test('the response is the JSON itself, of any type', async () => {
  expect(await post('desk_probe_any', '{"kind":"list"}')).toEqual({
    status: 200,
    type: 'application/json; charset=utf-8',
    text: '[1, null]',
  })
  const resultOf = async (kind: string) => (await client.rpc('desk_probe_any', { kind })).data as unknown
  expect(await resultOf('number')).toBe(12.5)
  expect(await resultOf('text')).toBe('ä"')
  expect(await resultOf('null')).toBeNull()
  // SQL's null becomes JSON's.
  expect(await post('desk_probe_any', '{"kind":null}')).toMatchObject({ status: 200, text: 'null' })
})

test.each(['{', 'word', '{"word":"a"} {}', '{"word":}', '\u0000'])(
  'a body that is not JSON is refused: %j',
  async (body) => {
    const { status, text } = await post('desk_probe', body)
    expect(status).toBe(400)
    expect(JSON.parse(text)).toEqual({
      code: 'PGRST102',
      message: 'Empty or invalid json',
      details: null,
      hint: null,
    })
  },
)

test.each([
  ['an integer', { word: 'a', amount: 'many' }, '22P02'],
  ['an integer that fits', { word: 'a', amount: 2 ** 40 }, '22003'],
  ['an id', { word: 'a', ids: ['1'] }, '22P02'],
  ['an array', { word: 'a', ids: 'x' }, '22P02'],
  ['text that can be stored', { word: '\u0000' }, '22P05'],
])('a value that is not %s is refused with PostgreSQL’s SQLSTATE', async (_what, args, code) => {
  expect(await client.rpc('desk_probe', args)).toMatchObject({ status: 400, data: null, error: { code } })
})

test.each([
  ['PT404', 404],
  ['PT409', 409],
  ['PT403', 403],
  ['22023', 400],
  ['P0001', 400],
  ['23505', 409],
  ['42501', 403],
])('SQLSTATE %s of a function becomes status %i, with its message, detail and hint', async (code, status) => {
  const response = await post('desk_probe_refusal', JSON.stringify({ code }))
  expect({ status: response.status, type: response.type }).toEqual({
    status,
    type: 'application/json; charset=utf-8',
  })
  expect(JSON.parse(response.text)).toEqual({
    code,
    message: 'what it says, 100%',
    details: 'the detail',
    hint: 'the hint',
  })
})

test('an invalid bearer token and an unserved schema are refused', async () => {
  expect(await post('desk_me', '{}', { authorization: 'Bearer a.b.c' })).toMatchObject({ status: 401 })
  expect(await post('desk_me', '{}', { 'content-profile': 'private' })).toMatchObject({ status: 406 })
})

test('a signed-in person cannot read or write a table through the data interface', async () => {
  const table = client.from('retreat_applications')
  expect(await table.select()).toMatchObject({ status: 403, error: { code: '42501' } })
  expect(await table.update({ company: 'x' }).eq('company', 'y')).toMatchObject({ status: 403 })
  expect(await table.delete().eq('company', 'y')).toMatchObject({ status: 403 })
  for (const name of ['statuses', 'history', 'door', 'organisers']) {
    expect(await client.from(name).select()).toMatchObject({ status: 404, error: { code: 'PGRST205' } })
    expect(await client.schema('private').from(name).select()).toMatchObject({ status: 406 })
  }
})

test('slow calls of one organiser do not delay another organiser', async () => {
  const { owner } = server.database
  const { client: another } = await server.signedIn()
  let release = () => {}
  const { promise: locked, resolve: reportLocked } = deferred()
  const lock = owner.begin(async (sql) => {
    await sql`select pg_advisory_xact_lock(4711)`
    reportLocked()
    await new Promise<void>((resolve) => (release = resolve))
  })
  await locked
  const slow = Promise.all(Array.from({ length: 6 }, () => client.rpc('desk_probe_slow')))
  await vi.waitFor(async () => {
    const [row] =
      await owner`select count(*)::int as waiting from pg_locks where locktype = 'advisory' and not granted`
    expect(row?.['waiting']).toBeGreaterThan(1)
  })
  const fastest = await Promise.race([another.rpc('desk_probe', { word: 'quick' }), slow])
  expect(fastest).toMatchObject({ status: 200 })
  release()
  await lock
  // The slow calls succeed once the lock is released.
  expect((await slow).map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 200))
})

// break: anonymous-call-reaches-database
test('a function that the public key may not call is refused before it reaches the database', async () => {
  const roles: string[] = []
  const { database } = server
  const as: typeof database.as = (caller) =>
    wrapStatements(database.as(caller), (run) => {
      roles.push(caller.role)
      return run()
    })
  const settings = {
    anonKey,
    siteUrl: undefined,
    look: defaultLook,
    trustProxy: false as const,
    rateLimitPerMinute: 0,
    mailServer: undefined,
  }
  const app = await createApp({ settings, database: { ...database, as } })
  const call = (name: string, body: object) =>
    app.inject({ method: 'POST', url: `/rest/v1/rpc/${name}`, headers: { apikey: anonKey }, payload: body })
  const refused = await call('desk_list', {})
  expect(refused.statusCode).toBe(401)
  expect(refused.json()).toMatchObject({ code: '42501', message: 'permission denied for function desk_list' })
  expect(roles).toEqual([])
  expect((await call('door_is_open', {})).statusCode).toBe(200)
  expect(roles).toEqual(['anon'])
})
