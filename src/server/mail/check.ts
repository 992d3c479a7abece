import { hostAndPort, type MailServer } from '../../settings/mail-settings.ts'
import { runCheck, ok, oneLine, wrong, type Finding } from '../finding.ts'
import { greet } from './handover.ts'
import { checkSender, type DnsResolver } from './sender-domain.ts'

/** Timeout of the mail server, from the connection to the login, in milliseconds. */
const mailServerTimeout = 10_000
/** Timeout of each check, in milliseconds. */
const checkTimeout = 15_000

/**
 * Checks that the mail server accepts our login, and that the sender's domain has the DNS records that other mail servers look
 * up. No email is sent.
 *
 * @param options.resolver The name servers to ask about the domain; default the machine's.
 * @param options.timeout Timeout of the mail server, in milliseconds.
 * @returns The findings about the mail server and about the sender's domain, in this order.
 */
export function checkMail(
  mailServer: MailServer,
  { resolver, timeout = mailServerTimeout }: { resolver?: DnsResolver | undefined; timeout?: number } = {},
): Promise<Finding>[] {
  return [
    runCheck('mail', checkTimeout, () => checkServer(mailServer, timeout)),
    runCheck('sender', checkTimeout, () => checkSender(mailServer.from.address, resolver)),
  ]
}

async function checkServer(mailServer: MailServer, timeout: number) {
  const address = Object.values(hostAndPort(mailServer)).join(':')
  const greeting = await greet(mailServer, timeout)
  if ('problem' in greeting) {
    const { problem, cause } = greeting
    // The operating system's message replaces the codes in parentheses, because it says more.
    const reason =
      cause === undefined ? problem : `${problem.replace(/( \([^()]*\))?\.$/, '')} (${oneLine(cause)})`
    return wrong(`${oneLine(reason)}: see SMTP_URL, which names ${address}.`)
  }
  const { secure, signedIn } = greeting
  if (mailServer.user !== '' && !signedIn) {
    return wrong(
      `${address} asks for no user and password, though SMTP_URL has them: remove them, or use another port.`,
    )
  }
  const security = secure ? 'answers over TLS' : 'is on this machine and answers without TLS'
  return ok(`${address} ${security}${signedIn ? ', and accepts the user and password' : ''}.`)
}
