import type { FastifyRequest } from 'fastify'

import { tooManyRequests } from './errors.ts'

/** Addresses that one limit knows at the same time; beyond that, those that came first are forgotten. */
const mostAddresses = 20_000

/** Refuses a request of an address that came too often. */
export type Limit = (request: FastifyRequest, reply: unknown, done: (error?: Error) => void) => void

/**
 * Limits calls by address, as a bucket that is full at first and is refilled evenly.
 *
 * @param calls How many it holds.
 * @param minutes How long it takes to fill an empty one.
 * @param now A clock in milliseconds that is never set back.
 */
export function createLimit(calls: number, minutes: number, now = () => performance.now()): Limit {
  const perMillisecond = calls / (minutes * 60_000)
  const buckets = new Map<string, { left: number; seen: number }>()
  return ({ ip }, _reply, done) => {
    const bucket = buckets.get(ip) ?? { left: calls, seen: now() }
    bucket.left = Math.min(bucket.left + (now() - bucket.seen) * perMillisecond, calls)
    bucket.seen = now()
    // The first in the map is the one that was not seen for the longest time.
    buckets.delete(ip)
    buckets.set(ip, bucket)
    const [first = ''] = buckets.keys()
    if (buckets.size > mostAddresses) buckets.delete(first)
    if (bucket.left < 1) return done(tooManyRequests())
    bucket.left -= 1
    done()
  }
}
