import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'

import { send } from '../test/support/send-application.ts'
import { anApplication } from '../test/support/form.ts'
import { startReceiver } from '../test/support/receiver.ts'
import { startServer, temporaryDirectory } from '../test/support/server.ts'
import { insertLoad } from './load.ts'
import { startTime } from './start.ts'
import { median, printTable, spread } from './table.ts'
import type { Sql } from '../src/server/database/connection/sql.ts'
import { connectToEmbedded } from '../test/support/sql.ts'

const rounds = 5
const applicationCount = 1_000_000

/** Stores this many applications in one statement, with all deliveries done. */
export async function fill(sql: Sql, count: number) {
  await sql.unsafe(`
    insert into public.retreat_applications
      (first_name, last_name, email, phone, linkedin, company, paid_solution, team_size, reason, consent)
    select 'Ada', 'Lovelace ' || n, 'ada.' || n || '@example.com', '+44 (20) 7946 0958', 'in/ada',
      'Analytical Engines', 'travel', '3-10', 'To think. Without a screen. ' || n, true
    from generate_series(1, ${count}) as n;
    update private.deliveries set state = 'done', attempts = 1, done_at = now(), due_at = null, reply_status = 200`)
  await sql`vacuum analyze`
}

/** Runs a command. Measures the seconds to its first output and to its end, peak memory in megabytes, and lines of output. */
async function measure(args: readonly string[], dataDir: string) {
  const env = { PATH: process.env['PATH'] ?? '', DATA_DIR: dataDir }
  const started = performance.now()
  const child = spawn(process.execPath, ['start.js', ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let first = Number.NaN
  let maxMegabytes = 0
  let lines = 0
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    if (Number.isNaN(first)) first = (performance.now() - started) / 1000
    lines += chunk.toString('latin1').split('\n').length - 1
    const [, kilobytes = '0'] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? []
    maxMegabytes = Math.max(maxMegabytes, Number(kilobytes) / 1024)
  }
  if (child.exitCode === null) await once(child, 'exit')
  return { first, whole: (performance.now() - started) / 1000, maxMegabytes, lines }
}

/** Measures the milliseconds from an insert to the arrival of its delivery at the receiver. */
async function deliveryTimes(dataDir: string) {
  const receiver = await startReceiver()
  const server = await startServer({ DATA_DIR: dataDir, WEBHOOK_URL: receiver.origin })
  // The only delivery that waits is made first.
  await server.waitForOutput('webhook delivered')
  const times: number[] = []
  for (let index = 0; index < 20; index += 1) {
    const receivedBefore = receiver.received.length
    const started = performance.now()
    await send(server.origin, anApplication({ email: `${randomUUID()}@example.com` }))
    await receiver.waitFor(receivedBefore + 1)
    times.push(performance.now() - started)
  }
  await server.stop()
  await receiver.close()
  return times
}

/** Measures inserts, start and deliveries at 0 and at 1,000,000 applications, and commands at 1,000,000. */
export async function benchGrowth(): Promise<void> {
  const empty = await temporaryDirectory()
  const full = await temporaryDirectory()
  const fillingServer = await startServer({ DATA_DIR: full.path })
  const sql = connectToEmbedded(full.path)
  const started = performance.now()
  await fill(sql, applicationCount)
  console.log(
    `\nFilled with ${applicationCount.toLocaleString('en')} in ${((performance.now() - started) / 1000).toFixed()} s.`,
  )
  await sql.end()
  await fillingServer.stop()

  const sides = [
    { name: 'empty', path: empty.path },
    { name: applicationCount.toLocaleString('en'), path: full.path },
  ]
  const servers = await Promise.all(sides.map(({ path }) => startServer({ DATA_DIR: path })))
  const rates = sides.map((): number[] => [])
  for (let round = 0; round <= rounds; round += 1) {
    for (const [index, server] of servers.entries()) {
      const { perSecond } = await insertLoad(server.origin, 50, { duration: 4 })
      // The first round is a warm-up.
      if (round > 0) rates[index]?.push(perSecond)
    }
  }
  await Promise.all(servers.map((server) => server.stop()))
  // Removes the rows that the load stored on the empty side, so that the other figures are of a nearly empty table.
  const emptyServer = await startServer({ DATA_DIR: empty.path })
  const emptySql = connectToEmbedded(empty.path)
  await emptySql`truncate public.retreat_applications cascade`
  await emptySql`insert into public.retreat_applications (first_name, last_name, email, phone, linkedin, company, reason, consent)
    values ('a', 'b', 'c', 'd', 'e', 'f', 'g', true)`
  await emptySql.end()
  await emptyServer.stop()

  const rows: string[][] = []
  for (const [index, { name, path }] of sides.entries()) {
    const ratio = median((rates[index] ?? []).map((rate, round) => rate / (rates[0]?.[round] ?? Number.NaN)))
    const starts = [await startTime(path), await startTime(path), await startTime(path)]
    rows.push([name, spread(rates[index] ?? []), ratio.toFixed(2), spread(starts, 2)])
  }
  printTable(
    `Growth (${rounds} rounds of 4 s, in turns, 50 connections)`,
    ['applications', 'inserts/s', 'ratio to the empty table', 'start to first page, s'],
    rows,
  )

  const commands: string[][] = []
  const [backup, restored] = [`${full.path}.backup`, `${full.path}.restored`]
  for (const [args, dataDir] of [
    [['applications'], full.path],
    [['applications', '--csv'], full.path],
    [['webhooks'], full.path],
    [['backup', '--to', backup], full.path],
    [['restore', '--from', backup], restored],
  ] as const) {
    const { first, whole, maxMegabytes, lines } = await measure(args, dataDir)
    commands.push([
      args.slice(0, args[0] === 'applications' ? 2 : 1).join(' '),
      first.toFixed(2),
      whole.toFixed(2),
      maxMegabytes.toFixed(),
      lines.toLocaleString('en'),
    ])
  }
  await Promise.all([backup, restored].map((folder) => rm(folder, { recursive: true })))
  printTable(
    'Commands on the full database, each of which starts it',
    ['command', 'first output, s', 'whole command, s', 'memory, MB', 'lines'],
    commands,
  )

  const deliveries: string[][] = []
  for (const { name, path } of sides) {
    // Only one delivery is left waiting, so the figures measure the query and not a queue.
    const server = await startServer({ DATA_DIR: path })
    const owner = connectToEmbedded(path)
    await owner`update private.deliveries set state = 'done', due_at = null, done_at = now() where state <> 'done'`
    await owner`update private.deliveries set state = 'waiting', due_at = now(), done_at = null
      where id = (select id from private.deliveries limit 1)`
    await owner.end()
    await server.stop()
    deliveries.push([name, spread(await deliveryTimes(path), 1)])
  }
  printTable('From insert to webhook', ['applications', 'ms'], deliveries)

  await Promise.all([empty.remove(), full.remove()])
}
