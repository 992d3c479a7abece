import { createClient, type SupabaseClient } from '@supabase/supabase-js'
import ws from 'ws'

import { secretOf } from './sign-in-links.ts'

/** Creates the real client of a server, which is not signed in. */
export function clientOf(origin: string): SupabaseClient {
  return createClient(origin, 'public-anon-key', {
    auth: { persistSession: false, autoRefreshToken: false },
    realtime: { transport: ws as never },
  })
}

/**
 * Signs in with an operator's link, as the desk does when its button is pressed.
 *
 * @returns The client, and the error code of a refusal, or null.
 */
export async function signInByLink(origin: string, link: string) {
  const client = clientOf(origin)
  const token_hash = secretOf(link.trim())
  const { error } = await client.auth.verifyOtp({ token_hash, type: 'magiclink' })
  return { client, refused: error?.code ?? null }
}
