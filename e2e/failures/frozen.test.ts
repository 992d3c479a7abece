import { createServer, type AddressInfo } from 'node:net'
import { beforeAll, expect, test } from 'vitest'

import { send } from '../../testing/client.ts'
import { anApplication } from '../../testing/form.ts'
import { startPostgres, type TestPostgres } from '../../testing/postgres.ts'
import { startReceiver } from '../../testing/receiver.ts'
import { runCommand, startServer, dataDirectory } from '../../testing/server.ts'
import { connectToFiles } from '../../testing/sql.ts'
import { until } from '../../testing/until.ts'

let postgres: TestPostgres

beforeAll(async () => {
  postgres = await startPostgres()
})

test('a database that hangs is reported to the visitor, and service resumes when it responds', async () => {
  const hook = await startReceiver()
  const server = await startServer({ DATABASE_URL: postgres.url(), WEBHOOK_URL: hook.origin })
  expect(await send(server.origin, anApplication())).toBe(201)
  await hook.waitFor(1)
  postgres.freeze()
  const application = anApplication()
  const answers = await Promise.all([
    send(server.origin, application),
    ...Array.from({ length: 20 }, () => send(server.origin, anApplication())),
    fetch(server.origin, { method: 'POST', body: new URLSearchParams({ first_name: 'Ada' }) }).then(
      async (answer) => (expect(await answer.text()).toContain('Submission Failed'), answer.status),
    ),
  ])
  expect(new Set(answers)).toEqual(new Set([503]))
  // The log has the reason, also for a form that the browser sent natively.
  await server.waitForOutput(/"code":"DEADLINE"/)
  await server.waitForOutput(/"code":"(DEADLINE|CONNECT_TIMEOUT)".*"msg":"an application was not stored"/)
  expect((await fetch(`${server.origin}/readyz`)).status).toBe(503)
  expect((await fetch(server.origin)).status).toBe(200)
  postgres.thaw()
  // The pending application may have been stored. A repetition is stored once.
  expect([201, 409]).toContain(await send(server.origin, application))
  const rows = await postgres.admin`
    select from public.retreat_applications where email = ${application.email}`
  expect(rows).toHaveLength(1)
  await hook.waitFor(2)
  expect(await server.stop()).toBe(0)
})

test('a stop ends even while the database hangs', async () => {
  const hook = await startReceiver()
  const server = await startServer({ DATABASE_URL: postgres.url(), WEBHOOK_URL: hook.origin })
  expect(await send(server.origin, anApplication())).toBe(201)
  postgres.freeze()
  const waiting = send(server.origin, anApplication()).catch(() => 'no answer')
  expect(await server.stop()).toBe(0)
  expect([503, 'no answer']).toContain(await waiting)
  postgres.thaw()
})

test('a start that hangs ends with the first signal and leaves nothing behind', async () => {
  // It accepts connections and sends nothing.
  const silent = createServer()
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as AddressInfo
  const connected = new Promise<void>((resolve) => silent.once('connection', () => resolve()))
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

test('an address that accepts and closes connections ends the start in a sentence, with pauses between the tries', async () => {
  let calls = 0
  const closing = createServer((socket) => {
    calls += 1
    socket.end()
  })
  await new Promise<void>((resolve) => closing.listen(0, '127.0.0.1', resolve))
  const { port } = closing.address() as AddressInfo
  const { code, stderr } = await runCommand([], { DATABASE_URL: `postgres://u:hunter2@127.0.0.1:${port}/d` })
  expect(code).toBe(1)
  expect(stderr).toMatch(/^The PostgreSQL at .*, which DATABASE_URL names, cannot be used \(.*\): .*\n$/)
  expect(stderr).not.toContain('hunter2')
  expect(calls).toBeLessThan(100)
})

test('a start during a slow stop waits for it, and then starts', async () => {
  const directory = await dataDirectory()
  const settings = { DATA_DIR: directory.path }
  const first = await startServer(settings)
  const sql = connectToFiles(directory.path)
  const application = anApplication()
  let second: Promise<Awaited<ReturnType<typeof startServer>>> | undefined
  let stopped: Promise<unknown> | undefined
  let answered: Promise<number> | undefined
  // An insert that waits for a lock keeps the first server from stopping for as long as this transaction holds it.
  await sql.begin(async (transaction) => {
    await transaction`lock table public.retreat_applications in share mode`
    answered = send(first.origin, application)
    await until('the insert that waits', async () => {
      return (await transaction`select from pg_locks where not granted`).length > 0
    })
    stopped = first.stop()
    second = startServer(settings)
    // The lock was refused once, and now it waits.
    await until('the second server, which waits for the lock', async () => {
      const waiting = await transaction`
        select from pg_locks where locktype = 'advisory' and not granted and objid = 5610742`
      return waiting.length > 0
    })
  })
  await sql.end()
  expect(await answered).toBe(201)
  expect(await stopped).toBe(0)
  const running = await second
  expect(await send(running?.origin ?? '', application)).toBe(409)
  expect(await running?.stop()).toBe(0)
})
