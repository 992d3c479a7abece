import { trimmed, withoutBlanks } from '../../../application/blank.ts'
import { withAsciiDigits } from '../../../application/digits.ts'
import type { Letter } from '../../../client/desk/letters.ts'

/** The `mailto:` address of an email; undefined if the text is not exactly one email. */
export function mailLink(email: string): string | undefined {
  const [, local = '', domain = ''] =
    /^([^\s@<>()[\]\\,;:"]+)@([^\s@<>()[\]\\,;:"]+\.[^\s@<>()[\]\\,;:"]+)$/.exec(trimmed(email)) ?? []
  if (domain === '') return undefined
  // Not every email program knows the form of people: `münchen.example` is `xn--mnchen-3ya.example`.
  const isAscii = !/[^ -~]/.test(domain)
  if (!isAscii && !URL.canParse(`http://${domain}`)) return undefined
  const ascii = isAscii ? domain : new URL(`http://${domain}`).hostname
  return `mailto:${encodeURIComponent(local)}@${encodeURIComponent(ascii)}`
}

/**
 * The countries whose numbers keep a leading zero after the country's code, such as `+39 06` for Rome. By the metadata of
 * libphonenumber (https://github.com/google/libphonenumber, by way of libphonenumber-js 1.13.16) they have no trunk prefix, and
 * valid numbers of homes or mobile telephones that begin with zero.
 */
const keepsZero = ['39', '225', '226', '229', '241', '242', '378', '992']

/** The `tel:` address of a telephone number; undefined if the text is not one. */
export function phoneLink(phone: string): string | undefined {
  const number = withAsciiDigits(phone).replaceAll(/\p{Pd}/gu, '-')
  // The zero after a country's code, as in `+44 (0)20`, is dialled only within the country.
  const abroad = trimmed(number).replace(
    /^(\(?(?:\+|00)([1-9]\d{0,2})[^\d+]+)0/,
    (all, code: string, country: string) => (keepsZero.includes(country) ? all : code),
  )
  const digits = abroad.replaceAll(/\D/g, '')
  const isPhone =
    /^\(?\+?[\d()./-]+$/.test(withoutBlanks(abroad)) && digits.length >= 5 && digits.length <= 15
  return isPhone ? `tel:${abroad.includes('+') ? '+' : ''}${digits}` : undefined
}

/**
 * The address of a LinkedIn page; undefined if the text is not one. People enter the full address, omit `https://`, or start at
 * `in/`.
 */
export function linkedInLink(input: string): string | undefined {
  const text = trimmed(input)
  const isPath = /^\/?(in|company|pub)\/[^\s/]+\/?$/.test(text)
  const address = isPath
    ? `https://www.linkedin.com/${text.replace(/^\//, '')}`
    : /^[a-z][a-z\d+.-]*:/i.test(text)
      ? text
      : `https://${text}`
  if (/\s/.test(text) || !URL.canParse(address)) return undefined
  const { protocol, hostname, username, password, href } = new URL(address)
  const isLinkedIn = /^(?:[a-z\d-]+\.)*linkedin\.com$/.test(hostname) && username === '' && password === ''
  return /^https?:/.test(protocol) && isLinkedIn ? href : undefined
}

/** The address that opens a letter in the organiser's own email program; undefined if the recipient has no usable email. */
export function mailProgramLink({ to, subject, body }: Pick<Letter, 'to' | 'subject' | 'body'>) {
  const address = to === null ? undefined : mailLink(to)
  if (address === undefined) return undefined
  // RFC 6068 requires CRLF line ends.
  const lines = body.replaceAll(/\r\n|\r|\n/g, '\r\n')
  return `${address}?subject=${encodeURIComponent(subject)}&body=${encodeURIComponent(lines)}`
}
