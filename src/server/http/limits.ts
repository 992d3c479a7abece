import { isIPv6 } from 'node:net'

import { HttpError } from './errors.ts'

/** Limits on what a visitor may use of the server; times in milliseconds. */
export const limits = {
  bodyLimit: 256 * 1024,
  /** Requests on a connection that is open already are answered also while the server stops. */
  return503OnClosing: false,
  /** For a whole request, however slowly it is sent. */
  requestTimeout: 30_000,
  /** Without a byte in either direction, also where an answer is not read. */
  connectionTimeout: 30_000,
  /** Longer than the proxies before this keep their connections, so that they end them first. */
  keepAliveTimeout: 72_000,
  http: { maxHeaderSize: 16 * 1024, headersTimeout: 15_000, connectionsCheckingInterval: 5_000 },
}

/** Addresses that one limiter knows at the same time; beyond that, the one that was not seen for the longest time is forgotten. */
const mostAddresses = 20_000

/**
 * Takes an amount from an address's bucket.
 *
 * @param amount How much; 1 unless it is given.
 * @returns 0 where the bucket held that much; otherwise the milliseconds until it will, and nothing was taken.
 */
export type Limiter = (address: string, amount?: number) => number

/**
 * Limits what comes from an address by a bucket that is full at first and is refilled evenly. Of IPv6, the first 64 bits
 * count as one address, since one household has them.
 *
 * @param size How much it holds.
 * @param minutes How long it takes to fill an empty one.
 * @param now A clock in milliseconds that is never set back.
 */
export function createLimiter(size: number, minutes: number, now = () => performance.now()): Limiter {
  const perMillisecond = size / (minutes * 60_000)
  const buckets = new Map<string, { left: number; seen: number }>()
  return (address, amount = 1) => {
    const network = networkOf(address)
    const bucket = buckets.get(network) ?? { left: size, seen: now() }
    bucket.left = Math.min(bucket.left + (now() - bucket.seen) * perMillisecond, size)
    bucket.seen = now()
    // The first in the map is the one that was not seen for the longest time.
    buckets.delete(network)
    buckets.set(network, bucket)
    const [first = ''] = buckets.keys()
    if (buckets.size > mostAddresses) buckets.delete(first)
    // Whoever asks for more than the bucket ever holds has to wait as long as it takes to fill it.
    if (amount > bucket.left) return (amount > size ? size : amount - bucket.left) / perMillisecond
    bucket.left -= amount
    return 0
  }
}

/** The key by which an address is counted. An IPv4 address has one key, also where a socket for both kinds writes it as IPv6. */
function networkOf(address: string) {
  const [, ipv4] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? []
  if (!isIPv6(address) || ipv4 !== undefined) return ipv4 ?? address
  const [head = [], tail = []] = address.split('::').map((part) => part.split(':'))
  // Two colons side by side stand for as many zeros as are missing.
  const zeros = Array<string>(Math.max(8 - head.length - tail.length, 0)).fill('0')
  const groups = address.includes('::') ? [...head, ...zeros, ...tail] : head
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group || '0', 16))
    .join(':')
}

/**
 * Counts the rows that an address inserts.
 *
 * @param rows How many it wants to insert: an array must not be a way around the limit.
 * @throws {HttpError} with 429 beyond the limit.
 */
export type Allowance = (address: string, rows: number) => void

/**
 * Limits how many rows one address may insert in a minute.
 *
 * @param perMinute 0 is no limit.
 * @param now A clock in milliseconds that is never set back.
 */
export function createAllowance(perMinute: number, now?: () => number): Allowance {
  if (perMinute === 0) return () => {}
  const take = createLimiter(perMinute, 1, now)
  return (address, rows) => {
    const wait = take(address, rows)
    if (wait > 0) throw tooMany('applications', wait, 'send it again')
  }
}

/** Wrong tokens of letters that one address may show at once, and minutes after which it may show as many again. */
const wrongTokens = { most: 30, minutes: 5 }

/**
 * Limits how many wrong tokens of letters one address may show. Right ones are not counted, and never refused.
 *
 * @param now A clock in milliseconds that is never set back.
 * @returns A function that counts a wrong one, and throws an {@link HttpError} with 429 beyond the limit.
 */
export function createWrongTokens(now?: () => number): (address: string) => void {
  const take = createLimiter(wrongTokens.most, wrongTokens.minutes, now)
  return (address) => {
    const wait = take(address)
    if (wait > 0) throw tooMany('wrong links', wait, 'try again')
  }
}

/** @param wait Milliseconds. */
function tooMany(what: string, wait: number, next: string) {
  const seconds = Math.ceil(wait / 1000)
  return new HttpError(
    429,
    'HTTP429',
    `Too many ${what} came from your connection. Please wait ${seconds} ${seconds === 1 ? 'second' : 'seconds'} and ${next}.`,
    { retryAfter: seconds },
  )
}
