import { randomUUID } from 'node:crypto'

import { maxLengthOf, paidSolutions, table, teamSizes, uniqueIndex } from '../application/application.ts'
import {
  denied,
  expectRefusal,
  fail,
  malformed,
  printable,
  refusalCheck,
  throwIfDoorClosed,
  type Check,
  type Refusal,
} from './check.ts'

/** The message names the index: a caller who may not read learns nothing else about the stored row. */
const alreadyStored: Refusal = { status: 409, codes: ['23505'], messageWord: `"${uniqueIndex}"` }
const consentRefused: Refusal = {
  status: 400,
  codes: ['23514'],
  messageWord: 'retreat_applications_consent_given',
}

/** Checks of inserts: which are stored, which are refused, and with which code. */
export const insertChecks: readonly Check[] = [
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
    name: 'missing form answers count as blank, so the application is the same',
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
      // If the first insert had stored a row, this insert would be refused as a duplicate before its second row is checked.
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
    name: 'an insert without rows succeeds',
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
    'null is refused as a form answer',
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
    // PostgREST's own JSON parser may refuse the surrogate before PostgreSQL does.
    { status: 400, codes: ['PGRST102', '22P02', '22P05'] },
  ),
  ...(['company', 'reason'] as const).map((column) =>
    refusedFieldCheck(
      `a very long answer to "${column}" is refused`,
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
  refusedFieldCheck(
    'nobody claims that an organiser added an application',
    { added_by: 'ada@example.org', consent: false },
    denied,
  ),

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
]

/** A check that the target's application is refused with some form answers changed. */
function refusedFieldCheck(name: string, changes: Record<string, unknown>, expected: Refusal) {
  return refusalCheck(
    name,
    ({ client, application }) => client.from(table).insert({ ...application, ...changes }),
    expected,
  )
}
