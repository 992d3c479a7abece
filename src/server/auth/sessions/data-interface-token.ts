import { errors } from 'jose'

import { HttpError } from '../../http/errors.ts'
import type { ReadToken } from '../../http/api-key.ts'
import type { SigningKeys } from './keys.ts'
import { isTokenError } from './signed-in.ts'

/**
 * Reads tokens for the data interface, and refuses as PostgREST does. It does not check that the account and the session
 * still exist: the functions that a signed-in caller may execute check this.
 */
export function createReadToken(keys: SigningKeys): ReadToken {
  return async (token) => {
    try {
      const claims = await keys.verify(token)
      if (claims['role'] === 'authenticated' && typeof claims.sub === 'string') return claims
    } catch (error) {
      if (!isTokenError(error)) throw error
      if (error instanceof errors.JWTExpired) throw new HttpError(401, 'PGRST303', 'JWT expired')
    }
    throw new HttpError(401, 'PGRST301', 'JWT could not be verified')
  }
}
