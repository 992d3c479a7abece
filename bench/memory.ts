import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

import { startServer, temporaryDirectory, type RunningServer } from '../test/support/server.ts'
import { insertLoad } from './load.ts'
import { printTable, ratio, spread } from './table.ts'

const rounds = 5
const applications = 3_000
/** Milliseconds after which V8 has released the memory of a start. */
const restDelay = 15_000

/** Reads the memory of a server's process in megabytes, without PostgreSQL's. */
export function memoryOf(server: RunningServer): number {
  const status = readFileSync(`/proc/${server.process.pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024
}

/** Measures a server's memory at rest and after applications, in turns with the version in `BESIDE`, if it is set. */
export async function benchMemory(): Promise<void> {
  const { BESIDE: beside } = process.env
  const versions = [
    { name: 'this version', checkout: '.' },
    ...(beside ? [{ name: 'the version in BESIDE', checkout: beside }] : []),
  ].map((version) => ({ ...version, rest: [] as number[], after: [] as number[] }))
  for (let round = 0; round < rounds; round += 1) {
    for (const { checkout, rest, after } of versions) {
      const directory = await temporaryDirectory()
      const server = await startServer({ DATA_DIR: join(directory.path, 'data') }, checkout)
      await wait(restDelay)
      rest.push(memoryOf(server))
      await insertLoad(server.origin, 20, { amount: applications })
      after.push(memoryOf(server))
      await server.stop()
      await directory.remove()
    }
  }
  const [thisVersion] = versions
  printTable(
    `Memory of the server, MB (${rounds} rounds, in turns)`,
    [
      '',
      'at rest',
      'this version / this row',
      `after ${applications.toLocaleString('en')} applications`,
      'this version / this row',
    ],
    versions.map(({ name, rest, after }) => [
      name,
      spread(rest),
      ratio(thisVersion?.rest ?? [], rest),
      spread(after),
      ratio(thisVersion?.after ?? [], after),
    ]),
  )
}
