import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'

import { send } from '../support/send-application.ts'
import { anApplication } from '../support/form.ts'
import { startMailServer } from '../support/mail-server.ts'
import { cannotRun } from '../support/requirements.ts'
import { isDebianPostgresInstalled, noDebianPostgres } from '../support/other-postgres.ts'
import { startReceiver, type ReceivedRequest } from '../support/receiver.ts'
import { startReplicas } from '../support/replicas.ts'
import { startServer } from '../support/server.ts'

const failovers = 3
/** The number of applications that are stored, at least, before and after each failover. */
const insertsAround = 100

test('when the primary is killed three times under load, each acknowledged application is stored once, and no server exits', async ({
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
        // Each address has its own domain, because a domain gets a limited number of receipts.
        const application = anApplication({ email: `ada@${randomUUID()}.example` })
        // Retries after a missing response or a 503, as the page does. Without a primary, servers hold requests, so they
        // refuse few.
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
  /** Resets the limit of a hundred receipts an hour, which the first rounds would use up. */
  const resetReceiptLimit = () => replicas.primary()`update private.postman set in_hour = 0`
  for (let round = 0; round < failovers; round += 1) {
    await resetReceiptLimit()
    await waitForStored(insertsAround)
    const killedAt = performance.now()
    await replicas.killPrimary()
    await replicas.promote()
    await waitForStored(insertsAround)
    gaps.push(longestPause([killedAt, ...acknowledged.map(({ at }) => at).filter((at) => at > killedAt)]))
    await replicas.rejoin()
  }
  isOver = true
  await Promise.all(senders)
  console.log(
    `longest time without a stored application after each kill: ${gaps.map((gap) => `${(gap / 1000).toFixed(1)} s`).join(', ')}`,
  )

  const sql = replicas.primary()
  const rows = await sql<{ email: string }[]>`select email from public.retreat_applications`
  expect(rows.map(({ email }) => email).toSorted()).toEqual(acknowledged.map(({ email }) => email).toSorted())
  expect(servers.map(({ process }) => process.exitCode)).toEqual([null, null])

  // If the response to a claim was lost, the delivery can be claimed again after its lease.
  const undelivered = async () => {
    await resetReceiptLimit()
    return sql<{ what: string; count: number }[]>`
    select 'not delivered' as what, count(*)::integer as count
    from private.deliveries where state <> 'done' having count(*) > 0`
  }
  await expect.poll(undelivered, { timeout: 240_000, interval: 1_000 }).toEqual([])
  const delivered = new Set(
    hook.received.map(({ body }: ReceivedRequest) => new URLSearchParams(body).get('email')),
  )
  const mailed = new Set(mailServer.received.flatMap(({ to }) => to))
  for (const { email } of acknowledged) {
    expect(delivered).toContain(email)
    expect(mailed).toContain(email)
  }
  await Promise.all(servers.map((server) => server.stop()))
  await Promise.all([hook.close(), mailServer.close()])
}, 600_000)

/** The longest time between two successive moments, in ms. */
function longestPause(moments: number[]) {
  const ordered = moments.toSorted((one, other) => one - other)
  return Math.max(...ordered.slice(1).map((moment, index) => moment - (ordered[index] ?? 0)))
}
