import type { Sql } from '../src/server/database/connection/sql.ts'
import type { Polling } from '../src/server/polling.ts'
import { startRetention } from '../src/server/retention/retention.ts'
import { startServer, temporaryDirectory } from '../test/support/server.ts'
import { connectToEmbedded } from '../test/support/sql.ts'
import { fill } from './growth.ts'
import { insertLoad } from './load.ts'
import { printTable, ratio, spread } from './table.ts'

const rounds = 5
const count = 10_000
const seconds = 3

/** Erases the due applications as a server does, from this process. Resolves when their number is logged. */
async function erase(sql: Sql) {
  let retention: Polling | undefined
  await new Promise<void>((resolve) => {
    const log = {
      info: (_details: object, message?: string) => message === 'applications erased' && resolve(),
      warn: console.error,
    }
    retention = startRetention({ sql, log })
  })
  await retention?.stop()
}

/** Measures inserts while 10,000 applications are erased in steps, in turns with inserts without erasing. */
export async function benchErasing(): Promise<void> {
  const directory = await temporaryDirectory()
  const server = await startServer({ DATA_DIR: directory.path })
  const sql = connectToEmbedded(directory.path)
  await sql`update private.retention set months = 12, months_for_guests = 12`
  const ratesWithout: number[] = []
  const ratesDuring: number[] = []
  const times: number[] = []
  for (let round = 0; round <= rounds; round += 1) {
    await sql`update private.editions set starts_on = null, ends_on = null`
    await sql`delete from public.retreat_applications`
    await fill(sql, count)
    await sql`update public.retreat_applications set created_at = '2020-01-01'`
    await sql`update private.editions set starts_on = '2020-03-01', ends_on = '2020-03-04'`
    await sql`
      insert into private.announcements (edition, subject, days, announced_on, until)
      values (1, 'applications', 7, private.today(), private.today())`
    const { perSecond } = await insertLoad(server.origin, 50, { duration: seconds })
    const started = performance.now()
    const [load, time] = await Promise.all([
      insertLoad(server.origin, 50, { duration: seconds }),
      erase(sql).then(() => performance.now() - started),
    ])
    // The first round is a warm-up.
    if (round === 0) continue
    ratesWithout.push(perSecond)
    ratesDuring.push(load.perSecond)
    times.push(time / 1000)
  }
  printTable(
    `Inserts over 50 connections while the retention erases ${count.toLocaleString('en')} applications (${rounds} rounds of ${seconds} s, in turns)`,
    ['', 'inserts/s', 'ratio to without erasing'],
    [
      ['without erasing', spread(ratesWithout), '1.00'],
      [
        `while they are erased, which took ${spread(times, 1)} s`,
        spread(ratesDuring),
        ratio(ratesDuring, ratesWithout),
      ],
    ],
  )
  await sql.end()
  await server.stop()
  await directory.remove()
}
