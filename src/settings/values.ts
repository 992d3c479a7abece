import { OperatorError } from './operator-error.ts'

/** Variables by their names; an empty one counts as not set. */
export type Environment = Readonly<Record<string, string | undefined>>

export const databaseProtocols = ['postgres:', 'postgresql:']
export const mailProtocols = ['smtp:', 'smtps:']
export const webProtocols = ['https:', 'http:']

/** Stands in place of the part of an address that is not shown. */
export const hidden = '(not shown: it may hold a password)'

/**
 * A whole number from 0 to `highest`.
 *
 * @throws {OperatorError} where it is something else.
 */
export function readNumber(environment: Environment, name: string, fallback: number, highest: number) {
  const given = environment[name]
  if (!given) return fallback
  const value = /^\d+$/.test(given) ? Number(given) : Number.NaN
  if (value <= highest) return value
  throw new OperatorError(`${name} is "${given}" but should be a whole number from 0 to ${highest}.`)
}

/**
 * An address with one of these protocols, as it was given.
 *
 * @throws {OperatorError} where it is something else. The message does not show what may hold a password.
 */
export function readAddress(environment: Environment, name: string, protocols: readonly string[]) {
  const given = environment[name]
  if (!given) return undefined
  if (URL.canParse(given) && protocols.includes(new URL(given).protocol)) return given
  const expected = protocols.map((protocol) => `${protocol}//`).join(' or ')
  throw new OperatorError(`${name} ${hidden} should be an address that begins with ${expected}.`)
}

/**
 * A public key, of which there is always one.
 *
 * @throws {OperatorError} where it could not travel in a header.
 */
export function readKey(environment: Environment, name: string) {
  const given = environment[name] || 'public-anon-key'
  // It travels in a header and stands in the page.
  if (/^[\x21-\x7e]+$/.test(given)) return given
  throw new OperatorError(`${name} is "${given}" but should be letters, digits and signs without spaces.`)
}

/** Whether an address can be read, and its percent-encoded parts can be decoded. */
export function isEncoded(address: string) {
  if (!URL.canParse(address) || address.includes('#')) return false
  try {
    // The value is used, since the build leaves out a call whose value nobody uses.
    return decodeURIComponent(address) !== ''
  } catch {
    return false
  }
}
