import type { MailServer } from '../../settings/mail-settings.ts'

/**
 * Timeout of an email, from the connection to the last reply, in milliseconds. It also ends a slow reply whose bytes keep
 * arriving, which never reaches the timeout of silence.
 */
export const mailTimeout = 60_000

/** Timeouts of the connection, of the greeting, and of silence, in milliseconds. */
const timeouts = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000 }

/**
 * The options of every SMTP connection. TLS is used if the server offers it, and required unless the server is on this
 * machine.
 */
export function smtpOptions({ host, port, secure }: MailServer) {
  const isLocal = /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host)
  return {
    ...timeouts,
    host: host.replace(/^\[(.*)\]$/, '$1'),
    ...(port === undefined ? {} : { port }),
    secure,
    requireTLS: !isLocal,
    // A connection within this machine needs no trusted certificate.
    tls: { rejectUnauthorized: !isLocal },
  }
}

/**
 * The operating system's message about why a mail server could not be reached, for the log and for findings.
 *
 * @returns Undefined if the mail server replied. The reply may quote an address, so only its code is used.
 */
export function causeOf(failure: unknown): string | undefined {
  if (!(failure instanceof Error) || 'response' in failure) return undefined
  return failure.message
}
