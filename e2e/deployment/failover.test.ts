import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'

import { send } from '../../testing/client.ts'
import { anApplication } from '../../testing/form.ts'
import { startMailServer } from '../../testing/mail-server.ts'
import { cannotRun } from '../../testing/requirements.ts'
import { isDebianPostgresInstalled, noDebianPostgres } from '../../testing/other-postgres.ts'
import { startReceiver, type ReceivedRequest } from '../../testing/receiver.ts'
import { startReplicas } from '../../testing/replicas.ts'
import { startServer } from '../../testing/server.ts'

const failovers = 3
/** The fewest inserts between two failovers. */
const between = 100

test('the primary dies three times under load: no acknowledged application is lost or duplicated, and no server restarts', async ({
  skip,
}) => {
  if (!isDebianPostgresInstalled()) return cannotRun(skip, noDebianPostgres)
  const replicas = await startReplicas()
  const hook = await startReceiver()
  const mailServer = await startMailServer()
  const settings = {
    DATABASE_URL: replicas.url,
    WEBHOOK_URL: hook.origin,
    SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
    MAIL_FROM: 'team@example.org',
    MAIL_PER_MINUTE: '6000',
  }
  const servers = [await startServer(settings), await startServer(settings)]
  await replicas.primary()`update private.letter_settings set receipts = true`

  const acknowledged: { email: string; at: number }[] = []
  let isOver = false
  const senders = servers.flatMap(({ origin }) =>
    [1, 2].map(async () => {
      while (!isOver) {
        // A company gets a limited number of receipts.
        const application = anApplication({ email: `ada@${randomUUID()}.example` })
        // Like the page, it retries after a missing response or a 503. Without a primary a server holds requests, so few are
        // refused.
        for (;;) {
          const status = await send(origin, application).catch(() => 503)
          if (status === 201 || status === 409) break
          expect([500, 502, 503, 504]).toContain(status)
        }
        acknowledged.push({ email: application.email, at: performance.now() })
      }
    }),
  )
  const waitForStored = async (count: number) => {
    const wanted = acknowledged.length + count
    await expect.poll(() => acknowledged.length, { timeout: 60_000 }).toBeGreaterThan(wanted)
  }
  const gaps: number[] = []
  /** The first rounds would use up the limit of a hundred receipts an hour. */
  const resetReceiptLimit = () => replicas.primary()`update private.postman set in_hour = 0`
  for (let round = 0; round < failovers; round += 1) {
    await resetReceiptLimit()
    await waitForStored(between)
    const killed = performance.now()
    await replicas.killPrimary()
    await replicas.promote()
    await waitForStored(between)
    gaps.push(longestPause([killed, ...acknowledged.map(({ at }) => at).filter((at) => at > killed)]))
    await replicas.rejoin()
  }
  isOver = true
  await Promise.all(senders)
  console.log(`without an answer: ${gaps.map((gap) => `${(gap / 1000).toFixed(1)} s`).join(', ')}`)

  const sql = replicas.primary()
  const rows = await sql<{ email: string }[]>`select email from public.retreat_applications`
  expect(rows.map(({ email }) => email).toSorted()).toEqual(acknowledged.map(({ email }) => email).toSorted())
  expect(servers.map(({ process }) => process.exitCode)).toEqual([null, null])

  // A delivery claimed by a statement without a response is free again after its lease.
  const open = async () => {
    await resetReceiptLimit()
    return sql<{ what: string; count: number }[]>`
    select 'not delivered' as what, count(*)::integer as count
    from private.deliveries where state <> 'done' having count(*) > 0`
  }
  await expect.poll(open, { timeout: 240_000, interval: 1_000 }).toEqual([])
  const delivered = new Set(
    hook.received.map(({ body }: ReceivedRequest) => new URLSearchParams(body).get('email')),
  )
  const written = new Set(mailServer.received.flatMap(({ to }) => to))
  for (const { email } of acknowledged) {
    expect(delivered).toContain(email)
    expect(written).toContain(email)
  }
  await Promise.all(servers.map((server) => server.stop()))
  await Promise.all([hook.close(), mailServer.close()])
}, 600_000)

/** The longest time between two moments, in ms. */
function longestPause(moments: number[]) {
  const ordered = moments.toSorted((one, other) => one - other)
  return Math.max(...ordered.slice(1).map((moment, index) => moment - (ordered[index] ?? 0)))
}
