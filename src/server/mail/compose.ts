import { domainToASCII } from 'node:url'

import { calendarFileName } from '../../application/calendar.ts'
import type { MailServer } from '../../settings/mail-settings.ts'

/** An email's content and recipient. */
export interface Message {
  /** The part of its Message-ID before the `@`. */
  id: string
  /** The recipient's address, which passes `isAddress`. */
  to: string
  subject: string
  /** Plain text. */
  body: string
  /** The body as HTML; default the body's paragraphs and line breaks. */
  html?: string
  /** The reply address; blank for the sender's. */
  replyTo?: string
  /** The only web address in the body that becomes a link, if any. */
  link?: string | null
  /** The content of a calendar file, which is attached. */
  calendar?: string | undefined
}

/** An email, ready to be handed over. `from` and `to` are the addresses of its envelope. */
export interface Mail {
  from: string
  to: string
  bytes: Buffer
}

/** Whether a text is one plain address: no mail server or header parser takes it for several addresses. */
export function isAddress(text: string): boolean {
  return text.length <= 254 && /^[^\s@,;:<>()[\]"\\\p{C}]+@[^\s@,;:<>()[\]"\\\p{C}]+$/u.test(text)
}

/**
 * Composes an email. The same id gives the same Message-ID, so that duplicates can be recognised.
 *
 * @param message The email. Its recipient has to pass `isAddress`.
 */
export async function compose(
  { id, to, subject, body, html, replyTo = '', link, calendar }: Message,
  from: MailServer['from'],
): Promise<Mail> {
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer')
  const lines = body.replaceAll(/\r\n?/g, '\n')
  const mail = new MailComposer({
    from,
    // As an object: a string would be parsed as a list.
    to: { name: '', address: to },
    ...(isAddress(replyTo) ? { replyTo: { name: '', address: replyTo } } : {}),
    subject: subject.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim(),
    messageId: `<${id}@${domainToASCII(from.address.split('@').at(-1) ?? '')}>`,
    date: new Date(),
    headers: { 'auto-submitted': 'auto-generated' },
    text: lines,
    html: html ?? htmlOf(lines, link ?? ''),
    // The event is an attachment. If it were an alternative to the text, some mail programs would show it in place of the letter.
    ...(calendar !== undefined && {
      attachments: [
        {
          filename: calendarFileName,
          content: calendar,
          contentType: 'text/calendar; charset=utf-8; method=PUBLISH',
          contentTransferEncoding: 'base64',
        },
      ],
    }),
    newline: 'win',
    disableFileAccess: true,
    disableUrlAccess: true,
  }).compile()
  // nodemailer encodes an international domain in the envelope.
  const envelope = mail.getEnvelope()
  return { from: envelope.from || from.address, to: envelope.to[0] ?? to, bytes: await mail.build() }
}

/** The text as plain HTML: paragraphs, line breaks and the link. Nothing is loaded from elsewhere. */
function htmlOf(text: string, link: string) {
  const escapedLink = escapeHtml(link)
  const paragraphs = text
    .split(/\n[^\S\n]*\n\s*/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== '')
    .map((paragraph) => escapeHtml(paragraph).replaceAll('\n', '<br>\n'))
    .map((html) =>
      link === '' ? html : html.replaceAll(escapedLink, () => `<a href="${escapedLink}">${escapedLink}</a>`),
    )
    // Each paragraph in the direction of its own language.
    .map((html) => `<p dir="auto">${html}</p>\n`)
  return `<!doctype html>\n<html>\n<head>\n<meta charset="utf-8">\n</head>\n<body>\n${paragraphs.join('')}</body>\n</html>\n`
}

/** Escapes a text for HTML, including attributes. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}
