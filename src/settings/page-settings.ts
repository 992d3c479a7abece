import { readAddress, readKey, webProtocols, type Environment } from './values.ts'

/** What the hosted way's page is built with: the `VITE_` settings. */
export interface PageSettings {
  /** The backend; null is the page's own origin. */
  backendUrl: string | null
  anonKey: string
  webhookUrl: string | null
  siteUrl: string | undefined
}

/**
 * Reads and checks the settings of the page for the hosted way.
 *
 * @throws {OperatorError} for the first that cannot be used.
 */
export function readPageSettings(environment: Environment): PageSettings {
  return {
    backendUrl: readAddress(environment, 'VITE_SUPABASE_URL', webProtocols) ?? null,
    anonKey: readKey(environment, 'VITE_SUPABASE_ANON_KEY'),
    webhookUrl: readAddress(environment, 'VITE_WEBHOOK_URL', webProtocols) ?? null,
    siteUrl: readAddress(environment, 'VITE_SITE_URL', webProtocols),
  }
}
