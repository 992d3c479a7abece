import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'

/**
 * Finds a free port of the loopback address, for a program that cannot choose one itself.
 *
 * @param wanted The port to check. By default any free port. Rejects if the wanted port is in use.
 */
export async function freePort(wanted = 0): Promise<number> {
  const server = createServer().listen(wanted, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
