import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

import { anApplication } from '../../../testing/form.ts'
import { startReceiver } from '../../../testing/receiver.ts'
import { temporaryDirectory } from '../../../testing/server.ts'
import { openDatabase, type Database } from '../database/database.ts'
import { insertApplications, rowsOf } from '../database/insert.ts'
import { startDispatcher, type DispatcherOptions } from './dispatcher.ts'

let database: Database
let cleanUp: () => Promise<void>

beforeAll(async () => {
  const directory = await temporaryDirectory()
  database = await openDatabase({ dataDir: directory.path, databaseUrl: undefined }, { holder: 'the tests' })
  cleanUp = async () => {
    await database.close()
    await directory.remove()
  }
})

beforeEach(async () => {
  await database.owner`delete from public.retreat_applications`
})

afterAll(() => cleanUp())

/** Collects the log, and resolves when a line was written. */
function aLog() {
  const lines: { message: string; details: Record<string, unknown> }[] = []
  const waiting = new Map<string, () => void>()
  const write = (details: object, message: string) => {
    lines.push({ message, details: { ...details } })
    waiting.get(message)?.()
  }
  const log: DispatcherOptions['log'] = { info: write, warn: write }
  const written = (message: string) => new Promise<void>((resolve) => waiting.set(message, resolve))
  return { log, lines, written }
}

const store = () => insertApplications(database.anon, rowsOf(anApplication()))
/** Lets time pass for the outbox: everything becomes due earlier by so many seconds. */
const pass = (seconds: number) => database.owner`
  update private.webhook_outbox set next_attempt_at = next_attempt_at - ${seconds} * interval '1 second'`
const outbox = () =>
  database.owner`select attempts, last_status, delivered_at, next_attempt_at from private.webhook_outbox`

test('what waits in the outbox is delivered once, form-encoded, and logged with the answer cut short', async () => {
  await store()
  const receiver = await startReceiver((_request, response) => response.end('y'.repeat(500)))
  const { log, lines, written } = aLog()
  const delivered = written('webhook delivered')
  const dispatcher = startDispatcher({
    sql: database.owner,
    receiver: { url: receiver.origin, secret: undefined },
    log,
  })
  await delivered
  await dispatcher.stop()
  expect(receiver.received).toHaveLength(1)
  expect(receiver.received[0]?.headers['content-type']).toBe(
    'application/x-www-form-urlencoded;charset=UTF-8',
  )
  expect(lines[0]?.details).toMatchObject({ status: 200, answer: 'y'.repeat(200), attempt: 1 })
  expect(await outbox()).toMatchObject([{ attempts: 1, last_status: 200, next_attempt_at: null }])
  await receiver.close()
})

test('a failed delivery is tried again on the schedule, with the same id', async () => {
  await store()
  let status = 500
  const receiver = await startReceiver((_request, response) => response.writeHead(status).end())
  const { log, written } = aLog()
  const failed = written('webhook failed; it will be tried again')
  const delivered = written('webhook delivered')
  const dispatcher = startDispatcher({
    sql: database.owner,
    receiver: { url: receiver.origin, secret: undefined },
    log,
  })
  await failed
  expect(await outbox()).toMatchObject([{ attempts: 1, last_status: 500, delivered_at: null }])
  status = 204
  await pass(6)
  dispatcher.wake()
  await delivered
  await dispatcher.stop()
  const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
  expect(ids).toHaveLength(2)
  expect(new Set(ids).size).toBe(1)
  await receiver.close()
})
