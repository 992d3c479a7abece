import { createServer, type AddressInfo } from 'node:net'
import { beforeAll, expect, test } from 'vitest'

import { send } from '../../support/send-application.ts'
import { anApplication } from '../../support/form.ts'
import { startPostgres, type TestPostgres } from '../../support/postgres.ts'
import { startReceiver } from '../../support/receiver.ts'
import { runCommand, startServer, dataDirectory } from '../../support/server.ts'
import { connectToEmbedded } from '../../support/sql.ts'
import { until } from '../../support/until.ts'

let postgres: TestPostgres

beforeAll(async () => {
  postgres = await startPostgres()
})

test('while the database hangs, applications are refused with 503, and when it responds, applications are accepted again', async () => {
  const hook = await startReceiver()
  const server = await startServer({ DATABASE_URL: postgres.url(), WEBHOOK_URL: hook.origin })
  expect(await send(server.origin, anApplication())).toBe(201)
  await hook.waitFor(1)
  postgres.freeze()
  const application = anApplication()
  const statuses = await Promise.all([
    send(server.origin, application),
    ...Array.from({ length: 20 }, () => send(server.origin, anApplication())),
    fetch(server.origin, { method: 'POST', body: new URLSearchParams({ first_name: 'Ada' }) }).then(
      async (response) => (expect(await response.text()).toContain('Submission Failed'), response.status),
    ),
  ])
  expect(new Set(statuses)).toEqual(new Set([503]))
  // The log has the reason, also for a natively posted form.
  await server.waitForOutput(/"code":"DEADLINE"/)
  await server.waitForOutput(/"code":"(DEADLINE|CONNECT_TIMEOUT)".*"msg":"an application was not stored"/)
  expect((await fetch(`${server.origin}/readyz`)).status).toBe(503)
  expect((await fetch(server.origin)).status).toBe(200)
  postgres.thaw()
  // The first request may have stored the application, and repeating it must not store it twice.
  expect([201, 409]).toContain(await send(server.origin, application))
  const rows = await postgres.admin`
    select from public.retreat_applications where email = ${application.email}`
  expect(rows).toHaveLength(1)
  await hook.waitFor(2)
  expect(await server.stop()).toBe(0)
})

test('a server stops even while the database hangs', async () => {
  const hook = await startReceiver()
  const server = await startServer({ DATABASE_URL: postgres.url(), WEBHOOK_URL: hook.origin })
  expect(await send(server.origin, anApplication())).toBe(201)
  postgres.freeze()
  const pending = send(server.origin, anApplication()).catch(() => 'no response')
  expect(await server.stop()).toBe(0)
  expect([503, 'no response']).toContain(await pending)
  postgres.thaw()
})

test('a hanging start ends at the first signal', async () => {
  // This database accepts connections and never responds.
  const silentServer = createServer()
  await new Promise<void>((resolve) => silentServer.listen(0, '127.0.0.1', resolve))
  const { port } = silentServer.address() as AddressInfo
  const connected = new Promise<void>((resolve) => silentServer.once('connection', () => resolve()))
  const running = runCommand(
    [],
    { DATABASE_URL: `postgres://u@127.0.0.1:${port}/d` },
    undefined,
    async (child) => {
      await connected
      child.kill('SIGTERM')
    },
  )
  expect(await running).toMatchObject({ code: 0, stderr: 'Stopped before it was ready.\n' })
})

test('a start fails with a sentence if the database closes each connection, and it backs off between its attempts', async () => {
  let connectionCount = 0
  const closingServer = createServer((socket) => {
    connectionCount += 1
    socket.end()
  })
  await new Promise<void>((resolve) => closingServer.listen(0, '127.0.0.1', resolve))
  const { port } = closingServer.address() as AddressInfo
  const { code, stderr } = await runCommand([], { DATABASE_URL: `postgres://u:hunter2@127.0.0.1:${port}/d` })
  expect(code).toBe(1)
  expect(stderr).toMatch(/^The PostgreSQL at .*, which DATABASE_URL names, cannot be used \(.*\): .*\n$/)
  expect(stderr).not.toContain('hunter2')
  expect(connectionCount).toBeLessThan(100)
})

test('a server that is started during a slow stop of another waits for the stop, and then starts', async () => {
  const directory = await dataDirectory()
  const settings = { DATA_DIR: directory.path }
  const first = await startServer(settings)
  const sql = connectToEmbedded(directory.path)
  const application = anApplication()
  let second: Promise<Awaited<ReturnType<typeof startServer>>> | undefined
  let stopped: Promise<unknown> | undefined
  let status: Promise<number> | undefined
  // The first server cannot stop while an insert waits for the lock of this transaction.
  await sql.begin(async (transaction) => {
    await transaction`lock table public.retreat_applications in share mode`
    status = send(first.origin, application)
    await until('the insert that waits', async () => {
      return (await transaction`select from pg_locks where not granted`).length > 0
    })
    stopped = first.stop()
    second = startServer(settings)
    // The second server has tried the lock once without waiting, and now waits for it.
    await until('the second server, which waits for the lock', async () => {
      const waiting = await transaction`
        select from pg_locks where locktype = 'advisory' and not granted and objid = 5610742`
      return waiting.length > 0
    })
  })
  await sql.end()
  expect(await status).toBe(201)
  expect(await stopped).toBe(0)
  const running = await second
  expect(await send(running?.origin ?? '', application)).toBe(409)
  expect(await running?.stop()).toBe(0)
})
