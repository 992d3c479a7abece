import type { IncomingMessage } from 'node:http'
import { errorCodes } from 'fastify'

import { requestLimits } from './request-limits.ts'

/**
 * Reads a body into one buffer. Fastify's own reader keeps every chunk until the end, and a chunk of one byte takes a hundred
 * times its size.
 *
 * @param done Called with the body, or with an error: 413 above the limit of bytes, and 400 if the request broke off.
 */
export function readBody(
  payload: IncomingMessage,
  done: (error: Error | null, body: Buffer) => void,
  limit = requestLimits.bodyLimit,
): void {
  let buffer: Buffer = Buffer.alloc(0)
  let length = 0
  const end = (error: Error | null) => {
    payload.off('data', add).off('end', finish).off('error', fail)
    done(error, buffer.subarray(0, length))
  }
  const finish = () => end(null)
  const fail = (error: Error) => end(Object.assign(error, { statusCode: 400 }))
  const add = (chunk: Buffer) => {
    const longer = length + chunk.length
    if (longer > limit) return end(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE())
    // Most bodies have one chunk, which is not copied.
    if (length === 0) buffer = chunk
    else {
      if (longer > buffer.length) {
        const larger = Buffer.allocUnsafe(Math.min(2 * longer, limit))
        buffer.copy(larger, 0, 0, length)
        buffer = larger
      }
      chunk.copy(buffer, length)
    }
    length = longer
  }
  if (Number(payload.headers['content-length']) > limit) {
    return done(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE(), buffer)
  }
  payload.on('data', add).on('end', finish).on('error', fail).resume()
}
