import type { Letter } from '../../../client/desk.ts'
import { mailLink } from '../applications/contact-links.ts'

/** The address that opens a letter in the organiser's own mail program, where it can be written to. */
export function mailProgramLink({ to, subject, body }: Pick<Letter, 'to' | 'subject' | 'body'>) {
  const address = to === null ? undefined : mailLink(to)
  if (address === undefined) return undefined
  // Lines end as RFC 6068 has them.
  const lines = body.replaceAll(/\r\n|\r|\n/g, '\r\n')
  return `${address}?subject=${encodeURIComponent(subject)}&body=${encodeURIComponent(lines)}`
}
