import type { FastifyInstance } from 'fastify'

/** Whether exactly the addresses that proxies added to one request are trusted. */
export type Forwarded =
  /** No proxy added an address, and none is trusted. */
  | 'direct'
  /** Exactly the addresses that proxies added are trusted. */
  | 'believed'
  /** A proxy added the visitor's address, but the proxy is not trusted: all its visitors count as one. */
  | 'unbelieved'
  /** Too few addresses are trusted, so a proxy counts as the visitor. */
  | 'too few'
  /** The address that the visitor forged is trusted. */
  | 'anybody is believed'
  /**
   * A trusted address sent the visitor's own entry, and nothing was added to it. Either the caller itself is trusted, or a
   * trusted proxy passes on what visitors write.
   */
  | 'nothing added'
  /** A trusted proxy added a trusted address, which is the caller's or a proxy's: it shows nothing about other visitors. */
  | 'from a trusted address'

/**
 * Decides whether the right addresses in `X-Forwarded-For` are trusted.
 *
 * @param forged The caller's own entry, before any proxy added to it or replaced it.
 * @param header The header as it arrived; empty if a proxy removed it.
 * @param ips The connection's address and the trusted ones, the nearest first; undefined if none are trusted.
 * @param byRange Whether the setting lists trusted address ranges. Otherwise it is a number of hops.
 */
function judgeForwarded(
  forged: string,
  header: string,
  ips: readonly string[] | undefined,
  byRange: boolean,
): Forwarded {
  const entries = header === '' ? [] : header.split(',').map((entry) => entry.trim())
  const added = entries[0] === forged ? entries.length - 1 : entries.length
  const trusted = (ips?.length ?? 1) - 1
  if (trusted > added) {
    if (!byRange) return 'anybody is believed'
    return added === 0 ? 'nothing added' : 'from a trusted address'
  }
  if (trusted === added) return added === 0 ? 'direct' : 'believed'
  return trusted === 0 ? 'unbelieved' : 'too few'
}

/** The address of this route. */
export const instancePath = '/instance'

/**
 * A route that the doctor calls at the public address. The response has the database's id, and says whether the server sees
 * the visitors' real addresses. Other callers learn only this id, and how the server saw their own request.
 *
 * @param options.databaseId The database's id.
 */
export async function instance(
  app: FastifyInstance,
  { databaseId, byRange }: { databaseId: string | null; byRange: boolean },
) {
  app.get<{ Querystring: { forwarded?: unknown } }>(instancePath, (request, reply) => {
    const { forwarded: forged } = request.query
    const { 'x-forwarded-for': header = '' } = request.headers
    const shown =
      typeof forged === 'string' && typeof header === 'string'
        ? { forwarded: judgeForwarded(forged, header, request.ips, byRange) }
        : {}
    return reply.header('cache-control', 'no-store').send({ mark: databaseId, ...shown })
  })
}
