import {
  AuthApiError,
  AuthClient,
  AuthRetryableFetchError,
  type AuthError,
  type GoTrueClient,
} from '@supabase/auth-js'

import { isRetryable } from './auth-errors.ts'
import { createInvite, type Invite } from './invite.ts'
import { sessionKey, storedSession } from './stored-session.ts'
import { keyHeaders } from './public-key.ts'
import { storageOf } from './storage.ts'

/** The auth client, with the only call that GoTrue does not have. */
export type AuthWithInvite = GoTrueClient & { invite: Invite }

/** Timeout of a request in milliseconds. */
const timeout = 20_000
/** Timeout of a refresh in milliseconds. A call of the desk may wait for two of them, and has to report them as not sent. */
const refreshTimeout = 8_000
/** Milliseconds before the only retry of a refresh: an act may wait for it. */
const retryDelay = 500
/** Maximum responses to refreshes that one browser gets in a minute. The sign-in server counts them by network address. */
const maxRefreshes = 2
const minute = 60_000
/** The key under which the windows store when these responses arrived, and the name of the lock under which they refresh. */
const refreshesKey = 'unplugged-refreshes'
const storage = storageOf('localStorage')

/**
 * Creates the auth client, which calls the sign-in server.
 *
 * @param base The backend's address, without a slash at its end.
 */
export function createAuth(base: string, anonKey: string): AuthWithInvite {
  const url = `${base}/auth/v1`
  const headers = keyHeaders(anonKey)
  const client = new AuthClient({
    url,
    // The client replaces the header `Authorization` with the session's token, but only in exactly this spelling.
    headers,
    fetch: async (address, init) =>
      withoutExpiry(await fetch(address, { ...init, signal: AbortSignal.timeout(timeout) })),
    storage,
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
  shareRefreshes(client)
  const getSession = client.getSession.bind(client)
  // If another window refreshed the session meanwhile, the client discards its own result, and has no session for this caller.
  client.getSession = async () => {
    const read = await getSession()
    return read.error?.name === 'AuthRefreshDiscardedError' ? getSession() : read
  }
  return Object.assign(client, { invite: createInvite(client, url, anonKey) })
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

/** Lets the windows of a browser refresh one after another, so that the first one refreshes the session for all. */
function shareRefreshes(client: GoTrueClient) {
  type Refresh = (token: string) => Promise<{ data: unknown; error: unknown }>
  const method = '_callRefreshToken'
  const refresh = (client as unknown as Record<typeof method, Refresh>)[method].bind(client)
  let pending: ReturnType<Refresh> | undefined
  const refreshInTurn: Refresh = async (token) => {
    const isStored = storedRefreshToken() === token
    return inTurn(() => {
      const session = storedSession()
      // Another window has refreshed it meanwhile. The token of a link belongs to another session than the stored one.
      if (isStored && session && storedRefreshToken() !== token)
        return Promise.resolve({ data: session, error: null })
      return refresh(token)
    })
  }
  Object.defineProperty(client, method, {
    value: (token: string) => (pending ??= refreshInTurn(token).finally(() => (pending = undefined))),
  })
}

/** The refresh token in this browser's store, which another window may have changed; undefined if there is none. */
function storedRefreshToken(): string | undefined {
  try {
    return (JSON.parse(storage.getItem(sessionKey) ?? '{}') as { refresh_token?: string }).refresh_token
  } catch {
    return undefined
  }
}

/**
 * Runs a function while no other window of this browser runs one. Browsers have this lock only over HTTPS, and for a site on the
 * same machine.
 */
async function inTurn<Result>(run: () => Promise<Result>): Promise<Result> {
  const { locks } = navigator as Partial<Navigator>
  if (!locks) return run()
  const signal = AbortSignal.timeout(refreshTimeout)
  try {
    return (await locks.request(refreshesKey, { signal }, run)) as Result
  } catch (error) {
    // A window that the browser suspended may keep the lock.
    if (signal.aborted) return run()
    throw error
  }
}

/** Milliseconds since 1970 by a clock that no one sets, and that all windows of a browser share. */
const steadyTime = () => performance.timeOrigin + performance.now()

/** When refreshes in any window got a response within the last minute. */
function recentRefreshes(): number[] {
  const now = steadyTime()
  try {
    const stored = JSON.parse(storage.getItem(refreshesKey) ?? '[]') as number[]
    return stored.filter((at) => Math.abs(now - at) < minute)
  } catch {
    return []
  }
}

/** Creates the function that refreshes a session, and retries that once. The result is that of the client's own method. */
function createRefresh(url: string, headers: Record<string, string>) {
  const attempt = async (request: RequestInit) => {
    const failed = (error: AuthError) => ({ data: { session: null, user: null }, error })
    // Until then, the client uses a token that is still valid.
    if (recentRefreshes().length >= maxRefreshes) return failed(new AuthRetryableFetchError('', 429))
    try {
      const response = await fetch(`${url}/token?grant_type=refresh_token`, request)
      storage.setItem(refreshesKey, JSON.stringify([...recentRefreshes(), steadyTime()]))
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
