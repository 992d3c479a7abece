import { AuthClient, isAuthRetryableFetchError, type GoTrueClient } from '@supabase/auth-js'
import { PostgrestClient } from '@supabase/postgrest-js'

import type { DataInterface } from './data-interface.ts'
import { withRetry } from './retry.ts'
import { storageOf } from './storage.ts'

/** What an organiser signs in with, and what they then may call. */
export interface Session {
  auth: GoTrueClient
  /**
   * The data interface as somebody who signed in, by their account's id. Another window of the browser may sign somebody
   * else in at any time: what is not sent as this one is not sent.
   */
  restOf: (account: string) => PostgrestClient
}

/** A call that was not sent, or given up, since whoever made it is not signed in any more. */
export class SignedOutError extends Error {
  constructor() {
    super('You are not signed in any more.')
  }
}

/**
 * Milliseconds before the tries that follow the first. Each call may come twice: it only reads, is known by its act,
 * or changes nothing the second time.
 */
const retryPauses = [500, 1_000, 2_000, 4_000]

/**
 * The backend's two clients, put together as `@supabase/supabase-js` does: what is called goes out with the access
 * token of whoever is signed in. A call that got no answer is repeated, with the same token; for the sign-in its own
 * client cares.
 *
 * @param backend.url The backend's address, not null.
 * @see https://github.com/supabase/supabase-js
 */
export function createSession({ url, anonKey }: DataInterface & { url: string }): Session {
  const base = url.replace(/\/$/, '')
  const auth = new AuthClient({
    url: `${base}/auth/v1`,
    // In these letters: the client puts the session's own token in its place.
    headers: { apikey: anonKey, Authorization: `Bearer ${anonKey}` },
    storage: storageOf('localStorage'),
    storageKey: 'unplugged-desk',
    flowType: 'implicit',
    // It would leave the tokens in the history; the page takes them from its address itself.
    detectSessionInUrl: false,
  })
  const restOf = (account: string) =>
    new PostgrestClient(`${base}/rest/v1`, {
      headers: { apikey: anonKey },
      fetch: async (input, init) => {
        const { data, error } = await auth.getSession()
        if (isAuthRetryableFetchError(error)) throw new TypeError('no new token came', { cause: error })
        if (data.session?.user.id !== account) throw new SignedOutError()
        const headers = new Headers(init?.headers)
        headers.set('authorization', `Bearer ${data.session.access_token}`)
        return withRetry(() => fetch(input, { ...init, headers }), retryPauses, init?.signal)
      },
    })
  return { auth, restOf }
}
