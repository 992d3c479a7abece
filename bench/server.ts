import { spawn } from 'node:child_process'

import { startServer, temporaryDirectory } from '../test/support/server.ts'
import { insertLoad, type Load } from './load.ts'
import { memoryOf } from './memory.ts'
import { printTable, ratio, spread } from './table.ts'

const rounds = 7
const seconds = 3
/** Inserts after the load, before the memory is measured. */
const moreInserts = 100_000

/** Starts the bare route as a separate process. */
async function startBareRoute(dataDir: string) {
  const env = { PATH: process.env['PATH'] ?? '', DATA_DIR: dataDir }
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

/** Compares the server's throughput and latency with a bare route's, in turns. Also measures the server's memory. */
export async function benchServer(): Promise<void> {
  const directory = await temporaryDirectory()
  const server = await startServer({ DATA_DIR: directory.path })
  const bare = await startBareRoute(directory.path)
  const sides = [
    { name: 'the server', origin: server.origin },
    { name: 'bare route', origin: bare.origin },
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
      ['', 'inserts/s', 'ratio to the bare route', 'p99, ms', 'ratio to the bare route'],
      sides.map(({ name }, index) => [
        name,
        spread(rates[index] ?? []),
        ratio(rates[index] ?? [], rates[1] ?? []),
        spread(tails[index] ?? []),
        ratio(tails[index] ?? [], tails[1] ?? []),
      ]),
    )
  }

  await insertLoad(server.origin, 50, { amount: moreInserts })
  const megabytes = memoryOf(server).toFixed()
  console.log(
    `\nAfter this load and ${moreInserts.toLocaleString('en')} more inserts, the Node.js process has ${megabytes} MB.`,
  )

  bare.stop()
  await server.stop()
  await directory.remove()
}
