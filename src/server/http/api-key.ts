import type { FastifyRequest } from 'fastify'

import { visitor, type Caller } from '../database/connection/pools.ts'
import { HttpError } from './errors.ts'

/**
 * Reads a signed-in caller's token.
 *
 * @returns Its token claims.
 * @throws {HttpError} with 401 if the token is not ours or has expired.
 */
export type ReadToken = (token: string) => Promise<Readonly<Record<string, unknown>>>

const hint = 'Send the public key in the apikey header.'

/**
 * Checks the public key that a request has in the header `apikey`, or otherwise as its bearer token.
 *
 * @param anonKey The public key.
 * @returns The problem with the key; undefined if the key is right.
 */
export function checkPublicKey({ headers }: FastifyRequest, anonKey: string): string | undefined {
  const key = headers['apikey'] ?? bearerOf(headers)
  if (key === undefined) return 'No API key found in request'
  return key === anonKey ? undefined : 'Invalid API key'
}

/**
 * Identifies the caller of the data interface: a visitor with the public key, or somebody who also has a token.
 *
 * @param readToken Undefined if nobody can sign in here.
 * @throws {HttpError} with 401 if the key is missing or wrong.
 */
export function callerOf(
  request: FastifyRequest,
  anonKey: string,
  readToken: ReadToken | undefined,
): Caller | Promise<Caller> {
  const refusal = checkPublicKey(request, anonKey)
  if (refusal !== undefined) {
    throw new HttpError(401, refusal === 'Invalid API key' ? 'PGRST301' : 'PGRST302', refusal, { hint })
  }
  const bearer = bearerOf(request.headers)
  if (bearer === undefined || bearer === anonKey) return visitor
  if (readToken === undefined || bearer.split('.').length !== 3) {
    throw new HttpError(401, 'PGRST301', 'Invalid API key', { hint })
  }
  return readToken(bearer).then((claims) => ({ role: 'authenticated', claims }))
}

function bearerOf({ authorization = '' }: FastifyRequest['headers']) {
  return /^Bearer +(.*)$/i.exec(authorization)?.[1]
}
