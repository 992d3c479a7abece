import { createHash, randomUUID, timingSafeEqual } from 'node:crypto'

import { HttpError } from '../../http/errors.ts'
import { type Challenge } from '../fields.ts'
import { isUuid } from '../../../application/uuid.ts'
import { openSession, type Grant, type Method } from '../sessions/sessions.ts'
import type { Sql } from '../../database/connection/sql.ts'

/** Seconds within which a client has to exchange the code from a link. */
const codeLifetime = 300

/**
 * Stores a client's challenge until the client exchanges its code. Deletes challenges older than a day, and those from before the
 * clock was set back.
 */
export async function beginFlow(
  transaction: Sql,
  accountId: string,
  { method, challenge }: Challenge,
  occasion: Method,
): Promise<void> {
  await transaction`
    delete from auth.flow_state where not private.happened_within(created_at, '1 day')`
  await transaction`
    insert into auth.flow_state (user_id, code_challenge_method, code_challenge, authentication_method)
    values (${accountId}, ${method}, ${challenge}, ${occasion})`
}

/**
 * Issues the code for the client that last requested an email of this kind.
 *
 * @throws {HttpError} if no challenge of such a request is stored.
 */
export async function issueAuthCode(transaction: Sql, accountId: string, occasion: Method): Promise<string> {
  const code = randomUUID()
  const { count } = await transaction`
    update auth.flow_state set auth_code = ${code}, auth_code_issued_at = now()
    where id = (
      select id from auth.flow_state where user_id = ${accountId} and authentication_method = ${occasion}
      order by created_at desc limit 1
    )`
  if (count > 0) return code
  throw new HttpError(400, 'flow_state_not_found', 'No associated flow state found.')
}

/**
 * Exchanges a code for a session.
 *
 * @throws {HttpError} if the code is missing, wrong or too old, or the verifier is missing or wrong. After a wrong verifier the
 *   code stays valid.
 */
export async function exchange(sql: Sql, code: string, verifier: string): Promise<Grant> {
  if (code === '' || verifier === '') {
    throw new HttpError(
      400,
      'validation_failed',
      'invalid request: both auth code and code verifier should be non-empty',
    )
  }
  if (!isUuid(code)) throw notFound()
  return sql.begin(async (transaction) => {
    await transaction`
        select from auth.users where id = (select user_id from auth.flow_state where auth_code = ${code}) for update`
    const [flow] = await transaction<Flow[]>`
        select *, not private.happened_within(auth_code_issued_at, make_interval(secs => ${codeLifetime})) as is_expired
        from auth.flow_state where auth_code = ${code}`
    if (flow === undefined) throw notFound()
    if (flow.is_expired) {
      throw new HttpError(422, 'flow_state_expired', 'invalid flow state, flow state has expired')
    }
    if (!proves(verifier, flow)) {
      throw new HttpError(
        400,
        'bad_code_verifier',
        'code challenge does not match previously saved code verifier',
      )
    }
    await transaction`delete from auth.flow_state where id = ${flow.id}`
    return openSession(transaction, flow.user_id, flow.authentication_method)
  })
}

interface Flow {
  id: string
  user_id: string
  code_challenge_method: Challenge['method']
  code_challenge: string
  authentication_method: Method
  is_expired: boolean
}

function proves(verifier: string, { code_challenge: challenge, code_challenge_method: method }: Flow) {
  const text = method === 'plain' ? verifier : createHash('sha256').update(verifier).digest('base64url')
  const [actual, expected] = [Buffer.from(text), Buffer.from(challenge)]
  return actual.length === expected.length && timingSafeEqual(actual, expected)
}

function notFound() {
  return new HttpError(404, 'flow_state_not_found', 'invalid flow state, no valid flow state found')
}
