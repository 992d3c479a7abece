import { anApplication } from '../test/support/form.ts'
import { startDesk } from '../test/support/desk.ts'
import { printTable, ratio, spread } from './table.ts'
import { valuesOf } from '../test/support/sql.ts'

const rounds = 15
const ordinaryCount = 21_000

/**
 * Reasons that are, for their length, the most expensive to search. Each is the reason of two hundred applications. With the
 * blank reason, none are added. The other tables are compared with that one.
 */
const costlyReasons: Record<string, string> = {
  'no newer ones': '',
  '10,000 characters that each fold into eighteen': 'ﷺ'.repeat(10_000),
  '5,000 words of one character': 'a b c d e f g h i j '.repeat(500),
  '800 words of one character, not long enough for a stored vector': 'a b c d e f g h i j '.repeat(80),
  '500 characters that each fold into eighteen': 'ﷺ'.repeat(500),
}

/** The calls of the desk that are measured. */
const calls: Record<string, [name: string, args: object]> = {
  list: ['desk_list', { filter: {} }],
  'search, common': ['desk_list', { filter: { search: 'silence' } }],
  'search, a beginning': ['desk_list', { filter: { search: 'sil' } }],
  'overview of a search': ['desk_overview', { filter: { search: 'silence' } }],
}

/** Starts a desk with many ordinary applications, and two hundred later ones with this reason, if it is not blank. */
async function deskWithCostly(reason: string) {
  const desk = await startDesk()
  await desk.sql.unsafe(`
    insert into public.retreat_applications (first_name, last_name, email, phone, linkedin, company, reason, consent)
    select 'Ada', 'Name' || n, 'p' || n || '@example.org', n, 'in/p' || n, 'Company ' || n % 4001, 'I want silence '
      || (select string_agg('w' || (power(abs(hashint4(n * 31 + k)) / 2147483648.0, 4) * 30000)::int, ' ')
          from generate_series(1, 40) as k), true
    from generate_series(1, ${ordinaryCount}) as n`)
  if (reason !== '') {
    const rows = Array.from({ length: 200 }, () => ({ ...anApplication({ reason }) }))
    await desk.sql`insert into public.retreat_applications ${valuesOf(rows)}`
  }
  await desk.sql`vacuum analyze`
  return { desk, client: await desk.signedIn('ada@example.org') }
}

/** Measures the desk's calls, in turns, in tables with costly applications and in one without them. */
export async function benchSearch(): Promise<void> {
  const sides = await Promise.all(Object.values(costlyReasons).map(deskWithCostly))
  const rows: string[][] = []
  for (const [what, [name, args]] of Object.entries(calls)) {
    const times = sides.map((): number[] => [])
    for (let round = 0; round <= rounds; round += 1) {
      for (const [index, { client }] of sides.entries()) {
        const started = performance.now()
        await client.rpc(name, args).throwOnError()
        // The first round is a warm-up.
        if (round > 0) times[index]?.push(performance.now() - started)
      }
    }
    for (const [index, costly] of Object.keys(costlyReasons).entries()) {
      rows.push([what, costly, spread(times[index] ?? [], 1), ratio(times[index] ?? [], times[0] ?? [])])
    }
  }
  printTable(
    `The desk's calls with 200 newer applications that are costly to search (${rounds} rounds, in turns, beside ${ordinaryCount.toLocaleString('en')} ordinary ones)`,
    ['call', 'reason of the newer ones', 'ms', 'ratio to no newer ones'],
    rows,
  )
  for (const { desk } of sides) await desk.close()
}
