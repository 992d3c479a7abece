import { createServer, connect, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'

import { ensureCluster } from '../../src/server/database/postgres/cluster.ts'
import { atTestEnd } from './cleanup.ts'
import { waitForExit, postmasterOf } from './postmaster.ts'
import { dataDirectory } from './server.ts'
import type { Sql } from '../../src/server/database/connection/sql.ts'
import { connectToEmbedded } from './sql.ts'

/** A PostgreSQL that is reached over TCP, like that of `DATABASE_URL`. */
export interface TestPostgres {
  /** The address of one of its databases, for one of its users. */
  url(database?: string, user?: string): string
  /** Connections of its superuser, which are never frozen. */
  admin: Sql
  /** Stops all traffic in both directions, on open and new connections, until `thaw` is called. */
  freeze(): void
  thaw(): void
  /** Ends each open connection, by FIN or by RST. */
  closeConnections(packet: 'FIN' | 'RST'): void
  /**
   * Cuts each open connection in the middle of the next data that the database sends.
   *
   * @param at Gets the number of bytes that the database sends, and returns how many of them pass. If all pass, the connection
   * stays open.
   * @returns A function that stops cutting. Connections that are still open stay open.
   */
  cutMidData(at: (length: number) => number): () => void
  /** Kills the database with a signal, and starts it again on the same files. */
  killAndRestart(signal: NodeJS.Signals): Promise<void>
  close(): Promise<void>
}

/** A forwarded connection: `outside` leads to the client, and `inside` to the database. */
interface Link {
  outside: Socket
  inside: Socket
  cutAt?: (length: number) => number
}

/**
 * Starts a real PostgreSQL, and a port of the loopback address that leads to its socket.
 *
 * @param kind `database` has the schema, `cluster` is empty.
 */
export async function startPostgres(kind: 'database' | 'cluster' = 'cluster'): Promise<TestPostgres> {
  const directory = await dataDirectory(kind)
  const cluster = await ensureCluster(directory.path, true)
  const links = new Set<Link>()
  const sockets = () => [...links].flatMap(({ outside, inside }) => [outside, inside])
  let isFrozen = false
  const server = createServer((outside) => {
    const inside = connect(join(directory.path, '.s.PGSQL.5432'))
    const link: Link = { outside, inside }
    links.add(link)
    outside.on('data', (chunk) => inside.write(chunk))
    inside.on('data', (chunk) => {
      const passedBytes = link.cutAt?.(chunk.length) ?? chunk.length
      outside.write(chunk.subarray(0, passedBytes))
      if (passedBytes < chunk.length) inside.destroy()
    })
    for (const [from, to] of [
      [outside, inside],
      [inside, outside],
    ] as const) {
      from.on('end', () => to.end())
      if (isFrozen) from.pause()
      from.on('error', () => to.destroy())
      from.on('close', () => {
        links.delete(link)
        to.destroySoon()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const admin = connectToEmbedded(directory.path, 2)
  const close = atTestEnd(async () => {
    await admin.end()
    server.close()
    for (const socket of sockets()) socket.destroy()
    await cluster.stop()
    await directory.remove()
  })
  return {
    url: (database = 'postgres', user = 'postgres') => `postgres://${user}@127.0.0.1:${port}/${database}`,
    admin,
    freeze() {
      isFrozen = true
      for (const socket of sockets()) socket.pause()
    },
    thaw() {
      isFrozen = false
      for (const socket of sockets()) socket.resume()
    },
    closeConnections(packet) {
      for (const { outside } of links) void (packet === 'FIN' ? outside.end() : outside.resetAndDestroy())
    },
    cutMidData(at) {
      for (const link of links) link.cutAt = at
      return () => {
        for (const link of links) delete link.cutAt
      }
    },
    async killAndRestart(signal) {
      const pid = await postmasterOf(directory.path)
      if (pid === undefined) throw new Error('There is no PostgreSQL to be killed.')
      process.kill(pid, signal)
      await waitForExit(pid)
      await ensureCluster(directory.path, false)
    },
    close,
  }
}
