import { hostAndPort, type MailServer } from '../../settings/mail-settings.ts'
import { runCheck, ok, oneLine, wrong, type Finding } from '../finding.ts'
import { greet } from './handover.ts'
import { checkSender, type DnsResolver } from './sender-domain.ts'

/** Timeout of the mail server, from the connection to the login, in milliseconds. */
const timeout = 10_000
/** Timeout of each check, in milliseconds. */
const checkTimeout = 15_000

/**
 * Checks that the mail server accepts our login, and that other mail servers accept emails from the sender's domain. No email is
 * sent.
 *
 * @param options.resolver The name servers to ask about the domain; default the machine's.
 * @param options.limit Timeout of the mail server, in milliseconds.
 */
export function checkMail(
  mailServer: MailServer,
  { resolver, limit = timeout }: { resolver?: DnsResolver | undefined; limit?: number } = {},
): Promise<Finding>[] {
  return [
    runCheck('mail', checkTimeout, () => checkServer(mailServer, limit)),
    runCheck('sender', checkTimeout, () => checkSender(mailServer.from.address, resolver)),
  ]
}

async function checkServer(mailServer: MailServer, limit: number) {
  const address = Object.values(hostAndPort(mailServer)).join(':')
  const greeting = await greet(mailServer, limit)
  if ('problem' in greeting) {
    const { problem, cause } = greeting
    // The operating system's message says more than its code.
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
  const encryption = secure ? 'over TLS' : 'without TLS, on this machine'
  return ok(`${address} answers ${encryption}${signedIn ? ', and takes the user and password' : ''}.`)
}
