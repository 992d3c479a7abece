import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyRequest } from 'fastify'

import { HttpError } from './errors.ts'

/** What a visitor may take of the server; times in milliseconds. */
export const limits = {
  bodyLimit: 256 * 1024,
  /** For the whole of a request, however slowly it is sent. */
  requestTimeout: 30_000,
  /** Longer than the proxies before this keep their connections, so that they end them first. */
  keepAliveTimeout: 72_000,
  http: { maxHeaderSize: 16 * 1024, headersTimeout: 15_000, connectionsCheckingInterval: 5_000 },
}

/** Counts what a request takes of its address's allowance. */
export type Allowance = (request: FastifyRequest, rows: number) => Promise<void>

/**
 * Limits how many rows one address may insert.
 *
 * @param perMinute 0 is no limit.
 * @returns What each insert has to ask first. It throws an `HttpError` with 429 beyond the limit.
 */
export async function limitInserts(app: FastifyInstance, perMinute: number): Promise<Allowance> {
  if (perMinute === 0) return async () => {}
  await app.register(rateLimit, { global: false })
  const count = app.createRateLimit({ max: perMinute, timeWindow: 60_000 })
  return async (request, rows) => {
    // One for each row: an array must not be a way around the limit.
    for (let row = 0; row < rows; row += 1) {
      const use = await count(request)
      if (!use.isAllowed && use.isExceeded) throw tooMany(use.ttlInSeconds)
    }
  }
}

function tooMany(seconds: number) {
  return new HttpError(
    429,
    'HTTP429',
    `Too many applications came from your connection. Please wait ${seconds} seconds and send it again.`,
    { retryAfter: seconds },
  )
}
