/**
 * The headers with a backend's public key and the caller's token.
 *
 * @param token The access token of a signed-in person. By default the key itself, if it is a JWT.
 * @see https://supabase.com/docs/guides/getting-started/api-keys
 */
export function keyHeaders(key: string, token = isJwt(key) ? key : undefined): Record<string, string> {
  return token === undefined ? { apikey: key } : { apikey: key, Authorization: `Bearer ${token}` }
}

/**
 * A hosted project's older keys are JWTs that name the role. Its newer keys are not, and must not be sent as a bearer token.
 */
function isJwt(key: string) {
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(key)
}
