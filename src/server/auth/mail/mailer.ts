import { hostAndPort, type MailServer } from '../../../settings/mail-settings.ts'
import { causeOf, smtpOptions } from '../../mail.ts'
import type { Message } from './messages.ts'

/** Sends mails. */
export interface Mailer {
  /** @throws where the mail server does not take it. */
  send(message: Message): Promise<void>
}

/** A mail that was not taken. The mail server's own words are left out: they quote the address. */
class MailError extends Error {
  readonly code: string

  constructor(cause: unknown, mailServer: MailServer) {
    const { code, command, responseCode } = (cause ?? {}) as Record<string, unknown>
    const { host, port } = hostAndPort(mailServer)
    const said = [code, command, responseCode].filter(
      (part) => typeof part === 'string' || typeof part === 'number',
    )
    const why = causeOf(cause)
    super(
      `the mail server at ${host}:${port} did not take a mail (${said.join(', ')})${why === undefined ? '' : `: ${why}`}`,
    )
    this.code = String(code)
  }
}

/** Sends mails by SMTP, each over a connection of its own. */
export function createMailer(mailServer: MailServer): Mailer {
  const { user, password, from } = mailServer
  const options = {
    ...smtpOptions(mailServer),
    ...(user === '' ? {} : { auth: { user, pass: password } }),
    disableFileAccess: true,
    disableUrlAccess: true,
  }
  // Nobody waits for it at the start; and the first mail is not to be later than others.
  const transporter = import('nodemailer').then(({ createTransport }) => createTransport(options))
  return {
    async send({ to, ...content }) {
      try {
        await (
          await transporter
        ).sendMail({
          ...content,
          // As they are: a text would be taken apart as a list.
          to: { name: '', address: to },
          from,
          xMailer: false,
          headers: { 'auto-submitted': 'auto-generated' },
        })
      } catch (error) {
        throw new MailError(error, mailServer)
      }
    },
  }
}
