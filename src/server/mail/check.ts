import { hostAndPort, type MailServer } from '../../settings/mail-settings.ts'
import { lookInto, ok, oneLine, wrong, type Finding } from '../finding.ts'
import { greet } from './handover.ts'
import { checkSender, type Names } from './sender-domain.ts'

/** Milliseconds for the mail server, from the connection to the login. */
const timeout = 10_000
/** Milliseconds after which neither the mail server nor the name servers are waited for. */
const longest = 15_000

/**
 * Checks that the mail server accepts our login, and that other mail servers accept mails from the sender's domain. Nothing is
 * handed over.
 *
 * @param options.names The name servers to ask about the domain: the machine's, unless given.
 * @param options.limit Milliseconds for the mail server.
 */
export function checkMail(
  mailServer: MailServer,
  { names, limit = timeout }: { names?: Names | undefined; limit?: number } = {},
): Promise<Finding>[] {
  return [
    lookInto('mail', longest, () => checkServer(mailServer, limit)),
    lookInto('sender', longest, () => checkSender(mailServer.from.address, names)),
  ]
}

async function checkServer(mailServer: MailServer, limit: number) {
  const address = Object.values(hostAndPort(mailServer)).join(':')
  const greeting = await greet(mailServer, limit)
  if ('problem' in greeting) {
    const { problem, cause } = greeting
    // The machine's own words say more than its code.
    const why =
      cause === undefined ? problem : `${problem.replace(/( \([^()]*\))?\.$/, '')} (${oneLine(cause)})`
    return wrong(`${oneLine(why)}: see SMTP_URL, which names ${address}.`)
  }
  const { secure, signedIn } = greeting
  if (mailServer.user !== '' && !signedIn) {
    return wrong(
      `${address} answers, but asks for no user and password, though SMTP_URL has them: leave them out, or use another port.`,
    )
  }
  const how = secure ? 'over TLS' : 'without TLS, on this machine'
  return ok(`${address} answers ${how}${signedIn ? ', and takes the user and password' : ''}.`)
}
