import { randomBytes } from 'node:crypto'

import { HttpError } from '../../http/errors.ts'
import { findAccount, userOf, type Account } from '../accounts/accounts.ts'
import { resetPasswordTries } from '../accounts/password-tries.ts'
import { resetWrongCodes } from '../proofs/one-time.ts'
import { tokenLifetime, type SigningKeys } from './keys.ts'
import { decodeRefreshToken, encodeRefreshToken } from './refresh-token-format.ts'
import type { Sql } from '../../database/connection/sql.ts'

/** How somebody authenticated, as a token's `amr` names it. */
export type Method = 'password' | 'otp' | 'totp' | 'magiclink' | 'recovery' | 'email_change'

interface SessionRow {
  id: string
  user_id: string
  /** The authenticator assurance level: `aal2` if the session has used a second factor. */
  aal: 'aal1' | 'aal2'
  refresh_token_hmac_key: Buffer
  /** The counter of the active refresh token. */
  refresh_token_counter: number
  /** Refresh tokens with a lower counter are invalid. */
  refresh_token_floor: number
  refreshed_at: Date | null
  created_at: Date
}

/** A session and the content of its next tokens. */
export interface Grant {
  account: Account
  session: SessionRow
  /** The methods by which the person authenticated, the newest first. */
  amr: { method: string; timestamp: number }[]
}

/** GoTrue's response to a sign-in or a refresh. */
export interface Tokens {
  access_token: string
  token_type: 'bearer'
  /** Seconds. */
  expires_in: number
  /** Seconds since 1970. */
  expires_at: number
  refresh_token: string
  user: Record<string, unknown>
}

/** Seconds after a refresh in which older tokens than the previous one are accepted, for concurrent refreshes. */
const reuseInterval = 10

/** Opens a session for somebody who has authenticated. */
export async function openSession(transaction: Sql, accountId: string, method: Method): Promise<Grant> {
  const [session] = await transaction<{ id: string }[]>`
    insert into auth.sessions (user_id, refresh_token_hmac_key) values (${accountId}, ${randomBytes(32)})
    returning id`
  const id = session?.id ?? ''
  await addMethod(transaction, id, method)
  await resetWrongCodes(transaction, accountId)
  await transaction`update auth.users set last_sign_in_at = now(), updated_at = now() where id = ${accountId}`
  const grant = await grantOf(transaction, id)
  await resetPasswordTries(transaction, grant.account.email)
  return grant
}

/** Raises a session: its next tokens have `aal2`, and its former refresh tokens become invalid. */
export async function raiseSession(transaction: Sql, sessionId: string, factorId: string): Promise<Grant> {
  await transaction`
    update auth.sessions set aal = 'aal2', factor_id = ${factorId}, updated_at = now(), refreshed_at = now(),
      refresh_token_counter = refresh_token_counter + 1, refresh_token_floor = refresh_token_counter + 1
    where id = ${sessionId}`
  await addMethod(transaction, sessionId, 'totp')
  return grantOf(transaction, sessionId)
}

async function addMethod(transaction: Sql, sessionId: string, method: Method) {
  await transaction`
    insert into auth.mfa_amr_claims (session_id, authentication_method) values (${sessionId}, ${method})
    on conflict (session_id, authentication_method) do update set updated_at = clock_timestamp()`
}

async function grantOf(transaction: Sql, sessionId: string): Promise<Grant> {
  const [session] = await transaction<SessionRow[]>`select * from auth.sessions where id = ${sessionId}`
  const amr = await transaction<Grant['amr']>`
    select authentication_method as method, floor(extract(epoch from updated_at))::int as timestamp
    from auth.mfa_amr_claims where session_id = ${sessionId} order by updated_at desc`
  const account = session && (await findAccount(transaction, { id: session.user_id }))
  if (!account) throw notFound()
  return { account, session, amr: [...amr] }
}

/**
 * The tokens of a session, as a client gets them.
 *
 * @param issuer The base address of the sign-in's calls.
 */
export async function tokensOf(
  { account, session, amr }: Grant,
  keys: SigningKeys,
  issuer: string,
): Promise<Tokens> {
  const { token, expiresAt } = await keys.sign({
    iss: issuer,
    sub: account.id,
    aud: account.aud,
    email: account.email,
    phone: '',
    app_metadata: account.raw_app_meta_data,
    user_metadata: account.raw_user_meta_data,
    role: account.role,
    aal: session.aal,
    amr,
    session_id: session.id,
    is_anonymous: false,
  })
  return {
    access_token: token,
    token_type: 'bearer',
    expires_in: tokenLifetime,
    expires_at: expiresAt,
    refresh_token: encodeRefreshToken(
      session.id,
      session.refresh_token_counter,
      session.refresh_token_hmac_key,
    ),
    user: userOf(account),
  }
}

/**
 * Exchanges a refresh token for the next one. The previous token always gives the active one, which the client may never
 * have received. Older tokens give it only within ten seconds after the last exchange; later they end the session. Tokens from
 * before `raiseSession` are refused, and after those ten seconds also end the session.
 *
 * @throws {HttpError} if the token is not ours, or is no longer valid.
 */
export async function refresh(sql: Sql, text: string): Promise<Grant> {
  const token = decodeRefreshToken(text)
  if (token === undefined) {
    // The format of GoTrue's older tokens.
    if (/^[a-z0-9]{12}$/.test(text)) throw notFound()
    throw new HttpError(400, 'validation_failed', 'Refresh token is not valid')
  }
  const outcome = await sql.begin(async (transaction) => {
    // Concurrent refreshes of a session wait for each other.
    await transaction`set local lock_timeout = '5s'`
    const [row] = await transaction<(SessionRow & { is_recent: boolean })[]>`
        select *, private.happened_within(coalesce(refreshed_at, created_at), make_interval(secs => ${reuseInterval}))
          as is_recent
        from auth.sessions where id = ${token.sessionId} for update`
    if (row === undefined || !token.isSignedWith(row.refresh_token_hmac_key)) return 'not found'
    const behind = row.refresh_token_counter - token.counter
    // The database was restored to a state from before this token.
    if (behind < 0) return 'ahead'
    if (behind === 0) {
      await transaction`
          update auth.sessions
          set refresh_token_counter = refresh_token_counter + 1, refreshed_at = now(), updated_at = now()
          where id = ${row.id}`
    } else if (token.counter < row.refresh_token_floor || (behind > 1 && !row.is_recent)) {
      if (!row.is_recent) await transaction`delete from auth.sessions where id = ${row.id}`
      return 'used'
    }
    return grantOf(transaction, row.id)
  })
  if (outcome === 'not found') throw notFound()
  if (outcome === 'ahead') {
    throw new HttpError(400, 'validation_failed', 'Invalid Refresh Token: Not Issued By This Server')
  }
  if (outcome === 'used') {
    throw new HttpError(400, 'refresh_token_already_used', 'Invalid Refresh Token: Already Used')
  }
  return outcome
}

function notFound() {
  return new HttpError(400, 'refresh_token_not_found', 'Invalid Refresh Token: Refresh Token Not Found')
}
