import type { MailServer } from '../../settings/mail-settings.ts'
import { escapeHtml } from '../mail.ts'

/** A letter to an applicant. */
export interface Letter {
  id: string
  /** One address; see `isAddress`. */
  to: string
  subject: string
  /** Plain text. */
  body: string
  /** Where answers go; blank where they go to the sender. */
  replyTo: string
  /** The one address in it that can be followed; none where there is none. */
  link?: string | null
}

/** A mail, ready to be handed over. */
export interface Mail {
  from: string
  to: string
  bytes: Buffer
}

/** Whether a text is one plain address: nothing that a mail server, or who reads a header, takes apart as more. */
export function isAddress(text: string): boolean {
  return text.length <= 254 && /^[^\s@,;:<>()[\]"\\\p{C}]+@[^\s@,;:<>()[\]"\\\p{C}]+$/u.test(text)
}

/**
 * Writes a letter as a mail. Its Message-ID is the same each time, so that who gets it twice can know.
 *
 * @param letter To somebody whose address is one.
 */
export async function compose(
  { id, to, subject, body, replyTo, link }: Letter,
  from: MailServer['from'],
): Promise<Mail> {
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer')
  const lines = body.replaceAll(/\r\n?/g, '\n')
  const mail = new MailComposer({
    from,
    // As they are: a text would be taken apart as a list.
    to: { name: '', address: to },
    ...(isAddress(replyTo) ? { replyTo: { name: '', address: replyTo } } : {}),
    subject: subject.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim(),
    messageId: `<${id}@${from.address.split('@').at(-1)}>`,
    date: new Date(),
    headers: { 'auto-submitted': 'auto-generated' },
    text: lines,
    html: htmlOf(lines, link ?? ''),
    newline: 'win',
    disableFileAccess: true,
    disableUrlAccess: true,
  }).compile()
  // With the domain as it travels.
  const envelope = mail.getEnvelope()
  return { from: envelope.from || from.address, to: envelope.to[0] ?? to, bytes: await mail.build() }
}

/** The text as quiet HTML: its paragraphs and lines, and nothing that is loaded or leads anywhere but the link. */
function htmlOf(text: string, link: string) {
  const address = escapeHtml(link)
  const paragraphs = text
    .split(/\n[^\S\n]*\n\s*/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== '')
    .map((paragraph) => escapeHtml(paragraph).replaceAll('\n', '<br>\n'))
    .map((html) =>
      link === '' ? html : html.replaceAll(address, () => `<a href="${address}">${address}</a>`),
    )
    .map((html) => `<p>${html}</p>\n`)
  return `<!doctype html>\n<html>\n<head>\n<meta charset="utf-8">\n</head>\n<body>\n${paragraphs.join('')}</body>\n</html>\n`
}
