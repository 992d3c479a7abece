import type { FastifyRequest } from 'fastify'

import { visitor, type Caller } from '../database/connections.ts'
import { HttpError } from './errors.ts'

const hint = 'Send the public key in the apikey header.'

/**
 * Who calls, as the request's headers show it. Nobody signs in here yet: whoever shows the public key, as
 * `apikey` or as bearer, is a visitor.
 *
 * @param anonKey The public key.
 * @throws {HttpError} with 401 where no key is shown, or another.
 */
export function callerOf({ headers }: FastifyRequest, anonKey: string): Caller {
  const bearer = /^Bearer +(.*)$/i.exec(headers.authorization ?? '')?.[1]
  const shown = [headers['apikey'], bearer].filter((key) => key !== undefined)
  if (shown.length === 0) throw new HttpError(401, 'PGRST302', 'No API key found in request', { hint })
  if (shown.some((key) => key !== anonKey)) throw new HttpError(401, 'PGRST301', 'Invalid API key', { hint })
  return visitor
}
