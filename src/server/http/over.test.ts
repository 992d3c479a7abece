import { once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import fastify from 'fastify'
import { expect, test } from 'vitest'

import { whenOver } from './over.ts'

test.each(['before it is answered', 'while it is answered'])(
  'an answer is over when its visitor left %s',
  async (when) => {
    const app = fastify()
    let over = () => {}
    const isOver = new Promise<void>((resolve) => (over = resolve))
    app.get('/', async (request, reply) => {
      const closed = once(request.raw.socket, 'close')
      if (when === 'while it is answered') whenOver(reply, over)
      socket.destroy()
      await closed
      if (when === 'before it is answered') whenOver(reply, over)
      return 'too late'
    })
    await app.listen({ host: '127.0.0.1', port: 0 })
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
    await expect(isOver).resolves.toBeUndefined()
    await app.close()
  },
)
