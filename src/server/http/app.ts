import cors from '@fastify/cors'
import formbody from '@fastify/formbody'
import helmet from '@fastify/helmet'
import rateLimit from '@fastify/rate-limit'
import fastify, { type FastifyInstance, type FastifyRequest, type FastifyServerOptions } from 'fastify'

import { insertApplications, type SentRows } from '../database/insert.ts'
import type { Database } from '../database/database.ts'
import type { Settings } from '../settings.ts'
import { dataInterface } from './data-interface.ts'
import { tooMany } from './errors.ts'
import { page } from './page.ts'

export interface AppOptions {
  settings: Pick<Settings, 'anonKey' | 'rateLimitPerMinute' | 'siteUrl' | 'trustProxy'>
  database: Pick<Database, 'anon'>
  /** Called after applications were stored. */
  onStored?: () => void
  logger?: FastifyServerOptions['logger']
}

/** The HTTP server of the self-hosted way: the page, the form's native post, and the data interface. */
export async function createApp({
  settings,
  database,
  onStored,
  logger = false,
}: AppOptions): Promise<FastifyInstance> {
  const { trustProxy } = settings
  const app = fastify({
    logger,
    trustProxy: typeof trustProxy === 'number' ? (_address, hop) => hop < trustProxy : trustProxy,
    bodyLimit: 256 * 1024,
  })
  await app.register(rateLimit, { global: false })
  const max = settings.rateLimitPerMinute
  const allowance = max === 0 ? undefined : app.createRateLimit({ max, timeWindow: 60_000 })

  const insert = async (request: FastifyRequest, rows: SentRows) => {
    const use = await allowance?.(request)
    if (use?.isAllowed === false && use.isExceeded) throw tooMany(use.ttlInSeconds)
    const count = await insertApplications(database.anon, rows)
    onStored?.()
    return count
  }

  // The page brings its own policy, which names its scripts.
  await app.register(helmet, { contentSecurityPolicy: false, strictTransportSecurity: false })
  await app.register(formbody, { parser: (text) => Object.fromEntries(new URLSearchParams(text)) })
  await app.register(page, { settings, insert })
  await app.register(
    async (rest) => {
      // As hosted projects do: the key is public, so any origin may call.
      await rest.register(cors, {
        origin: '*',
        methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
        exposedHeaders: ['Content-Range', 'Retry-After'],
        maxAge: 3600,
      })
      await rest.register(dataInterface, { anonKey: settings.anonKey, insert })
    },
    { prefix: '/rest/v1' },
  )
  return app
}
