import { Webhook } from 'standardwebhooks'
import type { ServerResponse } from 'node:http'
import { beforeAll, beforeEach, expect, test } from 'vitest'

import { deferred } from '../../../test/support/deferred.ts'
import { openTestDatabase } from '../../../test/support/database.ts'
import { anApplication } from '../../../test/support/form.ts'
import { resetDatabase } from '../../../test/support/reset.ts'
import { startReceiver } from '../../../test/support/receiver.ts'
import { visitor } from '../database/connection/pools.ts'
import type { Database } from '../database/database.ts'
import { insertApplications, sentRowsOf } from '../applications/insert-rows.ts'
import { deliver } from './webhook.ts'
import { startDispatcher as start, type DispatcherOptions } from './webhook-worker.ts'
import { claimDue as claimOfKind } from './claims.ts'
import { createPace } from './pace.ts'
import { giveBack, recordTry } from './record-result.ts'
import type { Sql } from '../database/connection/sql.ts'
import { wrapStatements } from '../../../test/support/sql.ts'

const claimDue = (sql: Sql, most: number) => claimOfKind(sql, 'application', most)
const startDispatcher = (options: Omit<DispatcherOptions, 'kind'>) =>
  start({ ...options, kind: 'application' })

let database: Database

beforeAll(async () => {
  database = await openTestDatabase()
})

beforeEach(() => resetDatabase(database.owner))

/** Collects the log; `written` resolves when this many lines with this message have been written. */
function collectLog() {
  const lines: { message: string; details: Record<string, unknown> }[] = []
  const waiting = new Set<() => void>()
  const write = (details: object, message: string) => {
    lines.push({ message, details: { ...details } })
    for (const check of waiting) check()
  }
  const log: DispatcherOptions['log'] = { info: write, warn: write }
  const written = (message: string, count = 1) =>
    new Promise<void>((resolve) => {
      const check = () => {
        if (lines.filter((line) => line.message === message).length < count) return
        waiting.delete(check)
        resolve()
      }
      waiting.add(check)
      check()
    })
  return { log, lines, written }
}

const store = () => insertApplications(database.as(visitor), sentRowsOf(anApplication()))
/** Lets this many seconds pass for the deliveries. */
const advanceTime = (seconds: number) => database.owner`
  update private.deliveries set due_at = due_at - ${seconds} * interval '1 second'`
const outbox = () => database.owner`select state, attempts, reply_status, due_at from private.deliveries`

test('a waiting delivery is sent once, form-encoded, and logged with a truncated response', async () => {
  await store()
  const receiver = await startReceiver((_request, response) => response.end('y'.repeat(500)))
  const { log, lines, written } = collectLog()
  const delivered = written('webhook delivered')
  const dispatcher = startDispatcher({
    sql: database.server,
    receiver: { url: receiver.origin, secret: undefined },
    log,
  })
  await delivered
  const seen = () => database.owner`select from private.postman where private.is_recent(webhook_seen_at)`
  await expect.poll(seen).toHaveLength(1)
  await dispatcher.stop()
  expect(receiver.received).toHaveLength(1)
  expect(receiver.received[0]?.headers['content-type']).toBe(
    'application/x-www-form-urlencoded;charset=UTF-8',
  )
  expect(lines[0]?.details).toMatchObject({ status: 200, answer: 'y'.repeat(200), attempt: 1 })
  expect(await outbox()).toMatchObject([{ attempts: 1, state: 'done', reply_status: 200 }])
})

test('a failed delivery is retried on the schedule, with the same id', async () => {
  await store()
  let status = 500
  const receiver = await startReceiver((_request, response) => response.writeHead(status).end())
  const { log, written } = collectLog()
  const failed = written('webhook failed; it will be tried again')
  const delivered = written('webhook delivered')
  const dispatcher = startDispatcher({
    sql: database.server,
    receiver: { url: receiver.origin, secret: undefined },
    log,
  })
  await failed
  expect(await outbox()).toMatchObject([{ attempts: 1, state: 'waiting', reply_status: 500 }])
  status = 204
  await advanceTime(6)
  dispatcher.wake()
  await delivered
  await dispatcher.stop()
  const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
  expect(ids).toHaveLength(2)
  expect(new Set(ids).size).toBe(1)
})

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

/** Runs a dispatcher until it has logged this message. */
async function runUntil(message: string, url: string) {
  const { log, lines, written } = collectLog()
  const done = written(message)
  const dispatcher = startDispatcher({ sql: database.server, receiver: { url, secret }, log })
  await done
  await dispatcher.stop()
  return lines
}

// break: webhook-replayable
test('the signature is the one that the Standard Webhooks library makes', async () => {
  await store()
  const receiver = await startReceiver()
  await runUntil('webhook delivered', receiver.origin)
  const [call] = receiver.received
  const id = String(call?.headers['webhook-id'])
  const time = new Date(Number(call?.headers['webhook-timestamp']) * 1000)
  expect(call?.headers['webhook-signature']).toBe(new Webhook(secret).sign(id, time, call?.body ?? ''))
  // As in docs/operate.md: the body is a form, not JSON.
  const verify = (body: string) =>
    new Webhook(secret).verify(body, call?.headers as Record<string, string>, { jsonParse: false })
  expect(() => verify(call?.body ?? '')).not.toThrow()
  expect(() => verify(`${call?.body}x`)).toThrow('No matching signature')
})

test('without a secret, a delivery is sent with its id and its time but no signature', async () => {
  await store()
  const receiver = await startReceiver()
  const { log, written } = collectLog()
  const done = written('webhook delivered')
  const dispatcher = startDispatcher({
    sql: database.server,
    receiver: { url: receiver.origin, secret: undefined },
    log,
  })
  await done
  await dispatcher.stop()
  const headers = receiver.received[0]?.headers
  expect(headers).not.toHaveProperty('webhook-signature')
  expect(headers?.['webhook-id']).toMatch(/^[0-9a-f-]{36}$/)
  expect(Math.abs(Number(headers?.['webhook-timestamp']) * 1000 - Date.now())).toBeLessThan(60_000)
})

test('a redirect is not followed, and counts as a failed try', async () => {
  await store()
  const elsewhere = await startReceiver()
  const receiver = await startReceiver((_request, response) =>
    response.writeHead(302, { location: elsewhere.origin }).end(),
  )
  await runUntil('webhook failed; it will be tried again', receiver.origin)
  expect(elsewhere.received).toEqual([])
  expect(await outbox()).toMatchObject([{ state: 'waiting', reply_status: 302 }])
})

test('a delivery that gets 410 is given up at once', async () => {
  await store()
  const receiver = await startReceiver((_request, response) => response.writeHead(410).end())
  await runUntil('webhook given up', receiver.origin)
  expect(await outbox()).toMatchObject([{ state: 'failed', attempts: 1 }])
})

test.each([
  ['in seconds', () => '3600'],
  ['as a date', () => new Date(Date.now() + 3_600_000).toUTCString()],
])('Retry-After %s is honoured', async (_form, header) => {
  await store()
  const receiver = await startReceiver((_request, response) =>
    response.writeHead(503, { 'retry-after': header() }).end(),
  )
  await runUntil('webhook failed; it will be tried again', receiver.origin)
  const [row] = await outbox()
  expect(Number(row?.['due_at']) - Date.now()).toBeGreaterThan(3_500_000)
})

test('a Retry-After shorter than the pause of the schedule is honoured, and the try does not count', async () => {
  await store()
  await database.owner`update private.deliveries set attempts = 4`
  const receiver = await startReceiver((_request, response) =>
    response.writeHead(429, { 'retry-after': '60' }).end(),
  )
  await runUntil('webhook failed; it will be tried again', receiver.origin)
  const [row] = await outbox()
  expect(Number(row?.['due_at']) - Date.now()).toBeLessThan(61_000)
  expect(row).toMatchObject({ attempts: 4, reply_status: 429 })
})

test.each([
  [
    'breaks off',
    (response: ServerResponse) => response.flushHeaders() ?? response.write('half', () => response.destroy()),
  ],
  ['never ends', (response: ServerResponse) => response.write('half')],
  ['never begins', (response: ServerResponse) => response.flushHeaders()],
])('2xx is success even if the body of the response %s', async (_how, sendBody) => {
  await store()
  const receiver = await startReceiver((_request, response) => {
    response.writeHead(200, { 'content-length': 100 })
    sendBody(response)
  })
  const [line] = await runUntil('webhook delivered', receiver.origin)
  expect(line?.details).toMatchObject({ status: 200 })
  expect(await outbox()).toMatchObject([{ state: 'done', attempts: 1 }])
})

test('user and password of the address are sent as basic authentication, and never logged', async () => {
  await store()
  const receiver = await startReceiver()
  const { host } = new URL(receiver.origin)
  const lines = await runUntil('webhook delivered', `http://ada:p%40ss@${host}/hook?token=hunter2`)
  expect(receiver.received[0]).toMatchObject({
    url: '/hook?token=hunter2',
    headers: { authorization: `Basic ${Buffer.from('ada:p@ss').toString('base64')}` },
  })
  await receiver.close()
  await store()
  const failed = await runUntil(
    'webhook failed; it will be tried again',
    `http://ada:p%40ss@${host}/hook?token=hunter2`,
  )
  expect(JSON.stringify([...lines, ...failed])).not.toMatch(/p(@|%40)ss|hunter2/)
})

test('a try times out if the receiver does not respond', async () => {
  const receiver = await startReceiver(() => {})
  const result = await deliver('id', new URLSearchParams(), { url: receiver.origin, secret }, undefined, 50)
  expect(result).toMatchObject({
    delivered: false,
    status: null,
    text: expect.stringMatching(/timeout/) as string,
  })
})

test('a claimed delivery can be claimed again after a lease of thirty seconds, and not before', async () => {
  await store()
  const [claim] = await claimDue(database.owner, 10)
  expect(claim).toMatchObject({ attempt: 1 })
  expect(await claimDue(database.owner, 10)).toEqual([])
  await advanceTime(28)
  expect(await claimDue(database.owner, 10)).toEqual([])
  await advanceTime(3)
  expect(await claimDue(database.owner, 10)).toMatchObject([{ id: claim?.id, attempt: 2 }])
})

// break: late-response-recorded
test('a server with an expired lease records nothing, and gives nothing back', async () => {
  await store()
  const [expiredClaim] = await claimDue(database.owner, 1)
  await advanceTime(31)
  await claimDue(database.owner, 1)
  const before = await outbox()
  if (expiredClaim === undefined) throw new Error('nothing was claimed')
  expect(await recordTry(database.owner, expiredClaim, { delivered: true, status: 200, text: '' })).toBe(
    'lost',
  )
  await giveBack(database.owner, expiredClaim, false)
  expect(await outbox()).toEqual(before)
})

test('the dispatcher polls without being woken', async () => {
  const receiver = await startReceiver()
  const { log, written } = collectLog()
  const { promise: firstPoll, resolve: polled } = deferred()
  const sql = wrapStatements(database.server, (run) => run().finally(() => polled()))
  const dispatcher = startDispatcher({ sql, receiver: { url: receiver.origin, secret }, log, interval: 20 })
  await firstPoll
  await store()
  await written('webhook delivered')
  await dispatcher.stop()
  expect(receiver.received).toHaveLength(1)
})

test('a webhook that was down for days gets its deliveries when it is back', async () => {
  await store()
  const { log, written } = collectLog()
  const receiver = await startReceiver()
  const { origin } = receiver
  await receiver.close()
  const dispatcher = startDispatcher({ sql: database.server, receiver: { url: origin, secret }, log })
  const failed = 'webhook failed; it will be tried again'
  // Time passes only after a try is recorded: otherwise the lease of the pending try would expire.
  for (let tries = 1; tries <= 6; tries += 1) {
    await written(failed, tries)
    await advanceTime(12 * 3600)
    dispatcher.wake()
  }
  await written(failed, 7)
  const delivered = written('webhook delivered')
  const back = await startReceiver(undefined, Number(new URL(origin).port))
  await advanceTime(16 * 3600)
  dispatcher.wake()
  await delivered
  await dispatcher.stop()
  expect(back.received).toHaveLength(1)
})

test('deliveries become due at once if the clock was set back since they were scheduled', async () => {
  for (let index = 0; index < 3; index += 1) await store()
  const [firstClaim] = await claimDue(database.owner, 2)
  if (firstClaim === undefined) throw new Error('nothing was claimed')
  const busy = { delivered: false, status: 503, text: '', retryAfter: 24 * 3_600_000 }
  expect(await recordTry(database.owner, firstClaim, busy)).toBe('waiting')
  expect(await claimDue(database.owner, 10)).toHaveLength(1)
  expect(await claimDue(database.owner, 10)).toEqual([])
  await database.owner`
    update private.deliveries set due_at = due_at + interval '30 days', queued_at = queued_at + interval '30 days'`
  const due = await claimDue(database.owner, 10)
  expect(due).toHaveLength(3)
  // The deliveries' age is unknown, so each try counts.
  for (const claim of due) {
    expect(await recordTry(database.owner, claim, { ...busy, retryAfter: 1_000 })).toBe('waiting')
  }
  const tries = await database.owner`select attempts from private.deliveries order by 1`
  expect(tries).toEqual([{ attempts: 2 }, { attempts: 2 }, { attempts: 2 }])
})

test('after ten tries a delivery is given up', async () => {
  await store()
  await database.owner`update private.deliveries set attempts = 9`
  const receiver = await startReceiver((_request, response) => response.writeHead(500).end())
  await runUntil('webhook given up', receiver.origin)
  expect(await outbox()).toMatchObject([{ state: 'failed', attempts: 10 }])
})

test('a delivery that gets no response does not delay the others', async () => {
  const slow = await store().then(() => database.owner`select id from public.retreat_applications`)
  for (let index = 0; index < 20; index += 1) await store()
  const slowId = slow[0]?.['id'] as string
  const receiver = await startReceiver(({ headers }, response) => {
    if (headers['webhook-id'] !== slowId) response.end()
  })
  const { log } = collectLog()
  const dispatcher = startDispatcher({
    sql: database.server,
    receiver: { url: receiver.origin, secret },
    log,
  })
  await receiver.waitFor(20, ({ headers }) => headers['webhook-id'] !== slowId)
  await dispatcher.stop()
  // The try that was aborted at the stop does not count.
  const unfinished = await database.owner`select attempts from private.deliveries where state <> 'done'`
  expect(unfinished).toEqual([{ attempts: 0 }])
})

test('a dispatcher begins no more tries than its pace allows, and logs equal failures once', async () => {
  for (let index = 0; index < 8; index += 1) await store()
  const receiver = await startReceiver((_request, response) => response.writeHead(500).end())
  const { log, lines } = collectLog()
  let left = 5
  const pace = {
    free: () => Math.min(left, 2),
    take: (tries: number) => void (left -= tries),
    record: () => {},
  }
  const dispatcher = startDispatcher({
    sql: database.server,
    receiver: { url: receiver.origin, secret },
    log,
    pace,
    interval: 10,
  })
  await expect.poll(async () => (await outbox()).filter(({ attempts }) => attempts === 1)).toHaveLength(5)
  await dispatcher.stop()
  expect([receiver.received.length, left]).toEqual([5, 0])
  expect(lines).toMatchObject([
    { message: 'webhook failed; it will be tried again', details: { attempt: 1, status: 500 } },
    { message: 'more webhooks failed; they will be tried again', details: { status: 500, count: 4 } },
  ])
})

test('a receiver that only fails gets no more than a few tries of a backlog', async () => {
  for (let index = 0; index < 60; index += 1) await store()
  const receiver = await startReceiver((_request, response) => response.writeHead(500).end())
  const { log } = collectLog()
  // This clock stands still: only the two thousand saved-up tries may begin.
  const pace = createPace(60_000, () => 0)
  const dispatcher = startDispatcher({
    sql: database.server,
    receiver: { url: receiver.origin, secret },
    log,
    pace,
    interval: 10,
  })
  await expect.poll(() => pace.free()).toBe(0)
  await dispatcher.stop()
  expect(receiver.received.length).toBeLessThan(40)
})

test('two servers on one database send each delivery once', async () => {
  for (let index = 0; index < 60; index += 1) await store()
  const receiver = await startReceiver((_request, response) => setImmediate(() => response.end()))
  const { log } = collectLog()
  const options = { sql: database.server, receiver: { url: receiver.origin, secret }, log }
  const dispatchers = [startDispatcher(options), startDispatcher(options)]
  await receiver.waitFor(60)
  await Promise.all(dispatchers.map((dispatcher) => dispatcher.stop()))
  const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
  expect(ids).toHaveLength(60)
  expect(new Set(ids).size).toBe(60)
})

// break: delivery-claimed-twice
test('a server skips deliveries that another server is claiming, without waiting', async () => {
  await store()
  await store()
  await database.owner.begin(async (first) => {
    expect(await claimDue(first, 1)).toHaveLength(1)
    const claims = await database.owner.begin(async (second) => {
      await second`set local lock_timeout = '2s'`
      return claimDue(second, 2)
    })
    expect(claims).toHaveLength(1)
  })
})

test('only the beginning of an endless response is read', async () => {
  await store()
  const receiver = await startReceiver((_request, response) => {
    const writeMore = () => {
      while (response.write('z'.repeat(65_536)));
    }
    response.on('drain', writeMore)
    writeMore()
  })
  const lines = await runUntil('webhook delivered', receiver.origin)
  expect(lines[0]?.details['answer']).toBe('z'.repeat(200))
})
