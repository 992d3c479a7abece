import { columns } from '../src/application/application.ts'
import { startServer, temporaryDirectory } from '../testing/server.ts'
import { insertLoad } from './load.ts'
import { printTable, ratio, spread } from './table.ts'

const rounds = 9
const seconds = 3

/** Inserts of this version beside those of the one that lies in the folder `BESIDE`, in turns. */
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
  // A consent that is a text is one that PostgreSQL reads, so such a row travels with no other.
  const ways = {
    'one by one': { query: '', change: { consent: 'true' } },
    'whole rows whose columns are named': { query: `?columns=${columns.join()}`, change: {} },
    'whole rows': { query: '', change: {} },
  }
  const rows: string[][] = []
  for (const [way, { query, change }] of Object.entries(ways)) {
    const rates = sides.map((): number[] => [])
    for (let round = 0; round <= rounds; round += 1) {
      // Who goes first takes turns as well.
      for (const index of round % 2 === 0 ? [0, 1] : [1, 0]) {
        const origin = sides[index]?.server.origin ?? ''
        const { perSecond } = await insertLoad(origin, 50, { duration: seconds }, query, change)
        // The first round warms up.
        if (round > 0) rates[index]?.push(perSecond)
      }
    }
    for (const [index, { name }] of sides.entries()) {
      rows.push([way, name, spread(rates[index] ?? []), ratio(rates[index] ?? [], rates[0] ?? [])])
    }
  }
  printTable(
    `Inserts over 50 connections (${rounds} rounds of ${seconds} s, in turns)`,
    ['', '', 'inserts/s', 'to the version in BESIDE'],
    rows,
  )
  await Promise.all(
    sides.map(async ({ server, directory }) => {
      await server.stop()
      await directory.remove()
    }),
  )
}
