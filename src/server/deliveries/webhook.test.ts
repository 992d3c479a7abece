import { once } from 'node:events'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { expect, test } from 'vitest'

import { atTestEnd } from '../../../test/support/cleanup.ts'
import { startReceiver } from '../../../test/support/receiver.ts'
import { deliver } from './webhook.ts'

const send = (url: string, signal?: AbortSignal, timeout?: number) =>
  deliver('id', new URLSearchParams({ a: 'b' }), { url, secret: undefined }, signal, timeout)

/** Starts a server. Returns its address as if it spoke HTTP over TLS. */
async function listenAsHttps(server: Server) {
  server.listen(0, '127.0.0.1')
  atTestEnd(() => void server.close())
  await once(server, 'listening')
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function closedPort() {
  const receiver = await startReceiver()
  await receiver.close()
  return new URL(receiver.origin).port
}

/** Receivers to which no connection becomes ready, each with the expected reason. */
const unreached: [connection: string, url: () => Promise<string>, reason: RegExp][] = [
  ['is refused', async () => `http://127.0.0.1:${await closedPort()}`, /ECONNREFUSED/],
  [
    'is refused at each address of a name',
    async () => `http://localhost:${await closedPort()}`,
    /ECONNREFUSED/,
  ],
  ['has no network to its address', async () => 'http://255.255.255.255', /ENETUNREACH|EACCES/],
  ['is to an unknown name', async () => 'http://nobody.invalid', /ENOTFOUND|EAI_AGAIN/],
  // A mail server with TLS from the first byte sends an untrusted certificate.
  [
    'gets an untrusted certificate',
    () => listenAsHttps(new SMTPServer({ secure: true }).on('error', () => {}).server),
    /certificate/,
  ],
  [
    'is to a receiver without TLS',
    () => listenAsHttps(createServer((socket) => socket.end('no'))),
    /SSL|TLS/,
  ],
  [
    'ends before it is encrypted',
    () => listenAsHttps(createServer((socket) => socket.once('data', () => socket.destroy()))),
    /TLS/,
  ],
  ['is never encrypted', () => listenAsHttps(createServer()), /timeout/],
]

test.each(unreached)('if a connection %s, nothing was sent', async (_what, url, text) => {
  expect(await send(await url(), undefined, 2_000)).toEqual({
    delivered: false,
    status: null,
    isUncertain: false,
    text: expect.stringMatching(text) as string,
  })
})

test('if the receiver switches protocols, the delivery may have arrived, and the try ends at once', async () => {
  const switching = createServer((socket) =>
    socket.once('data', () =>
      socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
    ),
  )
  const url = (await listenAsHttps(switching)).replace('https', 'http')
  expect(await send(url)).toMatchObject({ delivered: false, status: null, isUncertain: true })
})

test('a delivery is not sent if it was cancelled before a connection was made', async () => {
  const receiver = await startReceiver()
  expect(await send(receiver.origin, AbortSignal.abort())).toMatchObject({ status: null, isUncertain: false })
  expect(receiver.received).toEqual([])
})

test('a delivery without a response may have arrived, also over a reused connection', async () => {
  let responds = true
  const receiver = await startReceiver((request, response) => {
    if (responds) response.end()
    else if (request.url === '/ends') response.destroy()
  })
  const cancellation = new AbortController()
  expect(await send(receiver.origin)).toMatchObject({ delivered: true, status: 200 })
  responds = false
  const cancelled = send(`${receiver.origin}/cancelled`, cancellation.signal)
  await receiver.waitFor(1, ({ url }) => url === '/cancelled')
  cancellation.abort()
  const results = await Promise.all([
    send(`${receiver.origin}/ends`),
    send(receiver.origin, undefined, 100),
    cancelled,
  ])
  for (const result of results)
    expect(result).toMatchObject({ delivered: false, status: null, isUncertain: true })
})
