import { once } from 'node:events'
import { createServer, request as send, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

import { atTestEnd } from './cleanup.ts'

/** The two keys of the stand-in, as a hosted project has them: a publishable key, and the older JWT of the role `anon`. */
export const publishableKey = 'sb_publishable_of-the-tests_12345678'
export const olderKey = 'eyJhbGciOiJIUzI1NiJ9.eyJyb2xlIjoiYW5vbiJ9.c2lnbmF0dXJl'

export interface HostedGateway {
  origin: string
  /** The refused requests, one line each. */
  refused: string[]
}

/**
 * A stand-in for the gateway of a hosted project, which is not available here. As documented, it requires the key in `apikey`
 * and refuses a publishable key as a bearer token. Supabase's gateway tolerates a bearer token equal to `apikey`, but does
 * not promise to.
 *
 * @param backend The server behind the gateway, and the key that this server requires.
 * @see https://supabase.com/docs/guides/getting-started/api-keys
 */
export async function startHostedGateway(backend: { origin: string; key: string }): Promise<HostedGateway> {
  const refused: string[] = []
  const server = createServer((incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming
    const problem = method === 'OPTIONS' ? undefined : problemOf(headers, needsNoKey(url))
    if (problem !== undefined) {
      refused.push(`${method} ${url}: ${problem}`)
      outgoing.writeHead(401, { 'content-type': 'application/json', 'access-control-allow-origin': '*' })
      outgoing.end(JSON.stringify({ message: problem }))
      return
    }
    const { host: _, authorization, ...others } = headers
    const forwarded = send(`${backend.origin}${url}`, {
      method,
      headers: {
        ...others,
        ...(headers['apikey'] !== undefined && { apikey: backend.key }),
        ...(authorization !== undefined && authorization !== `Bearer ${olderKey}` && { authorization }),
      },
    })
    forwarded.on('response', (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers)
      response.pipe(outgoing)
    })
    forwarded.on('error', () => outgoing.destroy())
    outgoing.on('close', () => forwarded.destroy())
    incoming.pipe(forwarded)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  atTestEnd(async () => {
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, refused }
}

/** Whether an address needs no key, because links in emails open it or verifiers of tokens read it. */
function needsNoKey(url: string) {
  return /^\/auth\/v1\/(verify|callback|authorize|\.well-known\/jwks\.json)\b/.test(url)
}

function problemOf({ apikey, authorization }: IncomingHttpHeaders, mayLackKey: boolean) {
  if (apikey === undefined && !mayLackKey) return 'No API key found in request'
  if (apikey !== undefined && apikey !== publishableKey && apikey !== olderKey) return 'Invalid API key'
  // A request without this header is treated like one with a well-formed JWT.
  const [, bearer] = /^Bearer (.*)$/.exec(authorization ?? 'Bearer a.b.c') ?? []
  return bearer?.split('.').length === 3 ? undefined : 'Invalid JWT'
}
