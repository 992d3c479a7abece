import { once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import fastify from 'fastify'
import { expect, test } from 'vitest'

import { onResponseEnd } from './response-end.ts'

test.each(['before it is answered', 'while it is answered'])(
  'a response is over when its visitor left %s',
  async (when) => {
    const app = fastify()
    let over = () => {}
    const isOver = new Promise<void>((resolve) => (over = resolve))
    app.get('/', async (request, reply) => {
      const closed = once(request.raw.socket, 'close')
      if (when === 'while it is answered') onResponseEnd(reply, over)
      socket.destroy()
      await closed
      if (when === 'before it is answered') onResponseEnd(reply, over)
      return 'too late'
    })
    await app.listen({ host: '127.0.0.1', port: 0 })
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
    await expect(isOver).resolves.toBeUndefined()
    await app.close()
  },
)

test('a response that waits behind another one is over when its visitor left', async () => {
  const app = fastify()
  let isOver = false
  let arrive = () => {}
  const arrived = new Promise<void>((resolve) => (arrive = resolve))
  const never = new Promise<string>(() => {})
  app.get('/first', () => never)
  app.get('/second', (_request, reply) => {
    onResponseEnd(reply, () => (isOver = true))
    arrive()
    return never
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  const ask = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`
  socket.write(ask('/first') + ask('/second'))
  await arrived
  socket.destroy()
  await expect.poll(() => isOver).toBe(true)
})
