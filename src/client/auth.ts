import { AuthClient, type GoTrueClient } from '@supabase/auth-js'

import { sessionKey } from './kept-session.ts'
import { keyHeaders } from './public-key.ts'
import { storageOf } from './storage.ts'

/**
 * The sign-in's own client.
 *
 * @param base The backend's address, without a slash at its end.
 */
export function createAuth(base: string, anonKey: string): GoTrueClient {
  return new AuthClient({
    url: `${base}/auth/v1`,
    // The client replaces `Authorization`, as it is written there, by the session's own token.
    headers: keyHeaders(anonKey),
    storage: storageOf('localStorage'),
    storageKey: sessionKey,
    flowType: 'implicit',
    // The client would leave the tokens in the browser's history, so the page takes them from its address itself.
    detectSessionInUrl: false,
  })
}
