import type { FastifyInstance } from 'fastify'

/** What one request shows about the addresses that proxies report. */
export type Forwarded =
  /** No proxy added an address, and none is believed. */
  | 'direct'
  /** The addresses that the proxies added are believed, and no others. */
  | 'believed'
  /** A proxy added the visitor's address, and it is not believed: all its visitors count as one. */
  | 'unbelieved'
  /** Too few addresses are believed, so that a proxy counts as the visitor. */
  | 'too few'
  /** The address that the visitor forged is believed. */
  | 'anybody'
  /** The request came from an address that is itself believed, so that it shows nothing about other visitors. */
  | 'from a trusted address'

/**
 * Tells whether the right ones of the addresses in `X-Forwarded-For` are believed.
 *
 * @param asked What the caller wrote into it, before any proxy added to it or replaced it.
 * @param header The header as it arrived.
 * @param ips The connection's address and those that were believed, the nearest first; nothing where none are believed.
 * @param byRange Whether the setting names the believed addresses, and not their number.
 */
function howForwarded(
  asked: string,
  header: string,
  ips: readonly string[] | undefined,
  byRange: boolean,
): Forwarded {
  const entries = header.split(',').map((entry) => entry.trim())
  const added = entries[0] === asked ? entries.length - 1 : entries.length
  const believed = (ips?.length ?? 1) - 1
  if (believed > added) return byRange ? 'from a trusted address' : 'anybody'
  if (believed === added) return added === 0 ? 'direct' : 'believed'
  return believed === 0 ? 'unbelieved' : 'too few'
}

/** The address of this route. */
export const instancePath = '/instance'

/**
 * For the doctor, which asks at the public address whether it leads to a server on this database, and whether that server
 * sees the right address of its visitors. It tells strangers only how it saw their own request.
 *
 * @param options.mark The database's id.
 */
export async function instance(
  app: FastifyInstance,
  { mark, byRange }: { mark: string | null; byRange: boolean },
) {
  app.get<{ Querystring: { forwarded?: unknown } }>(instancePath, (request, reply) => {
    const { forwarded: asked } = request.query
    const header = request.headers['x-forwarded-for']
    const shown =
      typeof asked === 'string' && typeof header === 'string'
        ? { forwarded: howForwarded(asked, header, request.ips, byRange) }
        : {}
    return reply.header('cache-control', 'no-store').send({ mark, ...shown })
  })
}
