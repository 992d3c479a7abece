import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'

import { columns } from '../src/application/application.ts'
import { startServer, temporaryDirectory } from '../test/support/server.ts'
import { insertLoad, type Load } from './load.ts'
import { printTable, ratio, spread } from './table.ts'
import { connectToEmbedded } from '../test/support/sql.ts'

const rounds = 7
const seconds = 3

/** Starts the bare route as a separate process. */
async function startBareRoute(dataDir: string, table: string) {
  const env = { PATH: process.env['PATH'] ?? '', DATA_DIR: dataDir, TABLE: table }
  const child = spawn(process.execPath, ['tools/run.js', 'bench/bare-route.ts'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const chunk of child.stdout) {
    const [, origin] = /is ready at (.*)\//.exec(String(chunk)) ?? []
    if (origin !== undefined) return { origin, stop: () => child.kill() }
  }
  throw new Error('the bare route did not start')
}

/** Reads a process's memory in megabytes. */
function memoryOf(pid: number | undefined) {
  const [, kilobytes = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) / 1024
}

/** Compares the server's throughput and latency with a bare route's, in turns. Also measures the server's memory. */
export async function benchServer(): Promise<void> {
  const directory = await temporaryDirectory()
  const server = await startServer({ DATA_DIR: directory.path })
  const admin = connectToEmbedded(directory.path)
  await admin.unsafe(`
    create table plain (like public.retreat_applications including defaults including constraints);
    grant insert (${columns.join(', ')}) on plain to anon`)
  const bare = await startBareRoute(directory.path, 'retreat_applications')
  const plain = await startBareRoute(directory.path, 'plain')
  const sides = [
    { name: 'the server', origin: server.origin },
    { name: 'bare route, same table', origin: bare.origin },
    { name: 'bare route, no index and no trigger', origin: plain.origin },
  ]

  for (const connections of [50, 200]) {
    const results = sides.map((): Load[] => [])
    for (let round = 0; round <= rounds; round += 1) {
      for (const [index, { origin }] of sides.entries()) {
        const load = await insertLoad(origin, connections, { duration: seconds })
        // The first round is a warm-up.
        if (round > 0) results[index]?.push(load)
      }
    }
    const rates = results.map((loads) => loads.map(({ perSecond }) => perSecond))
    const tails = results.map((loads) => loads.map(({ p99 }) => p99))
    printTable(
      `Inserts over ${connections} connections (${rounds} rounds of ${seconds} s, in turns)`,
      [
        '',
        'inserts/s',
        'ratio to the bare route, same table',
        'p99, ms',
        'ratio to the bare route, same table',
      ],
      sides.map(({ name }, index) => [
        name,
        spread(rates[index] ?? []),
        ratio(rates[index] ?? [], rates[1] ?? []),
        spread(tails[index] ?? []),
        ratio(tails[index] ?? [], tails[1] ?? []),
      ]),
    )
  }

  const memory: string[][] = []
  for (let inserts = 0; inserts <= 100_000; inserts += 25_000) {
    if (inserts > 0) await insertLoad(server.origin, 50, { amount: 25_000 })
    memory.push([inserts.toLocaleString('en'), memoryOf(server.process.pid).toFixed()])
  }
  printTable('Memory of the Node.js process, after the load above', ['more inserts', 'MB'], memory)

  bare.stop()
  plain.stop()
  await admin.end()
  await server.stop()
  await directory.remove()
}
