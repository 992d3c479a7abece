import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { TransactionSql } from 'postgres'

import { HttpError } from '../http/errors.ts'
import { hasSecondFactor, type Account } from './accounts.ts'
import type { AuthContext } from './context.ts'
import { forgive, isWithin } from './counts.ts'
import { invalid, tooManyRequests } from './errors.ts'
import { fieldsOf, isUuid } from './fields.ts'
import { createLimit } from './rate-limits.ts'
import { issuerOf } from './redirects.ts'
import { changeAs, raiseSession, signedIn, tokensOf, type Grant } from './sessions.ts'
import { checkCode, newSecret } from './totp.ts'

/** Factors that an account may have. */
const most = 10
/** Characters of what a factor is called, and of who it is shown to be for: a drawing holds no more. */
const longestName = 200
/** Seconds that a challenge, and a factor that nobody ever used, last. */
const lifetime = 300

/** The calls for the second factor, a code by time (TOTP): factors, challenge, verify. */
export function factorCalls(app: FastifyInstance, context: AuthContext): void {
  const { run, keys, site } = context

  app.post('/factors', async (request) => {
    const caller = await signedIn(request, run, keys)
    const {
      factor_type: type,
      friendly_name: name,
      issuer,
    } = fieldsOf(request, {
      factor_type: 'text',
      friendly_name: 'text',
      issuer: 'text',
    })
    checkType(type)
    if (name.length > longestName || issuer.length > longestName) {
      throw invalid(`friendly_name and issuer cannot be longer than ${longestName} characters`)
    }
    const { secret, uri, qrCode } = await newSecret(issuer || site().host, caller.account.email)
    const id = await changeAs(run, caller, async (transaction, { account, session }) => {
      await forgetUnused(transaction)
      const others = await transaction<{ friendly_name: string }[]>`
        select friendly_name from auth.mfa_factors where user_id = ${account.id}`
      if (others.some((other) => other.friendly_name === name)) throw nameConflict(name)
      if (others.length >= most) throw tooManyFactors()
      if (hasSecondFactor(account) && session.aal === 'aal1') {
        throw new HttpError(403, 'insufficient_aal', 'AAL2 required to enroll a new factor')
      }
      const [factor] = await transaction<{ id: string }[]>`
        insert into auth.mfa_factors (user_id, friendly_name, secret)
        values (${account.id}, ${name}, ${secret}) returning id`
      return factor?.id
    })
    return { id, type: 'totp', friendly_name: name, totp: { qr_code: qrCode, secret, uri } }
  })

  app.post('/factors/:id/challenge', { onRequest: createLimit(15, 1) }, async (request) => {
    const caller = await signedIn(request, run, keys)
    const [challenge] = await changeAs(run, caller, async (transaction, { account }) => {
      const factor = factorIn(request, account)
      await transaction`
        delete from auth.mfa_challenges where factor_id = ${factor.id} and created_at < now() - interval '1 day'`
      await transaction`update auth.mfa_factors set last_challenged_at = now() where id = ${factor.id}`
      return transaction<{ id: string; expires_at: number }[]>`
        insert into auth.mfa_challenges (factor_id, ip_address) values (${factor.id}, ${request.ip})
        returning id, floor(extract(epoch from created_at))::int + ${lifetime} as expires_at`
    })
    return { id: challenge?.id, type: 'totp', expires_at: challenge?.expires_at }
  })

  app.post('/factors/:id/verify', { onRequest: createLimit(15, 1) }, async (request) => {
    const caller = await signedIn(request, run, keys)
    factorIn(request, caller.account)
    const { challenge_id: challengeId, code } = fieldsOf(request, { challenge_id: 'text', code: 'text' })
    if (!isUuid(challengeId)) {
      throw new HttpError(
        400,
        'bad_json',
        'Could not parse request body as JSON: challenge_id should be a UUID',
      )
    }
    if (code === '') throw invalid('Code needs to be non-empty')
    // A guess has to stay counted, so its refusal is no error in the transaction.
    const raised = await changeAs(run, caller, (transaction, { account, session }) =>
      useCode(transaction, {
        accountId: account.id,
        sessionId: session.id,
        factorId: factorIn(request, account).id,
        challengeId,
        code,
        ip: request.ip,
      }),
    )
    if (raised instanceof HttpError) throw raised
    return tokensOf(raised, keys, issuerOf(site()))
  })

  app.delete('/factors/:id', async (request) => {
    const caller = await signedIn(request, run, keys)
    const id = await changeAs(run, caller, async (transaction, { account, session }) => {
      const factor = factorIn(request, account)
      if (factor.status === 'verified' && session.aal === 'aal1') {
        throw new HttpError(422, 'insufficient_aal', 'AAL2 required to unenroll verified factor')
      }
      await removeFactor(transaction, factor.id)
      return factor.id
    })
    return { id }
  })
}

/** Takes a factor of an account away, which is locked. What it raised falls back; the access tokens say so when they are renewed. */
export async function removeFactor(transaction: TransactionSql, factorId: string): Promise<void> {
  await transaction`
    delete from auth.mfa_amr_claims where authentication_method = 'totp'
      and session_id in (select id from auth.sessions where factor_id = ${factorId})`
  await transaction`
    update auth.sessions set aal = 'aal1', factor_id = null, updated_at = now() where factor_id = ${factorId}`
  await transaction`delete from auth.mfa_factors where id = ${factorId}`
}

interface Guess {
  accountId: string
  sessionId: string
  factorId: string
  challengeId: string
  code: string
  ip: string
}

/** With the account locked. */
async function useCode(transaction: TransactionSql, guess: Guess): Promise<Grant | HttpError> {
  const { accountId, sessionId, factorId, challengeId, code, ip } = guess
  const [factor] = await transaction<{ secret: string; last_step: number }[]>`
    select secret, last_step from auth.mfa_factors where id = ${factorId}`
  if (factor === undefined) return unknownFactor()
  const [challenge] = await transaction<{ ip_address: string; is_used: boolean; is_late: boolean }[]>`
    select ip_address, verified_at is not null as is_used,
      created_at < now() - make_interval(secs => ${lifetime}) as is_late
    from auth.mfa_challenges where id = ${challengeId} and factor_id = ${factorId}`
  if (challenge === undefined) {
    return new HttpError(422, 'mfa_factor_not_found', 'MFA factor with the provided challenge ID not found')
  }
  if (challenge.is_used || challenge.ip_address !== ip) {
    return new HttpError(422, 'mfa_ip_address_mismatch', 'Challenge and verify IP addresses mismatch.')
  }
  if (challenge.is_late) {
    await transaction`delete from auth.mfa_challenges where id = ${challengeId}`
    return new HttpError(
      422,
      'mfa_challenge_expired',
      `MFA challenge ${challengeId} has expired, verify against another challenge or create a new challenge.`,
    )
  }
  if (!(await isWithin(transaction, accountId, 'factor guesses'))) return tooManyRequests()
  const step = await checkCode(factor.secret, code)
  if (step === undefined || step <= factor.last_step) {
    return new HttpError(422, 'mfa_verification_failed', 'Invalid TOTP code entered')
  }
  await forgive(transaction, accountId, 'factor guesses')
  await transaction`update auth.mfa_challenges set verified_at = now() where id = ${challengeId}`
  await transaction`
    update auth.mfa_factors set status = 'verified', last_step = ${step}, updated_at = now() where id = ${factorId}`
  await transaction`delete from auth.mfa_factors where user_id = ${accountId} and status = 'unverified'`
  const grant = await raiseSession(transaction, sessionId, factorId)
  await transaction`delete from auth.sessions where user_id = ${accountId} and aal = 'aal1'`
  return grant
}

/** Factors that somebody began to set up and left, of all accounts; not of one that is locked. */
async function forgetUnused(transaction: TransactionSql) {
  await transaction`
    delete from auth.mfa_factors where id in (
      select id from auth.mfa_factors as factors
      where status = 'unverified' and created_at < now() - make_interval(secs => ${lifetime})
        and not exists (select from auth.mfa_challenges where factor_id = factors.id)
      for update skip locked
    )`
}

function factorIn({ params }: FastifyRequest, { factors }: Account) {
  const { id } = params as { id: string }
  if (!isUuid(id)) throw invalid('factor_id must be an UUID', 404)
  const factor = factors.find((each) => each.id === id.toLowerCase())
  if (factor === undefined) throw unknownFactor()
  return factor
}

function checkType(type: string) {
  if (type === 'totp') return
  if (type === 'phone') {
    throw new HttpError(422, 'mfa_phone_enroll_not_enabled', 'MFA enroll is disabled for Phone')
  }
  if (type === 'webauthn') {
    throw new HttpError(422, 'mfa_webauthn_enroll_not_enabled', 'MFA enroll is disabled for WebAuthn')
  }
  throw invalid('factor_type needs to be totp, phone, or webauthn')
}

function unknownFactor() {
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
