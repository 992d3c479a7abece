import { anApplication } from '../testing/form.ts'
import { startDesk } from '../testing/desk.ts'
import { printTable, ratio, spread } from './table.ts'
import { valuesOf } from '../testing/sql.ts'

const rounds = 15
const ordinaryCount = 21_000

/** Reasons that are the most expensive to search for their length. Two hundred applications have each. */
const costlyReasons: Record<string, string> = {
  'none of them': '',
  '10,000 letters that fold into eighteen': 'ﷺ'.repeat(10_000),
  '5,000 words of a letter': 'a b c d e f g h i j '.repeat(500),
  '800 words of a letter, not long enough to be kept': 'a b c d e f g h i j '.repeat(80),
  '500 letters that fold into eighteen': 'ﷺ'.repeat(500),
}

/** The acts of organisers, as calls of the desk. */
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

/** Compares searches among applications that are expensive to search with searches in a table without them, in turns. */
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
    `The desk's calls behind 200 that are costly to search in, in ms (${rounds} rounds, in turns, beside ${ordinaryCount.toLocaleString('en')} ordinary ones)`,
    ['', 'behind', 'ms', 'to the first'],
    rows,
  )
  for (const { desk } of sides) await desk.close()
}
