import { hostAndPort, type MailServer } from '../../../settings/mail-settings.ts'
import { causeOf, mailTimeout, smtpOptions } from '../../mail/smtp.ts'
import type { Message } from './messages.ts'

/** Sends mails. */
export interface Mailer {
  /** @throws where the mail server does not accept it in time. */
  send(message: Message): Promise<void>
}

/** The mail server did not accept a mail. Its own words are left out, since they quote the address. */
export class MailError extends Error {
  readonly code: string
  /** Whether the mail server refused this mail alone, and may accept others. */
  readonly isAboutMail: boolean

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
    // 421 says that the mail server is closing, and nothing about the mail.
    this.isAboutMail =
      typeof responseCode === 'number' &&
      responseCode !== 421 &&
      (command === 'RCPT TO' || command === 'DATA')
  }
}

/**
 * Sends mails by SMTP, each over a connection of its own.
 *
 * @param limit Milliseconds for a mail, from the connection to the last reply.
 */
export function createMailer(mailServer: MailServer, limit = mailTimeout): Mailer {
  const { user, password, from } = mailServer
  const options = {
    ...smtpOptions(mailServer),
    ...(user === '' ? {} : { auth: { user, pass: password } }),
    disableFileAccess: true,
    disableUrlAccess: true,
  }
  // It is loaded at the start, where nobody waits for it, so that the first mail is as quick as the others.
  const transporter = import('nodemailer').then(({ createTransport }) => createTransport(options))
  return {
    async send({ to, ...content }) {
      const signal = AbortSignal.timeout(limit)
      try {
        await (
          await transporter
        ).sendMail({
          ...content,
          // As objects, since a text would be parsed as a list.
          to: { name: '', address: to },
          from,
          xMailer: false,
          headers: { 'auto-submitted': 'auto-generated' },
          signal,
        })
      } catch (error) {
        throw new MailError(signal.aborted ? outOfTime(limit) : error, mailServer)
      }
    },
  }
}

function outOfTime(limit: number) {
  return Object.assign(new Error(`its replies took longer than ${limit / 1000} s`), { code: 'ETIMEDOUT' })
}
