import type { AddressInfo } from 'node:net'
import type { FastifyRequest } from 'fastify'

/**
 * Checks the redirect target that a caller asks for. It has to be below the site's path. If the site is on this machine, the
 * target may also be any other page on it. The applicants' page may not get tokens.
 *
 * @param given The target that the caller sent.
 * @param site The public address, which may have a path.
 */
function allowedTarget(given: string, site: URL): URL | undefined {
  if (!URL.canParse(given)) return undefined
  const target = new URL(given)
  // Compares the text too, not only the parsed address: this excludes IP addresses written as one number, and look-alike
  // characters in names.
  if (!given.toLowerCase().startsWith(target.origin)) return undefined
  if (target.username !== '' || target.password !== '') return undefined
  const isHere = isLoopback(site) && isLoopback(target)
  // This machine has several names, and the port leads to the same server by each.
  const isSite = target.origin === site.origin || (isHere && target.port === site.port)
  if (!isSite) return isHere ? target : undefined
  const path = target.pathname.replace(/\/+$/, '')
  // A proxy may decode these as a slash.
  const isBelow = path.startsWith(`${basePath(site)}/`) && !/%2f|%5c/i.test(path)
  return isBelow ? target : undefined
}

/** The redirect target of a link: the requested page if it is allowed, otherwise the desk. */
export function redirectTarget(given: string | undefined, site: URL): URL {
  return allowedTarget(given ?? '', site) ?? deskOf(site)
}

/**
 * The redirect target that a request asks for, if any. A stranger may request an email to anybody, so a forbidden target counts
 * as none. The link then leads to the desk, with its button.
 */
export function requestedTarget({ headers, query }: FastifyRequest, site: URL): URL | undefined {
  const given = headers['redirect_to'] ?? (query as Record<string, unknown>)['redirect_to']
  return typeof given === 'string' ? allowedTarget(given, site) : undefined
}

/**
 * The address of an email's link. A client that uses PKCE or asks for another page than the desk handles the sign-in itself. Its
 * link leads to GET verify, which redeems it and redirects.
 */
export function mailLink(
  site: URL,
  { secret, type, target }: { secret: string; type: string; target: URL | undefined },
): string {
  const isToDesk = target === undefined || target.pathname.replace(/\/+$/, '') === deskOf(site).pathname
  if (isToDesk && !secret.startsWith('pkce_')) return deskLink(site, { secret, type })
  const query = new URLSearchParams({ token: secret, type })
  if (target !== undefined) query.set('redirect_to', target.href)
  return `${issuerOf(site)}/verify?${query.toString()}`
}

/** A link to the desk, where a button redeems it, since programs that scan emails open links. */
export function deskLink(site: URL, { secret, type }: { secret: string; type: string }): string {
  return `${deskOf(site).href}#${new URLSearchParams({ token_hash: secret, type }).toString()}`
}

function deskOf(site: URL) {
  return new URL(`${site.origin}${basePath(site)}/desk`)
}

/** The address of this interface. */
export function issuerOf(site: URL): string {
  return `${site.origin}${basePath(site)}/auth/v1`
}

function basePath({ pathname }: URL) {
  return pathname.replace(/\/+$/, '')
}

function isLoopback({ protocol, hostname }: URL) {
  return /^https?:$/.test(protocol) && /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname)
}

/**
 * The public address: the one that is set, or where the server listens.
 *
 * @param listening The result of `server.address()`.
 */
export function siteOf(siteUrl: string | undefined, listening: AddressInfo | string | null): URL {
  if (siteUrl !== undefined) return new URL(siteUrl)
  const { address, port } = typeof listening === 'object' && listening ? listening : { address: '', port: 0 }
  return addressOf(address, port)
}

/** The address of a server on this machine. One that listens on all interfaces is reached as `localhost`. */
export function addressOf(host: string, port: number): URL {
  const isEverywhere = ['', '::', '0.0.0.0'].includes(host)
  return new URL(`http://${isEverywhere ? 'localhost' : host.includes(':') ? `[${host}]` : host}:${port}`)
}
