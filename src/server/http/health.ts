import type { FastifyInstance, FastifyReply } from 'fastify'

import type { Run } from '../database/lanes.ts'
import { checkWritable } from '../database/writable.ts'
import { oldestUndeliveredSeconds } from '../webhook/outbox.ts'

/** What the health of the server is told from. */
export interface HealthOptions {
  /** Asks the database, as the schema's owner. */
  run: Run
  /** Whether deliveries are made, so that one can be late. */
  delivers: boolean
  /** The fate of the last application. */
  storing: Storing
  /** A clock, in milliseconds. */
  now?: () => number
}

/** Whether the last application could be stored, as far as that was the database's to say. */
export interface Storing {
  fails: boolean
}

/** Milliseconds for which an answer of the database is good: whoever asks more often asks it no more. */
const freshness = 1_000
/** Milliseconds after which the database counts as gone. */
const timeout = 2_000

/**
 * For whoever watches over the server: `GET /healthz` says that the process runs; `GET /readyz`, that its
 * database answers and takes applications, and how long the oldest one waits for its delivery to the webhook, in
 * seconds.
 */
export async function health(app: FastifyInstance, options: HealthOptions) {
  const { run, delivers, storing, now = () => performance.now() } = options
  const answer = (reply: FastifyReply, code: number, body: Record<string, unknown>) =>
    reply.code(code).header('cache-control', 'no-store').send(body)

  const ask = async () => {
    // Once an application could not be stored, only a write shows that the next one can.
    if (storing.fails) await run(checkWritable)
    storing.fails = false
    const oldest = await run(oldestUndeliveredSeconds)
    return delivers ? oldest : null
  }
  let asked = Number.NEGATIVE_INFINITY
  let database: Promise<number | null> | undefined
  const oldestUndelivered = () => {
    if (database === undefined || now() - asked > freshness) {
      asked = now()
      database = withTimeout(ask())
    }
    return database
  }

  app.get('/healthz', (_request, reply) => answer(reply, 200, { status: 'ok' }))

  app.get('/readyz', async (request, reply) => {
    try {
      const seconds = await oldestUndelivered()
      return await answer(reply, 200, { status: 'ok', oldestUndeliveredSeconds: seconds })
    } catch (error) {
      request.log.error({ err: error }, 'the database takes nothing')
      const status = storing.fails ? 'the database stores nothing' : 'the database does not answer'
      return answer(reply, 503, { status })
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
