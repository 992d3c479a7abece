import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'

/**
 * A port of the loopback that nobody listens on, for a program that cannot choose one by itself.
 *
 * @param wanted Which one it is to be; any unless given. Fails where that is not free.
 */
export async function freePort(wanted = 0): Promise<number> {
  const server = createServer().listen(wanted, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
