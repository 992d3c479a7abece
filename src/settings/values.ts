import { OperatorError } from './operator-error.ts'
import { checkedPublicKey } from './public-key.ts'

/** Variables by their names; an empty one counts as not set. */
export type Environment = Readonly<Record<string, string | undefined>>

export const databaseProtocols = ['postgres:', 'postgresql:']
export const mailProtocols = ['smtp:', 'smtps:']
export const webProtocols = ['https:', 'http:']

const host = /(?:\[[\da-f:.]+\]|[a-z\d._-]+)(?::\d{1,5})?/.source
/** An address whose parts cannot be mistaken: no `@` after the first sign that ends its host. */
const plainAddress = new RegExp(
  `^(?<protocol>[a-z][a-z\\d+.-]*://)(?<user>[^/?#]*@)?(?<hosts>${host}(?:,${host})*)(?<rest>[/?#][^@]*)?$`,
  'i',
)
/** A name of the Internet in lower case, which neither a password nor a token looks like. */
const bareName = /^(?<hosts>(?:[a-z\d-]+\.)+[a-z]{2,}(?::\d{1,5})?)(?<rest>[/?#][^@]*)?$/

/**
 * A refused address for its sentence, in parentheses. Its protocol, host and port are no secrets. User, password, path and
 * query may be, and whatever cannot be told from them.
 */
export function shown(given: string): string {
  const parts = (plainAddress.exec(given) ?? bareName.exec(given))?.groups
  if (parts === undefined) {
    const [start] = /^[a-z][a-z\d+.-]*:\/\//i.exec(given) ?? []
    return start === undefined ? '(not shown: it may hold a password)' : `("${start}…", without its secrets)`
  }
  const { protocol = '', user, hosts = '', rest = '' } = parts
  const known = `${protocol}${user === undefined ? '' : '…@'}${hosts}${rest.slice(0, 1)}${rest.length > 1 ? '…' : ''}`
  return `("${known}"${known.includes('…') ? ', without its secrets' : ''})`
}

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
  throw new OperatorError(`${name} ${shown(given)} should be an address that begins with ${expected}.`)
}

/**
 * A public key, of which there is always one.
 *
 * @throws {OperatorError} where it cannot be one. It is in a header, and in the page for everybody to read.
 */
export function readKey(environment: Environment, name: string) {
  return checkedPublicKey(name, environment[name] || 'public-anon-key')
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
