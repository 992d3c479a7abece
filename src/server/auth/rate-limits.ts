import type { FastifyRequest } from 'fastify'

import { createLimiter } from '../http/limits.ts'
import { tooManyRequests } from './refusals.ts'

/** Refuses the request of an address that sent too many. */
export type Limit = (request: FastifyRequest, reply: unknown, done: (error?: Error) => void) => void

/**
 * Limits calls by address.
 *
 * @param calls How many may come at once.
 * @param minutes The time after which this many may come again.
 */
export function createLimit(calls: number, minutes: number): Limit {
  const take = createLimiter(calls, minutes)
  return ({ ip }, _reply, done) => (take(ip) === 0 ? done() : done(tooManyRequests()))
}
