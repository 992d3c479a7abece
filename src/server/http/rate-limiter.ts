import { isIPv6 } from 'node:net'

import { HttpError } from './errors.ts'

/** The most addresses that one limiter remembers. Beyond that it forgets the address that it saw least recently. */
const maxAddresses = 20_000

/**
 * Takes an amount from an address's bucket.
 *
 * @param amount How much; default 1.
 * @returns 0 if the bucket held enough. Otherwise nothing is taken, and the result is the milliseconds until it holds
 *   enough.
 */
export type Limiter = (address: string, amount?: number) => number

/**
 * A token bucket for each address, full at first and refilled evenly. IPv6 addresses with the same first 64 bits share a
 * bucket, since one household has all of them.
 *
 * @param size The most that a bucket holds.
 * @param minutes How long an empty bucket takes to refill.
 * @param now A monotonic clock in milliseconds.
 */
export function createLimiter(size: number, minutes: number, now = () => performance.now()): Limiter {
  const perMillisecond = size / (minutes * 60_000)
  const buckets = new Map<string, { left: number; seen: number }>()
  return (address, amount = 1) => {
    const network = networkOf(address)
    const bucket = buckets.get(network) ?? { left: size, seen: now() }
    bucket.left = Math.min(bucket.left + (now() - bucket.seen) * perMillisecond, size)
    bucket.seen = now()
    // A map keeps insertion order: its first entry is the least recently seen.
    buckets.delete(network)
    buckets.set(network, bucket)
    const [first = ''] = buckets.keys()
    if (buckets.size > maxAddresses) buckets.delete(first)
    // An amount above the bucket's size waits as long as a full refill.
    if (amount > bucket.left) return (amount > size ? size : amount - bucket.left) / perMillisecond
    bucket.left -= amount
    return 0
  }
}

/** The key of an address's bucket. An IPv4 address has the same key if a dual-stack socket writes it as IPv6. */
function networkOf(address: string) {
  const [, ipv4] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? []
  if (!isIPv6(address) || ipv4 !== undefined) return ipv4 ?? address
  const [head = [], tail = []] = address.split('::').map((part) => part.split(':'))
  // Two colons replace all missing groups of zeros.
  const zeros = Array<string>(Math.max(8 - head.length - tail.length, 0)).fill('0')
  const groups = address.includes('::') ? [...head, ...zeros, ...tail] : head
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group || '0', 16))
    .join(':')
}

/**
 * Counts the rows that a network address inserts.
 *
 * @param rows The number of rows to insert. A request may contain an array of them, and each row counts.
 * @throws {HttpError} with 429 beyond the limit.
 */
export type Allowance = (address: string, rows: number) => void

/**
 * Limits how many rows a network address may insert in a minute.
 *
 * @param perMinute 0 is no limit.
 * @param now A monotonic clock in milliseconds.
 */
export function createAllowance(perMinute: number, now?: () => number): Allowance {
  if (perMinute === 0) return () => {}
  const take = createLimiter(perMinute, 1, now)
  return (address, rows) => {
    const wait = take(address, rows)
    if (wait > 0) throw tooMany('applications', wait, 'send it again')
  }
}

/** How many wrong tokens of letters' links an address may send without waiting, and the minutes until it may do so again. */
const wrongTokens = { max: 30, minutes: 5 }

/**
 * Limits the wrong tokens of letters' links that an address may send. Right tokens are not counted and never refused.
 *
 * @param now A monotonic clock in milliseconds.
 * @returns A function that counts a wrong token, and throws an {@link HttpError} with 429 beyond the limit.
 */
export function createWrongTokenLimit(now?: () => number): (address: string) => void {
  const take = createLimiter(wrongTokens.max, wrongTokens.minutes, now)
  return (address) => {
    const wait = take(address)
    if (wait > 0) throw tooMany('wrong links', wait, 'try again')
  }
}

/** @param wait Milliseconds. */
function tooMany(things: string, wait: number, advice: string) {
  const seconds = Math.ceil(wait / 1000)
  return new HttpError(
    429,
    'HTTP429',
    `Too many ${things} came from your connection. Please wait ${seconds} ${seconds === 1 ? 'second' : 'seconds'} and ${advice}.`,
    { retryAfter: seconds },
  )
}
