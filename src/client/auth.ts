import { AuthClient, type GoTrueClient } from '@supabase/auth-js'

import { sessionKey } from './stored-session.ts'
import { keyHeaders } from './public-key.ts'
import { storageOf } from './storage.ts'

/**
 * Creates the auth client, which calls the sign-in server.
 *
 * @param base The backend's address, without a slash at its end.
 */
export function createAuth(base: string, anonKey: string): GoTrueClient {
  return new AuthClient({
    url: `${base}/auth/v1`,
    // The client replaces the header `Authorization` with the session's token, but only in exactly this spelling.
    headers: keyHeaders(anonKey),
    storage: storageOf('localStorage'),
    storageKey: sessionKey,
    flowType: 'implicit',
    // The page itself reads the tokens from its address: the client would leave them in the browser's history.
    detectSessionInUrl: false,
  })
}
