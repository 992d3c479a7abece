import type { GoTrueClient } from '@supabase/auth-js'

import { keyHeaders } from './public-key.ts'
import { parseResponse } from './rest.ts'

/** An invitation to be an organiser. */
interface Invitation {
  email: string
  /** Blank for none. */
  name: string
  /** Whether they may only read, mark and write notes. */
  is_reader: boolean
}

/**
 * Invites somebody to be an organiser, as the organiser who is signed in. Only our own server has this call.
 *
 * @returns The link that signs them in, once, within a day; null if the server sends it by email.
 * @throws The errors of `parseResponse`; a `TypeError` if no response arrived; a `DOMException` after the timeout.
 */
export type Invite = (invitation: Invitation) => Promise<{ link: string | null }>

/** Timeout of a request in milliseconds. */
const timeout = 20_000

/**
 * Creates the call that invites.
 *
 * @param url The address of the sign-in's calls.
 */
export function createInvite(client: GoTrueClient, url: string, anonKey: string): Invite {
  return async (invitation) => {
    const { data } = await client.getSession()
    const response = await fetch(`${url}/invite`, {
      method: 'POST',
      headers: {
        ...keyHeaders(anonKey, data.session?.access_token),
        'content-type': 'application/json',
        // With a version, errors have the same shape as those of the data interface.
        'x-supabase-api-version': '2024-01-01',
      },
      body: JSON.stringify(invitation),
      signal: AbortSignal.timeout(timeout),
    })
    return (await parseResponse(response)) as { link: string | null }
  }
}
