import { once } from 'node:events'
import { createServer, request as ask, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

import { atEnd } from './endings.ts'

/** The keys of the stand-in, as a project has them: today's, and the older one, a JWT of the role `anon`. */
export const publishableKey = 'sb_publishable_of-the-tests_12345678'
export const olderKey = 'eyJhbGciOiJIUzI1NiJ9.eyJyb2xlIjoiYW5vbiJ9.c2lnbmF0dXJl'

export interface HostedGateway {
  origin: string
  /** What it refused, a line each. */
  refused: string[]
}

/**
 * A stand-in for the gateway before a hosted project, which cannot be had here. As its documents say, it asks for the key in
 * `apikey`, and refuses a publishable key as a bearer; Supabase's own tolerates one that `apikey` repeats, which nobody
 * may rely on.
 *
 * @param backend What is behind it, and the key that this asks for.
 * @see https://supabase.com/docs/guides/getting-started/api-keys
 */
export async function startHostedGateway(backend: { origin: string; key: string }): Promise<HostedGateway> {
  const refused: string[] = []
  const server = createServer((incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming
    const problem = method === 'OPTIONS' ? undefined : problemOf(headers, isOpen(url))
    if (problem !== undefined) {
      refused.push(`${method} ${url}: ${problem}`)
      outgoing.writeHead(401, { 'content-type': 'application/json', 'access-control-allow-origin': '*' })
      outgoing.end(JSON.stringify({ message: problem }))
      return
    }
    const { host: _, authorization, ...others } = headers
    const sent = ask(`${backend.origin}${url}`, {
      method,
      headers: {
        ...others,
        ...(headers['apikey'] !== undefined && { apikey: backend.key }),
        ...(authorization !== undefined && authorization !== `Bearer ${olderKey}` && { authorization }),
      },
    })
    sent.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    sent.on('error', () => outgoing.destroy())
    outgoing.on('close', () => sent.destroy())
    incoming.pipe(sent)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEnd(async () => {
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, refused }
}

/** Whether no key is asked for, since links of mails lead there, and readers of tokens. */
function isOpen(url: string) {
  return /^\/auth\/v1\/(verify|callback|authorize|\.well-known\/jwks\.json)\b/.test(url)
}

function problemOf({ apikey, authorization }: IncomingHttpHeaders, needsNoKey: boolean) {
  if (apikey === undefined && !needsNoKey) return 'No API key found in request'
  if (apikey !== undefined && apikey !== publishableKey && apikey !== olderKey) return 'Invalid API key'
  const [, bearer] = /^Bearer (.*)$/.exec(authorization ?? 'Bearer a.b.c') ?? []
  return bearer?.split('.').length === 3 ? undefined : 'Invalid JWT'
}
