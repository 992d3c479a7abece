import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { negotiate } from '@fastify/accept-negotiator'
import type { FastifyReply, FastifyRequest } from 'fastify'

import { documentHeaders } from '../../pages/headers.ts'
import { inPieces, type Pieces } from './pieces.ts'

/** A document, its policy, and how much of it can be painted while the rest is on its way. */
interface Rendered {
  html: string
  policy: string
  sceneLength: number
}

/** A document as it is sent: compressed beforehand. */
export interface PreparedDocument {
  headers: Readonly<Record<string, string>>
  pieces: Pieces
}

/**
 * Compresses a document that is the same for everybody.
 *
 * @param more Headers that it has besides those of every document.
 */
export async function prepareDocument(
  { html, policy, sceneLength }: Rendered,
  more: Readonly<Record<string, string>> = {},
): Promise<PreparedDocument> {
  const etag = `"${createHash('sha256').update(html).digest('base64url').slice(0, 16)}"`
  const headers = { ...headersOf(policy), ...more, etag, vary: 'accept-encoding' }
  return { headers, pieces: await inPieces(html, sceneLength) }
}

/** The headers of a document with this policy. */
export function headersOf(policy: string): Record<string, string> {
  return {
    'content-type': 'text/html; charset=utf-8',
    // The browser keeps it and asks each time whether it has changed.
    'cache-control': 'no-cache',
    ...documentHeaders(policy),
  }
}

/** Answers with a document, unless the browser has it already. */
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
  void reply.header('content-length', encoded[0].length + encoded[1].length)
  return reply.send(Readable.from(encoded))
}
