import { AuthClient, type GoTrueClient } from '@supabase/auth-js'

import { sessionKey } from './stored-session.ts'
import { keyHeaders } from './public-key.ts'
import { storageOf } from './storage.ts'

/**
 * Creates the sign-in's own client.
 *
 * @param base The backend's address, without a slash at its end.
 */
export function createAuth(base: string, anonKey: string): GoTrueClient {
  return new AuthClient({
    url: `${base}/auth/v1`,
    // The client replaces `Authorization`, in this spelling, by the session's own token.
    headers: keyHeaders(anonKey),
    storage: storageOf('localStorage'),
    storageKey: sessionKey,
    flowType: 'implicit',
    // The page reads the tokens from its address itself: the client would leave them in the browser's history.
    detectSessionInUrl: false,
  })
}
