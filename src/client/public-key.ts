/**
 * The headers that show a backend its public key.
 *
 * @see https://supabase.com/docs/guides/getting-started/api-keys
 */
export function keyHeaders(key: string): Record<string, string> {
  // The older keys of a hosted project are JWTs that name the role. The newer ones are none, so they must not be a bearer.
  return isJwt(key) ? { apikey: key, Authorization: `Bearer ${key}` } : { apikey: key }
}

function isJwt(key: string) {
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(key)
}
