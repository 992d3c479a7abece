import type { FastifyRequest } from 'fastify'

import { createLimiter } from '../http/rate-limiter.ts'
import { tooManyRequests } from './refusals.ts'

/** A hook that refuses a request if its IP address has sent too many requests. */
export type Limit = (request: FastifyRequest, reply: unknown, done: (error?: Error) => void) => void

/**
 * Limits calls by IP address.
 *
 * @param calls The number of calls that an address may make without waiting.
 * @param minutes The minutes until it may make this many again.
 */
export function createLimit(calls: number, minutes: number): Limit {
  const take = createLimiter(calls, minutes)
  return ({ ip }, _reply, done) => (take(ip) === 0 ? done() : done(tooManyRequests()))
}
