import { once } from 'node:events'
import { connect } from 'node:tls'

import { notSet, ok, wrong } from '../../finding.ts'

const day = 24 * 3_600_000
/** Milliseconds before its end when a certificate should have been renewed. Shorter-lived ones are renewed in their last quarter. */
const renewalTime = 14 * day
/** Timeout of the connection, in milliseconds. */
const timeout = 8_000

/** The times of a certificate, as TLS reports them. */
interface Validity {
  valid_from: string
  valid_to: string
}

/**
 * Checks how long the certificate of the public address is valid. The line about the site says if browsers refuse it for another
 * reason.
 */
export async function checkCertificate(
  siteUrl: string | undefined,
  now = new Date(),
  read: (site: URL) => Promise<Validity> = readCertificate,
) {
  if (siteUrl === undefined) return notSet('The certificate is checked through SITE_URL, which is not set.')
  const site = new URL(siteUrl)
  if (site.protocol !== 'https:')
    return notSet(`SITE_URL is ${site.origin}, without TLS, so it has no certificate.`)
  let validity: Validity
  try {
    validity = await read(site)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return wrong(`${site.host} showed no certificate (${reason}): check the proxy.`)
  }
  const [from, to] = [new Date(validity.valid_from), new Date(validity.valid_to)]
  const left = to.getTime() - now.getTime()
  const end = to.toISOString().slice(0, 10)
  if (left < 0) return wrong(`The certificate of ${site.host} ended on ${end}: renew it.`)
  const days = `${Math.floor(left / day)} ${Math.floor(left / day) === 1 ? 'day' : 'days'}`
  if (left < Math.min(renewalTime, (to.getTime() - from.getTime()) / 4)) {
    return wrong(
      `The certificate of ${site.host} ends in ${days}, on ${end}, and should have been renewed: see the log of certbot or of the proxy.`,
    )
  }
  return ok(`The certificate of ${site.host} ends in ${days}, on ${end}.`)
}

async function readCertificate(site: URL): Promise<Validity> {
  const host = site.hostname.replace(/^\[(.*)\]$/, '$1')
  const socket = connect({
    host,
    port: Number(site.port || 443),
    servername: /^[\d.]+$|:/.test(host) ? '' : host,
    // A certificate that has ended has to be read, too. Nothing is sent.
    rejectUnauthorized: false,
  })
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(timeout) })
    return socket.getPeerCertificate()
  } finally {
    socket.destroy()
  }
}
