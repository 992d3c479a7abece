import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { send } from '../test/support/send-application.ts'
import { anApplication } from '../test/support/form.ts'
import { startServer, temporaryDirectory } from '../test/support/server.ts'
import { fill } from './growth.ts'
import { printTable, ratio, spread } from './table.ts'
import { connectToEmbedded } from '../test/support/sql.ts'

const run = promisify(execFile)
const rounds = 7
const seconds = 3
const applicationCount = 1_000_000

/** The stored inserts a second, and the 99th percentile of their times in milliseconds. */
interface Round {
  perSecond: number
  p99: number
}

/** A way to insert over this many connections. */
type Way = (connections: number) => Promise<Round>

/**
 * Compares combined inserts with single inserts. The server combines inserts: it stores the applications of several requests by
 * one statement.
 */
export async function benchTogether(): Promise<void> {
  if (!(await isWrkInstalled())) {
    return console.log('\nwrk is not installed (apt-get install wrk): combined inserts were not measured.')
  }
  const directory = await temporaryDirectory()
  const server = await startServer({ DATA_DIR: directory.path })
  const url = `${server.origin}/rest/v1/retreat_applications`
  const ways: Record<string, Way> = {
    'one by one': (connections) => load(url, connections, { SINGLY: '1' }),
    together: (connections) => load(url, connections),
  }
  await compare('Inserts', ways, [1, 50, 200])

  const repeatedApplication = anApplication({
    last_name: 'Lovelace',
    email: 'again@example.com',
    reason: 'To think. Without a screen.',
  })
  await send(server.origin, repeatedApplication)
  const waysWithRepeats: Record<string, Way> = {
    'one by one': (connections) => load(url, connections, { SINGLY: '1', REPEATED: '1' }),
    together: (connections) => load(url, connections, { REPEATED: '1' }),
  }
  await compare(
    'New applications, while every other request repeats a stored one',
    waysWithRepeats,
    [50, 200],
  )

  await server.stop()
  await directory.remove()
  await benchFullTable()
}

/** Compares combined inserts into an empty table with those into a table of a million rows. */
async function benchFullTable() {
  const directories = await Promise.all([temporaryDirectory(), temporaryDirectory()])
  const [empty, full] = directories.map(({ path }) => ({ DATA_DIR: path }))
  if (empty === undefined || full === undefined) return
  const servers = [await startServer(empty), await startServer(full)]
  const admin = connectToEmbedded(full.DATA_DIR)
  await fill(admin, applicationCount)
  await admin.end()
  const [intoEmpty, intoFull] = servers.map(
    ({ origin }): Way =>
      (connections) =>
        load(`${origin}/rest/v1/retreat_applications`, connections),
  )
  if (intoEmpty && intoFull) {
    await compare(
      'Combined inserts into an empty and into a full table',
      { 'empty table': intoEmpty, [`${applicationCount.toLocaleString('en')} applications`]: intoFull },
      [50, 200],
    )
  }
  for (const server of servers) await server.stop()
  for (const directory of directories) await directory.remove()
}

/** Measures the ways in turns. The first way is the baseline. */
async function compare(title: string, ways: Record<string, Way>, connections: number[]) {
  const rows: string[][] = []
  for (const count of connections) {
    const results = Object.keys(ways).map((): Round[] => [])
    for (let round = 0; round <= rounds; round += 1) {
      for (const [index, way] of Object.values(ways).entries()) {
        const result = await way(count)
        // The first round is a warm-up.
        if (round > 0) results[index]?.push(result)
      }
    }
    const rates = results.map((each) => each.map(({ perSecond }) => perSecond))
    const tails = results.map((each) => each.map(({ p99 }) => p99))
    for (const [index, name] of Object.keys(ways).entries()) {
      rows.push([
        String(count),
        name,
        spread(rates[index] ?? []),
        ratio(rates[index] ?? [], rates[0] ?? []),
        spread(tails[index] ?? [], 1),
      ])
    }
  }
  printTable(
    `${title} (${rounds} rounds of ${seconds} s, in turns)`,
    ['connections', 'way', 'stored/s', 'ratio to the first way', 'p99, ms'],
    rows,
  )
}

async function load(url: string, connections: number, environment: Record<string, string> = {}) {
  const { stdout } = await run(
    'wrk',
    ['-t1', `-c${connections}`, `-d${seconds}s`, '-s', join('bench', 'insert.lua'), url],
    { env: { PATH: process.env['PATH'] ?? '', SALT: randomUUID(), ...environment } },
  )
  const result = JSON.parse(stdout.slice(stdout.lastIndexOf('{'))) as Record<
    'microseconds' | 'requests' | 'refused' | 'failed' | 'p99',
    number
  >
  const mayBeRefused = 'REPEATED' in environment
  if (result.failed > 0 || (result.refused > 0 && !mayBeRefused)) {
    throw new Error(`${result.refused} requests were refused and ${result.failed} failed`)
  }
  const perSecond = ((result.requests - result.refused) * 1e6) / result.microseconds
  return { perSecond, p99: result.p99 / 1000 }
}

async function isWrkInstalled() {
  try {
    await run('wrk', ['-v'])
    return true
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ENOENT')
  }
}
