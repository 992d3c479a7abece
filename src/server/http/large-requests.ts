import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'

import { HttpError } from './errors.ts'
import { limits } from './limits.ts'
import { whenOver } from './over.ts'

/** Bytes from which on a request is large. An application of three pages of reasons is not. */
const large = 16 * 1024
/** Bytes of large requests that are read and answered at the same time, all visitors' together. */
const mostInFlight = 8 * 1024 * 1024
/** Bytes of large requests that are taken apart in a millisecond: most of the processor is left to all others. */
const pace = 8 * 1024
/** Milliseconds that a large body waits at the most. */
const longestPause = 1_000

/** Whether a request is so large, by what it says of itself, that reading many of its kind has to be bounded. */
export function isLarge(request: IncomingMessage): boolean {
  return sizeOf(request) > large
}

/**
 * Bounds what large requests take of the memory: beyond the bound they are answered 503 at once. Small ones, and
 * whoever only reads, do not notice.
 */
export function boundLargeRequests(app: FastifyInstance): void {
  let inFlight = 0
  app.addHook('onRequest', ({ raw }, reply, done) => {
    const size = sizeOf(raw)
    if (size <= large) return done()
    if (inFlight + size > mostInFlight) return done(tooMuch())
    inFlight += size
    whenOver(reply, () => (inFlight -= size))
    done()
  })
}

/** Has a body of so many bytes taken apart when its turn comes; with an error where that would be too late. */
export type TakeTurn = (size: number, takeApart: (error?: HttpError) => void) => void

/**
 * Bounds what large bodies take of the processor: one is taken apart after the other, a second late at the most.
 * Small ones do not wait.
 */
export function createTurns(): TakeTurn {
  let next = 0
  return (size, takeApart) => {
    if (size <= large) return takeApart()
    const pause = Math.max(next - performance.now(), 0)
    if (pause > longestPause) return takeApart(tooMuch())
    next = performance.now() + pause + size / pace
    setTimeout(takeApart, pause)
  }
}

/** Takes bodies of any content type, as bytes. */
export function takeBytes(app: FastifyInstance, takeTurn: TakeTurn): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) =>
    takeTurn(body.length, (refusal) => (refusal ? done(refusal, undefined) : done(null, body))),
  )
}

function tooMuch() {
  return new HttpError(503, 'HTTP503', 'Too much is sent right now. Please try again in a moment.')
}

/** What a request says that it sends; at the most what is read of it. */
function sizeOf({ headers }: IncomingMessage) {
  if (headers['transfer-encoding'] !== undefined) return limits.bodyLimit
  return Math.min(Number(headers['content-length'] ?? 0), limits.bodyLimit)
}
