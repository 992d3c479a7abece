import { randomUUID } from 'node:crypto'
import autocannon from 'autocannon'

import { anApplication } from '../testing/form.ts'

/** What a load came to. */
export interface Load {
  perSecond: number
  /** Milliseconds that 99 of 100 requests took at the most. */
  p99: number
  /** The same of 999 in 1,000. */
  p999: number
}

/**
 * Sends applications, each of them new, over so many connections.
 *
 * @param limit Seconds, or how many requests.
 * @param query What the address asks for besides.
 * @param change What is sent otherwise than the form does.
 * @throws {Error} where an application was not stored.
 */
export async function insertLoad(
  origin: string,
  connections: number,
  limit: { duration: number } | { amount: number },
  query = '',
  change: object = {},
): Promise<Load> {
  const result = await autocannon({
    url: `${origin}/rest/v1/retreat_applications${query}`,
    connections,
    ...limit,
    requests: [
      {
        method: 'POST',
        headers: { apikey: 'public-anon-key', 'content-type': 'application/json' },
        setupRequest: (request) => ({
          ...request,
          body: JSON.stringify({ ...anApplication({ email: `${randomUUID()}@example.com` }), ...change }),
        }),
      },
    ],
  })
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${result.non2xx} requests were refused and ${result.errors} failed`)
  }
  return { perSecond: result['2xx'] / result.duration, p99: result.latency.p99, p999: result.latency.p99_9 }
}
