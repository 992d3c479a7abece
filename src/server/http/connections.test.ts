import { once } from 'node:events'
import { connect, type AddressInfo, type Socket } from 'node:net'
import fastify, { LogController } from 'fastify'
import { expect, test } from 'vitest'

import { deferred } from '../../../test/support/deferred.ts'
import { boundConnections } from './connections.ts'

const lines: { msg: string; closed: number }[] = []

/** Starts a server with at most ten connections. `/held` responds when it is released. */
async function listen() {
  const write = (line: string) => lines.push(JSON.parse(line) as (typeof lines)[0])
  const app = fastify({
    logger: { stream: { write } },
    logController: new LogController({ disableRequestLogging: true }),
  })
  boundConnections(app, { most: 10 })
  const { promise: released, resolve: release } = deferred()
  app.get('/', () => 'here')
  app.get('/held', async () => {
    await released
    return 'held'
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const open = async () => {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    // A connection beyond the bound may be closed at once.
    await Promise.race([once(socket, 'connect'), once(socket, 'close')])
    return socket
  }
  return { app, open, release }
}

const responseOf = async (socket: Socket) => {
  let text = ''
  socket.on('data', (chunk) => (text += String(chunk)))
  await once(socket, 'close')
  return text
}

// break: idle-connections-kept
test('connections without a request give way to others, the oldest first, and the log has one line', async () => {
  const { app, open, release } = await listen()
  const held = await open()
  const requested = once(app.server, 'request')
  held.write('GET /held HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
  await requested
  for (let index = 0; index < 40; index += 1) await open()
  // Not by `fetch`, which would try again and again.
  const late = await open()
  late.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
  expect(await responseOf(late)).toMatch(/here$/)
  release()
  // A connection with a request is not closed.
  expect(await responseOf(held)).toMatch(/held$/)
  expect(lines.filter(({ msg }) => msg.startsWith('too many connections are open'))).toHaveLength(1)
  app.server.closeAllConnections()
  await app.close()
})
