import { readdir } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'

import { send } from '../support/send-application.ts'
import { anApplication } from '../support/form.ts'
import { startNginx } from '../support/nginx.ts'
import { freePort } from '../support/ports.ts'
import { startPostgres } from '../support/postgres.ts'
import { startReceiver, type ReceivedRequest } from '../support/receiver.ts'
import { startServer } from '../support/server.ts'

/** The response time of the receiver in milliseconds: slow, so that two deliveries of one application would overlap. */
const receiverMilliseconds = 30

test('if one of three servers on one database is killed under load, no application is lost, or delivered by two servers at once', async () => {
  const database = await startPostgres()
  const pending = new Set<string>()
  const overlapping: string[] = []
  const receive = ({ headers }: ReceivedRequest, response: ServerResponse) => {
    const id = String(headers['webhook-id'])
    if (pending.has(id)) overlapping.push(id)
    pending.add(id)
    response.on('close', () => pending.delete(id))
    setTimeout(() => response.end('ok'), receiverMilliseconds)
  }
  const hook = await startReceiver(receive)
  const settings = { DATABASE_URL: database.url(), WEBHOOK_URL: hook.origin, TRUST_PROXY: '1' }
  // All three start with an empty database.
  const servers = await Promise.all([1, 2, 3].map(() => startServer(settings)))
  const [first] = servers
  const port = await freePort()
  const nginx = await startNginx(`
    upstream unplugged { ${servers.map(({ origin }) => `server ${new URL(origin).host};`).join(' ')} }
    server { listen 127.0.0.1:${port}; location / { proxy_pass http://unplugged; } }`)
  const origin = `http://127.0.0.1:${port}`

  /** Sends an application, and retries after a missing response, as the page does. */
  const sendUntilStored = async () => {
    const application = anApplication()
    for (;;) {
      const status = await send(origin, application).catch(() => 502)
      if (status === 201 || status === 409) return application.email
      expect([502, 503, 504]).toContain(status)
    }
  }
  const acknowledged: string[] = []
  const senders = Array.from({ length: 20 }, async () => {
    for (let count = 0; count < 50; count += 1) acknowledged.push(await sendUntilStored())
  })
  await hook.waitFor(200)
  await first?.stop('SIGKILL')
  await Promise.all(senders)
  expect(acknowledged).toHaveLength(1_000)

  const [migrations] = await database.admin`
    select count(*)::int as count, count(distinct version)::int as versions
    from supabase_migrations.schema_migrations`
  const files = await readdir('supabase/migrations')
  expect(migrations).toEqual({ count: files.length, versions: files.length })
  const stored = await database.admin<{ email: string }[]>`select email from public.retreat_applications`
  expect(stored.map(({ email }) => email).toSorted()).toEqual(acknowledged.toSorted())

  const deliveriesOf =
    (email: string) =>
    ({ body }: ReceivedRequest) =>
      new URLSearchParams(body).get('email') === email
  for (const email of acknowledged) await hook.waitFor(1, deliveriesOf(email))
  await Promise.all(servers.slice(1).map((server) => server.stop()))
  // A delivery that the killed server made without recording it is repeated after its lease of 30 s.
  const undelivered = () => database.admin<{ email: string }[]>`
    select email from public.retreat_applications as application join private.deliveries using (id)
    where state <> 'done'`
  const last = await startServer(settings)
  await expect.poll(undelivered, { timeout: 120_000 }).toEqual([])
  await last.stop()
  expect(overlapping).toEqual([])
  await Promise.all([nginx.stop(), hook.close(), database.close()])
}, 600_000)

test('while two servers behind nginx restart one after the other, no application is refused', async () => {
  const database = await startPostgres()
  const settings = { DATABASE_URL: database.url(), RATE_LIMIT_PER_MINUTE: '0' }
  const ports = [await freePort(), await freePort()]
  const start = async (port = 0) => startServer({ ...settings, PORT: String(port) })
  let [one, two] = [await start(ports[0]), await start(ports[1])]
  const port = await freePort()
  const nginx = await startNginx(`
    upstream unplugged { ${ports.map((each) => `server 127.0.0.1:${each} max_fails=0;`).join(' ')} }
    server { listen 127.0.0.1:${port}; location / { proxy_pass http://unplugged; } }`)
  const sendSome = async () => {
    for (let count = 0; count < 4; count += 1)
      expect(await send(`http://127.0.0.1:${port}`, anApplication())).toBe(201)
  }
  await one.stop()
  await sendSome()
  await nginx.waitForLog(new RegExp(`Connection refused.*127\\.0\\.0\\.1:${ports[0]}/`))
  one = await start(ports[0])
  await two.stop()
  await sendSome()
  two = await start(ports[1])
  await sendSome()
})

test('when two servers start, each delivery that an earlier server left undone is made once', async () => {
  const database = await startPostgres()
  const firstServer = await startServer({ DATABASE_URL: database.url() })
  const applications = [anApplication(), anApplication()]
  for (const application of applications) expect(await send(firstServer.origin, application)).toBe(201)
  await firstServer.stop()
  const hook = await startReceiver()
  const servers = await Promise.all(
    [1, 2].map(() => startServer({ DATABASE_URL: database.url(), WEBHOOK_URL: hook.origin })),
  )
  await hook.waitFor(applications.length)
  await Promise.all(servers.map((server) => server.stop()))
  expect(hook.received).toHaveLength(applications.length)
})
