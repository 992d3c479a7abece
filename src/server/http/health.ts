import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Sql } from 'postgres'

import { oldestUndeliveredSeconds } from '../webhook/outbox.ts'

/** What the health of the server is told from. */
export interface HealthOptions {
  /** Connections of the schema's owner. */
  owner: Sql
  /** A clock, in milliseconds. */
  now?: () => number
}

/** Milliseconds for which an answer of the database is good: whoever asks more often asks it no more. */
const freshness = 1_000
/** Milliseconds after which the database counts as gone. */
const timeout = 2_000

/**
 * For whoever watches over the server: `GET /healthz` says that the process runs; `GET /readyz`, that its
 * database answers, and how long the oldest application waits for its delivery to the webhook, in seconds.
 */
export async function health(app: FastifyInstance, { owner, now = () => performance.now() }: HealthOptions) {
  const answer = (reply: FastifyReply, code: number, body: Record<string, unknown>) =>
    reply.code(code).header('cache-control', 'no-store').send(body)

  let asked = Number.NEGATIVE_INFINITY
  let database: Promise<number | null> | undefined
  const oldestUndelivered = () => {
    if (database === undefined || now() - asked > freshness) {
      asked = now()
      database = withTimeout(oldestUndeliveredSeconds(owner))
    }
    return database
  }

  app.get('/healthz', (_request, reply) => answer(reply, 200, { status: 'ok' }))

  app.get('/readyz', async (request, reply) => {
    try {
      const seconds = await oldestUndelivered()
      return await answer(reply, 200, { status: 'ok', oldestUndeliveredSeconds: seconds })
    } catch (error) {
      request.log.error({ err: error }, 'the database does not answer')
      return answer(reply, 503, { status: 'the database does not answer' })
    }
  })
}

async function withTimeout<T>(result: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${timeout} ms`)), timeout)
  })
  try {
    return await Promise.race([result, late])
  } finally {
    clearTimeout(timer)
  }
}
