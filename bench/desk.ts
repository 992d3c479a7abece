import { randomUUID } from 'node:crypto'

import type { DeskServer } from '../test/support/desk.ts'
import { startServer, temporaryDirectory } from '../test/support/server.ts'
import { filledDesk } from './filled-desk.ts'
import { insertLoad } from './load.ts'
import { median, printTable, ratio, spread } from './table.ts'
import { connectToEmbedded } from '../test/support/sql.ts'

const rounds = 15
const [few, many] = [1_000, 1_000_000]
/** The limits for the times at a million: this factor of the time at a thousand, or this many milliseconds more. */
const maxRatio = 1.5
const maxMilliseconds = 50

interface Side {
  name: string
  desk: DeskServer
  call: (name: string, parameters: object) => Promise<never>
  /** The ids of applications without a decision. */
  undecided: string[]
}

/** The tasks of organisers, each with the calls that the desk makes for it. `after` is the cursor of the second page. */
const tasks: Record<string, (side: Side, after: unknown) => Promise<unknown>> = {
  'first list': ({ call }) => call('desk_list', { filter: {} }),
  'list of new': ({ call }) => call('desk_list', { filter: { status: 'new' } }),
  'list of shortlisted': ({ call }) => call('desk_list', { filter: { status: 'shortlisted' } }),
  'list of accepted': ({ call }) => call('desk_list', { filter: { status: 'accepted' } }),
  'list of waitlisted': ({ call }) => call('desk_list', { filter: { status: 'waitlisted' } }),
  'list of declined': ({ call }) => call('desk_list', { filter: { status: 'declined' } }),
  'list, the oldest first': ({ call }) => call('desk_list', { filter: { order: 'oldest' } }),
  'next page': ({ call }, after) => call('desk_list', { filter: {}, after }),
  'opening an application': ({ call, undecided }) =>
    call('desk_application', { application: undecided[0], filter: {} }),
  'whether an application has changed': ({ call, undecided }) =>
    call('desk_stamp', { application: undecided[0] }),
  'selecting all': ({ call }) => call('desk_select', { filter: {} }),
  'a page of a table': ({ call }) => call('desk_export', { filter: {} }),
  'a decision': ({ call, undecided }) =>
    call('desk_decide', {
      act: randomUUID(),
      decisions: [{ id: undecided.pop(), status: 'accepted', version: 0 }],
    }),
  'search, rare': ({ call }) => call('desk_list', { filter: { search: 'xylophone' } }),
  'search, common': ({ call }) => call('desk_list', { filter: { search: 'silence' } }),
  'search, in every application': ({ call }) => call('desk_list', { filter: { search: 'linkedin' } }),
  'search, the beginning of a word of every application': ({ call }) =>
    call('desk_list', { filter: { search: 'domain' } }),
  'search, no match': ({ call }) => call('desk_list', { filter: { search: 'nobodysaidthis' } }),
  'team size and dates': ({ call }) =>
    call('desk_list', { filter: { team_size: '10+', since: '2020-01-01', until: '2100-01-01' } }),
  'most Yes first': ({ call }) => call('desk_list', { filter: { order: 'most yes' } }),
  'shuffled, not marked': ({ call }) =>
    call('desk_list', { filter: { order: 'shuffled', marks: 'none of mine' } }),
  'where organisers disagree': ({ call }) => call('desk_list', { filter: { marks: 'disagree' } }),
  'a mark': ({ call, undecided }) =>
    call('desk_mark', { act: randomUUID(), application: undecided[1], mark: 'yes', why: randomUUID() }),
  'junk suggestions': ({ call }) => call('desk_junk', {}),
  counts: ({ call }) => call('desk_overview', { filter: {} }),
  'counts of a search': ({ call }) => call('desk_overview', { filter: { search: 'silence' } }),
}

async function timeOf(work: () => Promise<unknown>) {
  const started = performance.now()
  await work()
  return performance.now() - started
}

/**
 * Measures the tasks of organisers through our server at a thousand applications and at a million, in turns. If `BESIDE` is
 * set, also measures the version in that folder at a million.
 */
async function benchCalls() {
  const { BESIDE: beside } = process.env
  const sides: Side[] = []
  for (const [name, count, checkout] of [
    ['1,000', few],
    ['1,000,000', many],
    ...(beside ? [['1,000,000 in BESIDE', many, beside] as const] : []),
  ] as const) {
    const { desk, client } = await filledDesk(count, checkout)
    const undecided = await desk.sql<{ id: string }[]>`
      select id from public.retreat_applications left join private.statuses on application_id = id
      where application_id is null limit ${rounds + 5}`
    const call = async (functionName: string, parameters: object) =>
      (await client.rpc(functionName, parameters).throwOnError()).data as never
    sides.push({ name, desk, call, undecided: undecided.map(({ id }) => id) })
  }
  const times = new Map(Object.keys(tasks).map((name) => [name, sides.map((): number[] => [])]))
  const cursors = await Promise.all(
    sides.map(async ({ call }) => ((await call('desk_list', { filter: {} })) as { next: unknown }).next),
  )
  /** Tasks that the version in `BESIDE` does not have. */
  const missingTasks = new Set<string>()
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, task] of Object.entries(tasks)) {
      for (const [index, side] of sides.entries()) {
        const isBeside = index === 2
        if (isBeside && missingTasks.has(name)) continue
        const duration = await timeOf(() => task(side, cursors[index])).catch((error: { code?: string }) => {
          if (!isBeside || error.code !== 'PGRST202') throw error
          missingTasks.add(name)
        })
        // The first round is a warm-up.
        if (round > 0 && duration !== undefined) times.get(name)?.[index]?.push(duration)
      }
    }
  }
  printTable(
    `The desk's calls by the number of applications, in ms (${rounds} rounds, in turns)`,
    [
      '',
      ...sides.map(({ name }) => name),
      'ratio of these two',
      'difference',
      'within the limit',
      ...(beside ? ['ratio to BESIDE'] : []),
    ],
    [...times].map(([name, [atFew = [], atMany = [], ofBeside = []]]) => {
      const more = median(atMany) - median(atFew)
      const isWithin = median(atMany) <= median(atFew) * maxRatio || more <= maxMilliseconds
      return [
        name,
        spread(atFew, 1),
        spread(atMany, 1),
        ...(beside ? [ofBeside.length > 0 ? spread(ofBeside, 1) : '-'] : []),
        ratio(atMany, atFew),
        more.toFixed(1),
        isWithin ? 'yes' : 'NO',
        ...(beside ? [ofBeside.length > 0 ? ratio(atMany, ofBeside) : '-'] : []),
      ]
    }),
  )
  for (const { desk } of sides) await desk.close()
}

/** Measures inserts a second with the search index and without it, in turns. */
async function benchInserts() {
  const sides = await Promise.all(
    [
      { name: 'without the index', change: 'drop index public.retreat_applications_search' },
      { name: 'with the index', change: 'select 1' },
    ].map(async ({ name, change }) => {
      const directory = await temporaryDirectory()
      const server = await startServer({ DATA_DIR: directory.path })
      const sql = connectToEmbedded(directory.path)
      await sql.unsafe(change)
      await sql.end()
      return { name, directory, server, rates: [] as number[] }
    }),
  )
  for (let round = 0; round <= 7; round += 1) {
    for (const { server, rates } of sides) {
      const { perSecond } = await insertLoad(server.origin, 50, { duration: 4 })
      if (round > 0) rates.push(perSecond)
    }
  }
  printTable(
    'Inserts with the search index (50 connections, 7 rounds of 4 s, in turns)',
    ['', 'inserts/s', 'ratio to without the index'],
    sides.map(({ name, rates }) => [name, spread(rates), ratio(rates, sides[0]?.rates ?? [])]),
  )
  for (const { server, directory } of sides) {
    await server.stop()
    await directory.remove()
  }
}

/** Measures the desk's calls as the number of applications grows, and how much its search index slows inserts down. */
export async function benchDesk(): Promise<void> {
  await benchCalls()
  await benchInserts()
}
