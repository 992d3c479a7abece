import { isIPv6 } from 'node:net'
import type { FastifyRequest } from 'fastify'

import { tooManyRequests } from './refusals.ts'

/** Addresses that one limit knows at the same time; beyond that, those that came first are forgotten. */
const mostAddresses = 20_000

/** Refuses a request of an address that came too often. */
export type Limit = (request: FastifyRequest, reply: unknown, done: (error?: Error) => void) => void

/**
 * Limits calls by address, of IPv6 by the 64 bits that one household has, as a bucket that is full at first and is refilled evenly.
 *
 * @param calls How many it holds.
 * @param minutes How long it takes to fill an empty one.
 * @param now A clock in milliseconds that is never set back.
 */
export function createLimit(calls: number, minutes: number, now = () => performance.now()): Limit {
  const perMillisecond = calls / (minutes * 60_000)
  const buckets = new Map<string, { left: number; seen: number }>()
  return ({ ip }, _reply, done) => {
    const network = networkOf(ip)
    const bucket = buckets.get(network) ?? { left: calls, seen: now() }
    bucket.left = Math.min(bucket.left + (now() - bucket.seen) * perMillisecond, calls)
    bucket.seen = now()
    // The first in the map is the one that was not seen for the longest time.
    buckets.delete(network)
    buckets.set(network, bucket)
    const [first = ''] = buckets.keys()
    if (buckets.size > mostAddresses) buckets.delete(first)
    if (bucket.left < 1) return done(tooManyRequests())
    bucket.left -= 1
    done()
  }
}

function networkOf(ip: string) {
  if (!isIPv6(ip) || ip.includes('.')) return ip
  const [head = '', tail] = ip.split('::')
  const groups = head.split(':')
  // Between the colons that stand side by side are as many zeros as are missing.
  const zeros = tail === undefined ? [] : Array<string>(8).fill('0')
  return [...groups, ...zeros].slice(0, 4).join(':')
}
