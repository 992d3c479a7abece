import { domainToASCII } from 'node:url'

import { calendarFileName } from '../../application/calendar.ts'
import type { MailServer } from '../../settings/mail-settings.ts'
import type { MailContent, MailLook } from './layout.tsx'
import { paragraphsOf, type Paragraph } from './paragraphs.ts'

/** An email's content and recipient. */
export interface Message {
  /** The part of its Message-ID before the `@`. */
  id: string
  /** The recipient's address, which passes `isAddress`. */
  to: string
  subject: string
  /** Plain text. */
  body: string
  /** The content of the HTML, in English; default the paragraphs of the body, in an unknown language. */
  paragraphs?: readonly Paragraph[]
  /** The last lines of the HTML: why the recipient gets the email. */
  why: Paragraph
  /** The reply address; blank for the sender's. */
  replyTo?: string
  /** The address in the body that becomes a link, if any. It counts only without `paragraphs`. */
  link?: string | null
  /** The words of the button that leads there, default “Answer”; null for the address itself. */
  button?: string | null
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

/** Loads what composes emails, which commands that send none do without. */
export function loadComposer() {
  return Promise.all([import('nodemailer/lib/mail-composer'), import('./layout.tsx')])
}

/**
 * Composes an email. The same id gives the same Message-ID, so that duplicates can be recognised.
 *
 * @param message The email. Its recipient has to pass `isAddress`.
 */
export async function compose(
  { id, to, subject, body, paragraphs, why, replyTo = '', link, button = 'Answer', calendar }: Message,
  from: MailServer['from'],
  look: MailLook,
): Promise<Mail> {
  const [{ default: MailComposer }, { renderMail }] = await loadComposer()
  const lines = body.replaceAll(/\r\n?/g, '\n')
  const content: MailContent =
    paragraphs === undefined
      ? { paragraphs: paragraphsOf(lines, link ?? '', button), lang: '', why }
      : { paragraphs, lang: 'en', why }
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
    html: renderMail(content, look),
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
