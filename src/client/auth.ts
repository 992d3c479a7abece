import { AuthClient, type GoTrueClient } from '@supabase/auth-js'

import { sessionKey } from './kept-session.ts'
import { storageOf } from './storage.ts'

/**
 * The sign-in's own client.
 *
 * @param base The backend's address, without a slash at its end.
 */
export function createAuth(base: string, anonKey: string): GoTrueClient {
  return new AuthClient({
    url: `${base}/auth/v1`,
    // In these letters: the client puts the session's own token in its place.
    headers: { apikey: anonKey, Authorization: `Bearer ${anonKey}` },
    storage: storageOf('localStorage'),
    storageKey: sessionKey,
    flowType: 'implicit',
    // It would leave the tokens in the history; the page takes them from its address itself.
    detectSessionInUrl: false,
  })
}
