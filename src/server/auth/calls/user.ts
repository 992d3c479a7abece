import type { FastifyInstance } from 'fastify'

import { HttpError } from '../../http/errors.ts'
import { findAccount, hasSecondFactor, userOf, type Account } from '../accounts/accounts.ts'
import type { AuthContext } from '../context.ts'
import { challengeOf, checkPhone, emailOf, fieldsOf } from '../fields.ts'
import { endTokens, redeemCode } from '../proofs/one-time.ts'
import { checkPassword, hashPassword, isPassword } from '../accounts/passwords.ts'
import { createLimit } from '../ip-rate-limits.ts'
import { requestedTarget } from '../mail/links.ts'
import { emailExists, emailIsOff, invalid, phoneIsOff } from '../refusals.ts'
import { lockCaller, requireSignedIn, type SignedIn } from '../sessions/signed-in.ts'
import { changeMessage } from '../mail/messages.ts'
import { addressChangeEmails, countEmails } from '../mail/sign-in-emails.ts'
import type { Sql } from '../../database/connection/sql.ts'

/** The most bytes of the data that a person stores in an account, and its deepest nesting: each access token contains it. */
const maxDataBytes = 4096
const maxLevels = 20
/** The age of a session, in milliseconds, from which a new password needs a reauthentication code. */
const reauthenticationAge = 24 * 3600 * 1000

/**
 * Registers the calls of a signed-in person about their account: GET user and PUT user. The desk changes a password. Another email
 * address and data of one's own are for other clients of GoTrue.
 */
export function userCalls(app: FastifyInstance, context: AuthContext): void {
  const { sql, keys, site, outgoing } = context

  app.get('/user', async (request) => userOf((await requireSignedIn(request, sql, keys)).account))

  app.put('/user', { onRequest: createLimit(30, 5) }, async (request, reply) => {
    const caller = await requireSignedIn(request, sql, keys)
    const { account } = caller
    const { password, nonce, ...fields } = fieldsOf(request, {
      email: 'text',
      phone: 'text',
      password: 'optional text',
      current_password: 'text',
      nonce: 'text',
      channel: 'text',
      data: 'object',
      app_metadata: 'object',
      code_challenge: 'text',
      code_challenge_method: 'text',
    })
    const email = fields.email === '' ? account.email : emailOf(fields.email)
    if (fields.phone !== '') checkPhone(fields.phone)
    if (password !== undefined) checkPassword(password)
    if (fields.app_metadata !== undefined) {
      throw new HttpError(403, 'not_admin', 'Updating app_metadata requires admin privileges')
    }
    const changesEmail = email !== account.email
    const challenge = challengeOf(fields)
    const isGuarded = password !== undefined || changesEmail || fields.phone !== ''
    if (isGuarded) refuseLowAal(caller)
    if (changesEmail && (await findAccount(sql, { email }))) throw emailExists()
    if (fields.phone !== '') throw phoneIsOff()
    if (changesEmail && !outgoing.isOn) throw emailIsOff(400)
    const hashed = password === undefined ? undefined : await newHash(context, caller, password, nonce)

    const outcome = await sql.begin(async (transaction) => {
      // Returned, so that the transaction is committed: a wrong code counts as a try. All other refusals leave the code valid.
      if (hashed?.needsNonce && !(await redeemNonce(transaction, account, nonce))) return wrongNonce()
      if (hashed?.isOldPassword) throw samePassword()
      const hash = hashed?.hash
      const current = await lockCaller(transaction, caller)
      if (isGuarded) refuseLowAal(current)
      if (hash !== undefined) await setPassword(transaction, current, hash)
      if (fields.data !== undefined) await mergeData(transaction, account.id, fields.data)
      const refusal = changesEmail
        ? await countEmails(transaction, current.account, 'email_change')
        : undefined
      if (refusal !== undefined) throw refusal
      const target = requestedTarget(request, site())
      const changeEmails = changesEmail
        ? await addressChangeEmails(transaction, site(), current.account, email, { challenge, target })
        : []
      return {
        emails:
          hash === undefined
            ? changeEmails
            : [changeMessage(current.account.email, 'password'), ...changeEmails],
        changed: await findAccount(transaction, { id: account.id }),
      }
    })
    if (outcome instanceof HttpError) throw outcome
    outgoing.after(reply, async () => outcome.emails)
    return userOf(outcome.changed ?? account)
  })
}

/** @throws {HttpError} if the account has a second factor that this session has not used. */
function refuseLowAal({ account, session }: SignedIn) {
  if (!hasSecondFactor(account) || session.aal !== 'aal1') return
  throw new HttpError(
    401,
    'insufficient_aal',
    'AAL2 session is required to update email or password when MFA is enabled.',
  )
}

/**
 * Hashes a new password, and compares it with the old one. It takes as long for the old password: only the account's owner may
 * learn that it is the old one, after redeeming the code.
 *
 * @throws {HttpError} if the session is older than a day and there is no reauthentication code.
 */
async function newHash(
  { passwordCost }: AuthContext,
  { account, session }: SignedIn,
  password: string,
  nonce: string,
) {
  const needsNonce = Date.now() - session.created_at.getTime() > reauthenticationAge
  if (needsNonce && nonce === '') {
    throw new HttpError(400, 'reauthentication_needed', 'Password update requires reauthentication')
  }
  const isOldPassword = await isPassword(password, account.encrypted_password, 'signed in', passwordCost)
  return { needsNonce, isOldPassword, hash: await hashPassword(password, passwordCost) }
}

/** Redeems the reauthentication code. Returns false if it is wrong. */
async function redeemNonce(transaction: Sql, { id, email }: Account, nonce: string) {
  const redeemed = await redeemCode(transaction, email, ['reauthentication_token'], nonce)
  return redeemed?.accountId === id
}

function wrongNonce() {
  return new HttpError(422, 'reauthentication_not_valid', 'Nonce has expired or is invalid')
}

function samePassword() {
  return new HttpError(422, 'same_password', 'New password should be different from the old password.')
}

/**
 * Stores a new password. Ends everything that somebody else could have begun: other sessions, codes, links, PKCE codes, and
 * a change of address.
 */
async function setPassword(transaction: Sql, { account, session }: SignedIn, hash: string) {
  await transaction`
    update auth.users set encrypted_password = ${hash}, email_change = null, email_change_sent_at = null,
      updated_at = now()
    where id = ${account.id}`
  await endTokens(transaction, account.id)
  await transaction`delete from auth.flow_state where user_id = ${account.id}`
  await transaction`delete from auth.sessions where user_id = ${account.id} and id <> ${session.id}`
}

/**
 * Merges the top-level keys of new data into an account's data. A nested object is replaced, and null removes a key.
 *
 * @throws {HttpError} if the data is too large or too deeply nested: each access token contains all of it.
 */
async function mergeData(
  transaction: Sql,
  accountId: Account['id'],
  data: Readonly<Record<string, unknown>>,
) {
  if (isDeeperThan(data, maxLevels)) throw invalid(`data is nested deeper than ${maxLevels} levels`)
  const entries = Object.entries(data)
  const merged = Object.fromEntries(entries.filter(([, value]) => value !== null))
  const removed = Object.fromEntries(entries.filter(([, value]) => value === null))
  const [row] = await transaction<{ length: number }[]>`
    update auth.users set updated_at = now(),
      raw_user_meta_data = (raw_user_meta_data || ${JSON.stringify(merged)}::text::jsonb)
        - array(select jsonb_object_keys(${JSON.stringify(removed)}::text::jsonb))
    where id = ${accountId} returning octet_length(raw_user_meta_data::text) as length`
  if ((row?.length ?? 0) > maxDataBytes) throw invalid(`data is larger than ${maxDataBytes} bytes`)
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((each) => isDeeperThan(each, levels - 1))
}
