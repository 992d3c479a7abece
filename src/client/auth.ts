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
    // In lower case: the client replaces the header of this name by the session's own token.
    headers: { apikey: anonKey, Authorization: `Bearer ${anonKey}` },
    storage: storageOf('localStorage'),
    storageKey: sessionKey,
    flowType: 'implicit',
    // The client would leave the tokens in the browser's history, so the page takes them from its address itself.
    detectSessionInUrl: false,
  })
}
