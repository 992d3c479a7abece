import type { FastifyInstance } from 'fastify'

/** How the server takes the addresses that proxies report, as far as one request shows. */
export type Forwarded =
  /** No proxy added one, and none is believed. */
  | 'direct'
  /** What the proxies added is believed, and nothing else. */
  | 'believed'
  /** A proxy added the visitor's, and it is not believed: all its visitors are one. */
  | 'unbelieved'
  /** So few of several are believed that a proxy counts as the visitor. */
  | 'too few'
  /** What the visitor wrote is believed. */
  | 'anybody'
  /** The request came from an address that is itself believed, so that it shows nothing of others. */
  | 'from a trusted address'

/**
 * Tells whether the right ones of the addresses in `X-Forwarded-For` are believed.
 *
 * @param asked What whoever asks wrote into it, before any proxy added to it or wrote it anew.
 * @param header What came.
 * @param ips The connection's address and those that were believed, the nearest first; nothing where none may be.
 * @param byRange Whether addresses are believed by what they are, and not by how many there are.
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

/** Where it is asked. */
export const instancePath = '/instance'

/**
 * For the operator who asks by the public address whether it leads to a server on this database, and whether that one
 * takes visitors for who they are. It tells strangers nothing but how it took their own request.
 *
 * @param options.mark What tells the database from others.
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
