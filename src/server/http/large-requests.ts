import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'

import { readBody } from './body.ts'
import { HttpError } from './errors.ts'
import { requestLimits } from './request-limits.ts'
import { onResponseEnd } from './response-end.ts'

/** A request above this many bytes is large. An application with a reason of three pages is smaller. */
const large = 16 * 1024
/** The most bytes of large requests that are handled at the same time, over all visitors. */
const maxInFlight = 8 * 1024 * 1024
/** The most bytes of large requests that are parsed in a millisecond, so that other requests get most of the processor. */
const pace = 8 * 1024
/** The longest wait of a large body, in milliseconds. */
const maxPause = 1_000

/** Whether a request is large, by its declared length. */
export function isLarge(request: IncomingMessage): boolean {
  return sizeOf(request) > large
}

/**
 * Bounds the memory that large requests use: beyond the bound they get 503 at once. Small requests are not affected. Large
 * requests to unknown addresses get 404 before they are read.
 *
 * @returns A function to call with a request whose body is discarded from now on: it no longer uses memory.
 */
export function limitLargeRequests(app: FastifyInstance): (request: IncomingMessage) => void {
  let inFlight = 0
  const sizes = new Map<IncomingMessage, number>()
  const release = (request: IncomingMessage) => {
    inFlight -= sizes.get(request) ?? 0
    sizes.delete(request)
  }
  app.addHook('onRequest', ({ raw, is404 }, reply, done) => {
    const size = sizeOf(raw)
    if (size <= large) return done()
    if (is404) return done(Object.assign(new HttpError(404, 'HTTP404', 'Not found.'), { statusCode: 404 }))
    if (inFlight + size > maxInFlight) return done(tooBusy())
    inFlight += size
    sizes.set(raw, size)
    onResponseEnd(reply, () => release(raw))
    done()
  })
  return release
}

/** Calls back when a body of `size` bytes may be parsed, or at once with an error if the wait would be too long. */
export type ParseQueue = (size: number, done: (refusal?: HttpError) => void) => void

/**
 * Bounds the processor time of large bodies: they are parsed one after the other, and each waits at most a second. Small
 * bodies do not wait.
 */
export function createParseQueue(): ParseQueue {
  let next = 0
  return (size, done) => {
    if (size <= large) return done()
    const pause = Math.max(next - performance.now(), 0)
    if (pause > maxPause) return done(tooBusy())
    next = performance.now() + pause + size / pace
    setTimeout(done, pause)
  }
}

/**
 * Accepts only bodies of one content type, and reads each into memory before it is parsed.
 *
 * @param type The content type, or `*` for any.
 * @param parse Parses a body, by default into its bytes.
 */
export function acceptBodies(
  app: FastifyInstance,
  queueParsing: ParseQueue,
  type = '*',
  parse: (body: Buffer) => unknown = (body) => body,
): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(type, (_request, payload, done) => {
    readBody(payload, (error, body) => {
      if (error) return done(error, undefined)
      queueParsing(body.length, (refusal) => {
        if (refusal) return done(refusal, undefined)
        try {
          done(null, parse(body))
        } catch (problem) {
          done(problem instanceof Error ? problem : new Error(String(problem)), undefined)
        }
      })
    })
  })
}

function tooBusy() {
  return new HttpError(503, 'HTTP503', 'Too many large requests are open. Please try again in a moment.')
}

/** The declared length, capped at the most bytes that are read of a request. A chunked request counts as that many. */
function sizeOf({ headers }: IncomingMessage) {
  if (headers['transfer-encoding'] !== undefined) return requestLimits.bodyLimit
  return Math.min(Number(headers['content-length'] ?? 0), requestLimits.bodyLimit)
}
