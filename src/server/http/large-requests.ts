import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'

import { HttpError } from './errors.ts'
import { limits } from './limits.ts'

/** Bytes from which on a request is large. An application of three pages of reasons is not. */
const large = 16 * 1024
/** Bytes of large requests that are read and answered at the same time, all visitors' together. */
const mostInFlight = 8 * 1024 * 1024
/** Bytes of large requests that are begun in a millisecond, so that most of the processor is left to all others. */
const pace = 8 * 1024

/** Whether a request is so large that reading many of its kind has to be bounded. */
export function isLarge(request: IncomingMessage): boolean {
  return sizeOf(request) > large
}

/**
 * Bounds what large requests take of the processor and the memory: they are begun one after the other, a second
 * late at the most, and beyond that answered 503 at once. Small ones, and whoever only reads, do not notice.
 */
export function boundLargeRequests(app: FastifyInstance): void {
  let inFlight = 0
  let next = 0
  app.addHook('onRequest', ({ raw }, reply, done) => {
    const size = sizeOf(raw)
    if (size <= large) return done()
    if (inFlight + size > mostInFlight) {
      return done(new HttpError(503, 'HTTP503', 'Too much is sent right now. Please try again in a moment.'))
    }
    inFlight += size
    let isReleased = false
    const release = () => {
      if (!isReleased) inFlight -= size
      isReleased = true
    }
    reply.raw.once('finish', release).once('close', release)
    const turn = Math.max(performance.now(), next)
    next = turn + size / pace
    setTimeout(done, turn - performance.now())
  })
}

/** What a request says that it sends; at the most what is read of it. */
function sizeOf({ headers }: IncomingMessage) {
  if (headers['transfer-encoding'] !== undefined) return limits.bodyLimit
  return Math.min(Number(headers['content-length'] ?? 0), limits.bodyLimit)
}
