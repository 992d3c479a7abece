import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

import { atTestEnd } from './cleanup.ts'

/** A request as received. */
export interface ReceivedRequest {
  method: string
  url: string
  headers: IncomingHttpHeaders
  body: string
}

/** An HTTP server that records its requests. */
export interface Receiver {
  origin: string
  received: ReceivedRequest[]
  /** Resolves when there are this many requests that satisfy `matches`, earlier ones included. */
  waitFor(number: number, matches?: (request: ReceivedRequest) => boolean): Promise<ReceivedRequest[]>
  close(): Promise<void>
}

/**
 * Starts a receiver on a port of the loopback address, by default a free one.
 *
 * @param respond Writes the response, by default 200 and "ok".
 */
export async function startReceiver(
  respond: (request: ReceivedRequest, response: ServerResponse) => void = (_request, response) =>
    response.end('ok'),
  port = 0,
): Promise<Receiver> {
  const received: ReceivedRequest[] = []
  const waiting = new Set<() => void>()
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const { method = '', url = '', headers } = incoming
      const request = { method, url, headers, body: Buffer.concat(chunks).toString() }
      received.push(request)
      for (const check of waiting) check()
      respond(request, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const close = atTestEnd(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  )
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    waitFor: (number, matches = () => true) =>
      new Promise((resolve) => {
        const check = () => {
          const matching = received.filter(matches)
          if (matching.length < number) return
          waiting.delete(check)
          resolve(matching)
        }
        waiting.add(check)
        check()
      }),
    close,
  }
}
