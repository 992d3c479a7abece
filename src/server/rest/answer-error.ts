import type { FastifyReply, FastifyRequest } from 'fastify'

import type { HttpError } from '../http/errors.ts'

/**
 * Answers with an error in PostgREST's shape.
 *
 * @see https://docs.postgrest.org/en/v13/references/errors.html
 */
export function answerError(error: HttpError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (error.status >= 500) request.log.error({ err: error.cause ?? error }, 'the data interface failed')
  const { code, message, details, hint, retryAfter } = error
  if (retryAfter !== undefined) void reply.header('retry-after', retryAfter)
  if (error.status === 401) void reply.header('www-authenticate', 'Bearer')
  void reply.code(error.status).type('application/json; charset=utf-8')
  return reply.send(JSON.stringify({ code, message, details, hint }))
}
