import { asciiDomain } from '../ascii-domain.ts'
import type { FastifyRequest } from 'fastify'

import { HttpError } from '../http/errors.ts'
import { isObject, textOf } from '../http/json.ts'
import { invalid } from './refusals.ts'

/** The types of the values that `fieldsOf` returns, by the kind of the field. */
interface Kinds {
  text: string
  'optional text': string | undefined
  flag: boolean | undefined
  object: Readonly<Record<string, unknown>> | undefined
}

/**
 * Reads the fields of a request's body, which is parsed as JSON regardless of its content type. Null means absent. An absent
 * `text` is empty, and an absent field of another kind is undefined.
 *
 * @param kinds The fields that the call knows; others are ignored.
 * @throws {HttpError} if the body is neither a JSON object nor null, a field has another type than its kind, or a text
 *   contains characters that PostgreSQL cannot store.
 */
export function fieldsOf<const T extends Record<string, keyof Kinds>>(
  { body }: FastifyRequest,
  kinds: T,
): { [K in keyof T]: Kinds[T[K]] } {
  const sent = parse(body)
  const fields = Object.entries(kinds).map(([name, kind]) => {
    const value = Object.hasOwn(sent, name) ? (sent[name] ?? undefined) : undefined
    if (value === undefined) return [name, kind === 'text' ? '' : undefined]
    if (kind === 'object' ? isObject(value) : kind === 'flag' ? typeof value === 'boolean' : isText(value)) {
      return [name, value]
    }
    throw unparsable(`${name} cannot be read`)
  })
  return Object.fromEntries(fields) as { [K in keyof T]: Kinds[T[K]] }
}

/** Whether a value is a string that PostgreSQL can store. */
function isText(value: unknown) {
  return typeof value === 'string' && !/\0|\p{Surrogate}/u.test(value)
}

function parse(body: unknown) {
  let value: unknown
  try {
    value = JSON.parse(textOf(body))
  } catch {
    throw unparsable('it is not JSON')
  }
  if (value === null) return {}
  if (!isObject(value)) throw unparsable('it is not an object')
  return value
}

function unparsable(why: string) {
  return new HttpError(400, 'bad_json', `Could not parse request body as JSON: ${why}`)
}

/**
 * Checks an email address, and returns it in lower case and with its domain in ASCII, as accounts store it.
 *
 * @throws {HttpError} if it is not an address.
 */
export function emailOf(text: string): string {
  if (text === '') throw invalid('An email address is required')
  if (text.length > 255) throw invalid('An email address is too long')
  // Printable ASCII except "(),:;<>[\] before the only @, and a domain name after it.
  if (
    !/^[!#-'*+\-./-9=?A-Z^-~]+@[a-z0-9\u0080-\uffff]([a-z0-9\-.\u0080-\uffff]*[a-z0-9\u0080-\uffff])?$/i.test(
      text,
    )
  ) {
    throw invalid('Unable to validate email address: invalid format')
  }
  const [name = '', domain = ''] = text.toLowerCase().split('@')
  const ascii = asciiDomain(domain)
  if (ascii === '') throw invalid('Unable to validate email address: invalid format')
  return `${name}@${ascii}`
}

/**
 * Checks a phone number.
 *
 * @throws {HttpError} if it is not in E.164 format.
 */
export function checkPhone(text: string): void {
  if (/^[1-9][0-9]{1,14}$/.test(text.replaceAll(' ', '').replace(/^\+/, ''))) return
  throw invalid('Invalid phone number format (E.164 required)')
}

/** A PKCE challenge. The client proves later, with its verifier, that it made the request itself (RFC 7636). */
export interface Challenge {
  method: 's256' | 'plain'
  challenge: string
}

/**
 * Reads the fields of PKCE; undefined if both are empty.
 *
 * @see https://www.rfc-editor.org/rfc/rfc7636#section-4.2
 * @throws {HttpError} if only one of the two fields is present, or a value is not allowed by the RFC.
 */
export function challengeOf(fields: {
  code_challenge: string
  code_challenge_method: string
}): Challenge | undefined {
  const { code_challenge: challenge, code_challenge_method: requestedMethod } = fields
  if (challenge === '' && requestedMethod === '') return undefined
  if (challenge === '' || requestedMethod === '') {
    throw invalid('PKCE flow requires code_challenge_method and code_challenge')
  }
  if (challenge.length < 43 || challenge.length > 128) {
    throw invalid('code challenge has to be between 43 and 128 characters')
  }
  if (!/^[\w.~-]+$/.test(challenge)) {
    throw invalid(
      'code challenge can only contain alphanumeric characters, hyphens, periods, underscores and tildes',
    )
  }
  const method = requestedMethod.toLowerCase()
  if (method === 's256' || method === 'plain') return { method, challenge }
  throw invalid('code_challenge_method should be s256 or plain')
}
