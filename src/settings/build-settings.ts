import { maxLengths, pageFile, type PageWords } from '../application/page-words.ts'
import type { OperatorLook } from '../design/look.ts'
import { readLook, refuseLightAccent, unwanted } from './look-settings.ts'
import { OperatorError } from './operator-error.ts'
import { readKey, readPublicAddress, type Environment } from './values.ts'

/** The `VITE_` settings, with which the page is built for a hosted project. */
export interface PageSettings {
  /** The backend's address; null means the page's own origin. */
  backendUrl: string | null
  anonKey: string
  webhookUrl: string | undefined
  siteUrl: string | undefined
  /** The words and the look of the pages, as far as they are set. */
  look: OperatorLook
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

/**
 * Reads the file that the desk's screen “Page” exports for a page that is built for a hosted project.
 *
 * @param text The content of the file; undefined if there is no file.
 * @throws {OperatorError} if the file is not such a file, or if its colour is too light to read.
 */
export function readPageFile(text: string | undefined): PageWords {
  if (text === undefined) return {}
  const words = parsed(text)
  const isWhole =
    typeof words === 'object' &&
    words !== null &&
    Object.entries(words).every(
      ([name, value]) =>
        typeof value === 'string' &&
        value.length <= (limits[name] ?? 0) &&
        !unwanted.test(value.replaceAll('\n', '')),
    )
  const { accent, privacy_url: privacyUrl } = (isWhole ? words : {}) as PageWords
  if (
    isWhole &&
    (accent === undefined || /^#[\da-f]{6}$/.test(accent)) &&
    (privacyUrl === undefined || /^https?:\/\//.test(privacyUrl))
  ) {
    if (accent !== undefined) refuseLightAccent(`The accent colour in ${pageFile}`, accent)
    return words
  }
  throw new OperatorError(
    `${pageFile} is not the file that the desk exports: export it again at the desk, under Retreat and Page, or remove it.`,
  )
}

/** The longest value of each entry of the file, in UTF-16 code units. */
const limits: Record<string, number> = {
  ...Object.fromEntries(Object.entries(maxLengths).map(([name, most]) => [name, 2 * most])),
  starts_on: 10,
  ends_on: 10,
  venue: 400,
  closes_on: 10,
  closes_at: 5,
  zone: 100,
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
