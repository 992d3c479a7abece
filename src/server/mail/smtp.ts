import type { MailServer } from '../../settings/mail-settings.ts'

/**
 * Timeout of an email, from the connection to the last reply, in milliseconds. A slow reply that keeps sending bytes never hits
 * the silence limit.
 */
export const mailTimeout = 60_000

/** Milliseconds for a connection, for the greeting, and of silence. */
const timeouts = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000 }

/**
 * The options of every SMTP connection. TLS is used where the server offers it, and required unless the server is on this
 * machine.
 */
export function smtpOptions({ host, port, secure }: MailServer) {
  const isHere = /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host)
  return {
    ...timeouts,
    host: host.replace(/^\[(.*)\]$/, '$1'),
    ...(port === undefined ? {} : { port }),
    secure,
    requireTLS: !isHere,
    // A connection within this machine needs no certificate.
    tls: { rejectUnauthorized: !isHere },
  }
}

/**
 * Why a mail server could not be reached, for the log: the operating system's message.
 *
 * @returns Undefined where the mail server replied: its reply may quote an address, so only its code is logged.
 */
export function causeOf(failure: unknown): string | undefined {
  if (!(failure instanceof Error) || 'response' in failure) return undefined
  return failure.message
}
