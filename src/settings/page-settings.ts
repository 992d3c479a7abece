import type { Look } from '../design/look.ts'
import { readLook } from './look-settings.ts'
import { OperatorError } from './operator-error.ts'
import { readKey, readPublicAddress, type Environment } from './values.ts'

/** The `VITE_` settings, with which the page is built for a hosted project. */
export interface PageSettings {
  /** The backend's address; null means the page's own origin. */
  backendUrl: string | null
  anonKey: string
  webhookUrl: string | undefined
  siteUrl: string | undefined
  /** The words and the look of the pages. */
  look: Look
}

/**
 * Reads and checks the settings of a page that is built for a hosted project.
 *
 * @throws {OperatorError} for the first setting that cannot be used.
 */
export function readPageSettings(environment: Environment): PageSettings {
  refuseOtherKeyName(environment)
  return {
    backendUrl: readPublicAddress(environment, 'VITE_SUPABASE_URL') ?? null,
    anonKey: readKey(environment, 'VITE_SUPABASE_ANON_KEY'),
    webhookUrl: readPublicAddress(environment, 'VITE_WEBHOOK_URL'),
    siteUrl: readPublicAddress(environment, 'VITE_SITE_URL'),
    look: readLook(environment, 'VITE_SITE'),
  }
}

/**
 * Refuses names from Supabase's own guides, such as VITE_SUPABASE_PUBLISHABLE_KEY. If they were ignored, the page would be built
 * without the project's key.
 */
function refuseOtherKeyName(environment: Environment) {
  const other = Object.keys(environment).find((name) => name.startsWith('VITE_SUPABASE_PUBLISHABLE_'))
  if (other === undefined || environment['VITE_SUPABASE_ANON_KEY']) return
  throw new OperatorError(`${other} is no setting: VITE_SUPABASE_ANON_KEY is, for a publishable key, too.`)
}
