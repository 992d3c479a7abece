import { HttpError } from '../../http/errors.ts'
import { confirmChange, type AddressChange, type HalfDone } from '../accounts/confirm-email-change.ts'
import { issueAuthCode } from './pkce.ts'
import { endTokens, redeemCode, redeemSecret, type RedeemedToken, type TokenType } from './one-time.ts'
import { codeExpired, invalid } from '../refusals.ts'
import { openSession, type Grant, type Method } from '../sessions/sessions.ts'
import type { Sql } from '../../database/connection/sql.ts'

/**
 * The result of redeeming a code or a link, with the change of address that it completed, if any; `half done` if the other
 * address still has to confirm the change.
 */
type Redemption<T> = (T & { addressChange: AddressChange | undefined }) | HalfDone

const signInTypes: TokenType[] = ['recovery_token', 'confirmation_token']
/** The token types that a call may redeem, by the `type` in the call. Nobody can sign up or be invited through this server. */
const typesOf = new Map<string, TokenType[]>([
  ['magiclink', signInTypes],
  ['recovery', signInTypes],
  ['email', signInTypes],
  ['email_change', ['email_change_token_current', 'email_change_token_new']],
  ['signup', []],
  ['invite', []],
])

/** @throws {HttpError} if the type is unknown, or the link is wrong, used or expired. */
async function redeemLink(transaction: Sql, secret: string, type: string): Promise<RedeemedToken> {
  const types = typesOf.get(type)
  if (types === undefined) throw invalid('Invalid email verification type')
  const redeemed = types.length === 0 ? undefined : await redeemSecret(transaction, types, secret)
  if (redeemed === undefined) throw new HttpError(403, 'otp_expired', 'Email link is invalid or has expired')
  return redeemed
}

/**
 * Redeems a link for a client that uses PKCE.
 *
 * @returns The code that the client exchanges for a session.
 * @throws {HttpError} if the type is unknown, or the link is wrong, used or expired.
 */
export function authCodeByLink(
  sql: Sql,
  secret: string,
  type: string,
): Promise<Redemption<{ code: string }>> {
  return sql.begin(async (transaction) => {
    const redeemed = await redeemLink(transaction, secret, type)
    const completed = await complete(transaction, redeemed)
    if (completed === 'half done') return completed
    return { ...completed, code: await issueAuthCode(transaction, redeemed.accountId, type as Method) }
  })
}

/**
 * Redeems a link, and opens a session.
 *
 * @throws {HttpError} if the type is unknown, or the link is wrong, used or expired.
 */
export function signInByLink(sql: Sql, secret: string, type: string): Promise<Redemption<{ grant: Grant }>> {
  return sql.begin(async (transaction) =>
    openSessionFor(transaction, await redeemLink(transaction, secret, type)),
  )
}

/**
 * Redeems a code, and opens a session.
 *
 * @param address The address that the code was sent to, in lower case.
 * @throws {HttpError} if the code is wrong, used or expired, or had too many wrong tries.
 */
export async function signInByCode(
  sql: Sql,
  address: string,
  type: string,
  code: string,
): Promise<Redemption<{ grant: Grant }>> {
  const redemption = await sql.begin(async (transaction) => {
    const redeemed = await redeemCode(transaction, address, typesOf.get(type) ?? [], code)
    // The error is thrown after the transaction, which has to count a wrong try.
    return redeemed && openSessionFor(transaction, redeemed)
  })
  if (redemption === undefined) throw codeExpired()
  return redemption
}

/** Opens a session with a redeemed code or link. */
async function openSessionFor(
  transaction: Sql,
  redeemed: RedeemedToken,
): Promise<Redemption<{ grant: Grant }>> {
  const completed = await complete(transaction, redeemed)
  if (completed === 'half done') return completed
  return { ...completed, grant: await openSession(transaction, redeemed.accountId, 'otp') }
}

/**
 * Confirms a change of address, if the code or the link is for one. Ends the account's other codes and links, unless the
 * change lacks its second confirmation.
 */
async function complete(transaction: Sql, { accountId, type }: RedeemedToken): Promise<Redemption<object>> {
  const isAddressChange = type === 'email_change_token_current' || type === 'email_change_token_new'
  const addressChange = isAddressChange ? await confirmChange(transaction, accountId) : undefined
  if (addressChange === 'half done') return addressChange
  await endTokens(transaction, accountId)
  await transaction`
    update auth.users set raw_user_meta_data = raw_user_meta_data || '{"email_verified": true}'
    where id = ${accountId} and raw_user_meta_data -> 'email_verified' is distinct from 'true'`
  return { addressChange }
}
