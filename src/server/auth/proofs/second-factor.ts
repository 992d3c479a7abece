import { HttpError } from '../../http/errors.ts'
import { hasSecondFactor } from '../accounts/accounts.ts'
import { resetCount, countWithinLimit } from '../account-limits.ts'
import { tooManyRequests } from '../refusals.ts'
import { raiseSession, type Grant } from '../sessions/sessions.ts'
import type { SignedIn } from '../sessions/signed-in.ts'
import { checkCode } from './totp.ts'
import type { Sql } from '../../database/connection/sql.ts'

/** The most factors of an account. */
const maxFactors = 10
/** The lifetime, in seconds, of a challenge, and of a new factor that gets no challenge. */
const lifetime = 300

/**
 * Begins to set up a factor for the caller. The account has to be locked.
 *
 * @param secret In base32.
 * @returns The factor's id.
 * @throws {HttpError} if there are too many factors, if the name is a duplicate, or if the account has a factor that this
 *   session has not used.
 */
export async function addFactor(
  transaction: Sql,
  { account, session }: SignedIn,
  name: string,
  secret: string,
): Promise<string> {
  await deleteAbandoned(transaction)
  const existing = await transaction<{ friendly_name: string }[]>`
    select friendly_name from auth.mfa_factors where user_id = ${account.id}`
  if (existing.some((each) => each.friendly_name === name)) throw nameConflict(name)
  if (existing.length >= maxFactors) throw tooManyFactors()
  if (hasSecondFactor(account) && session.aal === 'aal1') {
    throw new HttpError(403, 'insufficient_aal', 'AAL2 required to enroll a new factor')
  }
  const [factor] = await transaction<{ id: string }[]>`
    insert into auth.mfa_factors (user_id, friendly_name, secret)
    values (${account.id}, ${name}, ${secret}) returning id`
  return factor?.id ?? ''
}

/**
 * Creates a challenge, which asks for a code.
 *
 * @param ip The IP address that has to send the code.
 * @returns The challenge's id and its expiry in seconds since 1970.
 */
export async function addChallenge(
  transaction: Sql,
  factorId: string,
  ip: string,
): Promise<{ id: string; expires_at: number } | undefined> {
  await transaction`
    delete from auth.mfa_challenges where factor_id = ${factorId} and created_at < now() - interval '1 day'`
  await transaction`update auth.mfa_factors set last_challenged_at = now() where id = ${factorId}`
  const [challenge] = await transaction<{ id: string; expires_at: number }[]>`
    insert into auth.mfa_challenges (factor_id, ip_address) values (${factorId}, ${ip})
    returning id, floor(extract(epoch from created_at))::int + ${lifetime} as expires_at`
  return challenge
}

/**
 * Removes a factor of a locked account. Sessions that used the factor fall back to `aal1`, the level without a second factor.
 * Their access tokens have `aal1` after the next refresh.
 */
export async function removeFactor(transaction: Sql, factorId: string): Promise<void> {
  await transaction`
    delete from auth.mfa_amr_claims where authentication_method = 'totp'
      and session_id in (select id from auth.sessions where factor_id = ${factorId})`
  await transaction`
    update auth.sessions set aal = 'aal1', factor_id = null, updated_at = now() where factor_id = ${factorId}`
  await transaction`delete from auth.mfa_factors where id = ${factorId}`
}

/** A code for a challenge. */
interface Guess {
  accountId: string
  sessionId: string
  factorId: string
  challengeId: string
  code: string
  ip: string
}

/**
 * Checks the code for a challenge. A right code verifies the factor and raises the session to `aal2`. The account's unverified
 * factors, and its sessions that are still at `aal1`, are then deleted. The account has to be locked. Commit the transaction
 * even if the code is wrong, since it counts the guess.
 *
 * @returns The raised session, or the refusal.
 */
export async function useFactorCode(transaction: Sql, guess: Guess): Promise<Grant | HttpError> {
  const { accountId, sessionId, factorId, challengeId, code, ip } = guess
  const [factor] = await transaction<{ secret: string; last_step: number }[]>`
    select secret, last_step from auth.mfa_factors where id = ${factorId}`
  if (factor === undefined) return unknownFactor()
  const [challenge] = await transaction<{ ip_address: string; is_used: boolean; is_expired: boolean }[]>`
    select ip_address, verified_at is not null as is_used,
      created_at < now() - make_interval(secs => ${lifetime}) as is_expired
    from auth.mfa_challenges where id = ${challengeId} and factor_id = ${factorId}`
  if (challenge === undefined) {
    return new HttpError(422, 'mfa_factor_not_found', 'MFA factor with the provided challenge ID not found')
  }
  if (challenge.is_used || challenge.ip_address !== ip) {
    return new HttpError(422, 'mfa_ip_address_mismatch', 'Challenge and verify IP addresses mismatch.')
  }
  if (challenge.is_expired) {
    await transaction`delete from auth.mfa_challenges where id = ${challengeId}`
    return new HttpError(
      422,
      'mfa_challenge_expired',
      `MFA challenge ${challengeId} has expired, verify against another challenge or create a new challenge.`,
    )
  }
  if (!(await countWithinLimit(transaction, accountId, 'factor guesses'))) return tooManyRequests()
  const step = await checkCode(factor.secret, code)
  if (step === undefined || step <= factor.last_step) {
    return new HttpError(422, 'mfa_verification_failed', 'Invalid TOTP code entered')
  }
  await resetCount(transaction, accountId, 'factor guesses')
  await transaction`update auth.mfa_challenges set verified_at = now() where id = ${challengeId}`
  await transaction`
    update auth.mfa_factors set status = 'verified', last_step = ${step}, updated_at = now() where id = ${factorId}`
  await transaction`delete from auth.mfa_factors where user_id = ${accountId} and status = 'unverified'`
  const grant = await raiseSession(transaction, sessionId, factorId)
  await transaction`delete from auth.sessions where user_id = ${accountId} and aal = 'aal1'`
  return grant
}

/** Removes factors whose set-up was abandoned, from all accounts. Skips factors that are locked. */
async function deleteAbandoned(transaction: Sql) {
  await transaction`
    delete from auth.mfa_factors where id in (
      select id from auth.mfa_factors as factors
      where status = 'unverified' and created_at < now() - make_interval(secs => ${lifetime})
        and not exists (select from auth.mfa_challenges where factor_id = factors.id)
      for update skip locked
    )`
}

/** The refusal of a factor that the account does not have. */
export function unknownFactor(): HttpError {
  return new HttpError(404, 'mfa_factor_not_found', 'Factor not found')
}

function nameConflict(name: string) {
  return new HttpError(
    422,
    'mfa_factor_name_conflict',
    `A factor with the friendly name "${name}" for this user already exists`,
  )
}

function tooManyFactors() {
  return new HttpError(
    422,
    'too_many_enrolled_mfa_factors',
    'Maximum number of verified factors reached, unenroll to continue',
  )
}
