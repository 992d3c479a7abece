import { resolve } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import { applicationFrom, closedCode, isDuplicate, type Application } from '../../application/application.ts'
import { renderApply, type ApplyData } from '../../pages/apply/render.tsx'
import { assetHeaders } from '../../pages/headers.ts'
import type { Settings } from '../../settings/server-settings.ts'
import { visitor, type Caller } from '../database/connection/pools.ts'
import { sentRowsOf, type SentRows } from '../applications/insert-rows.ts'
import { HttpError, httpError } from '../http/errors.ts'
import type { ParseQueue } from '../http/large-requests.ts'
import type { Allowance } from '../http/rate-limiter.ts'
import { onResponseEnd } from '../http/response-end.ts'
import { headersOf, prepareDocument, sendDocument, type PreparedDocument } from './document.ts'
import type { Look } from '../../design/look.ts'
import { acceptForms } from './form-body.ts'
import type { Visits } from './visits.ts'
import type { PageState } from './page-state.ts'

/** The dependencies of the page's routes. */
export interface PageOptions {
  settings: Pick<Settings, 'anonKey' | 'siteUrl'>
  pageState: PageState
  /** Throws if a network address inserts too many rows. */
  allow: Allowance
  /** Queues the parsing of large bodies. */
  queueParsing: ParseQueue
  /** Stores rows with the caller's rights. */
  insert: (caller: Caller, rows: SentRows) => Promise<number>
  /** Counts visits to the page, and those in which somebody begins to fill in the form. */
  visits: Pick<Visits, 'countVisit' | 'countStart'>
}

/** The page's script, of this build or an earlier one. A browser loads it when somebody is about to type. */
const pageScript = /^\/assets\/apply-[\w-]+\.js(?:\?|$)/

/** The maximum length of form answers that a refused form shows again. Escaping may turn one into eleven. */
const maxEchoedLength = 16 * 1024
/** The maximum number of bytes in rendered documents that visitors have not read yet, over all visitors. */
const maxInFlight = 32 * 1024 * 1024

/**
 * The page at `/`, its assets, and the form that a browser posts without the page's script. The response to the form is the
 * same page. It has the green box of a success, or the red box of an error and every form answer in its field. Form answers that
 * are too long are left out.
 */
export async function formPage(
  app: FastifyInstance,
  { settings, pageState, allow, queueParsing, insert, visits }: PageOptions,
) {
  const render = (look: Look, outcome: ApplyData['outcome'], closedSentence: string | undefined) => {
    const backend = { url: null, anonKey: settings.anonKey }
    return renderApply(
      { backend, takesNativePosts: true, outcome, door: closedSentence },
      { siteUrl: settings.siteUrl, look, policyInDocument: false },
    )
  }
  const openDocument = await pageState.documentOf((look) => render(look, null, undefined))
  let closed: { sentence: string; look: Look; document: Promise<PreparedDocument> } | undefined
  app.get('/', async (request, reply) => {
    const sentence = pageState.closedSentence()
    if (sentence === undefined) return sendDocument(request, reply, openDocument())
    const look = pageState.look()
    if (closed?.sentence !== sentence || closed.look !== look)
      closed = { sentence, look, document: prepareDocument(render(look, null, sentence)) }
    return sendDocument(request, reply, await closed.document)
  })

  // Visits are counted after the response, so that nobody waits for it.
  app.addHook('onResponse', (request, { statusCode }, done) => {
    done()
    if (request.method !== 'GET' || (statusCode !== 200 && statusCode !== 304)) return
    if (request.routeOptions.url === '/') visits.countVisit(request)
    else if (pageScript.test(request.url)) visits.countStart(request)
  })

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
    // A cache must not give a browser an encoding that it did not ask for.
    setHeaders: (reply) => void reply.setHeader('vary', 'accept-encoding'),
  })

  let inFlight = 0
  const respond = (
    reply: FastifyReply,
    code: number,
    outcome: ApplyData['outcome'],
    closedSentence: string | undefined,
  ) => {
    const { html, policy } = render(pageState.look(), outcome, closedSentence)
    const document = Buffer.from(html)
    if (inFlight + document.length > maxInFlight) {
      return reply.code(503).type('text/plain').send('The server is too busy right now. Please try again.\n')
    }
    inFlight += document.length
    onResponseEnd(reply, () => (inFlight -= document.length))
    return reply.headers(headersOf(policy)).code(code).send(document)
  }
  const refuse = (
    request: FastifyRequest,
    reply: FastifyReply,
    error: HttpError,
    application: Application,
  ) => {
    const { status, code, message, cause, retryAfter } = error
    if (status >= 500) request.log.error({ err: cause ?? error }, 'an application was not stored')
    if (retryAfter !== undefined) void reply.header('retry-after', retryAfter)
    const isShort = lengthOf(application) <= maxEchoedLength
    const outcome = {
      status: 'error' as const,
      message,
      application: isShort ? application : applicationFrom([]),
    }
    // After any other error the form stays open, since a repeat of a stored application succeeds.
    return respond(reply, status, outcome, code === closedCode ? message : undefined)
  }

  acceptForms(app, queueParsing)
  app.decorateRequest('refusal')
  app.post('/', {
    onRequest: (request, _reply, done) => {
      // The row counts towards the rate limit before the body is read. A short body is read even beyond the limit, so that
      // its form answers can be shown again.
      try {
        allow(request.ip, 1)
      } catch (error) {
        if (!(Number(request.headers['content-length']) <= maxEchoedLength)) throw error
        request.setDecorator('refusal', error)
      }
      done()
    },
    handler: async (request, reply) => {
      const application = applicationFrom(Object.entries(request.body ?? {}))
      try {
        const refusal = request.getDecorator('refusal')
        if (refusal !== undefined) throw refusal
        await insert(visitor, sentRowsOf(application))
      } catch (error) {
        const refusal = httpError(error)
        if (!isDuplicate(refusal)) return refuse(request, reply, refusal, application)
      }
      return respond(reply, 200, { status: 'success' }, pageState.closedSentence())
    },
  })

  // A body that is not a form, or is too large, was not read, so there are no form answers to show again.
  app.setErrorHandler((error, request, reply) =>
    refuse(request, reply, httpError(error), applicationFrom([])),
  )
}

function lengthOf(application: Application) {
  return Object.values(application).reduce((length, answer) => length + String(answer).length, 0)
}
