import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { TransactionSql } from 'postgres'

import { HttpError } from '../http/errors.ts'
import { findAccount, lockAccount, type Account } from './accounts.ts'
import type { AuthContext } from './context.ts'
import { isWithin, mailPause, tooManyMails, tooSoon } from './counts.ts'
import { invalid } from './errors.ts'
import { challengeOf, emailOf, fieldsOf, type Challenge } from './fields.ts'
import { beginFlow } from './flow.ts'
import { message, type Message } from './messages.ts'
import { issue, lifetimes } from './one-time.ts'
import { createLimit } from './rate-limits.ts'
import { redirectTarget, verifyLink } from './redirects.ts'
import { changeAs, signedIn } from './sessions.ts'

const pkce = { code_challenge: 'text', code_challenge_method: 'text' } as const

/** The calls that have a mail sent: otp, recover, resend, reauthenticate. */
export function mailCalls(app: FastifyInstance, context: AuthContext): void {
  const { run, keys, mailer, mailTurns, afterwards } = context

  /** Does everything that knows of accounts after the answer, which is the same for every address. */
  const sendLater = async (request: Asked, occasion: 'magiclink' | 'recovery', email: string) => {
    if (mailer === undefined) throw new Error('there is no mail server')
    await mailTurns.take(email)
    afterwards.do(request.reply, async () => {
      const mail = await context.runLater((sql) =>
        sql.begin((transaction) => signInMail(transaction, context, email, occasion, request)),
      )
      if (mail !== undefined) await mailer.send(mail)
    })
    return {}
  }

  app.post('/otp', { onRequest: createLimit(30, 5) }, async (request, reply) => {
    const fields = fieldsOf(request, {
      email: 'text',
      phone: 'text',
      create_user: 'flag',
      data: 'object',
      channel: 'text',
      ...pkce,
    })
    const { email, phone, channel } = fields
    if (email !== '' && phone !== '')
      throw invalid('Only an email address or phone number should be provided')
    if (email !== '' && channel !== '') throw invalid('Channel should only be specified with Phone OTP')
    const challenge = challengeOf(fields)
    if (phone !== '') throw phoneIsOff()
    if (email === '') throw invalid('One of email or phone must be set')
    if (mailer === undefined) throw emailIsOff(422)
    return sendLater({ reply, challenge, target: targetOf(request, context) }, 'magiclink', emailOf(email))
  })

  app.post('/recover', { onRequest: createLimit(30, 5) }, async (request, reply) => {
    if (mailer === undefined) throw emailIsOff(400)
    const fields = fieldsOf(request, { email: 'text', ...pkce })
    if (fields.email === '') throw invalid('Password recovery requires an email')
    const email = emailOf(fields.email)
    const challenge = challengeOf(fields)
    return sendLater({ reply, challenge, target: targetOf(request, context) }, 'recovery', email)
  })

  app.post('/resend', { onRequest: createLimit(30, 5) }, async (request, reply) => {
    const fields = fieldsOf(request, { type: 'text', email: 'text', phone: 'text', ...pkce })
    const { type, email, phone } = fields
    if (!['signup', 'email_change', 'sms', 'phone_change'].includes(type)) {
      throw invalid('Missing one of these types: signup, email_change, sms, phone_change')
    }
    const challenge = type === 'signup' || type === 'email_change' ? challengeOf(fields) : undefined
    if (type === 'signup' && email === '') throw invalid('Type provided requires an email address')
    if (type === 'sms' && phone === '') throw invalid('Type provided requires a phone number')
    if (email !== '' && phone !== '')
      throw invalid('Only an email address or phone number should be provided.')
    if (phone !== '') throw phoneIsOff('Phone logins are disabled')
    if (email === '') throw invalid('Missing email address or phone number')
    if (mailer === undefined) throw emailIsOff(400)
    const address = emailOf(email)
    // Accounts are confirmed from the start: of a sign-up there is nothing to send again.
    if (type !== 'email_change') return {}
    const target = targetOf(request, context)
    const mails = await run((sql) =>
      sql.begin(async (transaction) => {
        const account = await lockedAccount(transaction, address)
        if (!account?.email_change) return []
        return emailChangeMails(transaction, context, account, account.email_change, { challenge, target })
      }),
    )
    sendAll(context, reply, mails)
    return {}
  })

  app.get('/reauthenticate', { exposeHeadRoute: false }, async (request, reply) => {
    const caller = await signedIn(request, run, keys)
    if (mailer === undefined) throw emailIsOff(400)
    const mail = await changeAs(run, caller, async (transaction, { account }) => {
      await checkPause(transaction, account, 'reauthentication_sent_at')
      const { id, email } = account
      const { code } = await issue(transaction, {
        accountId: id,
        type: 'reauthentication_token',
        address: email,
        lifetime: lifetimes.mail,
        offers: ['code'],
      })
      await transaction`update auth.users set reauthentication_sent_at = now() where id = ${id}`
      return message('reauthentication', { to: email, code })
    })
    sendAll(context, reply, [mail])
    return {}
  })
}

interface Asked {
  reply: Parameters<AuthContext['afterwards']['do']>[0]
  challenge: Challenge | undefined
  target: URL | undefined
}

/** The mail to sign in with; none where the address has no account, or had ten within the hour. */
async function signInMail(
  transaction: TransactionSql,
  { site }: AuthContext,
  email: string,
  occasion: 'magiclink' | 'recovery',
  { challenge, target }: Asked,
): Promise<Message | undefined> {
  const account = await lockedAccount(transaction, email)
  if (account === undefined || !(await isWithin(transaction, account.id, 'mails'))) return undefined
  if (challenge !== undefined) await beginFlow(transaction, account.id, challenge, occasion)
  const { code, secret } = await issue(transaction, {
    accountId: account.id,
    type: 'recovery_token',
    address: email,
    lifetime: lifetimes.mail,
    offers: ['code', 'link'],
    isPkce: challenge !== undefined,
  })
  await transaction`update auth.users set recovery_sent_at = now() where id = ${account.id}`
  return message(occasion, {
    to: email,
    code,
    link: verifyLink(site(), { secret, type: occasion, ...(target === undefined ? {} : { target }) }),
  })
}

async function lockedAccount(transaction: TransactionSql, email: string): Promise<Account | undefined> {
  const account = await findAccount(transaction, { email })
  if (account === undefined) return undefined
  await lockAccount(transaction, account.id)
  // As it is now that nobody else changes it.
  return findAccount(transaction, { email })
}

/**
 * Begins to change the address of an account, which is locked: both addresses get a mail, each with a code and a link
 * of its own.
 *
 * @throws {HttpError} with 429 within a minute of the last time, or after ten mails within the hour.
 */
export async function emailChangeMails(
  transaction: TransactionSql,
  { site }: AuthContext,
  account: Account,
  newEmail: string,
  { challenge, target }: Pick<Asked, 'challenge' | 'target'>,
): Promise<Message[]> {
  const { id, email } = account
  await checkPause(transaction, account, 'email_change_sent_at', 2)
  if (challenge !== undefined) await beginFlow(transaction, id, challenge, 'email_change')
  await transaction`
    update auth.users set email_change = ${newEmail}, email_change_sent_at = now(), updated_at = now()
    where id = ${id}`
  const mails: Message[] = []
  for (const [type, to] of [
    ['email_change_token_current', email],
    ['email_change_token_new', newEmail],
  ] as const) {
    const isPkce = challenge !== undefined
    const { code, secret } = await issue(transaction, {
      accountId: id,
      type,
      address: to,
      lifetime: lifetimes.mail,
      offers: ['code', 'link'],
      isPkce,
    })
    const link = verifyLink(site(), {
      secret,
      type: 'email_change',
      ...(target === undefined ? {} : { target }),
    })
    mails.push(message('email_change', { to, code, link, change: { from: email, to: newEmail } }))
  }
  return mails
}

/** Of somebody who is known to have an account, which is locked: two requests at once send one mail. */
async function checkPause(
  transaction: TransactionSql,
  { id }: Account,
  column: 'reauthentication_sent_at' | 'email_change_sent_at',
  mails = 1,
) {
  const [row] = await transaction<{ left: number | null }[]>`
    select ceil(extract(epoch from ${transaction(column)} - now()))::int + ${mailPause} as left
    from auth.users where id = ${id}`
  if (row?.left != null && row.left > 0) throw tooSoon(row.left)
  if (!(await isWithin(transaction, id, 'mails', mails))) throw tooManyMails()
}

/** Sends mails once the answer is out. */
export function sendAll({ mailer, afterwards }: AuthContext, reply: Asked['reply'], mails: Message[]): void {
  for (const mail of mails) afterwards.do(reply, async () => mailer?.send(mail))
}

/** Where the caller wants the link to lead back to, if anywhere. */
export function targetOf(request: FastifyRequest, { site }: AuthContext): URL | undefined {
  const given = request.headers['redirect_to'] ?? (request.query as Record<string, unknown>)['redirect_to']
  return typeof given === 'string' && given !== '' ? redirectTarget(given, site()) : undefined
}

/** The refusal of mails where none can be sent. */
export function emailIsOff(status: number): HttpError {
  return new HttpError(status, 'email_provider_disabled', 'Email logins are disabled')
}

/** The refusal of everything that would need a text message. */
export function phoneIsOff(text = 'Unsupported phone provider', status = 400): HttpError {
  return new HttpError(status, 'phone_provider_disabled', text)
}
