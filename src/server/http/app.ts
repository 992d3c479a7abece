import cors from '@fastify/cors'
import formbody from '@fastify/formbody'
import helmet from '@fastify/helmet'
import rateLimit from '@fastify/rate-limit'
import fastify, {
  LogController,
  type FastifyInstance,
  type FastifyRequest,
  type FastifyBaseLogger,
} from 'fastify'

import type { Database } from '../database/database.ts'
import { insertApplications, type SentRows } from '../database/insert.ts'
import type { Settings } from '../settings.ts'
import { dataInterface } from './data-interface.ts'
import { tooMany } from './errors.ts'
import { health } from './health.ts'
import { page } from './page.ts'

export interface AppOptions {
  settings: Pick<Settings, 'anonKey' | 'rateLimitPerMinute' | 'siteUrl' | 'trustProxy'>
  database: Pick<Database, 'anon' | 'owner'>
  /** Called after applications were stored. */
  onStored?: () => void
  /** Where requests are logged; nowhere unless given. */
  log?: FastifyBaseLogger
}

/** What a visitor may take of the server; times in milliseconds. */
const limits = {
  bodyLimit: 256 * 1024,
  /** For the whole of a request, however slowly it is sent. */
  requestTimeout: 30_000,
  /** Longer than the proxies before this keep their connections, so that they end them first. */
  keepAliveTimeout: 72_000,
  http: { maxHeaderSize: 16 * 1024, headersTimeout: 15_000, connectionsCheckingInterval: 5_000 },
}

/** The HTTP server of the self-hosted way: the page, the form's native post, the data interface, and its health. */
export async function createApp({ settings, database, onStored, log }: AppOptions): Promise<FastifyInstance> {
  const { trustProxy, rateLimitPerMinute } = settings
  const app = fastify({
    ...limits,
    ...(log === undefined ? {} : { loggerInstance: log }),
    // A logger of its own for each request would only say which of many it was.
    childLoggerFactory: (logger) => logger,
    routerOptions: { ignoreTrailingSlash: true },
    // Its own two lines a request hold addresses, and whatever stands behind a question mark.
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: typeof trustProxy === 'number' ? (_address, hop) => hop < trustProxy : trustProxy,
  })
  logRequests(app)
  endConnectionsOnClose(app)
  if (trustProxy === false) warnOfProxy(app)

  await app.register(rateLimit, { global: false })
  const allowance =
    rateLimitPerMinute === 0
      ? undefined
      : app.createRateLimit({ max: rateLimitPerMinute, timeWindow: 60_000 })
  const insert = async (request: FastifyRequest, rows: SentRows) => {
    // One for each row: an array must not be a way around the limit.
    for (let row = 0; allowance && row < rows.count; row += 1) {
      const use = await allowance(request)
      if (!use.isAllowed && use.isExceeded) throw tooMany(use.ttlInSeconds)
    }
    const count = await insertApplications(database.anon, rows)
    onStored?.()
    return count
  }

  app.addHook('onRequest', (request, reply, done) => {
    void reply.header('x-content-type-options', 'nosniff')
    if (request.protocol === 'https') void reply.header('strict-transport-security', 'max-age=31536000')
    done()
  })
  app.setNotFoundHandler((_request, reply) => reply.code(404).type('text/plain').send('Not found.\n'))

  await app.register(health, { owner: database.owner })
  await app.register(async (site) => {
    await site.register(helmet, {
      // The page brings its own policy, which names its scripts.
      contentSecurityPolicy: false,
      strictTransportSecurity: false,
      frameguard: { action: 'deny' },
      // Only old browsers know these, and each byte comes before the first paint.
      dnsPrefetchControl: false,
      ieNoOpen: false,
      permittedCrossDomainPolicies: false,
      xXssProtection: false,
    })
    await site.register(formbody, { parser: (text) => Object.fromEntries(new URLSearchParams(text)) })
    await site.register(page, { settings, insert })
  })
  await app.register(
    async (rest) => {
      // As hosted projects do: the key is public, so any origin may call.
      await rest.register(cors, {
        origin: '*',
        methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
        exposedHeaders: ['Content-Range', 'Retry-After'],
        maxAge: 3600,
        strictPreflight: false,
      })
      await rest.register(dataInterface, { anonKey: settings.anonKey, insert })
    },
    { prefix: '/rest/v1' },
  )
  return app
}

/** One line for each request. The route stands for the address, in which a visitor could write anything. */
function logRequests(app: FastifyInstance) {
  app.addHook('onResponse', ({ method, routeOptions, log }, { statusCode, elapsedTime }, done) => {
    const route = routeOptions.url ?? 'none'
    log.info({ method, route, status: statusCode, milliseconds: Math.round(elapsedTime) }, 'request')
    done()
  })
}

/** A connection that is kept alive after its last answer would hold up a stop until it times out. */
function endConnectionsOnClose(app: FastifyInstance) {
  let ending: NodeJS.Timeout | undefined
  app.addHook('preClose', async () => {
    ending = setInterval(() => app.server.closeIdleConnections(), 50)
  })
  app.server.on('close', () => clearInterval(ending))
}

function warnOfProxy(app: FastifyInstance) {
  let warned = false
  app.addHook('onRequest', ({ headers, log }, _reply, done) => {
    done()
    if (warned || headers['x-forwarded-for'] === undefined) return
    warned = true
    log.warn(
      'X-Forwarded-For came, but TRUST_PROXY is off: if a proxy stands before this server, all its visitors share one rate limit until TRUST_PROXY is set.',
    )
  })
}
