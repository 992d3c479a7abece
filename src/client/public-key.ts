/**
 * The headers that show a backend its public key, and who calls.
 *
 * @param token The access token of who is signed in.
 * @see https://supabase.com/docs/guides/getting-started/api-keys
 */
export function keyHeaders(key: string, token = isJwt(key) ? key : undefined): Record<string, string> {
  return token === undefined ? { apikey: key } : { apikey: key, Authorization: `Bearer ${token}` }
}

/** The older keys of a hosted project are JWTs that name the role. The newer ones are none, so they must not be a bearer. */
function isJwt(key: string) {
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(key)
}
