import { readAddress, readKey, webProtocols, type Environment } from './values.ts'

/** The `VITE_` settings, with which the page is built for a hosted project. */
export interface PageSettings {
  /** The backend; null is the page's own origin. */
  backendUrl: string | null
  anonKey: string
  webhookUrl: string | null
  siteUrl: string | undefined
}

/**
 * Reads and checks the settings of a page that is built for a hosted project.
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
