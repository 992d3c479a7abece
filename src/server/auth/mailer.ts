import type { Transporter } from 'nodemailer'

import type { MailServer } from '../../settings/mail-settings.ts'
import type { Message } from './messages.ts'

/** Milliseconds for a connection, for the server's first words, and between two of its answers. */
const timeouts = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000 }

/** Sends mails. */
export interface Mailer {
  /** @throws where the mail server does not take it; the message may quote the address. */
  send(message: Message): Promise<void>
}

/**
 * Sends mails by SMTP, each over a connection of its own. What is said is encrypted where the server can; unless it
 * is on this machine, it has to.
 */
export function createMailer({ host, port, secure, user, password, from }: MailServer): Mailer {
  let transporter: Transporter | undefined
  const isHere = /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/.test(host)
  const open = async () => {
    // Nobody waits for it at the start.
    const { createTransport } = await import('nodemailer')
    return createTransport({
      ...timeouts,
      host: host.replace(/^\[(.*)\]$/, '$1'),
      ...(port === undefined ? {} : { port }),
      secure,
      requireTLS: !isHere,
      // What never leaves this machine needs no certificate.
      tls: { rejectUnauthorized: !isHere },
      ...(user === '' ? {} : { auth: { user, pass: password } }),
      disableFileAccess: true,
      disableUrlAccess: true,
    })
  }
  return {
    async send(message) {
      transporter ??= await open()
      await transporter.sendMail({
        ...message,
        // An address, not a list of them with names: it may hold a comma.
        to: { name: '', address: message.to },
        from,
        xMailer: false,
        headers: { 'auto-submitted': 'auto-generated' },
      })
    },
  }
}
