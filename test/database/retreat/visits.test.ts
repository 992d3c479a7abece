import type { SupabaseClient } from '@supabase/supabase-js'
import { beforeAll, beforeEach, expect, test } from 'vitest'

import { anApplication } from '../../support/form.ts'
import { resetDatabase } from '../../support/reset.ts'
import { startSignIn, type SignInServer } from '../../support/sign-in-server.ts'
import { valuesOf } from '../../support/sql.ts'
import { until } from '../../support/until.ts'
import type { PageVisits, VisitedDay } from '../../../src/client/desk/retreat.ts'

let server: SignInServer
let client: SupabaseClient

beforeAll(async () => {
  server = await startSignIn()
  ;({ client } = await server.signedIn())
})

beforeEach(() => resetDatabase(server.database.owner))

async function read(): Promise<PageVisits> {
  const { data, error } = await client.rpc('desk_visits')
  if (error) throw error
  return data as PageVisits
}

interface BatchEntry {
  source: string
  visits: number
  starts: number
}

const count = (batch: BatchEntry[]) =>
  server.database.server`select private.count_visits(${JSON.stringify(batch)}::text::jsonb)`
const stored = () =>
  server.database.owner<
    BatchEntry[]
  >`select source, visits, starts from private.visits order by visits desc, source`
/** Makes a batch in which each name has one visit less than the one before. */
const batchOf = (names: string[]) =>
  names.map((source, index) => ({ source, visits: 1000 - index, starts: 0 }))
const names = (length: number, prefix = 'name') => Array.from({ length }, (_, index) => `${prefix}-${index}`)
const lastDay = ({ days }: PageVisits) => days.at(-1) as VisitedDay

test('batches of several servers add up by day and source', async () => {
  expect(await read()).toMatchObject({ is_counted: false, sources: [] })
  await count([
    { source: '', visits: 5, starts: 2 },
    { source: 'newsletter', visits: 3, starts: 0 },
  ])
  await Promise.all([
    count([{ source: 'newsletter', visits: 4, starts: 0 }]),
    count([{ source: '', visits: 0, starts: 1 }]),
  ])
  const visits = await read()
  expect(visits.is_counted).toBe(true)
  expect(visits.sources).toEqual([
    { source: 'newsletter', visits: 7 },
    { source: '', visits: 5 },
  ])
  expect(lastDay(visits)).toMatchObject({ visits: 12, starts: 3, applications: 0 })
})

// break: sources-of-day-unlimited
test('a day has at most 200 names, over all servers; the rest count as `other`', async () => {
  await count([...batchOf(names(150)), { source: '', visits: 1, starts: 1 }])
  await Promise.all(
    ['a', 'b', 'c', 'd'].map((prefix) =>
      count([...batchOf(names(40, prefix)), { source: 'name-0', visits: 1, starts: 0 }]),
    ),
  )
  const rows = await stored()
  // 200 names, the blank source of visits without a name, and `other`.
  expect(rows).toHaveLength(202)
  expect(rows.find(({ source }) => source === 'name-0')?.visits).toBe(1004)
  const sent = [
    ...batchOf(names(150)),
    ...Array(4)
      .fill(batchOf(names(40)))
      .flat(),
  ] as BatchEntry[]
  const total = (all: readonly BatchEntry[]) => all.reduce((sum, { visits }) => sum + visits, 0)
  expect(total(rows)).toBe(total(sent) + 5)
  // Of the 160 new names, 50 fit. The other 110 count as `other`, each with more than 900 visits.
  expect(rows.find(({ source }) => source === 'other')?.visits).toBeGreaterThan(110 * 900)
  // A new day begins without names.
  await server.database.owner`update private.visits set day = day - 1`
  await count(batchOf(['z-new']))
  expect((await stored()).find(({ source }) => source === 'z-new')?.visits).toBe(1000)
})

test('a batch waits until another server’s batch is counted, and the limit holds for the names of both', async () => {
  const { owner } = server.database
  const batch = JSON.stringify(batchOf(names(150, 'first')))
  const { counting: secondCounting } = await owner.begin(async (transaction) => {
    await transaction`select private.count_visits(${batch}::text::jsonb)`
    let isDone = false
    const counting = Promise.resolve(count(batchOf(names(150, 'second')))).finally(() => (isDone = true))
    await until('the second batch to wait', async () => {
      const waiting = await transaction`
        select from pg_locks where relation = 'private.visits'::regclass and not granted`
      return isDone || waiting.length > 0
    })
    // In an object, because the transaction would wait for a promise that it returns.
    return { counting }
  })
  await secondCounting
  // 200 names and `other`.
  expect(await stored()).toHaveLength(201)
})

test('of too many names in one batch, those with the most visits are stored', async () => {
  await count(batchOf(names(300)).toReversed())
  const rows = await stored()
  expect(rows).toHaveLength(201)
  expect(rows.filter(({ source }) => source !== 'other').map(({ source }) => source)).toEqual(names(200))
})

test('the database refuses a source that is not a valid name', async () => {
  for (const source of ['<b>', 'Newsletter', 'x'.repeat(41), 'ä', 'a b', 'a\n'])
    await expect(count([{ source, visits: 1, starts: 0 }])).rejects.toMatchObject({ code: '23514' })
  expect(await stored()).toEqual([])
})

test('an organiser gets the last 90 days, and the 20 sources with the most visits in them', async () => {
  const { owner } = server.database
  await owner`
    insert into private.visits (day, source, visits, starts) values
      (private.today() - 90, 'too-old', 1000, 1000), (private.today() - 89, 'old', 30, 7)`
  await count([...batchOf(names(25)), { source: 'started-only', visits: 0, starts: 4 }])
  const visits = await read()
  const [{ today } = { today: '' }] = await owner<{ today: string }[]>`select private.today()::text as today`
  expect(visits.days).toHaveLength(90)
  expect(visits.days[0]).toMatchObject({ visits: 30, starts: 7 })
  expect(visits.days[1]).toMatchObject({ visits: 0, starts: 0 })
  expect(lastDay(visits)).toMatchObject({ day: today, starts: 4 })
  expect(new Set(visits.days.map(({ day }) => day)).size).toBe(90)
  expect(visits.sources.map(({ source }) => source)).toEqual(names(20))
})

test('applications count on their day in the time zone of deadlines, and not while they are put aside', async () => {
  const { owner } = server.database
  // Noon of yesterday.
  const [{ noon } = { noon: '' }] = await owner<{ noon: string }[]>`
    select ((private.today() - 1)::timestamp at time zone 'UTC' + interval '12 hours')::text as noon`
  const at = (hours: number) => new Date(new Date(noon).getTime() + hours * 3_600_000)
  const ids: string[] = []
  // The fourth application is at the first moment of the 90 days, and the fifth is a second earlier.
  for (const hours of [0, 11.5, -11.5, -88 * 24 - 12, -88 * 24 - 12 - 1 / 3600]) {
    const [row] = await owner<{ id: string }[]>`insert into public.retreat_applications
      ${valuesOf({ ...anApplication(), created_at: at(hours) })} returning id`
    ids.push(row?.id ?? '')
  }
  const applied = async () => (await read()).days.map(({ applications }) => applications)
  const summarise = async () => {
    const all = await applied()
    return { last: all.slice(-3), first: all[0], sum: all.reduce((sum, each) => sum + each) }
  }
  expect(await summarise()).toEqual({ last: [0, 3, 0], first: 1, sum: 4 })
  // In a time zone eleven hours behind UTC, only the application of 00:30 is on an earlier day.
  await owner`update private.places set zone = 'Etc/GMT+11'`
  const [{ daysAgo } = { daysAgo: 0 }] = await owner<{ daysAgo: number }[]>`
    select private.today() - (${noon}::timestamptz at time zone 'Etc/GMT+11')::date as "daysAgo"`
  const appliedThere = await applied()
  expect(appliedThere.at(-1 - daysAgo)).toBe(2)
  expect(appliedThere.at(-2 - daysAgo)).toBe(1)
  await owner`update private.places set zone = 'UTC'`
  await client.rpc('desk_decide', {
    act: crypto.randomUUID(),
    decisions: [{ id: ids[0], status: 'aside', version: 0 }],
  })
  expect(await summarise()).toEqual({ last: [0, 2, 0], first: 1, sum: 3 })
})

test('neither visitors nor organisers may count visits or read the table of visits', async () => {
  const { owner } = server.database
  const [rights] = await owner`
    select bool_or(has_function_privilege(role, 'private.count_visits(jsonb)', 'execute')) as may_count,
      bool_or(has_table_privilege(role, 'private.visits', 'select, insert, update, delete')) as may_touch
    from unnest('{anon,authenticated}'::text[]) as role`
  expect(rights).toEqual({ may_count: false, may_touch: false })
  expect((await server.client().rpc('desk_visits')).error?.code).toBe('42501')
  expect((await client.rpc('count_visits', { counts: [] })).error?.code).toBe('PGRST202')
})
