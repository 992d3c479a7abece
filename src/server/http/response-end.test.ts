import { once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import fastify from 'fastify'
import { expect, test } from 'vitest'

import { deferred } from '../../../test/support/deferred.ts'
import { onResponseEnd } from './response-end.ts'

test.each(['before', 'after'])(
  'the callback is called if the connection closes %s it is registered',
  async (when) => {
    const app = fastify()
    const { promise: called, resolve: callback } = deferred()
    app.get('/', async (request, reply) => {
      const closed = once(request.raw.socket, 'close')
      if (when === 'after') onResponseEnd(reply, callback)
      socket.destroy()
      await closed
      if (when === 'before') onResponseEnd(reply, callback)
      return 'too late'
    })
    await app.listen({ host: '127.0.0.1', port: 0 })
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
    await expect(called).resolves.toBeUndefined()
    await app.close()
  },
)

test('the callback is called if the connection closes while the response waits behind another response', async () => {
  const app = fastify()
  let isCalled = false
  const { promise: arrived, resolve: arrive } = deferred()
  const never = new Promise<string>(() => {})
  app.get('/first', () => never)
  app.get('/second', (_request, reply) => {
    onResponseEnd(reply, () => (isCalled = true))
    arrive()
    return never
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  const requestFor = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`
  socket.write(requestFor('/first') + requestFor('/second'))
  await arrived
  socket.destroy()
  await expect.poll(() => isCalled).toBe(true)
})
