import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import { HttpError } from '../../http/errors.ts'
import type { AuthContext } from '../context.ts'
import type { AddressChange } from '../accounts/confirm-email-change.ts'
import { checkPhone, emailOf, fieldsOf } from '../fields.ts'
import { createLimit } from '../ip-rate-limits.ts'
import { issuerOf, redirectTarget } from '../mail/links.ts'
import { changeMessage } from '../mail/messages.ts'
import { patientDelays } from '../mail/outgoing.ts'
import { codeExpired, invalid } from '../refusals.ts'
import { tokensOf, type Tokens } from '../sessions/sessions.ts'
import { authCodeByLink, signInByCode, signInByLink } from '../proofs/redeem.ts'

const halfDone = 'Confirmation link accepted. Please proceed to confirm link sent to the other email'

/** The `error` of OAuth 2.0 for a status. */
const oauthErrors: Record<number, string> = {
  400: 'invalid_request',
  401: 'unauthorized_client',
  403: 'access_denied',
  500: 'server_error',
}

/**
 * Registers the calls that redeem a code or a link: POST verify, and GET verify. The desk makes the former. The latter is for other
 * clients of GoTrue: it redirects to the page that the link names, or otherwise to the desk.
 */
export function verifyCalls(app: FastifyInstance, context: AuthContext): void {
  const { keys, site, outgoing } = context
  const onRequest = createLimit(30, 5)

  /** Reports a change of address, if any, by an email to the former address. */
  const notifyOwner = (reply: FastifyReply, change: AddressChange | undefined) => {
    if (change === undefined) return
    outgoing.after(reply, async () => [changeMessage(change.from, { newEmail: change.to })], patientDelays)
  }

  app.post('/verify', { onRequest }, async (request, reply) => {
    const redemption = await redeem(context, request)
    if (redemption === 'half done') return { msg: halfDone, code: '200' }
    notifyOwner(reply, redemption.addressChange)
    return tokensOf(redemption.grant, keys, issuerOf(site()))
  })

  // HEAD is left out, since it must not redeem a link.
  app.get('/verify', { onRequest, exposeHeadRoute: false }, async (request, reply) => {
    const { token, type, redirect_to: requested } = request.query as Record<string, unknown>
    if (typeof type !== 'string' || type === '') throw invalid('Verify requires a verification type')
    if (typeof token !== 'string' || token === '') throw invalid('Verify requires a token or a token hash')
    const target = redirectTarget(typeof requested === 'string' ? requested : undefined, site())
    const redirect = (query: Record<string, string>, fragment?: Record<string, string>) => {
      for (const [name, value] of Object.entries(query)) target.searchParams.set(name, value)
      // An empty `sb` marks the redirects of Supabase's sign-in.
      target.hash = fragment === undefined ? '' : sorted({ ...fragment, sb: '' })
      return reply.header('referrer-policy', 'no-referrer').redirect(target.href, 303)
    }
    const isPkce = token.startsWith('pkce_')
    try {
      if (isPkce) {
        const issued = await authCodeByLink(context.sql, token, type)
        if (issued === 'half done') return redirect({ message: halfDone }, { message: halfDone })
        notifyOwner(reply, issued.addressChange)
        return redirect({ code: issued.code })
      }
      const redemption = await signInByLink(context.sql, token, type)
      if (redemption === 'half done') return redirect({}, { message: halfDone })
      notifyOwner(reply, redemption.addressChange)
      const tokens = await tokensOf(redemption.grant, keys, issuerOf(site()))
      return redirect({}, { ...inFragment(tokens), type })
    } catch (error) {
      if (!(error instanceof HttpError)) throw error
      const oauthError = oauthErrors[error.status]
      const errorFields = {
        ...(oauthError === undefined ? {} : { error: oauthError }),
        error_code: error.code,
        error_description: error.message,
      }
      return redirect(isPkce ? errorFields : {}, errorFields)
    }
  })
}

/** Redeems the code or link in a POST verify. */
function redeem(context: AuthContext, request: FastifyRequest): ReturnType<typeof signInByCode> {
  const { type, token, token_hash, email, phone, redirect_to } = fieldsOf(request, {
    type: 'text',
    token: 'text',
    token_hash: 'text',
    email: 'text',
    phone: 'text',
    redirect_to: 'text',
  })
  if (type === '') throw invalid('Verify requires a verification type')
  if ((token === '') === (token_hash === '')) throw invalid('Verify requires either a token or a token hash')
  if (token_hash !== '') {
    if (email !== '' || phone !== '' || redirect_to !== '') {
      throw invalid('Only the token_hash and type should be provided')
    }
    return signInByLink(context.sql, token_hash, type)
  }
  if ((email === '') === (phone === '')) {
    throw invalid('Only an email address or phone number should be provided on verify')
  }
  if (phone !== '') {
    checkPhone(phone)
    throw codeExpired()
  }
  return signInByCode(context.sql, emailOrInvalid(email), type, token)
}

function emailOrInvalid(text: string) {
  try {
    return emailOf(text)
  } catch {
    throw invalid('Invalid email format', 422)
  }
}

function inFragment({ user: _user, ...tokens }: Tokens): Record<string, string> {
  return Object.fromEntries(Object.entries(tokens).map(([name, value]) => [name, String(value)]))
}

function sorted(values: Record<string, string>) {
  return new URLSearchParams(Object.entries(values).toSorted(([a], [b]) => (a < b ? -1 : 1))).toString()
}
