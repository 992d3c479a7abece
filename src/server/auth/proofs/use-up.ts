import { HttpError } from '../../http/errors.ts'
import { confirmChange, type AddressChange, type HalfDone } from '../accounts/email-change.ts'
import { issueAuthCode } from './pkce.ts'
import { endTokens, takeCode, takeSecret, type Taken, type TokenType } from './one-time.ts'
import { codeExpired, invalid } from '../refusals.ts'
import { openSession, type Grant, type Method } from '../sessions/sessions.ts'
import type { Sql } from '../../database/sql.ts'

/** The result of using up a code or a link, with the change of address that it completed, if any. */
type Used<T> = (T & { addressChange: AddressChange | undefined }) | HalfDone

const signIn: TokenType[] = ['recovery_token', 'confirmation_token']
/** The token types that each type of a call may use up. Nobody signs up or is invited here. */
const typesOf = new Map<string, TokenType[]>([
  ['magiclink', signIn],
  ['recovery', signIn],
  ['email', signIn],
  ['email_change', ['email_change_token_current', 'email_change_token_new']],
  ['signup', []],
  ['invite', []],
])

/** @throws {HttpError} where the link is wrong, used or expired. */
async function takeLink(transaction: Sql, secret: string, type: string): Promise<Taken> {
  const types = typesOf.get(type)
  if (types === undefined) throw invalid('Invalid email verification type')
  const taken = types.length === 0 ? undefined : await takeSecret(transaction, types, secret)
  if (taken === undefined) throw new HttpError(403, 'otp_expired', 'Email link is invalid or has expired')
  return taken
}

/**
 * Uses up a link for a client that proves that it made the request (PKCE).
 *
 * @returns The code that it exchanges for a session.
 * @throws {HttpError} where the link is wrong, used or expired.
 */
export function authCodeByLink(sql: Sql, secret: string, type: string): Promise<Used<{ code: string }>> {
  return sql.begin(async (transaction) => {
    const taken = await takeLink(transaction, secret, type)
    const done = await finish(transaction, taken)
    if (done === 'half done') return done
    return { ...done, code: await issueAuthCode(transaction, taken.accountId, type as Method) }
  })
}

/**
 * Uses up a link, and opens a session.
 *
 * @throws {HttpError} where the link is wrong, used or expired.
 */
export function openByLink(sql: Sql, secret: string, type: string): Promise<Used<{ grant: Grant }>> {
  return sql.begin(async (transaction) =>
    openSessionFor(transaction, await takeLink(transaction, secret, type)),
  )
}

/**
 * Uses up a code, and opens a session.
 *
 * @param address The address that it was sent to, in lower case.
 * @throws {HttpError} where the code is wrong, used or expired, or had too many wrong tries.
 */
export async function openByCode(
  sql: Sql,
  address: string,
  type: string,
  code: string,
): Promise<Used<{ grant: Grant }>> {
  const used = await sql.begin(async (transaction) => {
    const taken = await takeCode(transaction, address, typesOf.get(type) ?? [], code)
    // Thrown only after the transaction, since a wrong try has to be counted.
    return taken && openSessionFor(transaction, taken)
  })
  if (used === undefined) throw codeExpired()
  return used
}

/** Opens the session that a code or a link was for. */
async function openSessionFor(transaction: Sql, taken: Taken): Promise<Used<{ grant: Grant }>> {
  const done = await finish(transaction, taken)
  if (done === 'half done') return done
  return { ...done, grant: await openSession(transaction, taken.accountId, 'otp') }
}

/** Completes what the code or the link was for, and ends the account's other codes and links. */
async function finish(transaction: Sql, { accountId, type }: Taken): Promise<Used<object>> {
  const isOfChange = type === 'email_change_token_current' || type === 'email_change_token_new'
  const addressChange = isOfChange ? await confirmChange(transaction, accountId) : undefined
  if (addressChange === 'half done') return addressChange
  await endTokens(transaction, accountId)
  await transaction`
    update auth.users set raw_user_meta_data = raw_user_meta_data || '{"email_verified": true}'
    where id = ${accountId} and raw_user_meta_data -> 'email_verified' is distinct from 'true'`
  return { addressChange }
}
