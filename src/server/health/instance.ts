import type { FastifyInstance } from 'fastify'

/** The proxies' addresses that one request shows, and which of them are trusted. */
export type Forwarded =
  /** No proxy added an address, and none is trusted. */
  | 'direct'
  /** Exactly the addresses that proxies added are trusted. */
  | 'believed'
  /** A proxy added the visitor's address, and it is not trusted: all its visitors count as one. */
  | 'unbelieved'
  /** Too few addresses are trusted, so a proxy counts as the visitor. */
  | 'too few'
  /** The address that the visitor forged is trusted. */
  | 'anybody'
  /** The request came from a trusted address, so it shows nothing about other visitors. */
  | 'from a trusted address'

/**
 * Decides whether the right addresses in `X-Forwarded-For` are trusted.
 *
 * @param forged The caller's own entry, before any proxy added to it or replaced it.
 * @param header The header as it arrived.
 * @param ips The connection's address and the trusted ones, the nearest first; undefined where none are trusted.
 * @param byRange Whether the setting gives ranges of trusted addresses, and not their number.
 */
function trustShown(
  forged: string,
  header: string,
  ips: readonly string[] | undefined,
  byRange: boolean,
): Forwarded {
  const entries = header.split(',').map((entry) => entry.trim())
  const added = entries[0] === forged ? entries.length - 1 : entries.length
  const trusted = (ips?.length ?? 1) - 1
  if (trusted > added) return byRange ? 'from a trusted address' : 'anybody'
  if (trusted === added) return added === 0 ? 'direct' : 'believed'
  return trusted === 0 ? 'unbelieved' : 'too few'
}

/** The address of this route. */
export const instancePath = '/instance'

/**
 * For the doctor, which asks at the public address. The response says whether it leads to a server on this database that sees its
 * visitors' real addresses. Strangers learn only how it saw their own request.
 *
 * @param options.databaseId The database's id.
 */
export async function instance(
  app: FastifyInstance,
  { databaseId, byRange }: { databaseId: string | null; byRange: boolean },
) {
  app.get<{ Querystring: { forwarded?: unknown } }>(instancePath, (request, reply) => {
    const { forwarded: asked } = request.query
    const header = request.headers['x-forwarded-for']
    const shown =
      typeof asked === 'string' && typeof header === 'string'
        ? { forwarded: trustShown(asked, header, request.ips, byRange) }
        : {}
    return reply.header('cache-control', 'no-store').send({ mark: databaseId, ...shown })
  })
}
