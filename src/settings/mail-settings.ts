import { OperatorError } from './operator-error.ts'
import { isEncoded, mailProtocols, readAddress, shown, type Environment } from './values.ts'

/** Where mails are handed in, and who sends them. */
export interface MailServer {
  host: string
  /** 587, or 465 where TLS comes first, unless given. */
  port: number | undefined
  /** Whether TLS comes first, as `smtps://` has it. */
  secure: boolean
  /** Empty where the server asks for none. */
  user: string
  password: string
  /** `MAIL_FROM`; the name may be empty. */
  from: { name: string; address: string }
}

/** A mail server's host and port, for people: no user and no password. */
export function hostAndPort({ host, port, secure }: MailServer): { host: string; port: number } {
  return { host, port: port ?? (secure ? 465 : 587) }
}

/**
 * Reads `SMTP_URL` and `MAIL_FROM`.
 *
 * @returns Nothing where no mail server is set.
 * @throws {OperatorError} where one of them is missing or cannot be used.
 */
export function readMailServer(environment: Environment): MailServer | undefined {
  // Before it is read as an address: a password that is not encoded can make it none.
  const raw = environment['SMTP_URL'] ?? ''
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
  const [, name = '', named, alone] =
    new RegExp(`^(?:"?([^<>"\\r\\n]*?)"?\\s*<(${address})>|(${address}))$`).exec(given) ?? []
  const found = named ?? alone
  if (found !== undefined) return { name, address: found }
  throw new OperatorError(
    `MAIL_FROM is "${given}" but should be the address that mails come from, such as "Unplugged. <hello@example.org>", since SMTP_URL is set.`,
  )
}

function refuseUnreadable(given: string): never {
  throw new OperatorError(
    `SMTP_URL ${shown(given)} cannot be read: it should be user, password, host and port at the most, and signs such as # / ? @ % in its user and password should be percent-encoded, so that # is %23.`,
  )
}
