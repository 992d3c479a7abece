import { createClient } from '@supabase/supabase-js'
import { PostgrestClient } from '@supabase/postgrest-js'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import ws from 'ws'

import { anApplication } from '../../../testing/form.ts'
import { temporaryDirectory } from '../../../testing/server.ts'
import { openDatabase, type Database } from '../database/database.ts'
import { createApp } from './app.ts'

const key = 'the-public-key'
let database: Database
let origin: string
let close: () => Promise<void>

beforeAll(async () => {
  const directory = await temporaryDirectory()
  database = await openDatabase({ dataDir: directory.path, databaseUrl: undefined }, { holder: 'the tests' })
  const settings = { anonKey: key, siteUrl: undefined, trustProxy: false as const, rateLimitPerMinute: 0 }
  const app = await createApp({ settings, database })
  await app.listen({ host: '127.0.0.1', port: 0 })
  origin = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  close = async () => {
    await app.close()
    await database.close()
    await directory.remove()
  }
})

afterAll(() => close())

const table = 'retreat_applications'
const supabase = () => createClient(origin, key, { realtime: { transport: ws as never } })
const post = (body: string, headers: Record<string, string> = {}, path = table) =>
  fetch(`${origin}/rest/v1/${path}`, {
    method: 'POST',
    headers: { apikey: key, 'content-type': 'application/json', ...headers },
    body,
  })
const stored = (email: string) =>
  database.owner`select * from public.retreat_applications where email = ${email}`

test('supabase-js stores an application, each answer as it was given', async () => {
  const application = anApplication({ reason: 'ümläut 🌲 "quotes" \\ \r\n\t end', first_name: ' ' })
  const answer = await supabase().from(table).insert(application)
  expect(answer).toMatchObject({ status: 201, error: null, data: null })
  const [row] = await stored(application.email)
  expect(row).toMatchObject(application)
  expect(row?.['created_at']).toBeInstanceOf(Date)
})

test('postgrest-js stores an application, with the key as bearer too', async () => {
  const client = new PostgrestClient(`${origin}/rest/v1`, {
    headers: { apikey: key, authorization: `Bearer ${key}` },
  })
  const answer = await client.from(table).insert(anApplication())
  expect(answer).toMatchObject({ status: 201, error: null })
})

test('answers that may be left out are stored as blank', async () => {
  const { paid_solution, custom_solution, team_size, ...application } = anApplication()
  expect([paid_solution, custom_solution, team_size]).toBeDefined()
  await supabase().from(table).insert(application)
  expect(await stored(application.email)).toMatchObject([
    { paid_solution: '', custom_solution: '', team_size: '' },
  ])
})

test('several rows are stored together, and counted when asked', async () => {
  const rows = [anApplication(), anApplication(), anApplication()]
  const answer = await supabase().from(table).insert(rows, { count: 'exact' })
  expect(answer).toMatchObject({ status: 201, error: null, count: 3 })
})

test('of several rows all are stored or none', async () => {
  const good = anApplication()
  const { error } = await supabase()
    .from(table)
    .insert([good, anApplication({ consent: false })])
  expect(error?.code).toBe('23514')
  expect(await stored(good.email)).toEqual([])
})

test('rows that lack an answer get its default where the client asks for that, and null otherwise', async () => {
  const { team_size, ...lacking } = anApplication()
  expect(team_size).toBeDefined()
  const rows = () => [anApplication(), { ...lacking, email: anApplication().email }]
  const refused = await supabase().from(table).insert(rows())
  expect(refused.error?.code).toBe('23502')
  const asked = rows()
  expect(await supabase().from(table).insert(asked, { defaultToNull: false })).toMatchObject({ status: 201 })
  expect(await stored(asked[1]?.email ?? '')).toMatchObject([{ team_size: '' }])
})

test('no rows are no error', async () => {
  expect((await post('[]')).status).toBe(201)
})

test.each([
  ['an unknown column', { nickname: 'x' }, 400, 'PGRST204', "Could not find the 'nickname' column"],
  ['a missing answer', { email: undefined }, 400, '23502', 'violates not-null constraint'],
  ['an empty required answer', { email: '' }, 400, '23514', 'retreat_applications_email_given'],
  ['a refused consent', { consent: false }, 400, '23514', 'retreat_applications_consent_given'],
  ['an unknown option', { team_size: '4' }, 400, '23514', 'retreat_applications_team_size_known'],
  [
    'another unknown option',
    { paid_solution: 'Not' },
    400,
    '23514',
    'retreat_applications_paid_solution_known',
  ],
  ['a consent that is no boolean', { consent: 'perhaps' }, 400, '22P02', 'invalid input syntax'],
  ['a NUL character', { reason: '\u0000' }, 400, '22P05', 'unsupported Unicode escape'],
  ['an id of its own', { id: '00000000-0000-4000-8000-000000000000' }, 401, '42501', 'permission denied'],
  ['a time of its own', { created_at: '2020-01-01' }, 401, '42501', 'permission denied'],
])('%s is refused as PostgREST refuses it', async (_what, changes, status, code, message) => {
  const application: object = { ...anApplication(), ...changes }
  const answer = await supabase().from(table).insert(application)
  expect(answer.status).toBe(status)
  expect(answer.error).toMatchObject({ code })
  expect(answer.error?.message).toContain(message)
  expect(Object.keys(answer.error ?? {}).toSorted()).toEqual(
    expect.arrayContaining(['code', 'details', 'hint', 'message']),
  )
})

test('a lone surrogate is refused by the database', async () => {
  const body = JSON.stringify(anApplication()).replace('Ada', '\\ud800')
  const answer = await post(body)
  expect(answer.status).toBe(400)
  expect(await answer.json()).toMatchObject({ code: expect.stringMatching(/^22P0/) as string })
})

test.each([
  ['nothing', ''],
  ['half an object', '{"first_name":'],
  ['rows of different shapes', '[{"email":"a"},{"phone":"b"}]'],
  ['an array of numbers', '[1]'],
])('%s is malformed: PGRST102', async (_what, body) => {
  const answer = await post(body)
  expect(answer.status).toBe(400)
  expect(await answer.json()).toMatchObject({ code: 'PGRST102', details: null, hint: null })
})

test('bytes that are no UTF-8 are malformed', async () => {
  const answer = await fetch(`${origin}/rest/v1/${table}`, {
    method: 'POST',
    headers: { apikey: key, 'content-type': 'application/json' },
    body: Buffer.from([0x22, 0xff, 0x22]),
  })
  expect(await answer.json()).toMatchObject({ code: 'PGRST102' })
})

test('another type of content is not understood', async () => {
  const answer = await post('first_name=Ada', { 'content-type': 'text/plain' })
  expect(answer.status).toBe(400)
  expect(await answer.json()).toMatchObject({
    code: 'PGRST102',
    message: 'Content-Type not acceptable: text/plain',
  })
})

test.each([
  ['without a key', {}, 'No API key found in request'],
  ['with a wrong key', { apikey: 'wrong' }, 'Invalid API key'],
  ['with a wrong bearer', { apikey: key, authorization: 'Bearer wrong' }, 'Invalid API key'],
])('%s nobody gets in', async (_what, headers, message) => {
  const answer = await fetch(`${origin}/rest/v1/${table}`, { method: 'POST', headers, body: '{}' })
  expect(answer.status).toBe(401)
  expect(await answer.json()).toMatchObject({ message })
})

test.each([
  ['select', () => supabase().from(table).select()],
  ['head', () => supabase().from(table).select('*', { head: true, count: 'exact' })],
  ['update', () => supabase().from(table).update({ first_name: 'x' }).eq('email', 'y')],
  ['delete', () => supabase().from(table).delete().neq('email', '')],
  ['upsert', () => supabase().from(table).upsert(anApplication())],
  ['insert and select', () => supabase().from(table).insert(anApplication()).select()],
  ['ignoring duplicates', () => supabase().from(table).upsert(anApplication(), { ignoreDuplicates: true })],
])('%s is denied', async (_what, call) => {
  const before = await database.owner`select count(*) from public.retreat_applications`
  const { status, error, data } = await call()
  expect(status).toBe(401)
  expect(data).toBeNull()
  // An answer to HEAD has no body that could hold a code.
  expect(error?.code ?? '42501').toBe('42501')
  expect(await database.owner`select count(*) from public.retreat_applications`).toEqual(before)
})

test('the database itself denies what the interface does not ask for', async () => {
  const { anon } = database
  const denied = { code: '42501' }
  await expect(anon.execute('select * from public.retreat_applications')).rejects.toMatchObject(denied)
  await expect(anon.execute("update public.retreat_applications set first_name = 'x'")).rejects.toMatchObject(
    denied,
  )
  await expect(anon.execute('delete from public.retreat_applications')).rejects.toMatchObject(denied)
  await expect(anon.execute('truncate public.retreat_applications')).rejects.toMatchObject(denied)
  await expect(anon.execute('select * from private.webhook_outbox')).rejects.toMatchObject(denied)
  await expect(
    anon.execute('insert into public.retreat_applications (id) values (gen_random_uuid())'),
  ).rejects.toMatchObject(denied)
})

test.each([
  ['GET', '/rest/v1/', 404, 'PGRST125'],
  ['GET', '/rest/v1/other', 404, 'PGRST205'],
  ['POST', '/rest/v1/rpc/anything', 404, 'PGRST202'],
  ['PROPFIND', `/rest/v1/${table}`, 405, 'PGRST117'],
])('%s %s is answered in the same shape', async (method, path, status, code) => {
  const answer = await fetch(origin + path, { method, headers: { apikey: key } })
  expect(answer.status).toBe(status)
  expect(await answer.json()).toMatchObject({ code })
})

test('another schema is refused', async () => {
  const answer = await post('{}', { 'content-profile': 'private' })
  expect(answer.status).toBe(406)
  expect(await answer.json()).toMatchObject({ code: 'PGRST106' })
})

test.each([
  ['"x"', '22023'],
  ['{x', '22P02'],
])('with the columns parameter the body %s is for PostgreSQL to read', async (body, code) => {
  const answer = await post(body, {}, `${table}?columns=%22email%22`)
  expect(answer.status).toBe(400)
  expect(await answer.json()).toMatchObject({ code })
})

test('what was preferred and applied is said', async () => {
  const answer = await post(JSON.stringify(anApplication()), { prefer: 'return=minimal,count=exact' })
  expect(answer.headers.get('preference-applied')).toBe('return=minimal, count=exact')
  expect(answer.headers.get('content-range')).toBe('*/1')
})

test('a browser on another origin may call', async () => {
  const preflight = await fetch(`${origin}/rest/v1/${table}`, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://elsewhere.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers':
        'apikey,authorization,content-profile,content-type,prefer,x-client-info',
    },
  })
  expect(preflight.ok).toBe(true)
  expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
  expect(preflight.headers.get('access-control-allow-headers')).toContain('apikey')
  const answer = await post('{}', { origin: 'https://elsewhere.example' })
  expect(answer.headers.get('access-control-allow-origin')).toBe('*')
})
