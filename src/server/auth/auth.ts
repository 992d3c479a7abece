import type { FastifyInstance } from 'fastify'

import type { Look } from '../../design/look.ts'
import type { Settings } from '../../settings/server-settings.ts'
import type { Database } from '../database/database.ts'
import { checkPublicKey } from '../http/api-key.ts'
import { HttpError } from '../http/errors.ts'
import { acceptBodies, isLarge, type ParseQueue } from '../http/large-requests.ts'
import type { Allowance } from '../http/rate-limiter.ts'
import { upkeepInterval, startPolling } from '../polling.ts'
import { deleteExpiredPasswordTries } from './accounts/password-tries.ts'
import { aboutCalls } from './calls/about.ts'
import type { AuthContext } from './context.ts'
import { sendError } from './error-response.ts'
import { factorCalls } from './calls/factors.ts'
import type { SigningKeys } from './sessions/keys.ts'
import { createEmailRateLimit } from './mail/email-rate-limit.ts'
import { emailCalls } from './calls/emails.ts'
import { createOutgoing } from './mail/outgoing.ts'
import { siteOf } from '../site-url.ts'
import { inviteCall } from './calls/invite.ts'
import { tokenCalls } from './calls/token.ts'
import { userCalls } from './calls/user.ts'
import { verifyCalls } from './calls/verify.ts'

/** The dependencies of the sign-in. */
export interface AuthOptions {
  settings: Pick<Settings, 'anonKey' | 'siteUrl' | 'mailServer'>
  /** The words and the look of the pages, whose title emails name. */
  look: () => Look
  database: Pick<Database, 'signIn' | 'server'>
  /** Undefined if a hosted project manages the accounts. */
  keys: SigningKeys | undefined
  /** Counts large requests towards the rate limit of their address. */
  allow: Allowance
  /** Queues the parsing of large bodies. */
  queueParsing: ParseQueue
  /** The bcrypt cost of a password. */
  passwordCost: number
  /** The longest random delay between a response and its emails, in milliseconds; undefined for the default. */
  maxEmailDelay: number | undefined
  /** Records whether the mail server accepted an email. */
  recordMail: (isAccepted: boolean) => Promise<void>
}

const accountsAreElsewhere =
  "Nobody can sign in here: a Supabase project manages the accounts of this database. Call /auth/v1 at the project's address."

/** The calls that need no public key: the link of an email, the key set, and the health check. */
const openCalls = ['GET /verify', 'GET /.well-known/jwks.json', 'GET /health']

/**
 * Registers the calls of the sign-in. They respond as GoTrue, Supabase's sign-in server, does, so that Supabase's client works
 * unchanged; docs/sign-in.md lists where these calls are stricter.
 *
 * @see https://github.com/supabase/auth/blob/master/openapi.yaml
 */
export async function auth(
  app: FastifyInstance,
  {
    settings,
    look,
    database,
    keys,
    allow,
    queueParsing,
    passwordCost,
    maxEmailDelay,
    recordMail,
  }: AuthOptions,
) {
  acceptBodies(app, queueParsing)
  app.setErrorHandler(sendError)
  app.setNotFoundHandler((request, reply) =>
    sendError(
      new HttpError(404, 'not_found', keys === undefined ? accountsAreElsewhere : 'There is no such call.'),
      request,
      reply,
    ),
  )
  if (keys === undefined) return
  const { anonKey, siteUrl, mailServer } = settings
  const { signIn: sql, server: backgroundSql } = database
  // The address is stored, since an email may be sent during a stop, when the server no longer listens.
  let listenAddress: ReturnType<typeof app.server.address> = null
  app.addHook('onListen', async () => {
    listenAddress = app.server.address()
  })
  const context: AuthContext = {
    sql,
    backgroundSql,
    keys,
    site: () => siteOf(siteUrl, listenAddress),
    emailRateLimit: createEmailRateLimit(sql, app.log),
    outgoing: createOutgoing(mailServer, look, app.log, recordMail, maxEmailDelay),
    passwordCost,
  }
  app.addHook('onRequest', (request, reply, done) => {
    void reply.header('cache-control', 'no-store')
    try {
      // A large request counts before it is read.
      if (isLarge(request.raw)) allow(request.ip, 1)
    } catch (error) {
      return done(error as Error)
    }
    // GoTrue ignores the content type.
    if (request.headers['content-type'] !== undefined) request.headers['content-type'] = 'application/json'
    const { method, routeOptions } = request
    const call = `${method === 'HEAD' ? 'GET' : method} ${(routeOptions.url ?? '').slice(app.prefix.length)}`
    if (openCalls.includes(call) || method === 'OPTIONS') return done()
    const refusal = checkPublicKey(request, anonKey)
    if (refusal === undefined) return done()
    // The same response as from a hosted project's gateway.
    void reply.code(401).send({ message: refusal })
  })
  const upkeep = startPolling(
    () => deleteExpiredPasswordTries(backgroundSql),
    upkeepInterval,
    (error) => app.log.warn({ err: error }, 'expired password tries could not be deleted'),
  )
  app.addHook('onClose', async () => {
    await upkeep.stop()
    context.emailRateLimit.end()
    await context.outgoing.end()
  })
  for (const register of [
    aboutCalls,
    emailCalls,
    verifyCalls,
    tokenCalls,
    userCalls,
    factorCalls,
    inviteCall,
  ]) {
    register(app, context)
  }
}
