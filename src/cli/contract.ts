import { randomBytes, randomUUID } from 'node:crypto'
import { PostgrestClient } from '@supabase/postgrest-js'

import { onceIndex, paidSolutions, table, teamSizes, type Application } from '../application/application.ts'
import { insertApplication } from '../backend/insert.ts'

/** A backend to be checked, and the one application that the checks leave there. */
export interface Target {
  /** It says of itself that it is a test. Whatever else is sent has its email too. */
  application: Application
  /** The data interface, spoken to by the client and with the headers that the page uses. */
  client: PostgrestClient
  /** What the page sends for that application. */
  pageRequest: { body: BodyInit | null; headers: Record<string, string> }
  /** The data interface, for what the client cannot send: by default a POST to the table with the page's headers. */
  request: (init: RequestInit & { path?: string }) => Promise<Answer & { headers: Headers }>
}

/** One thing that the page or its applicants rely on. */
export interface Check {
  /** A sentence that is true where the check passes. */
  name: string
  /** @throws {Error} where it is not: its message says what was expected and what came. */
  run: (target: Target) => Promise<void>
}

interface Answer {
  status: number
  error: { code?: string; message?: string; details?: string | null } | null
}

interface Refusal {
  status: number
  /** One of these; any, or none, unless given. */
  codes?: string[]
  /** What the message names. */
  naming?: string
}

/**
 * Prepares the checks of a backend.
 *
 * @param backend Its address, without `/rest/v1`, and its public key.
 * @param fetcher What sends the requests.
 */
export async function targetAt(
  { url, anonKey }: { url: string; anonKey: string },
  fetcher = fetch,
): Promise<Target> {
  const application: Application = {
    first_name: 'Test',
    last_name: 'of npm run verify',
    email: `verify+${randomBytes(6).toString('hex')}@example.com`,
    phone: '0',
    linkedin: 'none',
    company: 'none',
    paid_solution: '',
    custom_solution: '',
    team_size: '',
    reason: 'Written by npm run verify, to check the backend. Nobody applied: this may be deleted.',
    consent: true,
  }
  // The page's own call is asked what it sends, so that the checks come as an applicant does.
  let pageRequest: Target['pageRequest'] = { body: null, headers: {} }
  await insertApplication(application, { url, anonKey }, async (_input, init) => {
    pageRequest = { body: init?.body ?? null, headers: Object.fromEntries(new Headers(init?.headers)) }
    return new Response(null, { status: 201 })
  })
  const rest = `${url}/rest/v1`
  const { 'content-type': _, ...headers } = pageRequest.headers
  return {
    application,
    client: new PostgrestClient(rest, { headers, fetch: fetcher, retry: false }),
    pageRequest,
    async request({ path = table, ...init }) {
      const given = Object.fromEntries(new Headers(init.headers))
      // A browser that asks beforehand shows no key.
      const usual = init.method === 'OPTIONS' ? {} : pageRequest.headers
      const response = await fetcher(`${rest}/${path}`, {
        method: 'POST',
        ...init,
        headers: { ...usual, ...given },
      })
      const { status, headers: answered } = response
      return { status, error: errorIn(await response.text()), headers: answered }
    },
  }
}

/** What PostgREST answers where the anonymous role lacks a right; any other role would get 403. */
const denied: Refusal = { status: 401, codes: ['42501'] }
/** Whoever may not read learns no more of the row that is there. */
const alreadyStored: Refusal = { status: 409, codes: ['23505'], naming: `"${onceIndex}"` }
const withoutConsent: Refusal = {
  status: 400,
  codes: ['23514'],
  naming: 'retreat_applications_consent_given',
}
const malformed: Refusal = { status: 400, codes: ['PGRST102'] }
const otherOrigin = 'https://elsewhere.example'

/**
 * What a backend has to answer, whether it is our own server or PostgREST 12 to 16, alone or behind Supabase's
 * gateway. The first check stores the target's application and no other leaves anything, since nobody could
 * take it away again: what has to be accepted is sent with a row behind it that has to be refused, and then the
 * refusal of that row shows it; what has to be refused has the stored application's answers where it can, so
 * that a backend which accepts it refuses it as already stored. What asks to change or delete names only the
 * target's email.
 *
 * @see https://docs.postgrest.org/en/v14/references/errors.html
 */
export const checks: readonly Check[] = [
  {
    name: 'an application is stored as the page sends it',
    async run({ request, pageRequest }) {
      const answer = await request(pageRequest)
      if (answer.status !== 201) fail('201', answer)
    },
  },
  {
    name: 'the same application again is refused as already stored, and nothing is told of it',
    async run({ client, application }) {
      const answer = await client.from(table).insert(application)
      refused(answer, alreadyStored)
      const { details } = answer.error ?? {}
      if (details) throw new Error(`expected no details, got ${printable(details)}`)
    },
  },
  refusal(
    'answers that may be left out are blank then, and make the same application',
    ({ client, application }) => {
      const { paid_solution: _, custom_solution: __, team_size: ___, ...answered } = application
      return client.from(table).insert(answered)
    },
    alreadyStored,
  ),
  {
    name: 'another answer makes another application, and of several rows all are stored or none',
    async run({ client, application }) {
      const rows = [
        { ...application, phone: '1' },
        { ...application, phone: '2', consent: false },
      ]
      refused(await client.from(table).insert(rows), withoutConsent)
      // Were the first row stored now, that would be said of it before the second is looked at.
      refused(await client.from(table).insert(rows), withoutConsent)
    },
  },
  refusal(
    'every option of the form is known',
    ({ client, application }) => {
      const teams = Object.keys(teamSizes)
      const rows = Object.keys(paidSolutions).map((paid_solution, index) => ({
        ...application,
        paid_solution,
        team_size: teams[index % teams.length],
      }))
      return client.from(table).insert([...rows, { ...application, phone: '2', consent: false }])
    },
    withoutConsent,
  ),
  {
    name: 'an answer that some of several rows lack is null, or its default where the client asks for that',
    async run({ client, application }) {
      const { paid_solution: _, ...lacking } = application
      const rows = [
        { ...lacking, phone: '1' },
        { ...application, phone: '2', consent: false },
      ]
      refused(await client.from(table).insert(rows), {
        status: 400,
        codes: ['23502'],
        naming: '"paid_solution"',
      })
      refused(await client.from(table).insert(rows, { defaultToNull: false }), withoutConsent)
    },
  },
  {
    name: 'no rows are no error',
    async run({ request }) {
      const answer = await request({ body: '[]' })
      if (answer.status !== 201) fail('201', answer)
    },
  },

  refusedAnswer('an application without consent is refused', { consent: false }, withoutConsent),
  refusedAnswer(
    'an empty required answer is refused',
    { company: '' },
    { status: 400, codes: ['23514'], naming: 'retreat_applications_company_given' },
  ),
  refusedAnswer(
    'a missing required answer is refused',
    { reason: undefined },
    { status: 400, codes: ['23502'], naming: '"reason"' },
  ),
  refusedAnswer(
    'null is no blank answer',
    { team_size: null },
    { status: 400, codes: ['23502'], naming: '"team_size"' },
  ),
  refusedAnswer(
    'an unknown answer to the first question is refused',
    { paid_solution: 'yes' },
    { status: 400, codes: ['23514'], naming: 'retreat_applications_paid_solution_known' },
  ),
  refusedAnswer(
    'an unknown size of the team is refused',
    { team_size: '4' },
    { status: 400, codes: ['23514'], naming: 'retreat_applications_team_size_known' },
  ),
  refusedAnswer(
    'a consent that is no boolean is refused',
    { consent: 'perhaps' },
    { status: 400, codes: ['22P02'] },
  ),
  refusedAnswer('a NUL character is refused', { reason: '\u0000' }, { status: 400, codes: ['22P05'] }),
  refusal(
    'a lone surrogate is refused',
    ({ request, application }) =>
      request({ body: JSON.stringify({ ...application, phone: 'x' }).replace('"x"', '"\\ud800"') }),
    // PostgREST's own reader of JSON may refuse it before PostgreSQL does.
    { status: 400, codes: ['PGRST102', '22P02', '22P05'] },
  ),
  refusedAnswer(
    'an unknown column is refused',
    { nickname: 'x' },
    { status: 400, codes: ['PGRST204'], naming: "'nickname'" },
  ),
  refusedAnswer('nobody sets the id of an application', { id: randomUUID() }, denied),
  refusedAnswer('nobody sets when an application came', { created_at: '2020-01-01' }, denied),

  refusal('half an object is malformed', ({ request }) => request({ body: '{"first_name":' }), malformed),
  refusal(
    'rows of different shapes are malformed',
    ({ request }) => request({ body: '[{"email":"a"},{"phone":"b"}]' }),
    malformed,
  ),
  refusal('rows that are no objects are malformed', ({ request }) => request({ body: '[1]' }), malformed),
  refusal(
    'bytes that are no UTF-8 are malformed',
    ({ request }) => request({ body: Buffer.from([0x22, 0xff, 0x22]) }),
    malformed,
  ),
  refusal(
    'a body that is said to be plain text is refused',
    ({ request }) => request({ body: 'first_name=Ada', headers: { 'content-type': 'text/plain' } }),
    { ...malformed, naming: 'text/plain' },
  ),

  refusal(
    'nobody reads applications',
    ({ client, application }) => client.from(table).select().eq('email', application.email),
    denied,
  ),
  refusal(
    'nobody counts applications',
    ({ client, application }) =>
      client.from(table).select('*', { head: true, count: 'exact' }).eq('email', application.email),
    // An answer to HEAD has no body that could hold a code.
    { status: 401 },
  ),
  refusal(
    'nobody is shown what they sent',
    ({ client, application }) => client.from(table).insert(application).select(),
    denied,
  ),
  refusal(
    'nobody changes an application',
    ({ client, application }) =>
      client.from(table).update({ phone: application.phone }).eq('email', application.email),
    denied,
  ),
  refusal(
    'nobody replaces an application',
    ({ request, application }) => {
      const id = randomUUID()
      const body = JSON.stringify({ ...application, id })
      return request({ method: 'PUT', path: `${table}?id=eq.${id}`, body })
    },
    denied,
  ),
  refusal(
    'nobody deletes an application',
    ({ client, application }) => client.from(table).delete().eq('email', application.email),
    denied,
  ),
  refusal(
    'nobody merges with what is stored',
    ({ client, application }) => client.from(table).upsert(application),
    denied,
  ),
  refusal(
    'nobody inserts around what is stored',
    ({ client, application }) => client.from(table).upsert(application, { ignoreDuplicates: true }),
    denied,
  ),
  refusal(
    'the outbox is not there for visitors',
    ({ client }) => client.from('webhook_outbox').select('application_id').limit(1),
    // PostgREST 12 leaves it to PostgreSQL to miss a table.
    { status: 404, codes: ['PGRST205', '42P01'] },
  ),
  refusal(
    'the private schema cannot be read',
    ({ client }) => client.schema('private').from('webhook_outbox').select('application_id').limit(1),
    { status: 406, codes: ['PGRST106'] },
  ),
  refusal(
    'the private schema cannot be written to',
    ({ client }) => client.schema('private').from('webhook_outbox').insert({ application_id: randomUUID() }),
    { status: 406, codes: ['PGRST106'] },
  ),
  refusal('no function can be called', ({ client }) => client.rpc('enqueue_webhook'), {
    status: 404,
    codes: ['PGRST202'],
  }),
  refusal(
    'a wrong key is refused',
    ({ request, pageRequest: { body } }) =>
      request({ body, headers: { apikey: 'wrong', authorization: 'Bearer wrong' } }),
    // Supabase's gateway answers by itself, and gives no code; PostgREST alone looks at the bearer only.
    { status: 401 },
  ),

  {
    name: 'a browser may send what the page sends from another origin',
    async run({ request, pageRequest }) {
      const asked = Object.keys(pageRequest.headers).filter((name) => name !== 'accept')
      const { status, error, headers } = await request({
        method: 'OPTIONS',
        headers: {
          origin: otherOrigin,
          'access-control-request-method': 'POST',
          'access-control-request-headers': asked.join(','),
        },
      })
      if (status >= 300) fail('an answer of 2xx to the preflight', { status, error })
      allowsOrigin(headers)
      const allowed = names(headers.get('access-control-allow-headers'))
      const missing = asked.filter(
        (name) => !allowed.includes(name) && !(allowed.includes('*') && name !== 'authorization'),
      )
      if (missing.length === 0) return
      throw new Error(
        `expected the headers ${asked.join(', ')} to be allowed, got none of ${missing.join(', ')}`,
      )
    },
  },
  {
    name: 'a browser may read from another origin why an application was refused',
    async run({ request }) {
      const answer = await request({ body: '{', headers: { origin: otherOrigin } })
      refused(answer, malformed)
      allowsOrigin(answer.headers)
    },
  },
]

function refusal(name: string, send: (target: Target) => PromiseLike<Answer>, expected: Refusal): Check {
  return { name, run: async (target) => refused(await send(target), expected) }
}

/** The refusal of the target's application with some of its answers changed. */
function refusedAnswer(name: string, changes: Record<string, unknown>, expected: Refusal) {
  return refusal(
    name,
    ({ client, application }) => client.from(table).insert({ ...application, ...changes }),
    expected,
  )
}

function refused(answer: Answer, { status, codes = [], naming = '' }: Refusal) {
  const { code = '', message = '' } = answer.error ?? {}
  const isRight =
    answer.status === status && (codes.length === 0 || codes.includes(code)) && message.includes(naming)
  if (isRight) return
  const named = naming === '' ? '' : `, naming ${naming}`
  fail(`${status}${codes.length === 0 ? '' : ` ${codes.join(' or ')}`}${named}`, answer)
}

function allowsOrigin(headers: Headers) {
  const allowed = headers.get('access-control-allow-origin')
  if (allowed === '*' || allowed === otherOrigin) return
  throw new Error(`expected every origin to be allowed, got ${allowed ?? 'no access-control-allow-origin'}`)
}

/** What a success holds is not shown: where too much can be read, it is what people wrote. */
function fail(expected: string, { status, error }: Answer): never {
  const { code, message = '' } = (status >= 200 && status < 300 ? null : error) ?? {}
  const words = message === '' ? '' : `: ${printable(message.slice(0, 200))}`
  const got = status === 0 ? 'no answer' : [status, code].filter(Boolean).join(' ')
  throw new Error(`expected ${expected}, got ${got}${words}`)
}

function errorIn(text: string): Answer['error'] {
  try {
    return JSON.parse(text) as Answer['error']
  } catch {
    return { message: text }
  }
}

function names(header: string | null) {
  return (header ?? '').split(',').map((name) => name.trim().toLowerCase())
}

/** One line of what another server wrote, without anything that a terminal would obey. */
function printable(text: string) {
  return text.replaceAll(/[^\u0021-\u007e]+/g, ' ')
}
