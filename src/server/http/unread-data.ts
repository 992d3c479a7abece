import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'

import { onResponseEnd } from './response-end.ts'

/** Bytes of a refused request that are still read: browsers show a connection reset if they cannot send everything. */
const maxDrainedBytes = 1024 * 1024
/** Bytes of a refused request that are read in a millisecond, so that sending more does not keep the server busy. */
const pace = 1024
/** Bytes between two pauses. Chunks that arrive during a pause are kept, and small ones take a hundred times their size. */
const bytesBetweenPauses = 16 * 1024
/** Milliseconds within which a client has to read a whole response. */
const readTimeout = 120_000

/**
 * Bounds the unread data of both sides. After an early response, the rest of the request is read and discarded, up to a
 * bound. A response that was not read to its end is dropped after a timeout.
 *
 * @param options.timeout Milliseconds until a response is dropped.
 * @param options.onDiscard Called when the server begins to discard the rest of a request.
 */
export function limitUnreadData(
  app: FastifyInstance,
  {
    timeout = readTimeout,
    onDiscard = () => {},
  }: { timeout?: number; onDiscard?: (request: IncomingMessage) => void } = {},
): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const { raw } = request
    const dropping = setTimeout(() => reply.raw.destroy(), timeout)
    dropping.unref()
    onResponseEnd(reply, () => clearTimeout(dropping))
    if (raw.complete || raw.readableEnded || !hasBody(raw)) return done(null, payload)
    onDiscard(raw)
    drain(raw, (isWhole) => {
      if (isWhole) void reply.removeHeader('connection')
      else void reply.header('connection', 'close')
      done(null, payload)
    })
  })
}

function hasBody({ headers }: IncomingMessage) {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** Reads and discards the rest of a request. `isWhole` says whether the end of the request was reached. */
function drain(request: IncomingMessage, done: (isWhole: boolean) => void) {
  let bytes = 0
  let sincePause = 0
  const end = () => {
    request.off('data', count).off('end', end).off('close', end)
    done(request.complete)
  }
  const count = (chunk: Buffer) => {
    bytes += chunk.length
    sincePause += chunk.length
    if (bytes > maxDrainedBytes) return end()
    if (sincePause < bytesBetweenPauses) return
    request.pause()
    setTimeout(() => request.resume(), sincePause / pace)
    sincePause = 0
  }
  request.on('data', count).once('end', end).once('close', end).resume()
}
