import { createHash } from 'node:crypto'
import { negotiate } from '@fastify/accept-negotiator'
import type { FastifyReply, FastifyRequest } from 'fastify'

import { documentHeaders } from '../../pages/headers.ts'
import { compressInPieces, type Encoding } from './pieces.ts'

/** A document, its Content-Security-Policy, and the lengths of its beginnings that can be painted while the rest loads. */
interface Rendered {
  html: string
  policy: string
  beginnings: readonly number[]
}

/** A document that is ready to be sent, compressed in advance. */
export interface PreparedDocument {
  headers: Readonly<Record<string, string>>
  bodies: Readonly<Record<Encoding, Buffer>>
}

/**
 * Compresses a document that is the same for everybody.
 *
 * @param more Headers in addition to those of every document.
 */
export async function prepareDocument(
  { html, policy, beginnings }: Rendered,
  more: Readonly<Record<string, string>> = {},
): Promise<PreparedDocument> {
  const etag = `"${createHash('sha256').update(html).digest('base64url').slice(0, 16)}"`
  const headers = { ...headersOf(policy), ...more, etag, vary: 'accept-encoding' }
  const { br, gzip, identity } = await compressInPieces(html, beginnings)
  // One buffer, since a stream of the pieces halves the number of documents a second.
  const bodies = { br: Buffer.concat(br), gzip: Buffer.concat(gzip), identity: Buffer.concat(identity) }
  return { headers, bodies }
}

/** The headers of a document with this Content-Security-Policy. */
export function headersOf(policy: string): Record<string, string> {
  return {
    'content-type': 'text/html; charset=utf-8',
    // The browser caches it and revalidates each time.
    'cache-control': 'no-cache',
    ...documentHeaders(policy),
  }
}

/** Responds with a document, or with 304 if the browser has it cached. */
export function sendDocument(
  request: FastifyRequest,
  reply: FastifyReply,
  { headers, bodies }: PreparedDocument,
): FastifyReply {
  void reply.headers(headers)
  if (request.headers['if-none-match']?.includes(headers['etag'] ?? '')) return reply.code(304).send()
  const encoding = negotiate<Encoding>(request.headers['accept-encoding'] ?? '', ['br', 'gzip'])
  if (encoding !== null) void reply.header('content-encoding', encoding)
  return reply.send(bodies[encoding ?? 'identity'])
}
