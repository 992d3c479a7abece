import { blockedPorts } from './blocked-ports.ts'
import { OperatorError } from './operator-error.ts'
import { checkedPublicKey } from './public-key.ts'

/** Variables by name; an empty one counts as not set. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The protocols that a setting of each kind may have. */
export const databaseProtocols = ['postgres:', 'postgresql:']
export const mailProtocols = ['smtp:', 'smtps:']
export const webProtocols = ['https:', 'http:']

const host = /(?:\[[\da-f:.]+\]|[a-z\d._-]+)(?::\d{1,5})?/.source
/** An unambiguous address: without `@` after the end of its host. */
const plainAddress = new RegExp(
  `^(?<protocol>[a-z][a-z\\d+.-]*://)(?<user>[^/?#]*@)?(?<hosts>${host}(?:,${host})*)(?<rest>[/?#][^@]*)?$`,
  'i',
)
/** An Internet domain in lower case, which cannot be a password or a token. */
const bareName = /^(?<hosts>(?:[a-z\d-]+\.)+[a-z]{2,}(?::\d{1,5})?)(?<rest>[/?#][^@]*)?$/

/** Whether an address names several hosts or ports, as libpq's may. A list with ports is no URL. */
export function namesSeveralHosts(given: string): boolean {
  if (!URL.canParse(given)) return plainAddress.exec(given)?.groups?.['hosts']?.includes(',') === true
  const { hostname, searchParams } = new URL(given)
  return [hostname, searchParams.get('host'), searchParams.get('port')].some((part) =>
    /,|%2c/i.test(part ?? ''),
  )
}

/**
 * Formats a refused address for a message, in parentheses. Only its protocol, host and port are shown. User, password, path and
 * query may be secret, and so may parts that cannot be distinguished from these.
 */
export function redacted(given: string): string {
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
 * Reads a whole number from 0 to `highest`; `fallback` if it is not set.
 *
 * @throws {OperatorError} if the value is anything else.
 */
export function readNumber(environment: Environment, name: string, fallback: number, highest: number) {
  const given = environment[name]
  if (!given) return fallback
  const value = /^\d+$/.test(given) ? Number(given) : Number.NaN
  if (value <= highest) return value
  throw new OperatorError(`${name} is "${given}" but should be a whole number from 0 to ${highest}.`)
}

/**
 * Reads an address with one of these protocols, and returns it without the blanks and line ends around it; undefined if it is
 * not set.
 *
 * @throws {OperatorError} if the value is anything else. The message hides parts that may contain a password.
 */
export function readAddress(environment: Environment, name: string, protocols: readonly string[]) {
  if (!environment[name]) return undefined
  const given = environment[name].trim()
  // The parser of addresses alone would accept `https:/host`.
  const isComplete = protocols.some((protocol) => given.toLowerCase().startsWith(`${protocol}//`))
  if (isComplete && URL.canParse(given)) return given
  const expected = protocols.map((protocol) => `${protocol}//`).join(' or ')
  throw new OperatorError(`${name} ${redacted(given)} should be an address that begins with ${expected}.`)
}

/**
 * Returns a web address whose port may be called.
 *
 * @throws {OperatorError} for a port that browsers and Node.js refuse to call.
 */
export function checkedPort(name: string, given: string) {
  const { port } = new URL(given)
  if (!blockedPorts.has(Number(port || 443))) return given
  throw new OperatorError(
    `${name} ${redacted(given)} names port ${port}, which belongs to another service than the web and cannot be called: use another.`,
  )
}

/**
 * Reads a web address that pages contain, so that every visitor can read it; undefined if it is not set.
 *
 * @throws {OperatorError} if the value is no web address, has a user or a password, or a port that browsers refuse to call.
 */
export function readPublicAddress(environment: Environment, name: string) {
  const given = readAddress(environment, name, webProtocols)
  if (given === undefined) return undefined
  const { username, password } = new URL(given)
  if (!username && !password) return checkedPort(name, given)
  throw new OperatorError(
    `${name} ${redacted(given)} holds a user or a password, which every visitor could read: remove them.`,
  )
}

/**
 * Reads a public key, which has a default.
 *
 * @throws {OperatorError} if the value cannot be a public key, which is sent in a header and shown in the page.
 */
export function readKey(environment: Environment, name: string) {
  return checkedPublicKey(name, environment[name] || 'public-anon-key')
}

/** Whether an address can be parsed, has no `#`, and can be decoded in its percent-encoded parts. */
export function isEncoded(address: string) {
  if (!URL.canParse(address) || address.includes('#')) return false
  try {
    // The comparison keeps the call: the build removes calls whose value is not used.
    return decodeURIComponent(address) !== ''
  } catch {
    return false
  }
}
