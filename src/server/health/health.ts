import type { FastifyInstance, FastifyReply } from 'fastify'

import { version } from '../../settings/version.ts'
import type { Health } from './readiness.ts'

/** Routes that are called so often that their requests would fill the log. Their failures are logged. */
export const probes: readonly (string | undefined)[] = ['/healthz', '/readyz']

/**
 * Routes for monitoring. `GET /healthz` reports that the process runs, its version, and the limit of open files if it is known, for
 * the doctor. `GET /readyz` reports whether the server is ready, and what is stuck. Only `GET /readyz?strict` responds with 503 if
 * something is stuck: another server on the same database would not help.
 */
export async function healthRoutes(
  app: FastifyInstance,
  { health, openFiles }: { health: Health; openFiles?: number | undefined },
) {
  const send = (reply: FastifyReply, code: number, body: Record<string, unknown>) =>
    reply.code(code).header('cache-control', 'no-store').send(body)

  app.get('/healthz', (_request, reply) => send(reply, 200, { status: 'ok', version, openFiles }))

  app.get<{ Querystring: { strict?: unknown } }>('/readyz', async (request, reply) => {
    const state = await health.read()
    if (!state.isReady) {
      if (state.error !== undefined) request.log.error({ err: state.error }, 'the database is not ready')
      return send(reply, 503, { status: state.reason })
    }
    const stuck = request.query.strict === undefined ? [] : state.stuck
    const status = stuck.length === 0 ? 'ok' : stuck.join(' ')
    return send(reply, stuck.length === 0 ? 200 : 503, { status, ...state.numbers })
  })
}
