import { colourIn, neededContrast, refusalOf } from '../design/accent.ts'
import { maxLengths } from '../application/page-words.ts'
import type { OperatorLook } from '../design/look.ts'
import { OperatorError } from './operator-error.ts'
import { readPublicAddress, type Environment } from './values.ts'

/** Characters that no font shows, that change the direction of the following text, or that replace bytes that are not UTF-8. */
export const unwanted = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069\ufffd]/u
const visible = /[\p{L}\p{N}\p{P}\p{S}]/u

/**
 * Reads the words and the look of the pages that the operator set, and checks each.
 *
 * @param prefix `SITE` for our own server, `VITE_SITE` for a page that is built for a hosted project.
 * @throws {OperatorError} for the first setting that cannot be used.
 */
export function readLook(environment: Environment, prefix: 'SITE' | 'VITE_SITE'): OperatorLook {
  const words = (key: 'title' | 'tagline' | 'badge' | 'success') =>
    readWords(environment, `${prefix}_${key.toUpperCase()}`, maxLengths[key])
  return {
    ...entry('title', words('title')),
    ...entry('tagline', words('tagline')),
    ...entry('badge', words('badge')),
    ...entry('success', words('success')),
    ...entry('privacyUrl', readPrivacyUrl(environment, `${prefix}_PRIVACY_URL`)),
    ...entry('accent', readAccent(environment, `${prefix}_ACCENT`)),
  }
}

function entry(key: keyof OperatorLook, value: string | undefined): OperatorLook {
  return value === undefined ? {} : { [key]: value }
}

function readWords(environment: Environment, name: string, maxLength: number) {
  const given = environment[name]
  if (!given) return undefined
  const words = given.trim()
  const { length } = Array.from(words)
  if (length > maxLength) {
    throw new OperatorError(`${name} has ${length} characters but may have at most ${maxLength}: shorten it.`)
  }
  // The message has only the character's code: the value itself could confuse a terminal.
  const [found] = unwanted.exec(words) ?? []
  if (found !== undefined) {
    const code = (found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
    throw new OperatorError(
      `${name} contains the character U+${code} but should be plain text on one line: remove it.`,
    )
  }
  if (visible.test(words)) return words
  throw new OperatorError(`${name} has no visible character: write some text, or remove the setting.`)
}

function readPrivacyUrl(environment: Environment, name: string) {
  const given = readPublicAddress(environment, name)
  if (given === undefined) return undefined
  // Normalised: without line breaks, and with every unusual character encoded.
  const { href } = new URL(given)
  if (href.length <= maxLengths.privacy_url) return href
  throw new OperatorError(
    `${name} has ${href.length} characters but may have at most ${maxLengths.privacy_url}: name a shorter address.`,
  )
}

function readAccent(environment: Environment, name: string) {
  const given = environment[name]
  if (!given) return undefined
  const accent = colourIn(given)
  if (accent === undefined) {
    throw new OperatorError(
      `${name} is ${JSON.stringify(given.slice(0, 40))} but should be one colour in six hexadecimal digits, such as "#7a1f3d".`,
    )
  }
  refuseLightAccent(name, accent)
  return accent
}

/**
 * Refuses a colour that is too light to read.
 *
 * @param name What has this colour.
 * @throws {OperatorError} with an allowed colour.
 */
export function refuseLightAccent(name: string, accent: string): void {
  const refusal = refusalOf(accent)
  if (refusal === undefined) return
  throw new OperatorError(
    `${name} is "${accent}", whose contrast with the page is ${refusal.contrast} to 1 but should be at least ${neededContrast} to 1: choose a darker colour, such as "${refusal.darker}".`,
  )
}
