import { randomBytes } from 'node:crypto'
import cors from '@fastify/cors'
import fastify, { LogController, type FastifyInstance, type FastifyBaseLogger } from 'fastify'

import type { Settings } from '../settings/server-settings.ts'
import { defaultCost } from './auth/accounts/passwords.ts'
import { auth } from './auth/auth.ts'
import { createSigningKeys } from './auth/sessions/keys.ts'
import { createReadToken } from './auth/sessions/data-interface-token.ts'
import type { Database } from './database/database.ts'
import { isTimeout } from './database/connection/operator-errors.ts'
import { createFunctions } from './rest/functions.ts'
import { createBatchedInserts } from './applications/insert-together.ts'
import { insertApplications, type SentRows } from './applications/insert-rows.ts'
import { visitor, type Caller } from './database/connection/pools.ts'
import { healthRoutes, probes } from './health/health.ts'
import { createHealth, type Health } from './health/readiness.ts'
import { instance, instancePath } from './health/proxy-check.ts'
import { boundConnections } from './http/connections.ts'
import { httpError } from './http/errors.ts'
import { limitLargeRequests, createParseQueue } from './http/large-requests.ts'
import { createAllowance } from './http/rate-limiter.ts'
import { requestLimits } from './http/request-limits.ts'
import { limitUnreadData } from './http/unread-data.ts'
import { recordOtherMail } from './letters/pause-emails.ts'
import { mostConnections } from './open-files.ts'
import { deskPage } from './pages/desk.ts'
import { linkedPages } from './pages/linked.ts'
import { sendMissing, sendUnreadable } from './pages/missing.ts'
import { formPage } from './pages/apply.ts'
import { createVisits } from './pages/visits.ts'
import { wellKnown } from './pages/well-known.ts'
import { startPageState, type PageState } from './pages/page-state.ts'
import { dataInterface } from './rest/data-interface.ts'

/** The settings and dependencies of the HTTP server. */
export interface AppOptions {
  settings: Pick<
    Settings,
    'anonKey' | 'rateLimitPerMinute' | 'siteUrl' | 'look' | 'trustProxy' | 'mailServer'
  > &
    Partial<Pick<Settings, 'securityContact'>>
  /** What the pages show, if others use it, too. By default, the app reads it itself. */
  pageState?: PageState
  database: Pick<Database, 'as' | 'server' | 'signIn' | 'ownerOfAuth' | 'databaseId' | 'areFilesGone'>
  /** The server's health, if others use it, too. By default, that of a server without a webhook and backups. */
  health?: Health
  /** The limit of open files, which bounds the connections; undefined for no bound. */
  openFiles?: number | undefined
  /** Called after applications were stored. */
  onStored?: () => void
  /** The log of requests. By default, nothing is logged. */
  log?: FastifyBaseLogger
  /** The bcrypt cost of a new password. */
  passwordCost?: number
  /** The longest random delay between a response of the sign-in and its emails, in milliseconds. */
  maxEmailDelay?: number
}

function refuseSchema(): never {
  throw new Error('no route has a schema')
}

/** Creates the HTTP server: the pages, the form without JavaScript, the data interface, sign-in and health checks. */
export async function createApp({
  settings,
  pageState: sharedState,
  database,
  health = createHealth({ sql: database.server, areFilesGone: database.areFilesGone }),
  openFiles,
  onStored,
  log,
  passwordCost = defaultCost,
  maxEmailDelay,
}: AppOptions): Promise<FastifyInstance> {
  const { anonKey, look, trustProxy, rateLimitPerMinute } = settings
  const app = fastify({
    ...requestLimits,
    ...(log === undefined ? {} : { loggerInstance: log }),
    genReqId: createRequestIds(),
    routerOptions: { ignoreTrailingSlash: true },
    // Fastify's own two lines for each request contain addresses and queries.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    // No route has a Fastify schema, so its compilers would only slow down each start.
    schemaController: { compilersFactory: { buildValidator: refuseSchema, buildSerializer: refuseSchema } },
    frameworkErrors: sendUnreadable,
    trustProxy: typeof trustProxy === 'number' ? (_address, hop) => hop < trustProxy : trustProxy,
  })
  logRequests(app)
  endConnectionsOnClose(app)
  if (openFiles !== undefined) boundConnections(app, { most: mostConnections(openFiles) })
  // Each waiting pipelined response adds a listener to the socket. Node.js would warn above ten.
  app.server.on('connection', (socket) => socket.setMaxListeners(0))
  limitUnreadData(app, { onDiscard: limitLargeRequests(app) })
  if (trustProxy === false) warnOfProxy(app)

  const allow = createAllowance(rateLimitPerMinute)
  const queueParsing = createParseQueue()
  const { storage } = health
  const insertForVisitor = createBatchedInserts(database.as(visitor))
  const insert = async (caller: Caller, rows: SentRows) => {
    try {
      const count = await (caller.role === 'anon'
        ? insertForVisitor(rows)
        : insertApplications(database.as(caller), rows))
      storage.isFailing = false
      storage.lateAt = undefined
      onStored?.()
      return count
    } catch (error) {
      // Refused rows do not mean that the database cannot write.
      if (httpError(error).status >= 500) storage.isFailing = true
      if (isTimeout(error)) storage.lateAt = performance.now()
      throw error
    }
  }

  app.addHook('onRequest', (request, reply, done) => {
    void reply.header('x-content-type-options', 'nosniff')
    if (request.protocol === 'https') void reply.header('strict-transport-security', 'max-age=31536000')
    done()
  })
  app.setNotFoundHandler(sendMissing)

  await app.register(healthRoutes, { health, openFiles })
  await app.register(instance, { databaseId: database.databaseId, byRange: Array.isArray(trustProxy) })
  const visits = createVisits(database.server, app.log)
  // This hook runs after the last response, so that the last visits are saved too.
  app.addHook('onClose', () => visits.stop())
  const pageState = sharedState ?? (await startPageState(database.server, look, app.log))
  if (sharedState === undefined) app.addHook('onClose', () => pageState.stop())
  await app.register(formPage, { settings, pageState, allow, queueParsing, insert, visits })
  await app.register(deskPage, {
    anonKey,
    look,
    pageState,
    isSignInElsewhere: database.ownerOfAuth === 'supabase',
  })
  await app.register(wellKnown, { securityContact: settings.securityContact })
  await app.register(linkedPages, { anonKey, pageState })
  const keys = database.ownerOfAuth === 'us' ? createSigningKeys(database.signIn) : undefined
  const readToken = keys && createReadToken(keys)
  await app.register(
    async (rest) => {
      await rest.register(cors, corsOptions(['Content-Range', 'Retry-After']))
      await rest.register(dataInterface, {
        anonKey,
        readToken,
        allow,
        queueParsing,
        insert,
        as: database.as,
        findFunction: createFunctions(database.server),
      })
    },
    { prefix: '/rest/v1' },
  )
  await app.register(
    async (signIn) => {
      await signIn.register(cors, corsOptions(['X-Total-Count', 'Link', 'X-Supabase-Api-Version']))
      const recordMail = (isAccepted: boolean) => recordOtherMail(database.server, isAccepted)
      await signIn.register(auth, {
        settings,
        look: pageState.look,
        database,
        keys,
        allow,
        queueParsing,
        passwordCost,
        maxEmailDelay,
        recordMail,
      })
    },
    { prefix: '/auth/v1' },
  )
  return app
}

/** Any origin may call, as in hosted projects, since the key is public. */
function corsOptions(exposedHeaders: string[]) {
  return {
    origin: '*',
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
    exposedHeaders,
    maxAge: 3600,
    strictPreflight: false,
  }
}

/** Creates the ids of requests. They differ between servers, and after a restart. */
function createRequestIds() {
  const server = randomBytes(4).toString('hex')
  let count = 0
  return () => `${server}-${(count += 1).toString(36)}`
}

/**
 * Logs one line for each request except probes. The line has the route and not the URL, since a visitor can write anything
 * into a URL. All lines about a request have its id, and so has the response if it failed.
 */
function logRequests(app: FastifyInstance) {
  app.addHook('onSend', ({ id }, reply, _payload, done) => {
    if (reply.statusCode >= 500) void reply.header('x-request-id', id)
    done()
  })
  app.addHook('onResponse', ({ method, routeOptions, log }, { statusCode, elapsedTime }, done) => {
    if (probes.includes(routeOptions.url)) return done()
    const route = routeOptions.url ?? 'none'
    log.info({ method, route, status: statusCode, milliseconds: Math.round(elapsedTime) }, 'request')
    done()
  })
}

/** Closes idle connections while the server stops. Otherwise each of them delays the stop until it times out. */
function endConnectionsOnClose(app: FastifyInstance) {
  let timer: NodeJS.Timeout | undefined
  app.addHook('preClose', async () => {
    timer = setInterval(() => app.server.closeIdleConnections(), 50)
  })
  app.server.on('close', () => clearInterval(timer))
}

function warnOfProxy(app: FastifyInstance) {
  let hasWarned = false
  app.addHook('onRequest', ({ headers, routeOptions, log }, _reply, done) => {
    done()
    // The doctor sends this header to see how the server treats it.
    if (routeOptions.url === instancePath) return
    if (hasWarned || headers['x-forwarded-for'] === undefined) return
    hasWarned = true
    log.warn(
      'A request had X-Forwarded-For, but TRUST_PROXY is off. Behind a proxy, all visitors share one rate limit until TRUST_PROXY is set.',
    )
  })
}
