import type { FastifyInstance } from 'fastify'
import type { TransactionSql } from 'postgres'

import { HttpError } from '../http/errors.ts'
import { findAccount, hasSecondFactor, userOf, type Account } from './accounts.ts'
import type { AuthContext } from './context.ts'
import { challengeOf, checkPhone, emailOf, fieldsOf } from './fields.ts'
import { emailChangeMails, emailIsOff, phoneIsOff, sendAll, targetOf } from './mails.ts'
import { endTokens, takeCode } from './one-time.ts'
import { checkPassword, hashPassword, isPassword } from './passwords.ts'
import { createLimit } from './rate-limits.ts'
import { signedIn, type SignedIn } from './sessions.ts'
import { emailExists } from './verify.ts'

/** Milliseconds after which a session alone does not suffice to change the password. */
const reauthenticationAge = 24 * 3600 * 1000

/** The calls for whoever is signed in, about their account: user. */
export function userCalls(app: FastifyInstance, context: AuthContext): void {
  const { run, keys, mailer } = context

  app.get('/user', async (request) => userOf((await signedIn(request, run, keys)).account))

  app.put('/user', { onRequest: createLimit(30, 5) }, async (request, reply) => {
    const caller = await signedIn(request, run, keys)
    const { account, session } = caller
    const { password, nonce, ...fields } = fieldsOf(request, {
      email: 'text',
      phone: 'text',
      password: 'text',
      nonce: 'text',
      data: 'object',
      app_metadata: 'object',
      code_challenge: 'text',
      code_challenge_method: 'text',
    })
    const email = fields.email === '' ? account.email : emailOf(fields.email)
    if (fields.phone !== '') checkPhone(fields.phone)
    if (password !== '') checkPassword(password)
    if (fields.app_metadata !== undefined) {
      throw new HttpError(403, 'not_admin', 'Updating app_metadata requires admin privileges')
    }
    const changesEmail = email !== account.email
    const challenge = challengeOf(fields)
    if (
      hasSecondFactor(account) &&
      session.aal === 'aal1' &&
      (password !== '' || changesEmail || fields.phone !== '')
    ) {
      throw new HttpError(
        401,
        'insufficient_aal',
        'AAL2 session is required to update email or password when MFA is enabled.',
      )
    }
    if (changesEmail && (await run((sql) => findAccount(sql, { email })))) throw emailExists()
    if (fields.phone !== '') throw phoneIsOff()
    if (changesEmail && mailer === undefined) throw emailIsOff(400)
    const hash = password === '' ? undefined : await newHash(context, caller, password, nonce)

    const { changed, mails } = await run((sql) =>
      sql.begin(async (transaction) => {
        if (hash !== undefined) await setPassword(transaction, caller, hash)
        if (fields.data !== undefined) await mergeData(transaction, account.id, fields.data)
        const mailed = changesEmail
          ? await emailChangeMails(transaction, context, account, email, {
              challenge,
              target: targetOf(request, context),
            })
          : []
        return { mails: mailed, changed: await findAccount(transaction, { id: account.id }) }
      }),
    )
    sendAll(context, reply, mails)
    return userOf(changed ?? account)
  })
}

/**
 * A new password's hash.
 *
 * @throws {HttpError} where it is the old one; and where the session is older than a day and no code of
 *   reauthenticate came along.
 */
async function newHash(
  { run }: AuthContext,
  { account, session }: SignedIn,
  password: string,
  nonce: string,
) {
  if (Date.now() - session.created_at.getTime() > reauthenticationAge) {
    if (nonce === '') {
      throw new HttpError(400, 'reauthentication_needed', 'Password update requires reauthentication')
    }
    const taken = await run((sql) =>
      sql.begin((transaction) => takeCode(transaction, account.email, ['reauthentication_token'], nonce)),
    )
    if (taken?.accountId !== account.id) {
      throw new HttpError(422, 'reauthentication_not_valid', 'Nonce has expired or is invalid')
    }
  }
  if (await isPassword(password, account.encrypted_password)) {
    throw new HttpError(422, 'same_password', 'New password should be different from the old password.')
  }
  return hashPassword(password)
}

/** Ends everything that somebody else could have begun: other sessions, codes, links, a change of address. */
async function setPassword(transaction: TransactionSql, { account, session }: SignedIn, hash: string) {
  await transaction`
    update auth.users set encrypted_password = ${hash}, email_change = null, email_change_sent_at = null,
      updated_at = now()
    where id = ${account.id}`
  await endTokens(transaction, account.id)
  await transaction`delete from auth.sessions where user_id = ${account.id} and id <> ${session.id}`
}

/** Key by key; null takes a key away. */
async function mergeData(
  transaction: TransactionSql,
  accountId: Account['id'],
  data: Readonly<Record<string, unknown>>,
) {
  const entries = Object.entries(data)
  const kept = Object.fromEntries(entries.filter(([, value]) => value !== null))
  const gone = Object.fromEntries(entries.filter(([, value]) => value === null))
  await transaction`
    update auth.users set updated_at = now(),
      raw_user_meta_data = (raw_user_meta_data || ${JSON.stringify(kept)}::text::jsonb)
        - array(select jsonb_object_keys(${JSON.stringify(gone)}::text::jsonb))
    where id = ${accountId}`
}
