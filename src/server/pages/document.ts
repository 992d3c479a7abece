import { createHash } from 'node:crypto'
import { negotiate } from '@fastify/accept-negotiator'
import type { FastifyReply, FastifyRequest } from 'fastify'

import { documentHeaders } from '../../pages/headers.ts'
import { compressInPieces, type Encoding } from './compress-in-pieces.ts'

/** A document, its Content-Security-Policy, and the lengths of its beginnings that can be painted while the rest loads. */
export interface Rendered {
  html: string
  policy: string
  beginnings: readonly number[]
}

/** A document that is ready to be sent, compressed in advance. Each encoding has its own `ETag` (RFC 9110, 8.8.3.3). */
export type PreparedDocument = Readonly<
  Record<Encoding, { headers: Readonly<Record<string, string>>; etag: string; body: Buffer }>
>

/**
 * Compresses a document that is the same for everybody.
 *
 * @param more Headers in addition to those of every document.
 */
export async function prepareDocument(
  { html, policy, beginnings }: Rendered,
  more: Readonly<Record<string, string>> = {},
): Promise<PreparedDocument> {
  const encoded = (pieces: readonly Buffer[]) => {
    // One buffer, since a stream of the pieces halves the number of documents a second.
    const body = Buffer.concat(pieces)
    const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 16)}"`
    return { headers: { ...headersOf(policy), ...more, etag, vary: 'accept-encoding' }, etag, body }
  }
  const { br, gzip, identity } = await compressInPieces(html, beginnings)
  return { br: encoded(br), gzip: encoded(gzip), identity: encoded(identity) }
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

/** Responds with a document, or with 304 if the browser has it cached in the same encoding. */
export function sendDocument(
  request: FastifyRequest,
  reply: FastifyReply,
  document: PreparedDocument,
): FastifyReply {
  const encoding = negotiate<Encoding>(request.headers['accept-encoding'] ?? '', ['br', 'gzip']) ?? 'identity'
  const { headers, etag, body } = document[encoding]
  void reply.headers(headers)
  if (request.headers['if-none-match']?.includes(etag)) return reply.code(304).send()
  if (encoding !== 'identity') void reply.header('content-encoding', encoding)
  return reply.send(body)
}
