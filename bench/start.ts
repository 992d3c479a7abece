import { join } from 'node:path'

import { startServer, temporaryDirectory } from '../test/support/server.ts'
import { printTable, spread } from './table.ts'

const rounds = 9

/**
 * Measures the seconds from the command to the first response with a page. Stops the server afterwards.
 *
 * @param checkout The folder of the version, by default this checkout.
 */
export async function startTime(dataDir: string, checkout?: string): Promise<number> {
  const started = performance.now()
  const server = await startServer({ DATA_DIR: dataDir }, checkout)
  await fetch(server.origin)
  const seconds = (performance.now() - started) / 1000
  await server.stop()
  return seconds
}

/** Measures the duration of a start, in turns with the version in the folder that `BESIDE` names, if it is set. */
export async function benchStart(): Promise<void> {
  const { BESIDE: beside } = process.env
  const versions = [
    { name: 'this version', checkout: '.' },
    ...(beside ? [{ name: 'the version in BESIDE', checkout: beside }] : []),
  ]
  const times = versions.map(() => ({ first: [] as number[], again: [] as number[] }))
  // The first round is a warm-up.
  for (let round = 0; round <= rounds; round += 1) {
    for (const [index, { checkout }] of versions.entries()) {
      const directory = await temporaryDirectory()
      const dataDir = join(directory.path, 'data')
      const [first, again] = [await startTime(dataDir, checkout), await startTime(dataDir, checkout)]
      await directory.remove()
      if (round === 0) continue
      times[index]?.first.push(first)
      times[index]?.again.push(again)
    }
  }
  printTable(
    `From the command to the first page (${rounds} rounds, in turns)`,
    ['', 'first start, on an empty directory, s', 'second start, s'],
    versions.map(({ name }, index) => [
      name,
      spread(times[index]?.first ?? [], 2),
      spread(times[index]?.again ?? [], 2),
    ]),
  )
}
