import { createClient } from '@supabase/supabase-js'
import { PostgrestClient } from '@supabase/postgrest-js'
import type { AddressInfo } from 'node:net'
import { beforeAll, expect, test } from 'vitest'
import ws from 'ws'

import { defaultLook } from '../../design/look.ts'
import { atTestEnd } from '../../../test/support/cleanup.ts'
import { openTestDatabase } from '../../../test/support/database.ts'
import { storeAcceptedApplicant } from '../../../test/support/accepted.ts'
import { anApplication } from '../../../test/support/form.ts'
import { columns, maxLengthOf, type Application } from '../../application/application.ts'
import { checks } from '../../contract/checks.ts'
import { targetAt, type Target } from '../../contract/target.ts'
import { createApp } from '../app.ts'
import type { Database } from '../database/database.ts'
import { wrapStatements } from '../../../test/support/sql.ts'

const key = 'the-public-key'
const settings = {
  anonKey: key,
  siteUrl: undefined,
  look: defaultLook,
  mailServer: undefined,
  trustProxy: false as const,
  rateLimitPerMinute: 0,
}
let database: Database
let origin: string
let target: Target

beforeAll(async () => {
  database = await openTestDatabase()
  const app = await createApp({ settings, database })
  await app.listen({ host: '127.0.0.1', port: 0 })
  origin = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  target = await targetAt({ url: origin, anonKey: key })
  atTestEnd(() => app.close())
})

const table = 'retreat_applications'
const supabase = () => createClient(origin, key, { realtime: { transport: ws as never } })
const post = (body: string, headers: Record<string, string> = {}, path = table) =>
  fetch(`${origin}/rest/v1/${path}`, {
    method: 'POST',
    headers: { apikey: key, 'content-type': 'application/json', ...headers },
    body,
  })
const readStored = (email: string) =>
  database.owner`select * from public.retreat_applications where email = ${email}`

test.for(checks.map(({ name, run }) => [name, run] as const))('contract: %s', async ([, run]) => {
  await expect(run(target)).resolves.toBeUndefined()
})

test('the contract checks store only one application, which is marked as a test', async () => {
  const another = await targetAt({ url: origin, anonKey: key })
  for (const { run } of checks) await run(another)
  expect(await readStored(another.application.email)).toMatchObject([another.application])
  expect(another.application).toMatchObject({ first_name: 'Test', last_name: 'of npm run verify' })
})

test('supabase-js stores an application with its form answers unchanged, an id and the time', async () => {
  const application = anApplication({ reason: 'ümläut 🌲 "quotes" \\ \r\n\t end', first_name: ' ' })
  const response = await supabase().from(table).insert(application)
  expect(response).toMatchObject({ status: 201, error: null, data: null })
  expect(await readStored(application.email)).toEqual([
    {
      ...application,
      id: expect.any(String) as string,
      created_at: expect.any(Date) as Date,
      edition: 1,
      added_by: null,
    },
  ])
})

// break: email-needs-rights
test.each([
  'tim@bücher.example',
  'tim@xn--bcher-kva.example',
  'zoë@example.com',
  '用户@例え.テスト',
  '\u00a0tim@BÜCHER.example\u200b',
  'nobody',
  `tim@${'ü'.repeat(300)}`,
  'ł ﷺ مثال 👩🏽‍🚀 \u202e',
])('an applicant may have any email, such as %j, and it is stored unchanged', async (email) => {
  const application = anApplication({ email, company: email, last_name: email, reason: email.repeat(100) })
  const { status, error } = await supabase().from(table).insert(application)
  expect({ status, error }).toEqual({ status: 201, error: null })
  expect(await readStored(email)).toMatchObject([application])
})

test.each([{ edition: 2 }, { added_by: 'ada@example.org', consent: false }])(
  'nobody can set the edition of an application, or who added the person: %j',
  async (values) => {
    const application = anApplication()
    const { status, error } = await supabase()
      .from(table)
      .insert({ ...application, ...values })
    expect({ status, code: error?.code }).toEqual({ status: 401, code: '42501' })
    expect(await readStored(application.email)).toEqual([])
  },
)

test('postgrest-js, which also sends the key as bearer, stores an application', async () => {
  const client = new PostgrestClient(`${origin}/rest/v1`, {
    headers: { apikey: key, authorization: `Bearer ${key}` },
  })
  const response = await client.from(table).insert(anApplication())
  expect(response).toMatchObject({ status: 201, error: null })
})

test('optional form answers that are missing are stored as blank', async () => {
  const { paid_solution, custom_solution, team_size, ...application } = anApplication()
  expect([paid_solution, custom_solution, team_size]).not.toContain(undefined)
  await supabase().from(table).insert(application)
  expect(await readStored(application.email)).toMatchObject([
    { paid_solution: '', custom_solution: '', team_size: '' },
  ])
})

test.each(columns)(
  'an application that differs only in its %s is stored, and a repeat of it is refused',
  async (column) => {
    const application = anApplication()
    const otherValues: Partial<Record<string, unknown>> = {
      paid_solution: 'work',
      team_size: '10+',
      // Consent has no other valid value, so this application is a repeat.
      consent: true,
    }
    const changed = { ...application, [column]: otherValues[column] ?? 'another' }
    const insert = async (row: object) => (await supabase().from(table).insert(row)).status
    expect(await insert(application)).toBe(201)
    expect(await insert(application)).toBe(409)
    expect(await insert(changed)).toBe(column === 'consent' ? 409 : 201)
    expect(await insert(changed)).toBe(409)
  },
)

test('several rows are stored together, and counted on request', async () => {
  const rows = [anApplication(), anApplication(), anApplication()]
  const response = await supabase().from(table).insert(rows, { count: 'exact' })
  expect(response).toMatchObject({ status: 201, error: null, count: 3 })
  const estimated = await supabase().from(table).insert(anApplication(), { count: 'estimated' })
  expect(estimated).toMatchObject({ status: 201, error: null, count: 1 })
})

test('several rows are all stored, or none of them', async () => {
  const good = anApplication()
  const { error } = await supabase()
    .from(table)
    .insert([good, anApplication({ consent: false })])
  expect(error?.code).toBe('23514')
  expect(await readStored(good.email)).toEqual([])
})

test('a missing form answer gets its default if the client asks for that, and otherwise null, which is refused', async () => {
  const { team_size, ...incomplete } = anApplication()
  expect(team_size).not.toBe('')
  const rows = () => [anApplication(), { ...incomplete, email: anApplication().email }]
  const refused = await supabase().from(table).insert(rows())
  expect(refused.error?.code).toBe('23502')
  const sent = rows()
  expect(await supabase().from(table).insert(sent, { defaultToNull: false })).toMatchObject({ status: 201 })
  expect(await readStored(sent[1]?.email ?? '')).toMatchObject([{ team_size: '' }])
})

const textColumns = columns.filter((name) => !['paid_solution', 'team_size', 'consent'].includes(name))

// break: answer-limit-doubled
test.each(textColumns)(
  '%s accepts as many characters as its limit, regardless of their bytes; the error for a longer text names the limit',
  async (column) => {
    const limit = maxLengthOf(column)
    expect(
      await supabase()
        .from(table)
        .insert(anApplication({ [column]: 'é'.repeat(limit) })),
    ).toMatchObject({ status: 201 })
    const { status, error } = await supabase()
      .from(table)
      .insert(anApplication({ [column]: 'é'.repeat(limit + 1) }))
    expect({ status, error }).toMatchObject({
      status: 400,
      error: {
        code: '23514',
        message: `The answer "${column}" is too long: it may have up to ${limit.toLocaleString('en')} characters.`,
      },
    })
  },
)

test('complete rows with named columns are inserted in batches, whether a body is the row or an array of one row', async () => {
  let statements = 0
  const as: typeof database.as = (caller) =>
    wrapStatements(database.as(caller), (run) => {
      statements += 1
      return run()
    })
  const app = await createApp({ settings, database: { ...database, as } })
  const postWithColumns = (payload: object) =>
    app.inject({
      method: 'POST',
      url: `/rest/v1/${table}?columns=${columns.join()}`,
      headers: { apikey: key, 'content-type': 'application/json' },
      payload: JSON.stringify(payload),
    })
  const applications = Array.from({ length: 20 }, () => anApplication({ reason: 'Ö "quoted"\n' }))
  const responses = await Promise.all(
    applications.map((each, index) => postWithColumns(index % 2 ? each : [each])),
  )
  expect(responses.map(({ statusCode }) => statusCode)).toEqual(applications.map(() => 201))
  expect(statements).toBeLessThan(10)
  const rows = await database.owner<Application[]>`
    select * from public.retreat_applications where email = any(${applications.map(({ email }) => email)})`
  const inOrder = (all: readonly Application[]) => all.toSorted((a, b) => (a.email < b.email ? -1 : 1))
  expect(inOrder(rows)).toMatchObject(inOrder(applications))
  // A row with an invalid value is refused with PostgreSQL's code.
  expect((await postWithColumns([{ ...anApplication(), consent: 'perhaps' }])).json()).toMatchObject({
    code: '22P02',
  })
})

test('a lone surrogate is refused by the database', async () => {
  const body = JSON.stringify(anApplication()).replace('Ada', '\\ud800')
  const response = await post(body)
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({ code: expect.stringMatching(/^22P0/) as string })
})

test.each(['', '?columns=email'])(
  'each row counts against the limit, with and without the columns parameter (%s)',
  async (query) => {
    const app = await createApp({ settings: { ...settings, rateLimitPerMinute: 3 }, database })
    const insert = async (count: number) => {
      const rows = Array.from({ length: count }, () => ({ email: anApplication().email }))
      const response = await app.inject({
        method: 'POST',
        url: `/rest/v1/${table}${query}`,
        headers: { apikey: key, 'content-type': 'application/json' },
        payload: JSON.stringify(count === 1 ? rows[0] : rows),
      })
      return response.statusCode
    }
    expect(await insert(1)).toBe(400)
    expect(await insert(2)).toBe(400)
    expect(await insert(1)).toBe(429)
    await app.close()
  },
)

// break: wrong-tokens-uncounted
test('wrong tokens of links have a separate limit per address, which blocks no valid token and no application', async () => {
  const guest = await storeAcceptedApplicant(database.owner)
  const app = await createApp({ settings: { ...settings, rateLimitPerMinute: 1 }, database })
  const call = async (path: string, payload: object, remoteAddress = '192.0.2.1') => {
    const headers = { apikey: key, 'content-type': 'application/json' }
    const { statusCode, json } = await app.inject({
      method: 'POST',
      url: `/rest/v1/${path}`,
      headers,
      payload: JSON.stringify(payload),
      remoteAddress,
    })
    return { statusCode, body: statusCode === 201 ? undefined : json<{ state?: string; message?: string }>() }
  }
  const readInvitation = (token: string, from?: string) => call('rpc/place_by_token', { token }, from)
  for (let round = 0; round < 15; round += 1) {
    expect(await readInvitation(crypto.randomUUID())).toEqual({ statusCode: 200, body: { state: 'invalid' } })
    const act = crypto.randomUUID()
    const response = await call('rpc/answer_place', { token: 'none', answer: 'coming', act })
    expect(response.body).toEqual({ state: 'invalid' })
  }
  const refused = await readInvitation(crypto.randomUUID())
  expect(refused.statusCode).toBe(429)
  expect(refused.body?.message).toMatch(
    /^Too many wrong links came from your connection\. Please wait \d+ seconds? /,
  )
  for (let round = 0; round < 40; round += 1) {
    expect((await readInvitation(guest.token)).body).toMatchObject({ state: 'open' })
  }
  expect((await readInvitation('none', '192.0.2.2')).body).toEqual({ state: 'invalid' })
  expect((await call(table, anApplication())).statusCode).toBe(201)
})

test('`onStored` is called after each insert that stored an application, and after no other', async () => {
  let calls = 0
  const app = await createApp({ settings, database, onStored: () => (calls += 1) })
  const application = anApplication()
  const insert = () =>
    app.inject({
      method: 'POST',
      url: `/rest/v1/${table}`,
      headers: { apikey: key, 'content-type': 'application/json' },
      payload: JSON.stringify(application),
    })
  expect([(await insert()).statusCode, calls]).toEqual([201, 1])
  expect([(await insert()).statusCode, calls]).toEqual([409, 1])
  const payload = new URLSearchParams({ ...anApplication(), consent: 'true' }).toString()
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  expect([(await app.inject({ method: 'POST', url: '/', headers, payload })).statusCode, calls]).toEqual([
    200, 2,
  ])
})

test('a form that a browser posts twice without JavaScript succeeds both times, and is stored once', async () => {
  const application = anApplication()
  const body = new URLSearchParams({ ...application, consent: 'true' })
  for (let round = 0; round < 2; round += 1) {
    const response = await fetch(origin, { method: 'POST', body })
    expect(response.status).toBe(200)
    expect(await response.text()).toContain('Application Submitted Successfully!')
    expect(await readStored(application.email)).toHaveLength(1)
  }
})

test('an error has the same keys as an error of PostgREST', async () => {
  const response = await post('')
  expect(response.status).toBe(400)
  expect(await response.json()).toEqual({
    code: 'PGRST102',
    message: 'Empty or invalid json',
    details: null,
    hint: null,
  })
})

test.each([
  ['without a key', {}, 'No API key found in request'],
  ['with a wrong key', { apikey: 'wrong' }, 'Invalid API key'],
  ['with a wrong bearer', { apikey: key, authorization: 'Bearer wrong' }, 'Invalid API key'],
])('a request %s is refused', async (_title, headers, message) => {
  const response = await fetch(`${origin}/rest/v1/${table}`, { method: 'POST', headers, body: '{}' })
  expect(response.status).toBe(401)
  expect(await response.json()).toMatchObject({ message })
})

test('a function of the desk is found by its name and arguments, and refuses a caller who is not signed in', async () => {
  const call = (name: string, body: string) => post(body, {}, `rpc/${name}`)
  for (const body of ['', '{}']) {
    const response = await call('desk_me', body)
    expect(response.status).toBe(401)
    expect(await response.json()).toMatchObject({ code: '42501' })
  }
  expect(await (await call('desk_me', '{"b":1,"a":2}')).json()).toMatchObject({
    code: 'PGRST202',
    message: 'Could not find the function public.desk_me(a, b) in the schema cache',
  })
  expect(await (await call('pg_sleep', '{}')).json()).toMatchObject({ code: 'PGRST202' })
  expect(await (await call('desk_me', '{')).json()).toMatchObject({ code: 'PGRST102' })
})

test.each([
  ['GET', '/rest/v1/', 404, 'PGRST125'],
  ['PROPFIND', `/rest/v1/${table}`, 405, 'PGRST117'],
  ['GET', '/rest/v1/rpc/door_is_open', 405, 'PGRST117'],
  ['DELETE', '/rest/v1/rpc/nothing', 405, 'PGRST117'],
])("%s %s gets an error in PostgREST's format", async (method, path, status, code) => {
  const response = await fetch(origin + path, { method, headers: { apikey: key } })
  expect(response.status).toBe(status)
  expect(await response.json()).toMatchObject({ code })
})

test.each([
  ['"x"', '22023'],
  ['{x', '22P02'],
])('with the columns parameter PostgreSQL parses the body %s', async (body, code) => {
  const response = await post(body, {}, `${table}?columns=%22email%22`)
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({ code })
})

test('the response lists the applied preferences', async () => {
  for (const [count, range] of [
    ['exact', '*/1'],
    ['estimated', '*/1'],
    ['planned', '*/*'],
  ]) {
    const prefer = `return=minimal,count=${count}`
    const response = await post(JSON.stringify(anApplication()), { prefer })
    expect(response.headers.get('preference-applied')).toBe(`return=minimal, count=${count}`)
    expect(response.headers.get('content-range')).toBe(range)
  }
})

test('a browser on another origin may send the headers of a PostgREST client', async () => {
  const preflight = await fetch(`${origin}/rest/v1/${table}`, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://elsewhere.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-profile,prefer',
    },
  })
  expect(preflight.headers.get('access-control-allow-headers')).toBe('content-profile,prefer')
})
