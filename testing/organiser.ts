import { createClient, type SupabaseClient } from '@supabase/supabase-js'
import ws from 'ws'

/** The real client of a server, which nobody signed in with yet. */
export function clientOf(origin: string): SupabaseClient {
  return createClient(origin, 'public-anon-key', {
    auth: { persistSession: false, autoRefreshToken: false },
    realtime: { transport: ws as never },
  })
}

/**
 * Signs in by a link that the operator was given: as a browser that opens it, and the desk that it leads to.
 *
 * @returns The client; where it was led; and the code of the refusal, if it was one.
 */
export async function signInByLink(origin: string, link: string) {
  const target = new URL(link.trim())
  const answer = await fetch(`${origin}${target.pathname}${target.search}`, { redirect: 'manual' })
  const location = new URL(answer.headers.get('location') ?? '')
  const said = new URLSearchParams(location.hash.slice(1))
  const client = clientOf(origin)
  const [access_token = '', refresh_token = ''] = ['access_token', 'refresh_token'].map(
    (name) => said.get(name) ?? '',
  )
  if (access_token !== '') await client.auth.setSession({ access_token, refresh_token })
  return { client, location, refused: said.get('error_code') }
}
