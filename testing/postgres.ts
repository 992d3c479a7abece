import { createServer, connect, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'

import { ensureCluster } from '../src/server/database/cluster.ts'
import { dataDirectory } from './server.ts'
import type { Sql } from '../src/server/database/sql.ts'
import { connectToFiles } from './sql.ts'

/** A PostgreSQL that is reached over TCP, as the one of `DATABASE_URL` is. */
export interface TestPostgres {
  /** The address of one of its databases, for one of its users. */
  url(database?: string, user?: string): string
  /** Connections of its superuser, which nothing freezes. */
  admin: Sql
  /** From now on nothing is passed on either way, on open connections and new ones, until it is thawed. */
  freeze(): void
  thaw(): void
  close(): Promise<void>
}

/** Starts a real PostgreSQL, and a port on the loopback that leads to its socket. */
export async function startPostgres(): Promise<TestPostgres> {
  const directory = await dataDirectory('cluster')
  const cluster = await ensureCluster(directory.path, true)
  const sockets = new Set<Socket>()
  let isFrozen = false
  const server = createServer((outside) => {
    const inside = connect(join(directory.path, '.s.PGSQL.5432'))
    for (const [from, to] of [
      [outside, inside],
      [inside, outside],
    ] as const) {
      sockets.add(from)
      from.on('data', (chunk) => to.write(chunk))
      from.on('end', () => to.end())
      if (isFrozen) from.pause()
      from.on('error', () => to.destroy())
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const admin = connectToFiles(directory.path, 2)
  return {
    url: (database = 'postgres', user = 'postgres') => `postgres://${user}@127.0.0.1:${port}/${database}`,
    admin,
    freeze() {
      isFrozen = true
      for (const socket of sockets) socket.pause()
    },
    thaw() {
      isFrozen = false
      for (const socket of sockets) socket.resume()
    },
    async close() {
      await admin.end()
      server.close()
      for (const socket of sockets) socket.destroy()
      await cluster.stop()
      await directory.remove()
    },
  }
}
