import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { negotiate } from '@fastify/accept-negotiator'
import type { FastifyReply, FastifyRequest } from 'fastify'

import { documentHeaders } from '../../pages/headers.ts'
import { compressInPieces, type Pieces } from './pieces.ts'

/** A document, its Content-Security-Policy, and the lengths of its beginnings that can be painted while the rest loads. */
interface Rendered {
  html: string
  policy: string
  beginnings: readonly number[]
}

/** A document that is ready to be sent, compressed in advance. */
export interface PreparedDocument {
  headers: Readonly<Record<string, string>>
  pieces: Pieces
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
  return { headers, pieces: await compressInPieces(html, beginnings) }
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
  { headers, pieces }: PreparedDocument,
): FastifyReply {
  void reply.headers(headers)
  if (request.headers['if-none-match']?.includes(headers['etag'] ?? '')) return reply.code(304).send()
  const encoding = negotiate(request.headers['accept-encoding'] ?? '', ['br', 'gzip'])
  if (encoding !== null) void reply.header('content-encoding', encoding)
  const encoded = pieces[encoding === 'br' || encoding === 'gzip' ? encoding : 'identity']
  void reply.header(
    'content-length',
    encoded.reduce((sum, { length }) => sum + length, 0),
  )
  return reply.send(Readable.from(encoded))
}
