import { claimsOf, storedSession } from './stored-session.ts'

/**
 * How many seconds this browser's clock is ahead of the server's, measured when the stored session arrived. Negative if it is
 * behind; 0 if nothing is stored, or if the clock was set since.
 */
export function secondsAhead(): number {
  try {
    const { access_token = '', expires_at = 0 } = storedSession() ?? {}
    const { iat, exp } = claimsOf(access_token)
    const isSetSince = expires_at - Date.now() / 1000 > exp - iat
    return isSetSince ? 0 : expires_at - exp
  } catch {
    // Nothing is stored, or another program's token.
    return 0
  }
}

/**
 * A moment of this browser's clock by the server's clock, in milliseconds since 1970.
 *
 * @param now The moment by this browser's clock; by default the present one.
 */
export function serverTime(now = Date.now()): number {
  return now - secondsAhead() * 1000
}
