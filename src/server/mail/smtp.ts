import type { MailServer } from '../../settings/mail-settings.ts'

/** Milliseconds for a mail, from the connection to the last reply: between two bytes of a slow reply there is no silence. */
export const mailTimeout = 60_000

/** Milliseconds for a connection, for the server's first words, and of silence. */
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

/**
 * Why a mail server could not be spoken to, for the log: the machine's own words.
 *
 * @returns Nothing where the mail server answered, whose words may quote an address: its code tells.
 */
export function causeOf(failure: unknown): string | undefined {
  if (!(failure instanceof Error) || 'response' in failure) return undefined
  return failure.message
}
