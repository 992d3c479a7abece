import type { FastifyRequest } from 'fastify'
import type { JWTPayload } from 'jose'

import { HttpError } from '../../http/errors.ts'
import { findAccount, lockAccount, type Account } from '../accounts/accounts.ts'
import { isUuid } from '../../../application/uuid.ts'
import type { SigningKeys } from './keys.ts'
import type { Sql } from '../../database/connection/sql.ts'

/** The account and the session of a request's bearer token, as they are in the database. */
export interface SignedIn {
  account: Account
  session: { id: string; aal: 'aal1' | 'aal2'; created_at: Date }
}

/**
 * Reads the owner of a request's bearer token from the database, so that tokens of a deleted account or session are refused at
 * once.
 *
 * @returns Them, and the assurance level that the token claims: that of the session may be higher by now.
 * @throws {HttpError} if the token is missing or invalid, or its account or session no longer exists.
 */
export async function requireSignedIn(
  { headers }: FastifyRequest,
  sql: Sql,
  keys: SigningKeys,
): Promise<SignedIn & { claimedAal: unknown }> {
  const [, token] = /^bearer +([^ ]+)$/i.exec(headers.authorization ?? '') ?? []
  if (token === undefined) {
    throw new HttpError(401, 'no_authorization', 'This endpoint requires a valid Bearer token')
  }
  const { sub, session_id: sessionId, aal: claimedAal } = await verified(token, keys)
  if (typeof sub !== 'string' || sub === '') throw badToken('missing sub claim', 403)
  if (!isUuid(sub)) throw badToken('sub claim must be a UUID', 400)
  const id = typeof sessionId === 'string' && isUuid(sessionId) ? sessionId : undefined
  return { ...(await findSignedIn(sql, sub, id)), claimedAal }
}

async function verified(token: string, keys: SigningKeys): Promise<JWTPayload> {
  try {
    return await keys.verify(token)
  } catch (error) {
    if (!isTokenError(error)) throw error
    throw badToken(`unable to parse or verify signature, ${error.message}`, 403)
  }
}

/** Whether an error is about the token, and not about the database in which the keys are stored. */
export function isTokenError(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_J')
}

function badToken(why: string, status: number) {
  return new HttpError(status, 'bad_jwt', `invalid JWT: ${why}`)
}

/**
 * Runs work in a transaction for a signed-in caller, after `lockCaller`.
 *
 * @param work Gets the caller as the second read found them.
 * @throws {HttpError} if the account or the session no longer exists.
 */
export function changeAs<T>(
  sql: Sql,
  caller: SignedIn,
  work: (transaction: Sql, current: SignedIn) => Promise<T>,
): Promise<T> {
  return sql.begin(async (transaction) => work(transaction, await lockCaller(transaction, caller)))
}

/**
 * Locks the account of a signed-in caller, and reads the caller again, who may have been signed out since the first read.
 *
 * @throws {HttpError} if the account or the session no longer exists.
 */
export async function lockCaller(transaction: Sql, { account, session }: SignedIn): Promise<SignedIn> {
  await lockAccount(transaction, account.id)
  return findSignedIn(transaction, account.id, session.id)
}

async function findSignedIn(sql: Sql, accountId: string, sessionId: string | undefined): Promise<SignedIn> {
  const account = await findAccount(sql, { id: accountId })
  if (account === undefined) {
    throw new HttpError(403, 'user_not_found', 'User from sub claim in JWT does not exist')
  }
  const [session] =
    sessionId === undefined
      ? []
      : await sql<SignedIn['session'][]>`
          select id, aal, created_at from auth.sessions where id = ${sessionId} and user_id = ${accountId}`
  if (session === undefined) {
    throw new HttpError(403, 'session_not_found', 'Session from session_id claim in JWT does not exist')
  }
  return { account, session }
}
