import type { FastifyInstance, FastifyReply } from 'fastify'

import type { AuthContext } from '../context.ts'
import { challengeOf, emailOf, fieldsOf } from '../fields.ts'
import { createLimit } from '../ip-rate-limits.ts'
import { requestedTarget } from '../mail/links.ts'
import { emailIsOff, invalid, phoneIsOff } from '../refusals.ts'
import { changeAs, requireSignedIn } from '../sessions/signed-in.ts'
import {
  addressChangeEmails,
  findAndLockAccount,
  countEmails,
  reauthenticationEmail,
  signInEmail,
  type EmailRequest,
} from '../mail/sign-in-emails.ts'

const pkce = { code_challenge: 'text', code_challenge_method: 'text' } as const

/**
 * Registers the calls that send an email: otp, recover, resend, reauthenticate. The desk makes the first and the last. The others are
 * for other clients of GoTrue.
 */
export function emailCalls(app: FastifyInstance, context: AuthContext): void {
  const { sql, backgroundSql, keys, site, emailRateLimit, outgoing } = context

  /** Leaves all work that depends on accounts until after the response, so that the response is the same for every address. */
  const sendLater = async (
    reply: FastifyReply,
    emailRequest: EmailRequest,
    occasion: 'magiclink' | 'recovery',
    email: string,
  ) => {
    await emailRateLimit.count(email)
    outgoing.after(reply, async () => {
      const mail = await backgroundSql.begin((transaction) =>
        signInEmail(transaction, site(), email, occasion, emailRequest),
      )
      return mail === undefined ? [] : [mail]
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
    if (!outgoing.isOn) throw emailIsOff(422)
    return sendLater(
      reply,
      { challenge, target: requestedTarget(request, site()) },
      'magiclink',
      emailOf(email),
    )
  })

  app.post('/recover', { onRequest: createLimit(30, 5) }, async (request, reply) => {
    if (!outgoing.isOn) throw emailIsOff(400)
    const fields = fieldsOf(request, { email: 'text', ...pkce })
    if (fields.email === '') throw invalid('Password recovery requires an email')
    const email = emailOf(fields.email)
    const challenge = challengeOf(fields)
    return sendLater(reply, { challenge, target: requestedTarget(request, site()) }, 'recovery', email)
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
    if (!outgoing.isOn) throw emailIsOff(400)
    const address = emailOf(email)
    // Accounts are confirmed from the start, so there is no sign-up email to send again.
    if (type !== 'email_change') return {}
    const target = requestedTarget(request, site())
    // After the response, as in `sendLater`: the refusal `tooSoon` would reveal that a change is pending.
    outgoing.after(reply, () =>
      backgroundSql.begin(async (transaction) => {
        const account = await findAndLockAccount(transaction, address)
        if (!account?.email_change || (await countEmails(transaction, account, 'email_change'))) return []
        return addressChangeEmails(transaction, site(), account, account.email_change, { challenge, target })
      }),
    )
    return {}
  })

  app.get('/reauthenticate', { exposeHeadRoute: false }, async (request, reply) => {
    const caller = await requireSignedIn(request, sql, keys)
    if (!outgoing.isOn) throw emailIsOff(400)
    const mail = await changeAs(sql, caller, async (transaction, { account }) => {
      const refusal = await countEmails(transaction, account, 'reauthentication')
      if (refusal !== undefined) throw refusal
      return reauthenticationEmail(transaction, account)
    })
    outgoing.after(reply, async () => [mail])
    return {}
  })
}
