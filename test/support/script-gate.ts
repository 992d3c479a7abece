import { once } from 'node:events'
import { createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A proxy in front of a server. It can hold requests for the page's script, or cut their connections. */
export interface Gate {
  origin: string
  /** The number of requests for the script so far. */
  scriptRequests: () => number
  /** Sets whether further requests for the script pass, wait until `pass` is set again, or lose their connection. */
  setScriptBehaviour: (behaviour: 'pass' | 'hold' | 'cut') => void
  close(): void
}

export async function startGate(target: string): Promise<Gate> {
  let behaviour: 'pass' | 'hold' | 'cut' = 'pass'
  let count = 0
  let held: (() => void)[] = []

  const pass = (request: IncomingMessage, response: ServerResponse) => {
    const { method, headers, url = '/' } = request
    const outgoing = send(new URL(url, target), { method, headers }, (forwarded) => {
      response.writeHead(forwarded.statusCode ?? 502, forwarded.headers)
      forwarded.pipe(response)
    })
    outgoing.on('error', () => response.destroy())
    request.pipe(outgoing)
  }
  const server = createServer((request, response) => {
    if (!request.url?.endsWith('.js')) return pass(request, response)
    count += 1
    if (behaviour === 'cut') response.destroy()
    else if (behaviour === 'hold') held.push(() => pass(request, response))
    else pass(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    scriptRequests: () => count,
    setScriptBehaviour(next) {
      behaviour = next
      if (behaviour !== 'pass') return
      for (const release of held) release()
      held = []
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
