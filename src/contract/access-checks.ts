import { randomUUID } from 'node:crypto'

import { table } from '../application/application.ts'
import { denied, expectRefusal, fail, refusalCheck, type Check } from './check.ts'
import { deskCallArguments } from './desk-calls.ts'
import type { TargetResponse } from './target.ts'

/** Checks of what visitors may not read, change or call, and of the few functions that they may call. */
export const accessChecks: readonly Check[] = [
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
    'an insert cannot change a stored application',
    ({ client, application }) => client.from(table).upsert(application),
    denied,
  ),
  refusalCheck(
    'an insert cannot skip duplicates',
    ({ client, application }) => client.from(table).upsert(application, { ignoreDuplicates: true }),
    denied,
  ),
  refusalCheck(
    'visitors cannot reach the deliveries',
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
    name: 'only people who are signed in may call the functions of the desk',
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
    name: 'nobody can read or answer an invitation, or withdraw an application, without the link of an email',
    async run({ client }) {
      // As few calls as possible, since wrong links are counted.
      const calls = {
        place_by_token: { token: randomUUID() },
        answer_place: { token: randomUUID(), answer: 'coming', act: randomUUID() },
        answer_questions: { token: randomUUID(), answers: {}, act: randomUUID() },
        withdrawal_by_token: { token: randomUUID() },
        withdraw_application: { token: randomUUID(), is_withdrawn: true, act: randomUUID() },
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
    // Supabase's gateway responds itself, without a code; PostgREST alone checks only the bearer token.
    { status: 401 },
  ),
]

/** @throws {Error} if a function does not exist. */
function throwIfMissing(name: string, { status, error }: TargetResponse) {
  if (status !== 404 || error?.code !== 'PGRST202') return
  throw new Error(
    `${name} is not there: the schema is older than this program. Push supabase/migrations/ to the project, or start your server once in this version.`,
  )
}

/**
 * Whether a response has the state of the door, and nothing else: the sentence is there only while the door is closed. A sentence
 * of 300 characters, the maximum, may have 600 UTF-16 units.
 */
function isDoorState(data: unknown) {
  if (typeof data !== 'object' || data === null) return false
  const { is_open: isOpen, sentence = '', ...more } = data as Partial<Record<string, unknown>>
  if (typeof isOpen !== 'boolean' || Object.keys(more).length > 0) return false
  return (
    typeof sentence === 'string' && (isOpen ? sentence === '' : sentence !== '' && sentence.length <= 600)
  )
}
