import type { MailServer } from '../../settings/mail-settings.ts'

/** Milliseconds for a connection, for the server's first words, and between two of its answers. */
const timeouts = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000 }

/**
 * How a mail server is spoken to, by all who do. What is said is encrypted where the server can; unless it is on this
 * machine, it has to.
 */
export function smtpOptions({ host, port, secure }: MailServer) {
  const isHere = /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host)
  return {
    ...timeouts,
    host: host.replace(/^\[(.*)\]$/, '$1'),
    ...(port === undefined ? {} : { port }),
    secure,
    requireTLS: !isHere,
    // What never leaves this machine needs no certificate.
    tls: { rejectUnauthorized: !isHere },
  }
}
