import { randomUUID } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isDatabaseError } from '../database/connection/connection.ts'

import { HttpError, httpError } from '../http/errors.ts'
import { invalid } from './refusals.ts'

/** The first API version whose clients read an error's code from `code`. */
const firstVersion = '2024-01-01'

/**
 * Responds with an error in one of GoTrue's two shapes: the newer one if `X-Supabase-Api-Version` asks for it.
 *
 * @see https://github.com/supabase/auth/blob/master/openapi.yaml
 */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, code, message, cause, ...rest } = refusalOf(error)
  const errorId = status < 500 ? {} : { error_id: randomUUID() }
  if (status >= 500) request.log.error({ err: cause ?? error, ...errorId }, 'a call of the sign-in failed')
  const weakness = 'reasons' in rest ? { weak_password: { reasons: rest.reasons } } : {}
  void reply.code(status).type('application/json; charset=utf-8')
  if (asksForVersion(request)) {
    void reply.header('x-supabase-api-version', firstVersion)
    if (!('reasons' in rest)) void reply.header('x-sb-error-code', code)
    return reply.send(JSON.stringify({ code, message, ...errorId, ...weakness }))
  }
  void reply.header('x-sb-error-code', code)
  return reply.send(JSON.stringify({ code: status, error_code: code, msg: message, ...errorId, ...weakness }))
}

function asksForVersion({ headers }: FastifyRequest) {
  const version = String(headers['x-supabase-api-version'] ?? '')
  const time = Date.parse(version)
  // Dates that do not exist, such as 30 February, do not round-trip.
  const isDate = !Number.isNaN(time) && new Date(time).toISOString().slice(0, 10) === version
  return isDate && version >= firstVersion
}

function refusalOf(error: unknown): HttpError {
  if (isDatabaseError(error)) {
    const { code } = error
    // 55P03: another call locked the session for longer than we wait. 23, 40: two calls conflicted.
    if (/^(55P03|23|40)/.test(code)) {
      return new HttpError(409, 'conflict', 'Two requests conflicted. Please try again.', {
        cause: error,
      })
    }
    // A value that PostgreSQL cannot store, because of its characters or its depth.
    if (/^(22|54)/.test(code)) return invalid('A value that was sent cannot be stored.')
  }
  const refusal = httpError(error)
  // The code is already one of GoTrue's.
  if (/^[a-z_]+$/.test(refusal.code)) return refusal
  const { status, cause } = refusal
  const [code, message] = codeAndMessage(refusal)
  return new HttpError(status, code, message, { cause })
}

function codeAndMessage({ status, message }: HttpError): [code: string, message: string] {
  if (status === 413) return ['request_entity_too_large', 'The request is too large.']
  if (status < 500) return ['validation_failed', message]
  return ['unexpected_failure', 'Signing in does not work right now. Please try again in a moment.']
}
