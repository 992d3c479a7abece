import { PostgrestClient } from '@supabase/postgrest-js'

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
    // Supabase's older keys are JWTs, which its gateway wants as bearer too; its newer ones must not be.
    headers: isJwt(anonKey) ? { apikey: anonKey, authorization: `Bearer ${anonKey}` } : { apikey: anonKey },
    fetch: fetcher,
  })
}

/** Whether a public key is one of the older kind, which a hosted project wants as bearer, too. */
export function isJwt(key: string) {
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(key)
}
