import type { FastifyReply, FastifyRequest } from 'fastify'
import postgres from 'postgres'

import { HttpError, httpError } from '../http/errors.ts'

/** A field or a combination of fields that the call does not take. */
export function invalid(message: string, status = 400): HttpError {
  return new HttpError(status, 'validation_failed', message)
}

/** What GoTrue says of a call too many. */
export function tooManyRequests(): HttpError {
  return new HttpError(429, 'over_request_rate_limit', 'Request rate limit reached')
}

/** A password that is refused for what it is. */
export class WeakPasswordError extends HttpError {
  readonly reasons: readonly string[]

  constructor(message: string, reasons: readonly string[]) {
    super(422, 'weak_password', message)
    this.reasons = reasons
  }
}

/** From this version on a client reads an error's code as `code`. */
const firstVersion = '2024-01-01'

/**
 * Answers with an error in one of GoTrue's two shapes: the newer one where `X-Supabase-Api-Version` asks for it.
 *
 * @see https://github.com/supabase/auth/blob/master/openapi.yaml
 */
export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, code, message, cause, retryAfter, ...rest } = refusalOf(error)
  if (status >= 500) request.log.error({ err: cause ?? error }, 'a call of the sign-in failed')
  if (retryAfter !== undefined) void reply.header('retry-after', retryAfter)
  const weakness = 'reasons' in rest ? { weak_password: { reasons: rest.reasons } } : {}
  void reply.code(status).type('application/json; charset=utf-8')
  if (asksForVersion(request)) {
    void reply.header('x-supabase-api-version', firstVersion)
    if (!('reasons' in rest)) void reply.header('x-sb-error-code', code)
    return reply.send(JSON.stringify({ code, message, ...weakness }))
  }
  void reply.header('x-sb-error-code', code)
  return reply.send(JSON.stringify({ code: status, error_code: code, msg: message, ...weakness }))
}

function asksForVersion({ headers }: FastifyRequest) {
  const version = String(headers['x-supabase-api-version'] ?? '')
  return /^\d{4}-\d{2}-\d{2}$/.test(version) && !Number.isNaN(Date.parse(version)) && version >= firstVersion
}

function refusalOf(error: unknown): HttpError {
  if (error instanceof postgres.PostgresError) {
    // 55P03: somebody else held the session for as long as we wait; 40: two of them waited for each other.
    if (/^(55P03|40)/.test(error.code)) {
      return new HttpError(
        409,
        'conflict',
        'Too many concurrent requests for this session. Please try again.',
        {
          cause: error,
        },
      )
    }
    // A text that PostgreSQL cannot hold, such as one with a NUL.
    if (error.code.startsWith('22')) return invalid('A value that was sent cannot be stored.')
  }
  const refusal = httpError(error)
  if (!/^(HTTP|PGRST|[0-9A-Z]{5}$)/.test(refusal.code)) return refusal
  const [code, message] = of(refusal)
  return new HttpError(refusal.status, code, message, {
    cause: refusal.cause,
    ...(refusal.retryAfter === undefined ? {} : { retryAfter: refusal.retryAfter }),
  })
}

function of({ status, message }: HttpError): [code: string, message: string] {
  if (status === 413) return ['request_entity_too_large', 'The request is too large.']
  if (status === 404) return ['not_found', message]
  if (status === 503)
    return ['unexpected_failure', 'Signing in does not work right now. Please try again in a moment.']
  return status < 500 ? ['validation_failed', message] : ['unexpected_failure', message]
}
