import { randomUUID } from 'node:crypto'
import autocannon from 'autocannon'

import { anApplication } from '../test/support/form.ts'

/** The result of a load. */
export interface Load {
  perSecond: number
  /** The 99th percentile of response times, in milliseconds. */
  p99: number
}

/**
 * Sends applications, all of them different, over this many connections.
 *
 * @param limit Seconds, or the number of requests.
 * @param query A query to add to the address.
 * @param change Replaces fields of the application.
 * @throws {Error} An application was not stored.
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
  return { perSecond: result['2xx'] / result.duration, p99: result.latency.p99 }
}
