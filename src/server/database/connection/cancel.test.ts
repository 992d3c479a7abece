import { readFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { TLSSocket } from 'node:tls'
import { beforeAll, expect, test } from 'vitest'

import { atTestEnd } from '../../../../test/support/cleanup.ts'
import { createTestDatabase } from '../../../../test/support/worker-postgres.ts'
import { parseAddress } from './address.ts'
import type { Connection } from './connection.ts'
import { openConnection } from './open-connection.ts'

let databaseUrl: string
let observer: Connection

beforeAll(async () => {
  databaseUrl = await createTestDatabase()
  observer = await open(databaseUrl)
})

async function open(url: string) {
  const connection = await openConnection(parseAddress(url).address)
  atTestEnd(() => connection.close(0))
  return connection
}

/**
 * Gives a connection up while it runs an endless statement.
 *
 * @returns Whether the statement still runs.
 */
async function giveUpStatement(connection: Connection) {
  const [{ pid }] = await connection.sql<[{ pid: number }]>`select pg_backend_pid() as pid`
  atTestEnd(async () => void (await observer.sql`select pg_terminate_backend(${pid})`))
  const isRunning = async () => {
    const sleeping = observer.sql`select from pg_stat_activity where wait_event = 'PgSleep' and pid = ${pid}`
    return (await sleeping).length > 0
  }
  const failure = connection.sql`select pg_sleep(600)`.catch((error: unknown) => error)
  await expect.poll(isRunning).toBe(true)
  connection.giveUp()
  expect(await failure).toMatchObject({ code: 'CONNECTION_LOST' })
  return isRunning
}

const certificate = join(import.meta.dirname, '../../../../test/fixtures/tls/certificate.pem')
const tlsFiles = { cert: readFileSync(certificate), key: readFileSync(join(certificate, '../key.pem')) }

/** Starts a proxy with TLS in front of the database, and records everything that is sent to it in clear. */
async function startTlsProxy() {
  const { host, port } = parseAddress(databaseUrl).address
  const proxy = { url: '', inClear: [] as string[], hasTls: true, closed: 0 }
  const server = createServer((outside) => {
    outside.on('error', () => {}).on('close', () => (proxy.closed += 1))
    outside.once('data', (request) => {
      proxy.inClear.push(request.toString('hex'))
      if (!proxy.hasTls) {
        outside.on('data', (more) => proxy.inClear.push(more.toString('hex'))).write('N')
        return
      }
      outside.write('S')
      const secure = new TLSSocket(outside, { isServer: true, ...tlsFiles })
      const inside = connect(`${host}/.s.PGSQL.${port}`)
      secure.pipe(inside).pipe(secure)
      secure.on('error', () => inside.destroy()).on('close', () => inside.destroy())
      inside.on('error', () => secure.destroy())
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atTestEnd(() => void server.close())
  const { pathname } = new URL(databaseUrl)
  proxy.url = `postgres://postgres@127.0.0.1:${(server.address() as AddressInfo).port}${pathname}?sslmode=verify-full&sslrootcert=${certificate}`
  return proxy
}

/** The request to use TLS. */
const sslRequest = '0000000804d2162f'

test('without TLS, a statement whose connection is given up is cancelled', async () => {
  const isRunning = await giveUpStatement(await open(databaseUrl))
  await expect.poll(isRunning).toBe(false)
})

// break: cancel-in-clear
test('with TLS, the request to cancel a statement travels by TLS too', async () => {
  const proxy = await startTlsProxy()
  const isRunning = await giveUpStatement(await open(proxy.url))
  await expect.poll(isRunning).toBe(false)
  expect(proxy.inClear).toEqual([sslRequest, sslRequest])
})

test('a statement is not cancelled if TLS is refused, since the request would travel in clear', async () => {
  const proxy = await startTlsProxy()
  const connection = await open(proxy.url)
  proxy.hasTls = false
  const isRunning = await giveUpStatement(connection)
  await expect.poll(() => proxy.closed).toBe(2)
  expect(proxy.inClear).toEqual([sslRequest, sslRequest])
  expect(await isRunning()).toBe(true)
})
