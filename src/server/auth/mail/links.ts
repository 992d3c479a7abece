import type { AddressInfo } from 'node:net'
import type { FastifyRequest } from 'fastify'

/**
 * Where a link leads back to: below the site or to this machine itself, where the caller asks for that; otherwise to
 * the desk. The applicants' page is no place for tokens.
 *
 * @param given What the caller wrote.
 * @param site The public address, which may have a path.
 */
export function redirectTarget(given: string | undefined, site: URL): URL {
  const desk = deskOf(site)
  if (given === undefined || !URL.canParse(given)) return desk
  const target = new URL(given)
  // As it was written, not only as it was understood: no number for an address, no other sign in the name.
  if (!given.toLowerCase().startsWith(target.origin)) return desk
  if (target.username !== '' || target.password !== '') return desk
  // This machine has several names; by each of them its port leads to the same server.
  const isSite =
    target.origin === site.origin || (isLoopback(site) && isLoopback(target) && target.port === site.port)
  const isBelow =
    isSite &&
    `${target.pathname}/`.startsWith(`${basePath(site)}/`) &&
    // A proxy may read these as a slash.
    !/%2f|%5c/i.test(target.pathname)
  if (!isBelow && !isLoopback(target)) return desk
  const isApplicantsPage = isSite && target.pathname.replace(/\/+$/, '') === basePath(site)
  return isApplicantsPage ? desk : target
}

/** Where the caller of a request wants a link to lead back to, if anywhere. */
export function requestedTarget({ headers, query }: FastifyRequest, site: URL): URL | undefined {
  const given = headers['redirect_to'] ?? (query as Record<string, unknown>)['redirect_to']
  return typeof given === 'string' && given !== '' ? redirectTarget(given, site) : undefined
}

/**
 * Where a mail's link leads. Whoever asked for a way back, or will show by PKCE who they are, has a page of their own:
 * theirs leads to GET verify, which uses it up and leads on.
 */
export function mailLink(
  site: URL,
  { secret, type, target }: { secret: string; type: string; target: URL | undefined },
): string {
  if (target === undefined && !secret.startsWith('pkce_')) return deskLink(site, { secret, type })
  const query = new URLSearchParams({ token: secret, type })
  if (target !== undefined) query.set('redirect_to', target.href)
  return `${issuerOf(site)}/verify?${query.toString()}`
}

/** A link to the desk, which has a button pressed before it uses it up: programs that look through mails open links. */
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
 * @param listening As `server.address()` tells it.
 */
export function siteOf(siteUrl: string | undefined, listening: AddressInfo | string | null): URL {
  if (siteUrl !== undefined) return new URL(siteUrl)
  const { address, port } = typeof listening === 'object' && listening ? listening : { address: '', port: 0 }
  return addressOf(address, port)
}

/** The address of a server on this machine. One that listens everywhere is reached here as `localhost`. */
export function addressOf(host: string, port: number): URL {
  const isEverywhere = ['', '::', '0.0.0.0'].includes(host)
  return new URL(`http://${isEverywhere ? 'localhost' : host.includes(':') ? `[${host}]` : host}:${port}`)
}
