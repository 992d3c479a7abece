import { connect, type AddressInfo } from 'node:net'
import fastify from 'fastify'
import { expect, test } from 'vitest'

import { createParseQueue, limitLargeRequests } from './large-requests.ts'
import { requestLimits } from './request-limits.ts'
import { limitUnreadData } from './unread-data.ts'

test('requests whose bodies nobody reads take no room of large ones', async () => {
  const app = fastify(requestLimits)
  limitUnreadData(app, { onDiscard: limitLargeRequests(app) })
  let responses = 0
  app.get('/', async () => String((responses += 1)))
  app.post('/', async () => 'read')
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  // As many as fill the room for large requests.
  const sockets = Array.from({ length: 32 }, () => {
    const socket = connect(port, '127.0.0.1')
    socket.write(`GET / HTTP/1.1\r\nhost: x\r\ncontent-length: ${requestLimits.bodyLimit}\r\n\r\nx`)
    return socket
  })
  await expect.poll(() => responses).toBe(sockets.length)
  const large = { method: 'POST', body: 'x'.repeat(20_000) }
  expect((await fetch(`http://127.0.0.1:${port}/`, large)).status).toBe(200)
  for (const socket of sockets) socket.destroy()
  await app.close()
})

// break: large-bodies-unqueued
test('large bodies are queued for a second at most, or else refused; small ones do not wait', async () => {
  const queueParsing = createParseQueue()
  const order: string[] = []
  const enqueue = (name: string, size: number) =>
    new Promise<void>((resolve) => {
      queueParsing(size, (refusal) => {
        order.push(refusal ? `${name} refused with ${refusal.status}` : name)
        resolve()
      })
    })
  const all = [enqueue('first', 4 * 1024 * 1024), enqueue('second', 4 * 1024 * 1024), enqueue('small', 100)]
  expect(order).toEqual(['small'])
  all.push(enqueue('third', 20_000))
  expect(order).toEqual(['small', 'third refused with 503'])
  await Promise.all(all)
  expect(order).toEqual(['small', 'third refused with 503', 'first', 'second'])
})
