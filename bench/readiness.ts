import { letterHealth } from '../src/server/letters/overview.ts'
import { deliveryHealth } from '../src/server/deliveries/overview.ts'
import { openEmbeddedDatabase } from '../test/support/database.ts'
import { fill } from './growth.ts'
import { printTable, spread } from './table.ts'

const repeats = 20
const applicationCount = 1_000_000

/** Measures the queries of `/readyz` at 1,000,000 applications, with 0 to 1,000,000 deliveries waiting. */
export async function benchReadiness(): Promise<void> {
  const database = await openEmbeddedDatabase()
  const sql = database.owner
  await fill(sql, applicationCount)
  const rows: string[][] = []
  for (const waiting of [0, 1, 1_000, applicationCount]) {
    await sql`
      update private.deliveries set state = 'waiting', done_at = null, due_at = now() + interval '5 minutes'
      where state = 'done'
        and id in (select id from public.retreat_applications order by created_at desc limit ${waiting})`
    // The first query removes dead rows of the update, as autovacuum would.
    await deliveryHealth(sql)
    const milliseconds: number[] = []
    for (let index = 0; index < repeats; index += 1) {
      const started = performance.now()
      await Promise.all([deliveryHealth(database.server), letterHealth(database.server)])
      milliseconds.push(performance.now() - started)
    }
    rows.push([waiting.toLocaleString('en'), spread(milliseconds, 1)])
  }
  printTable(
    `The queries of /readyz, with ${applicationCount.toLocaleString('en')} applications (${repeats} times)`,
    ['waiting deliveries', 'ms'],
    rows,
  )
  await database.close()
}
