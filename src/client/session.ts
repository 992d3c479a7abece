import type { AuthError } from '@supabase/auth-js'

import type { AuthWithInvite } from './auth.ts'
import { isRetryable } from './auth-errors.ts'
import { callKey, takeEarlyResponse, unlessAborted } from './early-calls.ts'
import { expireSession, storedSession, type StoredSession } from './stored-session.ts'
import { loadScript } from './missing-script.ts'
import { parseResponse, requestOf, type RefusedCall, send, type DataInterface } from './rest.ts'

/**
 * Calls a function of the data interface.
 *
 * @param delays Milliseconds before the second try, the third and so on.
 */
export type CallFunction = (
  name: string,
  args: object,
  signal: AbortSignal,
  delays?: readonly number[],
) => Promise<unknown>

/** Returns the auth client, which is loaded on first use. */
export type LoadAuth = () => Promise<AuthWithInvite>

/** The sign-in of an organiser, and the calls that they may make afterwards. */
export interface Session {
  auth: LoadAuth
  /** Resolves with the auth client once something has loaded it. */
  authLoaded: Promise<AuthWithInvite>
  /**
   * Reads who is signed in from the browser's store. Asks the auth client instead if it is loaded, or if the stored session
   * expires soon or is unreadable.
   */
  read: () => Promise<{ session: StoredSession | null; error: AuthError | null }>
  /**
   * Calls functions as the owner of the account with this id. After another window of the browser signed somebody else in,
   * new calls are refused. A call whose token the server does not accept is sent once more, with the token of a refresh.
   */
  callAs: (account: string) => CallFunction
}

/** A call that was not sent, or was aborted, because its caller is no longer signed in. */
export class SignedOutError extends Error {
  constructor() {
    super('You are no longer signed in.')
  }
}

/** A call was not sent, because the sign-in server gave no new token. */
export class UnsentError extends TypeError {}

/**
 * A call failed while this browser was offline. The message is in the past tense, so that it stays true when the connection is
 * back.
 */
export class OfflineError extends UnsentError {
  constructor(cause: unknown) {
    super('You were offline.', { cause })
  }
}

/**
 * The retry delays of calls in milliseconds. Every call is idempotent: it only reads, has an act's id, or changes nothing
 * the second time.
 */
export const retryDelays = [500, 1_000, 2_000, 4_000]

/** The retry delays of an act that somebody waits for: only one retry, so that a failure soon shows. */
export const actRetryDelays = [500]

/**
 * Creates a session, which calls functions with the signed-in person's access token. A call that does not reach the database is
 * retried with the same token. Calls of the auth client are not retried here.
 *
 * @param backend.url The backend's address, not null.
 * @param delays Milliseconds before the second try, the third and so on.
 */
export function createSession(
  { url, anonKey }: DataInterface & { url: string },
  delays: readonly number[] = retryDelays,
): Session {
  let resolveLoaded: (client: AuthWithInvite) => void
  const authLoaded = new Promise<AuthWithInvite>((resolve) => (resolveLoaded = resolve))
  let loading: Promise<AuthWithInvite> | undefined
  const auth = () => {
    loading ??= loadScript(import('./auth.ts')).then(
      ({ createAuth }) => {
        const client = createAuth(url.replace(/\/$/, ''), anonKey)
        resolveLoaded(client)
        return client
      },
      (error: unknown) => {
        loading = undefined
        throw error
      },
    )
    return loading
  }
  const read = async () => {
    const stored = loading ? undefined : storedSession()
    if (stored !== undefined) return { session: stored, error: null }
    const { data, error } = await (await auth()).getSession()
    return { session: data.session, error }
  }
  const callAs =
    (account: string): CallFunction =>
    async (name, args, signal, delaysOfCall = delays) => {
      let token = ''
      const call = async () => {
        const { session, error } = await unlessAborted(read(), signal)
        if (isRetryable(error))
          throw navigator.onLine ? new UnsentError('', { cause: error }) : new OfflineError(error)
        if (session?.user.id !== account) throw new SignedOutError()
        token = session.access_token
        const request = requestOf({ url, anonKey }, `rpc/${name}`, args, token)
        const response = await takeEarlyResponse(callKey(token, request.url, request.init.body), signal)
        if (response) return parseResponse(response)
        const isOnline = navigator.onLine
        // Offline it is tried once: a server on the same machine responds.
        return send(request, isOnline ? delaysOfCall : [], signal).catch((failure: unknown) => {
          throw failure instanceof TypeError && !isOnline ? new OfflineError(failure) : failure
        })
      }
      return call().catch((failure: unknown) => {
        if ((failure as Partial<RefusedCall>).status !== 401) throw failure
        // The token has expired, although it has not by this browser's clock, which may have been set since.
        expireSession(token)
        return call()
      })
    }
  return { auth, authLoaded, read, callAs }
}
