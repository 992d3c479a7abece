import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'

import { createDesk } from './desk.ts'
import { createSession } from './session.ts'

/** A session at a backend that answers so. */
async function sessionAt(answer: (request: IncomingMessage, response: ServerResponse) => unknown) {
  const server = createServer((request, response) => void answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return createSession({ url, anonKey: 'public-anon-key' })
}

test('a call that got no answer is sent again as it was, and the sign-in is asked once for its token', async () => {
  const bodies: string[] = []
  const session = await sessionAt(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    bodies.push(body)
    if (bodies.length === 1) response.destroy()
    else if (bodies.length === 2) response.writeHead(502).end('<h1>Bad Gateway</h1>')
    else response.setHeader('content-type', 'application/json').end('[]')
  })
  const getSession = vi.spyOn(session.auth, 'getSession')
  const note = { act: crypto.randomUUID(), application: crypto.randomUUID(), note: 'A strong one.' }
  expect(await createDesk(session.rest)('desk_note', note)).toEqual([])
  expect(bodies).toEqual(Array.from({ length: 3 }, () => JSON.stringify(note)))
  expect(getSession).toHaveBeenCalledOnce()
})

test('what is asked of the sign-in is not sent again', async () => {
  let asked = 0
  const session = await sessionAt((_request, response) => {
    asked += 1
    response.writeHead(503).end()
  })
  const { error } = await session.auth.signInWithOtp({ email: 'ada@example.org' })
  expect(error?.name).toBe('AuthRetryableFetchError')
  expect(asked).toBe(1)
})
