import type { FastifyInstance } from 'fastify'

import { HttpError } from '../../http/errors.ts'
import { findAccount, hasSecondFactor, userOf, type Account } from '../accounts/accounts.ts'
import type { AuthContext } from '../context.ts'
import { challengeOf, checkPhone, emailOf, fieldsOf } from '../fields.ts'
import { endTokens, redeemCode } from '../proofs/one-time.ts'
import { checkPassword, hashPassword, isPassword } from '../accounts/passwords.ts'
import { createLimit } from '../rate-limits.ts'
import { requestedTarget } from '../mail/links.ts'
import { emailExists, emailIsOff, invalid, phoneIsOff } from '../refusals.ts'
import { changeAs, requireSignedIn, type SignedIn } from '../sessions/signed-in.ts'
import { changeMessage } from '../mail/messages.ts'
import { addressChangeEmails, emailRefusal } from '../mail/sign-in-emails.ts'
import type { Sql } from '../../database/sql.ts'

/** The most bytes of an account's data, and its deepest nesting: each access token contains the data. */
const maxDataBytes = 4096
const maxLevels = 20
/** Milliseconds after which a session alone is not enough to change the password. */
const reauthenticationAge = 24 * 3600 * 1000

/** The calls of a signed-in person about their account: user. */
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
    const hash = password === undefined ? undefined : await newHash(context, caller, password, nonce)

    const { changed, mails } = await changeAs(sql, caller, async (transaction, now) => {
      if (isGuarded) refuseLowAal(now)
      if (hash !== undefined) await setPassword(transaction, now, hash)
      if (fields.data !== undefined) await mergeData(transaction, account.id, fields.data)
      const refusal = changesEmail ? await emailRefusal(transaction, now.account, 'email_change') : undefined
      if (refusal !== undefined) throw refusal
      const target = requestedTarget(request, site())
      const changeEmails = changesEmail
        ? await addressChangeEmails(transaction, site(), now.account, email, { challenge, target })
        : []
      return {
        mails:
          hash === undefined ? changeEmails : [changeMessage(now.account.email, 'password'), ...changeEmails],
        changed: await findAccount(transaction, { id: account.id }),
      }
    })
    outgoing.after(reply, async () => mails)
    return userOf(changed ?? account)
  })
}

/** @throws {HttpError} where the account has a second factor that this session has not used. */
function refuseLowAal({ account, session }: SignedIn) {
  if (!hasSecondFactor(account) || session.aal !== 'aal1') return
  throw new HttpError(
    401,
    'insufficient_aal',
    'AAL2 session is required to update email or password when MFA is enabled.',
  )
}

/**
 * Hashes a new password.
 *
 * @throws {HttpError} where it is the old one; and where the session is older than a day and the request has no reauthentication
 *   code.
 */
async function newHash(
  context: AuthContext,
  { account, session }: SignedIn,
  password: string,
  nonce: string,
) {
  const isOld = Date.now() - session.created_at.getTime() > reauthenticationAge
  if (isOld && nonce === '') {
    throw new HttpError(400, 'reauthentication_needed', 'Password update requires reauthentication')
  }
  const isSame = await isPassword(password, account.encrypted_password, 'signed in', context.passwordCost)
  if (isOld) await redeemNonce(context, account, nonce, isSame)
  if (isSame) throw samePassword()
  return hashPassword(password, context.passwordCost)
}

/**
 * Redeems the reauthentication code, unless the password is refused anyway.
 *
 * @throws {HttpError} for a wrong code, before any other refusal: only the account's owner may learn that the password is the old
 *   one.
 */
async function redeemNonce({ sql }: AuthContext, { id, email }: Account, nonce: string, isSame: boolean) {
  const isRedeemed = await sql.begin(async (transaction) => {
    const redeemed = await redeemCode(transaction, email, ['reauthentication_token'], nonce)
    if (redeemed?.accountId !== id) return false
    // This error rolls back, so the code stays valid.
    if (isSame) throw samePassword()
    return true
  })
  if (!isRedeemed) {
    throw new HttpError(422, 'reauthentication_not_valid', 'Nonce has expired or is invalid')
  }
}

function samePassword() {
  return new HttpError(422, 'same_password', 'New password should be different from the old password.')
}

/**
 * Ends everything that somebody else could have begun: other sessions, codes, links, authorization codes of clients, and a change
 * of address.
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
 * Merges an account's data key by key. Null removes a key.
 *
 * @throws {HttpError} for more data than an access token, which contains all of it, can carry.
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
