import type { FastifyRequest } from 'fastify'

/**
 * Checks the redirect target that a caller requests. The target has to be below the site's path. If the site is on this
 * machine, each page at another port of this machine is allowed, too. The applicants' page is refused, since it may not get
 * tokens.
 *
 * @param requested The target that the caller sent.
 * @param site The public address, which may have a path.
 * @returns The target; undefined if it is not allowed.
 */
function allowedTarget(requested: string, site: URL): URL | undefined {
  if (!URL.canParse(requested)) return undefined
  const target = new URL(requested)
  // Compares the text, too: the parser accepts IP addresses written as one number, and look-alike characters in names.
  if (!requested.toLowerCase().startsWith(target.origin)) return undefined
  if (target.username !== '' || target.password !== '') return undefined
  const areOnThisMachine = isLoopback(site) && isLoopback(target)
  // This machine has several names. With the same port, each name leads to the same server.
  const isSite = target.origin === site.origin || (areOnThisMachine && target.port === site.port)
  if (!isSite) return areOnThisMachine ? target : undefined
  const path = target.pathname.replace(/\/+$/, '')
  // A proxy may decode `%2f` and `%5c` to a slash.
  const isBelow = path.startsWith(`${basePath(site)}/`) && !/%2f|%5c/i.test(path)
  return isBelow ? target : undefined
}

/** The redirect target of a link: the requested page if it is allowed, otherwise the desk. */
export function redirectTarget(requested: string | undefined, site: URL): URL {
  return allowedTarget(requested ?? '', site) ?? deskOf(site)
}

/**
 * The redirect target that a request asks for, if it is allowed. A stranger may request an email to anybody, and its link must
 * not lead to the stranger's page. A forbidden target is therefore ignored, as if none was requested.
 */
export function requestedTarget({ headers, query }: FastifyRequest, site: URL): URL | undefined {
  const requested = headers['redirect_to'] ?? (query as Record<string, unknown>)['redirect_to']
  return typeof requested === 'string' ? allowedTarget(requested, site) : undefined
}

/**
 * The address of an email's link. The link leads to the desk, unless the client uses PKCE or requested another page. In these
 * cases it leads to GET verify, which redeems the link and redirects to the requested page, or otherwise to the desk.
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

/** A link to the desk, where a button redeems it: programs that scan emails open links, but press no button. */
export function deskLink(site: URL, { secret, type }: { secret: string; type: string }): string {
  return `${deskOf(site).href}#${new URLSearchParams({ token_hash: secret, type }).toString()}`
}

function deskOf(site: URL) {
  return new URL(`${site.origin}${basePath(site)}/desk`)
}

/** The base address of the sign-in's calls, and the issuer of its tokens. */
export function issuerOf(site: URL): string {
  return `${site.origin}${basePath(site)}/auth/v1`
}

function basePath({ pathname }: URL) {
  return pathname.replace(/\/+$/, '')
}

function isLoopback({ protocol, hostname }: URL) {
  return /^https?:$/.test(protocol) && /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname)
}
