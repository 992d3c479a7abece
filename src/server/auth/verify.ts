import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { TransactionSql } from 'postgres'

import { HttpError } from '../http/errors.ts'
import { findAccount } from './accounts.ts'
import type { AuthContext } from './context.ts'
import { invalid } from './errors.ts'
import { checkPhone, emailOf, fieldsOf } from './fields.ts'
import { issueAuthCode } from './flow.ts'
import { endTokens, takeCode, takeSecret, type Taken, type TokenType } from './one-time.ts'
import { createLimit } from './rate-limits.ts'
import { issuerOf, redirectTarget } from './redirects.ts'
import { openSession, tokensOf, type Grant, type Method, type Tokens } from './sessions.ts'

const signIn: TokenType[] = ['recovery_token', 'confirmation_token']
/** What a code or a link of each kind can have been made as. Nobody signs up or is invited here. */
const typesOf = new Map<string, TokenType[]>([
  ['magiclink', signIn],
  ['recovery', signIn],
  ['email', signIn],
  ['email_change', ['email_change_token_current', 'email_change_token_new']],
  ['signup', []],
  ['invite', []],
])

const halfDone = 'Confirmation link accepted. Please proceed to confirm link sent to the other email'

/** `error` of OAuth 2.0 for a status. */
const oauthErrors: Record<number, string> = {
  400: 'invalid_request',
  401: 'unauthorized_client',
  403: 'access_denied',
  500: 'server_error',
}

/** The calls that use up a code or a link: POST verify, and GET verify, which a mail's link leads to. */
export function verifyCalls(app: FastifyInstance, context: AuthContext): void {
  const { keys, site } = context
  const onRequest = createLimit(30, 5)

  app.post('/verify', { onRequest }, async (request) => {
    const used = await useUp(context, request)
    if (used === 'half done') return { msg: halfDone, code: '200' }
    return tokensOf(used, keys, issuerOf(site()))
  })

  // Not by HEAD: who only looks uses nothing up.
  app.get('/verify', { onRequest, exposeHeadRoute: false }, async (request, reply) => {
    const { token, type, redirect_to: given } = request.query as Record<string, unknown>
    if (typeof type !== 'string' || type === '') throw invalid('Verify requires a verification type')
    if (typeof token !== 'string' || token === '') throw invalid('Verify requires a token or a token hash')
    const target = redirectTarget(typeof given === 'string' ? given : undefined, site())
    const lead = (query: Record<string, string>, fragment?: Record<string, string>) => {
      for (const [name, value] of Object.entries(query)) target.searchParams.set(name, value)
      target.hash = fragment === undefined ? '' : sorted({ ...fragment, sb: '' })
      return reply.header('referrer-policy', 'no-referrer').redirect(target.href, 303)
    }
    const isPkce = token.startsWith('pkce_')
    try {
      if (isPkce) {
        const code = await codeOf(context, token, type)
        return code === 'half done' ? lead({ message: halfDone }, { message: halfDone }) : lead({ code })
      }
      const used = await openByLink(context, token, type)
      if (used === 'half done') return lead({}, { message: halfDone })
      const tokens = await tokensOf(used, keys, issuerOf(site()))
      return lead({}, { ...inFragment(tokens), type })
    } catch (error) {
      if (!(error instanceof HttpError)) throw error
      const named = oauthErrors[error.status]
      const said = {
        ...(named === undefined ? {} : { error: named }),
        error_code: error.code,
        error_description: error.message,
      }
      return lead(isPkce ? said : {}, said)
    }
  })
}

/** What POST verify names, used up. */
async function useUp(context: AuthContext, request: FastifyRequest): Promise<Grant | 'half done'> {
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
    return openByLink(context, token_hash, type)
  }
  if ((email === '') === (phone === '')) {
    throw invalid('Only an email address or phone number should be provided on verify')
  }
  if (phone !== '') {
    checkPhone(phone)
    throw codeExpired()
  }
  const address = checkedEmail(email)
  const used = await context.run((sql) =>
    sql.begin(async (transaction) => {
      const taken = await takeCode(transaction, address, typesOf.get(type) ?? [], token)
      // A wrong try has to stay counted, so it is no error yet.
      return taken && settle(transaction, taken)
    }),
  )
  if (used === undefined) throw codeExpired()
  return used
}

function checkedEmail(text: string) {
  try {
    return emailOf(text)
  } catch {
    throw invalid('Invalid email format', 422)
  }
}

function codeExpired() {
  return new HttpError(403, 'otp_expired', 'Token has expired or is invalid')
}

/** @throws {HttpError} where the link was none, was used, or is too old. */
async function takeLink(transaction: TransactionSql, secret: string, type: string): Promise<Taken> {
  const types = typesOf.get(type)
  if (types === undefined) throw invalid('Invalid email verification type')
  const taken = types.length === 0 ? undefined : await takeSecret(transaction, types, secret)
  if (taken === undefined) throw new HttpError(403, 'otp_expired', 'Email link is invalid or has expired')
  return taken
}

/** The code by which the client that asked gets its session. */
function codeOf({ run }: AuthContext, secret: string, type: string): Promise<string> {
  return run((sql) =>
    sql.begin(async (transaction) => {
      const taken = await takeLink(transaction, secret, type)
      if ((await finish(transaction, taken)) === 'half done') return 'half done'
      return issueAuthCode(transaction, taken.accountId, type as Method)
    }),
  )
}

/** The session that a link opens. */
function openByLink({ run }: AuthContext, secret: string, type: string) {
  return run((sql) =>
    sql.begin(async (transaction) => settle(transaction, await takeLink(transaction, secret, type))),
  )
}

/** Opens the session that a code or a link was for. */
async function settle(transaction: TransactionSql, taken: Taken): Promise<Grant | 'half done'> {
  if ((await finish(transaction, taken)) === 'half done') return 'half done'
  return openSession(transaction, taken.accountId, 'otp')
}

/** Does what the code or the link was for; the account's others end with it. */
async function finish(
  transaction: TransactionSql,
  { accountId, type }: Taken,
): Promise<'done' | 'half done'> {
  if (type === 'email_change_token_current' || type === 'email_change_token_new') {
    // The other mail's stays until it is used, or until all of them end.
    const [other] = await transaction`
      select from auth.one_time_tokens
      where user_id = ${accountId} and token_type in ('email_change_token_current', 'email_change_token_new')`
    if (other !== undefined) return 'half done'
    await changeEmail(transaction, accountId)
  }
  await endTokens(transaction, accountId)
  await transaction`
    update auth.users set raw_user_meta_data = raw_user_meta_data || '{"email_verified": true}'
    where id = ${accountId} and raw_user_meta_data -> 'email_verified' is distinct from 'true'`
  return 'done'
}

async function changeEmail(transaction: TransactionSql, accountId: string) {
  const account = await findAccount(transaction, { id: accountId })
  const email = account?.email_change
  if (!email) throw codeExpired()
  if (await findAccount(transaction, { email })) throw emailExists()
  await transaction`
    update auth.users set email = ${email}, email_change = null, email_change_sent_at = null, updated_at = now()
    where id = ${accountId}`
  await transaction`
    update auth.identities set updated_at = now(),
      identity_data = identity_data || jsonb_build_object('email', ${email}::text, 'email_verified', true)
    where user_id = ${accountId} and provider = 'email'`
}

/** The refusal of an address that another account has. */
export function emailExists(): HttpError {
  return new HttpError(422, 'email_exists', 'A user with this email address has already been registered')
}

function inFragment({ user: _user, ...tokens }: Tokens): Record<string, string> {
  return Object.fromEntries(Object.entries(tokens).map(([name, value]) => [name, String(value)]))
}

function sorted(values: Record<string, string>) {
  return new URLSearchParams(Object.entries(values).toSorted(([a], [b]) => (a < b ? -1 : 1))).toString()
}
