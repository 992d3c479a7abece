import { once } from 'node:events'
import { connect, type AddressInfo, type Socket } from 'node:net'
import fastify, { type FastifyInstance } from 'fastify'
import { expect, test } from 'vitest'

import { limitUnreadData } from './unread-data.ts'

let app: FastifyInstance

async function listen(timeout: number) {
  app = fastify({ bodyLimit: 1024 })
  limitUnreadData(app, { timeout })
  app.get('/', (_request, reply) => reply.send(Buffer.alloc(64 * 1024 * 1024)))
  app.post('/', () => 'read')
  await app.listen({ host: '127.0.0.1', port: 0 })
  return connect((app.server.address() as AddressInfo).port, '127.0.0.1')
}

/** Reads until the connection closes. */
async function readResponse(socket: Socket) {
  let response = ''
  socket.on('data', (chunk: Buffer) => (response += chunk.toString('latin1')))
  await new Promise((resolve) => socket.once('close', resolve))
  return response
}

const post = (length: number) =>
  `POST / HTTP/1.1\r\nhost: x\r\ncontent-type: text/plain\r\ncontent-length: ${length}\r\n\r\n`

test('a response that nobody reads is dropped after a timeout', async () => {
  const socket = await listen(100)
  const [served] = (await once(app.server, 'connection')) as [Socket]
  socket.pause()
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  await once(served, 'close')
  // The rest of the response was not sent.
  expect(socket.bytesRead).toBeLessThan(64 * 1024 * 1024)
  socket.destroy()
})

test('a request that is refused early is read to its end, and its connection stays open', async () => {
  const socket = await listen(60_000)
  const next = 'GET /nothing HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'
  socket.write(post(300 * 1024) + 'x'.repeat(300 * 1024) + next)
  const response = await readResponse(socket)
  expect(response.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 404'])
})

// break: refused-body-read
test('an endless request is read only up to a limit', async () => {
  const socket = await listen(60_000)
  socket.on('error', () => {})
  socket.write(post(1e9))
  const more = Buffer.alloc(64 * 1024)
  const write = () => socket.writable && socket.write(more, () => setImmediate(write))
  write()
  await readResponse(socket)
  expect(socket.bytesWritten).toBeLessThan(32 * 1024 * 1024)
})
