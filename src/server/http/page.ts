import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { negotiate } from '@fastify/accept-negotiator'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import { applicationFrom, isAlreadyStored } from '../../application/application.ts'
import { renderApply, type ApplyData } from '../../pages/apply/render.tsx'
import { assetHeaders, documentHeaders } from '../../pages/headers.ts'
import type { Settings } from '../../settings/server-settings.ts'
import { visitor, type Caller } from '../database/connections.ts'
import { rowsOf, type SentRows } from '../database/insert.ts'
import { httpError } from './errors.ts'

/** What the page acts with. */
export interface PageOptions {
  settings: Pick<Settings, 'anonKey' | 'siteUrl'>
  /** Stores rows as the caller may. */
  insert: (request: FastifyRequest, caller: Caller, rows: SentRows) => Promise<number>
}

/**
 * The page at `/`, its assets, and the form as a browser sends it without the page's script: answered with
 * the same page, which holds the green box, or the red one and every answer in its field.
 */
export async function page(app: FastifyInstance, { settings, insert }: PageOptions) {
  const render = (outcome: ApplyData['outcome']) => {
    const backend = { url: null, anonKey: settings.anonKey, webhookUrl: null }
    return renderApply(
      { backend, takesNativePosts: true, outcome },
      { siteUrl: settings.siteUrl, policyInDocument: false },
    )
  }
  const { html, policy } = render(null)
  // The same for every outcome.
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    ...documentHeaders(policy),
  }
  const encodings: Record<string, Buffer> = {
    br: brotliCompressSync(html),
    gzip: gzipSync(html),
    identity: Buffer.from(html),
  }
  const etag = `"${createHash('sha256').update(html).digest('base64url').slice(0, 22)}"`

  app.addHook('onRequest', (_request, reply, done) => {
    void reply.headers(assetHeaders)
    done()
  })
  await app.register(fastifyStatic, {
    root: resolve('dist/assets'),
    prefix: '/assets/',
    preCompressed: true,
    immutable: true,
    maxAge: '1y',
  })

  app.get('/', (request, reply) => {
    void reply.headers({ ...headers, etag, vary: 'accept-encoding' })
    if (request.headers['if-none-match']?.includes(etag)) return reply.code(304).send()
    const encoding = negotiate(request.headers['accept-encoding'] ?? '', ['br', 'gzip'])
    if (encoding !== null) void reply.header('content-encoding', encoding)
    return reply.send(encodings[encoding ?? 'identity'])
  })

  const answer = (reply: FastifyReply, code: number, outcome: ApplyData['outcome']) =>
    reply.headers(headers).code(code).send(render(outcome).html)

  app.post('/', async (request, reply) => {
    const application = applicationFrom(Object.entries(request.body ?? {}))
    try {
      await insert(request, visitor, rowsOf(application))
    } catch (error) {
      const refusal = httpError(error)
      if (isAlreadyStored(refusal)) return answer(reply, 200, { status: 'success' })
      const { status, message, cause, retryAfter } = refusal
      if (cause) request.log.error({ err: cause }, 'an application was not stored')
      if (retryAfter !== undefined) void reply.header('retry-after', retryAfter)
      return answer(reply, status, { status: 'error', message, application })
    }
    return answer(reply, 200, { status: 'success' })
  })

  // A request that is no form, or too large for one, was never read.
  app.setErrorHandler((error, _request, reply) => {
    const { status, message } = httpError(error)
    return answer(reply, status, { status: 'error', message, application: applicationFrom([]) })
  })
}
