import { randomInt } from 'node:crypto'

import type { Settings } from '../../settings/server-settings.ts'
import { version } from '../../settings/version.ts'
import { notKnown, notSet, ok, oneLine, wrong, wrongIf } from '../finding.ts'
import { instancePath, type Forwarded } from '../health/proxy-check.ts'
import { ask, isSameDatabase, listenerFrom, problemOf, stringField, type Response } from './find-server.ts'

/** The responses of this machine's server (`here`) and of the public address (`site`); undefined if the address is unknown. */
export interface Responses {
  here: { address: string; health: Response; instance: Response } | undefined
  site: { address: string; instance: Response; desk: Response } | undefined
}

type SiteSettings = Pick<Settings, 'siteUrl' | 'trustProxy' | 'mailServer' | 'webhookUrl'>

/**
 * Asks the server at its own and at its public address, as a visitor who forges an IP address in `X-Forwarded-For`.
 *
 * @param listening The origin at which the server should listen; undefined if it is unknown.
 */
export async function askSite(
  { siteUrl }: Pick<Settings, 'siteUrl'>,
  listening: string | undefined,
): Promise<Responses> {
  // An IP address that nobody has (RFC 5737). A server that takes it for the visitor's believes anybody.
  const forged = `203.0.113.${randomInt(1, 255)}`
  const path = `${instancePath}?forwarded=${forged}`
  const headers = { 'x-forwarded-for': forged }
  const site = siteUrl?.replace(/\/+$/, '')
  const [health, instance, publicInstance, desk] = await Promise.all([
    listening === undefined ? undefined : ask(`${listening}/healthz`),
    listening === undefined ? undefined : ask(`${listening}${path}`, headers),
    site === undefined ? undefined : ask(`${site}${path}`, headers),
    site === undefined ? undefined : ask(`${site}/desk`),
  ])
  return {
    here: listening && health && instance ? { address: listening, health, instance } : undefined,
    site: site && publicInstance && desk ? { address: site, instance: publicInstance, desk } : undefined,
  }
}

/**
 * Checks that a server of this version runs here, and that the public address leads to a server on the same database.
 *
 * @param database.databaseId The database's id; null or undefined if it is unknown.
 * @param database.isHostedProject Whether the database is a hosted project's, whose pages need no server.
 */
export function checkSite(
  { here, site }: Responses,
  { mailServer, webhookUrl }: SiteSettings,
  { databaseId, isHostedProject }: { databaseId: string | null | undefined; isHostedProject: boolean },
) {
  const listener = here && listenerFrom(here.instance, databaseId)
  const isServerNeeded = !isHostedProject || mailServer !== undefined || webhookUrl !== undefined
  const publicFinding = site && checkPublicAddress(site, databaseId, isHostedProject)
  const isPageServed = publicFinding !== undefined && publicFinding.problem === undefined
  const isRunning = listener === 'a server on this database'
  const runningVersion = here && stringField(here.health, 'version')
  const problems = wrongIf([
    listener === 'nothing' &&
      isServerNeeded &&
      !isPageServed &&
      `No server answers at ${here?.address}: start it.`,
    here && listener && isServerNeeded && problemOf(listener, here.address, here.instance),
    isRunning &&
      runningVersion !== version &&
      `The server at ${here?.address} is version ${runningVersion ?? 'older'}, and ${version} is installed: restart the server.`,
    publicFinding?.problem,
    isRunning &&
      site === undefined &&
      mailServer !== undefined &&
      `SITE_URL is not set, so links in emails lead to ${here?.address}, where only this machine may find the server.`,
  ])
  if (problems) return problems
  const versionSentence = isRunning ? ` The server at ${here?.address} is version ${version}.` : ''
  return publicFinding === undefined
    ? notSet(`SITE_URL is not set.${versionSentence}`)
    : ok(`${publicFinding.sentence}${versionSentence}`)
}

function checkPublicAddress(
  { address, instance, desk }: NonNullable<Responses['site']>,
  databaseId: string | null | undefined,
  isHostedProject: boolean,
): { sentence: string; problem?: string } {
  const sentence = `SITE_URL is ${address}`
  const problem = (what: string) => ({ sentence, problem: `${sentence}, ${what}` })
  if ('problem' in instance) {
    return problem(
      `which does not answer (${instance.problem}): check that the name leads here, and check the proxy and its certificate.`,
    )
  }
  const { status, location, body } = instance
  if ('mark' in body) {
    return isSameDatabase(instance, databaseId)
      ? { sentence: `${sentence}, which answers and is a server on this database.` }
      : problem('where a server on another database answers: set it to the address of this server.')
  }
  // A hosted project's pages may be on a static host, with no server behind them.
  if (isHostedProject && !('problem' in desk) && desk.status < 400) {
    return { sentence: `${sentence}, which answers. A static host serves the page.` }
  }
  if (location !== null)
    return problem(`which redirects to ${oneLine(location)}: set SITE_URL to the page's own address.`)
  if (status === 502 || status === 503 || status === 504) {
    return problem(`where a proxy answers ${status}: it does not reach the server.`)
  }
  return problem(`which does not lead to a server of this version (${status}): check its host name and path.`)
}

/** The prefix length below which a trusted range of IP addresses is so wide that it includes strangers. */
const minPrefixLength = 8

/** Checks that the server sees its visitors' real addresses. */
export function checkProxy({ site }: Responses, { trustProxy, siteUrl }: SiteSettings) {
  const wideRange =
    Array.isArray(trustProxy) &&
    trustProxy.find((range) => Number(range.split('/')[1] ?? 128) < minPrefixLength)
  if (wideRange) {
    return wrong(
      `TRUST_PROXY has ${wideRange}, which is so wide that it includes strangers: name the proxy's own address.`,
    )
  }
  if (site === undefined || siteUrl === undefined) {
    return notSet('The proxy is checked through SITE_URL, which is not set.')
  }
  switch (stringField(site.instance, 'forwarded') as Forwarded | undefined) {
    case 'believed':
      return ok("The server takes visitors' addresses from the proxy, and from nobody else.")
    case 'direct':
      return siteUrl.startsWith('https:')
        ? wrong(
            'The proxy before SITE_URL adds no X-Forwarded-For, so all its visitors share one rate limit: have it add that, and set TRUST_PROXY.',
          )
        : ok('No proxy adds X-Forwarded-For, and none is trusted.')
    case 'nothing added':
      // Our server speaks no TLS, so a proxy passed this request on.
      return siteUrl.startsWith('https:')
        ? wrong(
            "The proxy before SITE_URL passes on the X-Forwarded-For that visitors write themselves, and TRUST_PROXY trusts it, so no rate limit works: have the proxy set that header to the visitor's address, as deploy/nginx-proxy.conf does.",
          )
        : notKnown(
            'The doctor asks from an address in TRUST_PROXY, and no proxy added to its X-Forwarded-For, so it cannot tell what strangers could write there.',
          )
    case 'from a trusted address':
      return notKnown(
        "The doctor asks from an address in TRUST_PROXY, so it cannot tell whether strangers are believed: have the proxy set X-Forwarded-For to the visitor's address alone, as deploy/nginx-proxy.conf does.",
      )
    case 'unbelieved':
      return wrong(
        "A proxy says who visitors are, but TRUST_PROXY does not name it, so all its visitors share one rate limit: set TRUST_PROXY to the proxy's address, as the server sees it.",
      )
    case 'too few':
      return wrong(
        'TRUST_PROXY names too few of several proxies, so one of them counts as the visitor: name them all.',
      )
    case 'anybody is believed':
      return wrong(
        'TRUST_PROXY trusts an X-Forwarded-For that visitors write themselves, so no rate limit works: name the addresses of the proxies, or set a smaller number.',
      )
    case undefined:
      return notKnown(
        'problem' in site.instance || !('mark' in site.instance.body)
          ? 'SITE_URL does not lead to this server.'
          : 'The server at SITE_URL does not say whom it takes for a visitor: a proxy may remove what the doctor asks.',
      )
  }
}
