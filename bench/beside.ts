import { columns } from '../src/application/application.ts'
import { startServer, temporaryDirectory } from '../test/support/server.ts'
import { insertLoad } from './load.ts'
import { printTable, ratio, spread } from './table.ts'

const rounds = 9
const seconds = 3

/** Compares inserts of this version with those of the version in the folder that `BESIDE` names, in turns. */
export async function benchBeside(): Promise<void> {
  const { BESIDE: beside } = process.env
  if (!beside) return console.log('\nBESIDE names no other version: inserts were not compared with it.')
  const sides = await Promise.all(
    [
      { name: 'the version in BESIDE', checkout: beside },
      { name: 'this version', checkout: '.' },
    ].map(async ({ name, checkout }) => {
      const directory = await temporaryDirectory()
      return { name, directory, server: await startServer({ DATA_DIR: directory.path }, checkout) }
    }),
  )
  // PostgreSQL has to convert a consent that is a text, so the server does not combine such a row with others.
  const requestKinds = {
    'one by one': { query: '', change: { consent: 'true' } },
    'whole rows whose columns are named': { query: `?columns=${columns.join()}`, change: {} },
    'whole rows': { query: '', change: {} },
  }
  const rows: string[][] = []
  for (const [kind, { query, change }] of Object.entries(requestKinds)) {
    const rates = sides.map((): number[] => [])
    for (let round = 0; round <= rounds; round += 1) {
      // The order alternates between rounds.
      for (const index of round % 2 === 0 ? [0, 1] : [1, 0]) {
        const origin = sides[index]?.server.origin ?? ''
        const { perSecond } = await insertLoad(origin, 50, { duration: seconds }, query, change)
        // The first round is a warm-up.
        if (round > 0) rates[index]?.push(perSecond)
      }
    }
    for (const [index, { name }] of sides.entries()) {
      rows.push([kind, name, spread(rates[index] ?? []), ratio(rates[index] ?? [], rates[0] ?? [])])
    }
  }
  printTable(
    `Inserts over 50 connections (${rounds} rounds of ${seconds} s, in turns)`,
    ['requests', 'version', 'inserts/s', 'ratio to the version in BESIDE'],
    rows,
  )
  await Promise.all(
    sides.map(async ({ server, directory }) => {
      await server.stop()
      await directory.remove()
    }),
  )
}
