import { AuthClient, type GoTrueClient } from '@supabase/auth-js'
import { PostgrestClient } from '@supabase/postgrest-js'

import type { DataInterface } from './insert.ts'

/** What an organiser signs in with, and what they then may call. */
export interface Session {
  auth: GoTrueClient
  rest: PostgrestClient
}

/**
 * The backend's two clients, put together as `@supabase/supabase-js` does: what is called goes out with the access
 * token of whoever is signed in.
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
    storageKey: 'unplugged-desk',
    flowType: 'implicit',
    // It would leave the tokens in the history; the page takes them from its address itself.
    detectSessionInUrl: false,
  })
  const rest = new PostgrestClient(`${base}/rest/v1`, {
    headers: { apikey: anonKey },
    fetch: async (input, init) => {
      const { data } = await auth.getSession()
      const headers = new Headers(init?.headers)
      headers.set('authorization', `Bearer ${data.session?.access_token ?? anonKey}`)
      return fetch(input, { ...init, headers })
    },
  })
  return { auth, rest }
}
