import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { negotiate } from '@fastify/accept-negotiator'
import type { FastifyInstance } from 'fastify'

import { documentHeaders } from '../../pages/headers.ts'
import { inPieces } from './pieces.ts'

/** A document, its policy, and how much of it can be painted while the rest is on its way. */
interface Rendered {
  html: string
  policy: string
  sceneLength: number
}

/**
 * Answers GET with a document that is the same for everybody, compressed beforehand.
 *
 * @param more Headers that it has besides those of every document.
 * @returns Its headers.
 */
export async function serveDocument(
  app: FastifyInstance,
  url: string,
  { html, policy, sceneLength }: Rendered,
  more: Readonly<Record<string, string>> = {},
): Promise<Record<string, string>> {
  const pieces = await inPieces(html, sceneLength)
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    ...documentHeaders(policy),
    ...more,
  }
  const etag = `"${createHash('sha256').update(html).digest('base64url').slice(0, 16)}"`
  app.get(url, (request, reply) => {
    void reply.headers({ ...headers, etag, vary: 'accept-encoding' })
    if (request.headers['if-none-match']?.includes(etag)) return reply.code(304).send()
    const encoding = negotiate(request.headers['accept-encoding'] ?? '', ['br', 'gzip'])
    if (encoding !== null) void reply.header('content-encoding', encoding)
    const encoded = pieces[encoding === 'br' || encoding === 'gzip' ? encoding : 'identity']
    void reply.header('content-length', encoded[0].length + encoded[1].length)
    return reply.send(Readable.from(encoded))
  })
  return headers
}
