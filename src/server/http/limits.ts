import { HttpError } from './errors.ts'

/** What a visitor may take of the server; times in milliseconds. */
export const limits = {
  bodyLimit: 256 * 1024,
  /** What comes on a connection that is open already is answered also while the server stops. */
  return503OnClosing: false,
  /** For the whole of a request, however slowly it is sent. */
  requestTimeout: 30_000,
  /** Without a byte either way, also where an answer is not read. */
  connectionTimeout: 30_000,
  /** Longer than the proxies before this keep their connections, so that they end them first. */
  keepAliveTimeout: 72_000,
  http: { maxHeaderSize: 16 * 1024, headersTimeout: 15_000, connectionsCheckingInterval: 5_000 },
}

/** Addresses that are counted at the same time; beyond that, those whose minute began first are forgotten. */
const mostAddresses = 20_000
const window = 60_000

/**
 * Counts what an address takes.
 *
 * @param rows How many rows it wants to insert: an array must not be a way around the limit.
 * @throws {HttpError} with 429 beyond the limit.
 */
export type Allowance = (address: string, rows: number) => void

/**
 * Limits how many rows one address may insert in a minute, which begins with the first of them.
 *
 * @param perMinute 0 is no limit.
 * @param now A clock in milliseconds that is never set back.
 */
export function createAllowance(perMinute: number, now = () => performance.now()): Allowance {
  if (perMinute === 0) return () => {}
  // In the order in which their minutes began.
  const counted = new Map<string, { began: number; rows: number }>()
  return (address, rows) => {
    let count = counted.get(address)
    if (count === undefined || now() - count.began >= window) {
      count = { began: now(), rows: 0 }
      counted.delete(address)
      counted.set(address, count)
      const [first = ''] = counted.keys()
      if (counted.size > mostAddresses) counted.delete(first)
    }
    count.rows = Math.min(count.rows + rows, perMinute + 1)
    if (count.rows > perMinute) throw tooMany(Math.ceil((count.began + window - now()) / 1000))
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
