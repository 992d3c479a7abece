import { OperatorError } from './operator-error.ts'
import { isEncoded, mailProtocols, readAddress, redacted, type Environment } from './values.ts'

/** The mail server, and the sender of emails. */
export interface MailServer {
  host: string
  /** Undefined means 587, or 465 with TLS from the start. */
  port: number | undefined
  /** Whether TLS begins with the connection, as for `smtps://`. */
  secure: boolean
  /** Empty if the mail server needs no user. */
  user: string
  password: string
  /** `MAIL_FROM`; the name may be empty. */
  from: { name: string; address: string }
}

/** A mail server's host and port, as people see them in messages and logs: without user and password. */
export function hostAndPort({ host, port, secure }: MailServer): { host: string; port: number } {
  return { host, port: port ?? (secure ? 465 : 587) }
}

/**
 * Reads `SMTP_URL` and `MAIL_FROM`.
 *
 * @returns Undefined if `SMTP_URL` is not set.
 * @throws {OperatorError} if `SMTP_URL` cannot be used, or `MAIL_FROM` is missing or cannot be used.
 */
export function readMailServer(environment: Environment): MailServer | undefined {
  // Checked before the address is parsed: a password that is not encoded can make the address unparsable.
  const raw = environment['SMTP_URL']?.trim() ?? ''
  if (/^smtps?:\/\//i.test(raw) && !isEncoded(raw)) refuseUnreadable(raw)
  const given = readAddress(environment, 'SMTP_URL', mailProtocols)
  if (given === undefined) return undefined
  const { protocol, hostname: host, port, username, password, pathname, search } = new URL(given)
  if (host === '' || !/^\/?$/.test(pathname) || search !== '') refuseUnreadable(given)
  const from = senderIn(environment['MAIL_FROM'] ?? '')
  return {
    host,
    port: port === '' ? undefined : Number(port),
    secure: protocol === 'smtps:',
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    from,
  }
}

function senderIn(given: string) {
  const address = /[^<>\s@,;:"]+@[^<>\s@,;:"]+/.source
  const [, name = '', afterName, alone] =
    new RegExp(`^(?:"?([^<>"\\r\\n]*?)"?\\s*<(${address})>|(${address}))$`).exec(given) ?? []
  const found = afterName ?? alone
  if (found !== undefined) return { name, address: found }
  throw new OperatorError(
    `MAIL_FROM is "${given}" but should be the address that emails are sent from, such as "Unplugged. <hello@example.org>", since SMTP_URL is set.`,
  )
}

function refuseUnreadable(given: string): never {
  throw new OperatorError(
    `SMTP_URL ${redacted(given)} cannot be read: it should be user, password, host and port at the most, and signs such as # / ? @ % in its user and password should be percent-encoded, so that # is %23.`,
  )
}
