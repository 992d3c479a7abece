import { PostgrestClient } from '@supabase/postgrest-js'

import { keyHeaders } from './public-key.ts'

/** Where applications are stored. */
export interface DataInterface {
  /** The backend's address; null where it lies beside the page. */
  url: string | null
  /** The public key, which every visitor may know. */
  anonKey: string
}

/**
 * The client of the backend's data interface, for whoever has the public key alone.
 *
 * @param fetcher What sends its requests.
 */
export function dataInterfaceAt({ url, anonKey }: DataInterface, fetcher: typeof fetch): PostgrestClient {
  const base = url ?? new URL('.', location.href).href
  return new PostgrestClient(`${base.replace(/\/$/, '')}/rest/v1`, {
    headers: keyHeaders(anonKey),
    fetch: fetcher,
  })
}
