import { DatabaseError } from 'pg'
import { expect, test } from 'vitest'

import { isDuplicate } from '../../application/application.ts'
import { httpError } from './errors.ts'

/** The driver's error for a SQLSTATE. */
const databaseError = (code: string) =>
  Object.assign(new DatabaseError('no', 0, 'error'), { code, message: 'no' })

test.each([
  ['42501', 401, 403],
  ['23505', 409, 409],
  ['23514', 400, 400],
  ['42P01', 404, 404],
  ['53100', 503, 503],
  ['28P01', 503, 503],
  ['3D000', 503, 503],
  ['25006', 503, 503],
])('SQLSTATE %s becomes %i for a visitor and %i for a signed-in caller', (code, forVisitor, forSignedIn) => {
  expect(httpError(databaseError(code)).status).toBe(forVisitor)
  expect(httpError(databaseError(code), true).status).toBe(forSignedIn)
})

test('a repeated application is known by an English message, whatever the language of the database', () => {
  const refusal = Object.assign(databaseError('23505'), {
    message: 'doppelter Schlüsselwert verletzt Unique-Constraint »retreat_applications_once«',
    constraint: 'retreat_applications_once',
  })
  expect(isDuplicate(httpError(refusal))).toBe(true)
})

test('the sentence of our own functions reaches the caller, whatever its status', () => {
  const refusal = Object.assign(databaseError('PT503'), { message: 'Somebody is applying at this moment.' })
  expect(httpError(refusal, true)).toMatchObject({
    status: 503,
    message: 'Somebody is applying at this moment.',
  })
})

// break: failure-tells-postgres-message
test("a failure of the database has this server's own message, not PostgreSQL's", () => {
  const failure = Object.assign(databaseError('53100'), {
    message: 'could not extend file: ada@example.org',
    detail: 'Failing row contains (Ada).',
  })
  for (const signedIn of [false, true]) {
    const { message, details } = httpError(failure, signedIn)
    expect(message).toMatch(/right now\. Please try again in a moment\.$/)
    expect([message, details].join(' ')).not.toMatch(/ada/i)
  }
})
