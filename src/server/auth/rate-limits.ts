import type { FastifyRequest } from 'fastify'

import { createLimiter } from '../http/rate-limiter.ts'
import { tooManyRequests } from './refusals.ts'

/** A hook that refuses a request if its IP address sent too many. */
export type Limit = (request: FastifyRequest, reply: unknown, done: (error?: Error) => void) => void

/**
 * Limits calls by IP address.
 *
 * @param calls The number of calls that are allowed at once.
 * @param minutes The time after which the same number is allowed again.
 */
export function createLimit(calls: number, minutes: number): Limit {
  const waitFor = createLimiter(calls, minutes)
  return ({ ip }, _reply, done) => (waitFor(ip) === 0 ? done() : done(tooManyRequests()))
}
