import { randomUUID } from 'node:crypto'

import { maxLengthOf, uniqueIndex, paidSolutions, table, teamSizes } from '../application/application.ts'
import {
  fail,
  printable,
  refusalCheck,
  throwIfDoorClosed,
  expectRefusal,
  type Check,
  type Refusal,
} from './check.ts'
import { deskCallArguments } from './desk-calls.ts'
import type { TargetResponse } from './target.ts'

/** PostgREST's response where the anonymous role lacks a right; any other role would get 403. */
const denied: Refusal = { status: 401, codes: ['42501'] }
/** A caller who may not read learns nothing else about the stored row. */
const alreadyStored: Refusal = { status: 409, codes: ['23505'], messageWord: `"${uniqueIndex}"` }
const consentRefused: Refusal = {
  status: 400,
  codes: ['23514'],
  messageWord: 'retreat_applications_consent_given',
}
const malformed: Refusal = { status: 400, codes: ['PGRST102'] }
const otherOrigin = 'https://elsewhere.example'

/**
 * The checks of a backend, whether it is our own server or PostgREST 12 to 16, alone or behind Supabase's gateway.
 *
 * The first check stores the target's application. No other check stores anything, since nobody could remove it again. To show
 * that a row is accepted, a check sends it with a second row that has to be refused: the refusal then names the second row. A row
 * that has to be refused copies the stored form answers where it can, so that a backend which accepts it refuses it as a
 * duplicate. A request to change or delete names only the target's email. If the door is closed, the first check throws
 * `DoorClosedError`. The checks that rely on the stored application are then skipped. The others still hold, since the door is the
 * last reason for which a row is refused.
 *
 * @see https://docs.postgrest.org/en/v14/references/errors.html
 */
export const checks: readonly Check[] = [
  {
    name: 'an application is stored as the page sends it',
    needsOpenDoor: true,
    async run({ request, pageRequest }) {
      const response = await request(pageRequest)
      throwIfDoorClosed(response)
      if (response.status !== 201) fail('201', response)
    },
  },
  {
    name: 'the same application again is refused as already stored, without details',
    needsOpenDoor: true,
    async run({ client, application }) {
      const response = await client.from(table).insert(application)
      expectRefusal(response, alreadyStored)
      const { details } = response.error ?? {}
      if (details) throw new Error(`expected no details, got ${printable(details)}`)
    },
  },
  {
    name: 'form answers that are left out are blank, and make the same application',
    needsOpenDoor: true,
    async run({ client, application }) {
      const { paid_solution: _, custom_solution: __, team_size: ___, ...answered } = application
      expectRefusal(await client.from(table).insert(answered), alreadyStored)
    },
  },
  {
    name: 'another form answer makes another application, and several rows are all stored or none',
    async run({ client, application }) {
      const rows = [
        { ...application, phone: '1' },
        { ...application, phone: '2', consent: false },
      ]
      expectRefusal(await client.from(table).insert(rows), consentRefused)
      // If the first row were stored, its refusal as a duplicate would come before the second row is checked.
      expectRefusal(await client.from(table).insert(rows), consentRefused)
    },
  },
  refusalCheck(
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
    consentRefused,
  ),
  {
    name: 'a form answer that some of several rows lack is null, or its default where the client asks for that',
    async run({ client, application }) {
      const { paid_solution: _, ...lacking } = application
      const rows = [
        { ...lacking, phone: '1' },
        { ...application, phone: '2', consent: false },
      ]
      expectRefusal(await client.from(table).insert(rows), {
        status: 400,
        codes: ['23502'],
        messageWord: '"paid_solution"',
      })
      expectRefusal(await client.from(table).insert(rows, { defaultToNull: false }), consentRefused)
    },
  },
  {
    name: 'no rows are no error',
    async run({ request }) {
      const response = await request({ body: '[]' })
      if (response.status !== 201) fail('201', response)
    },
  },

  refusedFieldCheck('an application without consent is refused', { consent: false }, consentRefused),
  refusedFieldCheck(
    'an empty required answer is refused',
    { company: '' },
    { status: 400, codes: ['23514'], messageWord: 'retreat_applications_company_given' },
  ),
  refusedFieldCheck(
    'a missing required answer is refused',
    { reason: undefined },
    { status: 400, codes: ['23502'], messageWord: '"reason"' },
  ),
  refusedFieldCheck(
    'null is no blank answer',
    { team_size: null },
    { status: 400, codes: ['23502'], messageWord: '"team_size"' },
  ),
  refusedFieldCheck(
    'an unknown answer to the first question is refused',
    { paid_solution: 'yes' },
    { status: 400, codes: ['23514'], messageWord: 'retreat_applications_paid_solution_known' },
  ),
  refusedFieldCheck(
    'an unknown size of the team is refused',
    { team_size: '4' },
    { status: 400, codes: ['23514'], messageWord: 'retreat_applications_team_size_known' },
  ),
  refusedFieldCheck(
    'a consent that is no boolean is refused',
    { consent: 'perhaps' },
    { status: 400, codes: ['22P02'] },
  ),
  refusedFieldCheck('a NUL character is refused', { reason: '\u0000' }, { status: 400, codes: ['22P05'] }),
  refusalCheck(
    'a lone surrogate is refused',
    ({ request, application }) =>
      request({ body: JSON.stringify({ ...application, phone: 'x' }).replace('"x"', '"\\ud800"') }),
    // PostgREST's own JSON parser may refuse it before PostgreSQL does.
    { status: 400, codes: ['PGRST102', '22P02', '22P05'] },
  ),
  ...(['company', 'reason'] as const).map((column) =>
    refusedFieldCheck(
      `an endless answer to "${column}" is refused`,
      { [column]: 'x'.repeat(maxLengthOf(column) + 1) },
      { status: 400, codes: ['23514'], messageWord: `"${column}"` },
    ),
  ),
  refusedFieldCheck(
    'an unknown column is refused',
    { nickname: 'x' },
    { status: 400, codes: ['PGRST204'], messageWord: "'nickname'" },
  ),
  refusedFieldCheck('nobody sets the id of an application', { id: randomUUID() }, denied),
  refusedFieldCheck('nobody sets when an application was stored', { created_at: '2020-01-01' }, denied),

  refusalCheck(
    'half an object is malformed',
    ({ request }) => request({ body: '{"first_name":' }),
    malformed,
  ),
  refusalCheck(
    'rows of different shapes are malformed',
    ({ request }) => request({ body: '[{"email":"a"},{"phone":"b"}]' }),
    malformed,
  ),
  refusalCheck(
    'rows that are no objects are malformed',
    ({ request }) => request({ body: '[1]' }),
    malformed,
  ),
  refusalCheck(
    'bytes that are no UTF-8 are malformed',
    ({ request }) => request({ body: Buffer.from([0x22, 0xff, 0x22]) }),
    malformed,
  ),
  refusalCheck(
    'a body with the content type of plain text is refused',
    ({ request }) => request({ body: 'first_name=Ada', headers: { 'content-type': 'text/plain' } }),
    { ...malformed, messageWord: 'text/plain' },
  ),

  refusalCheck(
    'nobody reads applications',
    ({ client, application }) => client.from(table).select().eq('email', application.email),
    denied,
  ),
  refusalCheck(
    'nobody counts applications',
    ({ client, application }) =>
      client.from(table).select('*', { head: true, count: 'exact' }).eq('email', application.email),
    // A response to HEAD has no body that could hold a code.
    { status: 401 },
  ),
  refusalCheck(
    'nobody gets the stored row back',
    ({ client, application }) => client.from(table).insert(application).select(),
    denied,
  ),
  refusalCheck(
    'nobody changes an application',
    ({ client, application }) =>
      client.from(table).update({ phone: application.phone }).eq('email', application.email),
    denied,
  ),
  refusalCheck(
    'nobody replaces an application',
    ({ request, application }) => {
      const id = randomUUID()
      const body = JSON.stringify({ ...application, id })
      return request({ method: 'PUT', path: `${table}?id=eq.${id}`, body })
    },
    denied,
  ),
  refusalCheck(
    'nobody deletes an application',
    ({ client, application }) => client.from(table).delete().eq('email', application.email),
    denied,
  ),
  refusalCheck(
    'nobody merges with what is stored',
    ({ client, application }) => client.from(table).upsert(application),
    denied,
  ),
  refusalCheck(
    'nobody skips what is stored',
    ({ client, application }) => client.from(table).upsert(application, { ignoreDuplicates: true }),
    denied,
  ),
  refusalCheck(
    'the deliveries are not there for visitors',
    ({ client }) => client.from('deliveries').select('application_id').limit(1),
    // PostgREST 12 leaves it to PostgreSQL to report a missing table.
    { status: 404, codes: ['PGRST205', '42P01'] },
  ),
  refusalCheck(
    'the private schema cannot be read',
    ({ client }) => client.schema('private').from('deliveries').select('application_id').limit(1),
    { status: 406, codes: ['PGRST106'] },
  ),
  refusalCheck(
    'the private schema cannot be written to',
    ({ client }) => client.schema('private').from('deliveries').insert({ application_id: randomUUID() }),
    { status: 406, codes: ['PGRST106'] },
  ),
  {
    name: 'the functions of the desk are refused to whoever has not signed in',
    async run({ client }) {
      for (const [name, args] of Object.entries(deskCallArguments)) {
        const response = await client.rpc(name, args)
        throwIfMissing(name, response)
        expectRefusal(response, denied)
      }
    },
  },
  {
    name: 'the door says whether it is open, and nothing else',
    async run({ client }) {
      const response = await client.rpc('door_is_open')
      throwIfMissing('door_is_open', response)
      if (response.error) fail('200', response)
      if (!isDoorState(response.data)) throw new Error('expected whether it is open, got something else')
    },
  },
  {
    name: 'nobody can read or answer an invitation without the link of a letter',
    async run({ client }) {
      // As few calls as possible, since wrong links are counted.
      const calls = {
        place_by_token: { token: randomUUID() },
        answer_place: { token: randomUUID(), answer: 'coming', act: randomUUID() },
        answer_questions: { token: randomUUID(), answers: {}, act: randomUUID() },
      }
      for (const [name, args] of Object.entries(calls)) {
        const response = await client.rpc(name, args)
        throwIfMissing(name, response)
        if (response.error) fail('200', response)
        if (JSON.stringify(response.data) !== '{"state":"invalid"}') {
          throw new Error(`expected ${name} to know no such link, got something else`)
        }
      }
    },
  },
  refusalCheck('no other function can be called', ({ client }) => client.rpc('enqueue_webhook'), {
    status: 404,
    codes: ['PGRST202'],
  }),
  refusalCheck(
    'a wrong key is refused',
    ({ request, pageRequest: { body } }) =>
      request({ body, headers: { apikey: 'wrong', authorization: 'Bearer wrong' } }),
    // Supabase's gateway responds itself, without a code; PostgREST alone checks only the bearer.
    { status: 401 },
  ),

  {
    name: 'a browser on another origin may send the same as the page',
    async run({ request, pageRequest }) {
      const requestHeaders = Object.keys(pageRequest.headers).filter((name) => name !== 'accept')
      const { status, error, headers } = await request({
        method: 'OPTIONS',
        headers: {
          origin: otherOrigin,
          'access-control-request-method': 'POST',
          'access-control-request-headers': requestHeaders.join(','),
        },
      })
      if (status >= 300) fail('an answer of 2xx to the preflight', { status, error })
      expectOriginAllowed(headers)
      const allowed = headerNames(headers.get('access-control-allow-headers'))
      const missing = requestHeaders.filter(
        (name) => !allowed.includes(name) && !(allowed.includes('*') && name !== 'authorization'),
      )
      if (missing.length === 0) return
      throw new Error(
        `expected the headers ${requestHeaders.join(', ')} to be allowed, got none of ${missing.join(', ')}`,
      )
    },
  },
  {
    name: 'a browser on another origin may read why an application was refused',
    async run({ request }) {
      const response = await request({ body: '{', headers: { origin: otherOrigin } })
      expectRefusal(response, malformed)
      expectOriginAllowed(response.headers)
    },
  },
]

/** @throws {Error} where a function does not exist. */
function throwIfMissing(name: string, { status, error }: TargetResponse) {
  if (status !== 404 || error?.code !== 'PGRST202') return
  throw new Error(
    `${name} is not there: the schema is older than this program. Push supabase/migrations/ to the project, or start your server once in this version.`,
  )
}

/** Whether it is the state of the door, and no more than the page needs. */
function isDoorState(data: unknown) {
  if (typeof data !== 'object' || data === null) return false
  const { is_open: isOpen, sentence = '', ...more } = data as Partial<Record<string, unknown>>
  if (typeof isOpen !== 'boolean' || Object.keys(more).length > 0) return false
  return (
    typeof sentence === 'string' && (isOpen ? sentence === '' : sentence !== '' && sentence.length <= 600)
  )
}

/** A check that the target's application is refused with some form answers changed. */
function refusedFieldCheck(name: string, changes: Record<string, unknown>, expected: Refusal) {
  return refusalCheck(
    name,
    ({ client, application }) => client.from(table).insert({ ...application, ...changes }),
    expected,
  )
}

function expectOriginAllowed(headers: Headers) {
  const allowed = headers.get('access-control-allow-origin')
  if (allowed === '*' || allowed === otherOrigin) return
  throw new Error(`expected every origin to be allowed, got ${allowed ?? 'no access-control-allow-origin'}`)
}

function headerNames(header: string | null) {
  return (header ?? '').split(',').map((name) => name.trim().toLowerCase())
}
