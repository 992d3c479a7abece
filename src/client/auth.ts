import {
  AuthApiError,
  AuthClient,
  AuthRetryableFetchError,
  type AuthError,
  type GoTrueClient,
} from '@supabase/auth-js'

import { isRetryable } from './auth-errors.ts'
import { sessionKey } from './stored-session.ts'
import { keyHeaders } from './public-key.ts'
import { storageOf } from './storage.ts'

/** Timeout of a request in milliseconds. */
const timeout = 20_000
/** Timeout of a refresh in milliseconds. A call of the desk may wait for two of them, and has to report them as not sent. */
const refreshTimeout = 8_000
/** Milliseconds before the only retry of a refresh: an act may wait for it. */
const retryDelay = 500
/** Maximum responses to refreshes that one window gets in a minute. The sign-in server counts them by network address. */
const maxRefreshes = 2
const minute = 60_000

/**
 * Creates the auth client, which calls the sign-in server.
 *
 * @param base The backend's address, without a slash at its end.
 */
export function createAuth(base: string, anonKey: string): GoTrueClient {
  const url = `${base}/auth/v1`
  const headers = keyHeaders(anonKey)
  const client = new AuthClient({
    url,
    // The client replaces the header `Authorization` with the session's token, but only in exactly this spelling.
    headers,
    fetch: async (address, init) =>
      withoutExpiry(await fetch(address, { ...init, signal: AbortSignal.timeout(timeout) })),
    storage: storageOf('localStorage'),
    storageKey: sessionKey,
    flowType: 'implicit',
    // The page itself reads the tokens from its address: the client would leave them in the browser's history.
    detectSessionInUrl: false,
  })
  // Without a response, the client itself would retry a refresh for 25 s, and would then fail for a minute without a request.
  Object.defineProperties(client, {
    _refreshAccessToken: { value: createRefresh(url, headers) },
    lastRefreshFailure: { get: () => null, set() {} },
  })
  const getSession = client.getSession.bind(client)
  // If another window refreshed the session meanwhile, the client discards its own result, and has no session for this caller.
  client.getSession = async () => {
    const read = await getSession()
    return read.error?.name === 'AuthRefreshDiscardedError' ? getSession() : read
  }
  return client
}

/**
 * Removes `expires_at` from a session. It is a time of the server's clock, which the client would compare with this browser's.
 * Without it, the client adds `expires_in` to this browser's clock.
 */
async function withoutExpiry(response: Response) {
  const body = (await response
    .clone()
    .json()
    .catch(() => null)) as { expires_in?: number } | null
  if (!body?.expires_in) return response
  return Response.json({ ...body, expires_at: undefined })
}

/** Creates the function that refreshes a session, and retries that once. The result is that of the client's own method. */
function createRefresh(url: string, headers: Record<string, string>) {
  /** When responses arrived in the last minute, by a clock that is never set. */
  let responses: number[] = []

  const attempt = async (request: RequestInit) => {
    const failed = (error: AuthError) => ({ data: { session: null, user: null }, error })
    responses = responses.filter((at) => performance.now() - at < minute)
    // Until then, the client uses a token that is still valid.
    if (responses.length >= maxRefreshes) return failed(new AuthRetryableFetchError('', 429))
    try {
      const response = await fetch(`${url}/token?grant_type=refresh_token`, request)
      responses.push(performance.now())
      const session = (await response.json()) as { expires_in: number }
      const { ok, status } = response
      const expires_at = Math.round(Date.now() / 1000) + session.expires_in
      if (ok) return { data: { session: { ...session, expires_at }, user: null }, error: null }
      // This ends the session. A server that is too busy has not refused the token.
      if (status < 500 && status !== 429) return failed(new AuthApiError('Refused', status, undefined))
      return failed(new AuthRetryableFetchError('', status))
    } catch (error) {
      // No response, or one of another program.
      return failed(new AuthRetryableFetchError(String(error), 0))
    }
  }

  return async (token: string) => {
    const request = {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ refresh_token: token }),
      signal: AbortSignal.timeout(refreshTimeout),
    }
    const first = await attempt(request)
    // Too many requests are not answered by another one.
    if (!isRetryable(first.error) || first.error.status === 429) return first
    await new Promise((resolve) => setTimeout(resolve, retryDelay))
    return attempt(request)
  }
}
