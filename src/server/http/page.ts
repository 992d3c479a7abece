import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { negotiate } from '@fastify/accept-negotiator'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import { applicationFrom, onceIndex } from '../../application/application.ts'
import { renderDocument, type PageData } from '../../page/render.tsx'
import { rowsOf, type SentRows } from '../database/insert.ts'
import type { Settings } from '../settings.ts'
import { databaseError } from './errors.ts'

/** What the page acts with. */
export interface PageOptions {
  settings: Pick<Settings, 'anonKey' | 'siteUrl'>
  /** Stores rows as a visitor may. */
  insert: (request: FastifyRequest, rows: SentRows) => Promise<number>
}

/**
 * The page at `/`, its assets, and the form as a browser sends it without the page's script: answered with
 * the same page, which holds the green box, or the red one and every answer in its field.
 */
export async function page(app: FastifyInstance, { settings, insert }: PageOptions) {
  const render = (outcome: PageData['outcome']) => {
    const backend = { url: null, anonKey: settings.anonKey, webhookUrl: null }
    const { html, policy } = renderDocument(
      { backend, takesNativePosts: true, outcome },
      { siteUrl: settings.siteUrl, policyInDocument: false },
    )
    return { html, policy: `${policy}; frame-ancestors 'none'` }
  }
  const { html, policy } = render(null)
  const encodings: Record<string, Buffer> = {
    br: brotliCompressSync(html),
    gzip: gzipSync(html),
    identity: Buffer.from(html),
  }
  const etag = `"${createHash('sha256').update(html).digest('base64url').slice(0, 22)}"`

  await app.register(fastifyStatic, {
    root: resolve('dist/assets'),
    prefix: '/assets/',
    preCompressed: true,
    immutable: true,
    maxAge: '1y',
  })

  app.get('/', (request, reply) => {
    void documentHeaders(reply, policy).header('etag', etag).header('vary', 'accept-encoding')
    if (request.headers['if-none-match']?.includes(etag)) return reply.code(304).send()
    const encoding = negotiate(request.headers['accept-encoding'] ?? '', ['br', 'gzip'])
    if (encoding !== null) void reply.header('content-encoding', encoding)
    return reply.send(encodings[encoding ?? 'identity'])
  })

  const answer = (reply: FastifyReply, code: number, outcome: PageData['outcome']) => {
    const rendered = render(outcome)
    return documentHeaders(reply, rendered.policy).code(code).send(rendered.html)
  }

  app.post('/', async (request, reply) => {
    const application = applicationFrom(Object.entries(request.body ?? {}))
    try {
      await insert(request, rowsOf(application))
    } catch (error) {
      const { status, code, message, cause, retryAfter } = databaseError(error)
      if (code === '23505' && message.includes(`"${onceIndex}"`)) {
        return answer(reply, 200, { status: 'success' })
      }
      if (cause) request.log.error({ err: cause }, 'an application was not stored')
      if (retryAfter !== undefined) void reply.header('retry-after', retryAfter)
      return answer(reply, status, { status: 'error', message, application })
    }
    return answer(reply, 200, { status: 'success' })
  })

  // A request that is no form, or too large for one, was never read.
  app.setErrorHandler((error, _request, reply) => {
    const { status, message } = databaseError(error)
    return answer(reply, status, { status: 'error', message, application: applicationFrom([]) })
  })
}

function documentHeaders(reply: FastifyReply, policy: string) {
  return reply
    .type('text/html; charset=utf-8')
    .header('cache-control', 'no-cache')
    .header('content-security-policy', policy)
}
