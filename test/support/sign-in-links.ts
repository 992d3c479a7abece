/** The secret in a sign-in link, to the desk or to `GET /auth/v1/verify`. */
export function secretOf(link: string): string {
  const { hash, searchParams } = new URL(link)
  return new URLSearchParams(hash.slice(1)).get('token_hash') ?? searchParams.get('token') ?? ''
}

/** Converts a link to the desk into the link to `GET /auth/v1/verify` with the same secret. Returns other links unchanged. */
export function verifyLink(link: string): string {
  const url = new URL(link)
  const type = new URLSearchParams(url.hash.slice(1)).get('type')
  if (type === null) return link
  const query = new URLSearchParams({ token: secretOf(link), type })
  return `${url.origin}${url.pathname.replace(/\/desk$/, '')}/auth/v1/verify?${query.toString()}`
}
