import { randomInt } from 'node:crypto'

import type { Settings } from '../../settings/server-settings.ts'
import { version } from '../../settings/version.ts'
import { addressOf } from '../auth/mail/links.ts'
import { notKnown, ok, oneLine, wrong, wrongIf } from '../finding.ts'
import { instancePath, type Forwarded } from '../health/instance.ts'

/** Milliseconds for each answer. */
const timeout = 8_000

/** What an address answers. */
type Answer = { status: number; body: Record<string, unknown>; location: string | null } | { problem: string }

/** What this server, and the public address, answer. */
export interface Answers {
  here: { address: string; health: Answer; instance: Answer } | undefined
  site: { address: string; instance: Answer; desk: Answer } | undefined
}

type SiteSettings = Pick<Settings, 'host' | 'port' | 'siteUrl' | 'trustProxy' | 'mailServer' | 'webhookUrl'>

/** Asks the server where it listens and by its public address, as a visitor who forges an address in `X-Forwarded-For`. */
export async function askSite({ host, port, siteUrl }: SiteSettings): Promise<Answers> {
  // An address that nobody has (RFC 5737): where the server believes it, it believes anybody.
  const visitor = `203.0.113.${randomInt(1, 255)}`
  const path = `${instancePath}?forwarded=${visitor}`
  const headers = { 'x-forwarded-for': visitor }
  const listening = addressOf(host, port).href.replace(/\/$/, '')
  const site = siteUrl?.replace(/\/+$/, '')
  const [health, instance, named, desk] = await Promise.all([
    ask(`${listening}/healthz`),
    ask(`${listening}${path}`, headers),
    site === undefined ? undefined : ask(`${site}${path}`, headers),
    site === undefined ? undefined : ask(`${site}/desk`),
  ])
  return {
    here: port === 0 ? undefined : { address: listening, health, instance },
    site: site && named && desk ? { address: site, instance: named, desk } : undefined,
  }
}

async function ask(address: string, headers: Record<string, string> = {}): Promise<Answer> {
  try {
    const signal = AbortSignal.timeout(timeout)
    const response = await fetch(address, { redirect: 'manual', headers, signal })
    const isJson = response.headers.get('content-type')?.includes('json') === true
    const read = isJson ? ((await response.json()) as unknown) : undefined
    if (!isJson) await response.body?.cancel()
    const body = typeof read === 'object' && read !== null ? (read as Record<string, unknown>) : {}
    return { status: response.status, body, location: response.headers.get('location') }
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError') {
      return { problem: `no answer within ${timeout / 1000} s` }
    }
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    return { problem: cause instanceof Error ? oneLine(cause.message || String(cause)) : String(cause) }
  }
}

/**
 * Whether a server runs here, of this version, and the public address leads to one on the same database.
 *
 * @param mark The database's id; undefined where it is not known.
 * @param isProjects Whether the database is a hosted project's, whose pages need no server.
 */
export function judgeSite(
  { here, site }: Answers,
  { mailServer, webhookUrl }: SiteSettings,
  mark: string | null | undefined,
  isProjects: boolean,
) {
  const runs = here && word(here.health, 'version')
  const isRunning = here !== undefined && word(here.health, 'status') === 'ok'
  const isNeeded = !isProjects || mailServer !== undefined || webhookUrl !== undefined
  const named = site && judgePublic(site, mark, isProjects)
  const isServed = named !== undefined && named.problem === undefined
  const problems = wrongIf([
    here !== undefined &&
      !isRunning &&
      isNeeded &&
      !isServed &&
      `No server answers at ${here.address}: npm start starts it.`,
    isRunning &&
      !isSame(here.instance, mark) &&
      `The server at ${here.address} uses another database than this one: stop it, or set PORT.`,
    isRunning &&
      runs !== version &&
      `The server at ${here.address} is version ${runs ?? 'older'}, and ${version} is here: start it once more.`,
    named?.problem,
    isRunning &&
      site === undefined &&
      mailServer !== undefined &&
      `SITE_URL is not set, so the links of mails lead to ${here.address}, where only this machine may find the server.`,
  ])
  if (problems) return problems
  const listens = isRunning ? ` The server at ${here.address} is version ${version}.` : ''
  return ok(`${named?.said ?? 'SITE_URL is not set.'}${listens}`)
}

/** A text in an answer. */
function word(answer: Answer, name: string) {
  const said = 'problem' in answer ? undefined : answer.body[name]
  return typeof said === 'string' ? said : undefined
}

/** Whether an answer is from a server on our database. A server that does not say which database it uses counts as one. */
function isSame(answer: Answer, mark: string | null | undefined) {
  const theirs = word(answer, 'mark')
  return typeof mark !== 'string' || theirs === undefined || theirs === mark
}

function judgePublic(
  { address, instance, desk }: NonNullable<Answers['site']>,
  mark: string | null | undefined,
  isProjects: boolean,
): { said: string; problem?: string } {
  const said = `SITE_URL is ${address}`
  const problem = (what: string) => ({ said, problem: `${said}, ${what}` })
  if ('problem' in instance) {
    return problem(
      `which does not answer (${instance.problem}): see that the name leads here, and to the proxy and its certificate.`,
    )
  }
  const { status, location, body } = instance
  if ('mark' in body) {
    return isSame(instance, mark)
      ? { said: `${said}, which answers and is a server on this database.` }
      : problem('where a server on another database answers: set it to the address of this one.')
  }
  // A static host has the pages of a hosted project, and no server behind them.
  if (isProjects && !('problem' in desk) && desk.status < 400) {
    return { said: `${said}, which answers; the page is a static host's.` }
  }
  if (location !== null)
    return problem(`which leads on to ${oneLine(location)}: set it to where the page itself is.`)
  if (status === 502 || status === 503 || status === 504) {
    return problem(`where a proxy answers ${status}: it does not reach the server.`)
  }
  return problem(
    `where something else than a server of this version answers (${status}): see that the name and the path lead here.`,
  )
}

/** Ranges of addresses so wide that they include strangers. */
const widest = 8

/** Whether the server sees the right address of its visitors. */
export function judgeProxy({ site }: Answers, { trustProxy, siteUrl }: SiteSettings) {
  const wide =
    Array.isArray(trustProxy) && trustProxy.find((range) => Number(range.split('/')[1] ?? 128) < widest)
  if (wide) {
    return wrong(
      `TRUST_PROXY has ${wide}, which is so wide that strangers are believed: name the proxy's own address.`,
    )
  }
  if (site === undefined || siteUrl === undefined) {
    return notKnown('It is asked at SITE_URL, which is not set.')
  }
  switch (word(site.instance, 'forwarded') as Forwarded | undefined) {
    case 'believed':
      return ok('The proxy says who visitors are, and is believed as it should be.')
    case 'direct':
      return siteUrl.startsWith('https:')
        ? wrong(
            'The proxy before SITE_URL adds no X-Forwarded-For, so all its visitors share one rate limit: have it add that, and set TRUST_PROXY.',
          )
        : ok('No proxy adds X-Forwarded-For, and none is believed.')
    case 'from a trusted address':
      return ok(
        'The proxy is believed; this machine is, too, so it cannot be seen from here whether strangers are.',
      )
    case 'unbelieved':
      return wrong(
        "A proxy says who visitors are, but TRUST_PROXY does not name it, so all its visitors share one rate limit: set TRUST_PROXY to the proxy's address, as the server sees it.",
      )
    case 'too few':
      return wrong(
        'Of several proxies TRUST_PROXY believes too few, so one of them counts as the visitor: name them all.',
      )
    case 'anybody':
      return wrong(
        'TRUST_PROXY believes what visitors write into X-Forwarded-For, so nobody is limited: name the addresses of the proxies, or fewer of them.',
      )
    case undefined:
      return notKnown('SITE_URL does not lead to this server.')
  }
}
