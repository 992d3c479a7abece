import type { Letter } from '../../../client/desk/letters.ts'

/** The address that writes to an e-mail, where it is one. */
export function mailLink(email: string): string | undefined {
  const [, local = '', domain = ''] =
    /^([^\s@<>()[\]\\,;:"]+)@([^\s@<>()[\]\\,;:"]+\.[^\s@<>()[\]\\,;:"]+)$/.exec(email) ?? []
  return domain === '' ? undefined : `mailto:${encodeURIComponent(local)}@${encodeURIComponent(domain)}`
}

/** The address that calls a telephone number, where it is one. */
export function phoneLink(phone: string): string | undefined {
  const digits = phone.replaceAll(/\D/g, '')
  const isPhone = /^\s*\+?[\d\s()./-]+$/.test(phone) && digits.length >= 5 && digits.length <= 15
  return isPhone ? `tel:${phone.trim().startsWith('+') ? '+' : ''}${digits}` : undefined
}

/** The address of a LinkedIn page, where it is one: people write it whole, without its beginning, or from `in/` on. */
export function linkedInLink(given: string): string | undefined {
  const text = given.trim()
  const isPath = /^\/?(in|company|pub)\/[^\s/]+\/?$/.test(text)
  const address = isPath
    ? `https://www.linkedin.com/${text.replace(/^\//, '')}`
    : /^[a-z][a-z\d+.-]*:/i.test(text)
      ? text
      : `https://${text}`
  if (/\s/.test(text) || !URL.canParse(address)) return undefined
  const { protocol, hostname, username, password, href } = new URL(address)
  const isTheirs = /^(?:[a-z\d-]+\.)*linkedin\.com$/.test(hostname) && username === '' && password === ''
  return /^https?:$/.test(protocol) && isTheirs ? href : undefined
}

/** The address that opens a letter in the organiser's own mail program, where it can be written to. */
export function mailProgramLink({ to, subject, body }: Pick<Letter, 'to' | 'subject' | 'body'>) {
  const address = to === null ? undefined : mailLink(to)
  if (address === undefined) return undefined
  // Lines end as RFC 6068 has them.
  const lines = body.replaceAll(/\r\n|\r|\n/g, '\r\n')
  return `${address}?subject=${encodeURIComponent(subject)}&body=${encodeURIComponent(lines)}`
}
