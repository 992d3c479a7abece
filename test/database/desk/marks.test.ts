import type { SupabaseClient } from '@supabase/supabase-js'
import { beforeAll, beforeEach, expect, test } from 'vitest'

import { askDesk } from '../../support/ask-desk.ts'
import { beginEdition } from '../../support/editions.ts'
import { seedsOf } from '../../support/quick-or-long.ts'
import { anApplication } from '../../support/form.ts'
import { resetDatabase } from '../../support/reset.ts'
import { randomFrom } from '../../support/random.ts'
import { startSignIn, type SignInServer } from '../../support/sign-in-server.ts'
import { valuesOf } from '../../support/sql.ts'
import type {
  Filter,
  ListPage,
  OpenedApplication,
  Page,
  ExportedApplication,
} from '../../../src/client/desk/applications.ts'
import type { ActName, DeskFunction } from '../../../src/client/desk/calls.ts'
import type { Marks, MarkValue } from '../../../src/client/desk/marks.ts'

let server: SignInServer
let ada: SupabaseClient
let grace: SupabaseClient
let tim: SupabaseClient

beforeAll(async () => {
  server = await startSignIn()
  ;[ada, grace, tim] = (
    await Promise.all(
      ['ada@example.org', 'grace@example.org', 'tim@example.org'].map((email) => server.signedIn(email)),
    )
  ).map(({ client }) => client) as [SupabaseClient, SupabaseClient, SupabaseClient]
})

beforeEach(() => resetDatabase(server.database.owner))

/** Stores applications, each a minute later than the one before. Returns their ids, the oldest first. */
async function store(count: number) {
  const rows = Array.from({ length: count }, (_, index) => ({
    ...anApplication({ first_name: `Person ${index}` }),
    created_at: new Date(Date.UTC(2026, 0, 1, 0, index)),
  }))
  const stored = await server.database.owner<{ id: string }[]>`
    insert into public.retreat_applications ${valuesOf(rows)} returning id`
  return stored.map(({ id }) => id)
}

const mark = (client: SupabaseClient, application: string, value: MarkValue | null, why = '') =>
  askDesk<Marks>(client, 'mark', { act: crypto.randomUUID(), application, mark: value, why })
const marksOf = async (client: SupabaseClient, application: string) =>
  (await askDesk<OpenedApplication>(client, 'application', { application, filter: null })).marks
const listed = async (client: SupabaseClient, filter: Filter) =>
  (await askDesk<ListPage>(client, 'list', { filter })).applications.map(({ id }) => id)
const decide = (client: SupabaseClient, id: string, status: string, version: number) =>
  askDesk(client, 'decide', { act: crypto.randomUUID(), decisions: [{ id, status, version }] })
/** `others`: the author of each mark, the mark, and whether it says that its author could see marks of others. */
const summarise = (marks: Marks | null) => ({
  own: marks?.own?.mark ?? null,
  others:
    marks?.others?.map(({ author, mark: value, after_seeing }) => [author, value, after_seeing]) ?? null,
  missing: marks?.missing ?? null,
})

// break: marks-seen-after-taking-back
test('marks of others are hidden until an organiser has marked the application too', async () => {
  const [id = ''] = await store(1)
  await mark(grace, id, 'yes', ' Warm,\n and clear. ')
  expect(await marksOf(ada, id)).toEqual({ own: null, others: null, missing: null })
  expect(await mark(ada, id, 'no')).toMatchObject({
    own: { author: 'ada@example.org', mark: 'no', why: '', after_seeing: false },
    others: [{ author: 'grace@example.org', mark: 'yes', why: 'Warm, and clear.', after_seeing: false }],
    missing: ['tim@example.org'],
  })
  await mark(ada, id, null)
  expect(await marksOf(ada, id)).toEqual({ own: null, others: null, missing: null })
  expect((await askDesk<ListPage>(ada, 'list', { filter: {} })).marks).toEqual({})
})

test('the status Waitlisted shows all marks, and New and Shortlisted hide them again', async () => {
  const [id = ''] = await store(1)
  await mark(grace, id, 'maybe')
  await decide(ada, id, 'waitlisted', 0)
  expect(summarise(await marksOf(ada, id))).toEqual({
    own: null,
    others: [['grace@example.org', 'maybe', false]],
    missing: ['ada@example.org', 'tim@example.org'],
  })
  await decide(ada, id, 'new', 1)
  expect((await marksOf(ada, id))?.others).toBeNull()
  await decide(ada, id, 'shortlisted', 2)
  expect((await marksOf(ada, id))?.others).toBeNull()
  // Ada could see Grace's mark while the application was waitlisted.
  expect((await mark(ada, id, 'maybe')).own?.after_seeing).toBe(true)
})

test('a mark says that its author could see marks of others before, even if the author took theirs back in between', async () => {
  const [id = '', other = ''] = await store(2)
  await mark(ada, id, 'yes')
  expect((await mark(ada, id, 'maybe')).own?.after_seeing).toBe(false)
  await mark(grace, id, 'no')
  // A reason that is added to the same mark does not change `after_seeing`.
  expect((await mark(ada, id, 'maybe', 'Clear.')).own).toMatchObject({ why: 'Clear.', after_seeing: false })
  expect((await mark(grace, id, 'yes')).own?.after_seeing).toBe(true)
  await mark(ada, id, null)
  expect((await mark(ada, id, 'no')).own?.after_seeing).toBe(true)
  // Nobody else had marked the other application.
  expect((await mark(grace, other, 'no')).own?.after_seeing).toBe(false)
  expect((await mark(grace, other, 'yes')).own?.after_seeing).toBe(false)
})

test('of two simultaneous marks neither counts as given after seeing the other, and then each author sees both', async () => {
  const [id = ''] = await store(1)
  await Promise.all([mark(ada, id, 'yes'), mark(grace, id, 'no')])
  expect(summarise(await marksOf(ada, id)).others).toEqual([['grace@example.org', 'no', false]])
  expect(summarise(await marksOf(grace, id)).others).toEqual([['ada@example.org', 'yes', false]])
  expect((await mark(ada, id, 'no')).own?.after_seeing).toBe(true)
})

test('a repeated act changes nothing, and giving the same mark again is no change', async () => {
  const [id = ''] = await store(1)
  await mark(grace, id, 'yes')
  const act = crypto.randomUUID()
  const args = { act, application: id, mark: 'yes', why: 'Good.' }
  const first = await askDesk<Marks>(ada, 'mark', args)
  expect(await askDesk<Marks>(ada, 'mark', args)).toEqual(first)
  expect((await mark(ada, id, 'yes', 'Good.')).own).toEqual(first.own)
})

test('lists filter and sort by the marks that an organiser may see', async () => {
  const [one = '', two = '', three = '', four = ''] = await store(4)
  await mark(ada, one, 'yes')
  await mark(grace, one, 'no')
  await mark(grace, two, 'yes')
  await mark(tim, two, 'no')
  await mark(grace, three, 'yes')
  await mark(ada, three, 'yes')
  expect(await listed(ada, { marks: 'none of mine' })).toEqual([four, two])
  expect(await listed(ada, { marks: 'disagree' })).toEqual([one])
  expect(await listed(grace, { marks: 'disagree' })).toEqual([two, one])
  expect(await listed(ada, { order: 'most yes' })).toEqual([three, one, four, two])
  expect(await listed(grace, { order: 'most yes' })).toEqual([three, two, one, four])
  const { marks } = await askDesk<ListPage>(ada, 'list', { filter: {} })
  expect(marks).toEqual({
    [one]: {
      own: 'yes',
      yes: 1,
      maybe: 0,
      no: 1,
      by: [
        ['ada@example.org', 'yes'],
        ['grace@example.org', 'no'],
      ],
    },
    [three]: {
      own: 'yes',
      yes: 2,
      maybe: 0,
      no: 0,
      by: [
        ['ada@example.org', 'yes'],
        ['grace@example.org', 'yes'],
      ],
    },
  })
})

test('the shuffled order stays the same for an organiser, differs between organisers, and has each application once over all pages', async () => {
  const ids = await store(30)
  const shuffledFor = (client: SupabaseClient) => listed(client, { order: 'shuffled', marks: 'none of mine' })
  const adasOrder = await shuffledFor(ada)
  expect(adasOrder.toSorted()).toEqual(ids.toSorted())
  expect(await shuffledFor(ada)).toEqual(adasOrder)
  expect(await shuffledFor(grace)).not.toEqual(adasOrder)
  await mark(grace, adasOrder[0] ?? '', 'yes')
  expect(await shuffledFor(ada)).toEqual(adasOrder)
  for (const filter of [{ order: 'shuffled' }, { order: 'most yes' }] as const) {
    const whole = await listed(ada, filter)
    const paged: string[] = []
    let after = null
    do {
      const page: ListPage = await askDesk(ada, 'list', { filter, after, most: 7 })
      paged.push(...page.applications.map(({ id }) => id))
      after = page.next
    } while (after !== null)
    expect(paged).toEqual(whole)
  }
})

test('the export has each application once, sorted by marks, even if long notes end a page early', async () => {
  const ids = await store(3)
  for (const id of ids) await mark(ada, id, 'yes')
  // A page ends with the application that exceeds 16 MB.
  await server.database.owner`
    insert into private.history (application_id, author, kind, detail)
    values (${ids[2] ?? ''}, 'ada@example.org', 'note', jsonb_build_object('note', repeat('x', 16000000)))`
  const pages: string[][] = []
  let after: object | null = null
  do {
    const page: Page<ExportedApplication> = await askDesk(ada, 'export', {
      filter: { order: 'most yes' },
      after,
    })
    pages.push(page.applications.map(({ id }) => id))
    after = page.next
  } while (after !== null && pages.length < ids.length)
  expect(pages).toEqual([[ids[2]], [ids[1], ids[0]]])
})

/** Every call that reads, with arguments that reach marks. */
const readCalls = (id: string): Record<Exclude<DeskFunction, ActName>, object[]> => {
  const filters: Filter[] = [
    {},
    { status: 'new' },
    { order: 'oldest' },
    { order: 'most yes' },
    { order: 'shuffled' },
    { marks: 'none of mine' },
    { marks: 'disagree' },
    { search: 'Warm' },
  ]
  const shown = [{ id, version: 0 }]
  return {
    desk_me: [{}],
    desk_organisers: [{}],
    desk_list: filters.map((filter) => ({ filter })),
    desk_refresh: filters.map((filter) => ({ filter, zone: 'UTC', shown, oldest: null })),
    desk_meanwhile: filters.map((filter) => ({ filter, shown })),
    desk_overview: filters.map((filter) => ({ filter })),
    desk_select: filters.map((filter) => ({ filter })),
    desk_export: filters.map((filter) => ({ filter })),
    desk_application: filters.map((filter) => ({ application: id, filter })),
    desk_junk: [{}],
    desk_stamp: [{ application: id }],
    desk_all_about: [{ application: id }],
    desk_blind: [{}],
    desk_door: [{}],
    desk_history: [{ after: null }],
    desk_letters: [{}],
    desk_drafts: [{ occasion: 'accepted', after: null }],
    desk_outbox: [{ state: 'waiting', after: null }],
    desk_letters_of: [{ applications: [id] }],
    desk_address: [{ address: 'ada@example.com' }],
    desk_letter_states: [{ applications: [id] }],
    desk_preview: [{ occasion: 'accepted', subject: '{{reason}}', body: '{{first_name}}', application: id }],
    desk_notices: [{}],
    desk_places: [{}],
    desk_visits: [{}],
    desk_page: [{}],
    desk_first_steps: [{}],
    desk_questions: [{}],
    desk_guests: [{}],
    desk_retention: [{}],
  }
}

// break: person-has-hidden-marks
test('until an organiser may see the marks of others, all responses are the same with and without them', async () => {
  const [toMark = '', shortlisted = '', ofGrace = '', ...others] = await store(6)
  // An organiser's own application has their account beside it.
  await server.database.owner`
    update public.retreat_applications set email = 'grace@example.org' where id = ${ofGrace}`
  await decide(ada, shortlisted, 'shortlisted', 0)
  await mark(ada, others[0] ?? '', 'yes')
  const readEverything = async () => {
    const responses = new Map<string, unknown>()
    for (const id of [toMark, shortlisted, ofGrace]) {
      for (const [name, calls] of Object.entries(readCalls(id))) {
        for (const args of calls) {
          const call = JSON.stringify([name, args])
          // Some calls are the same for both.
          if (!responses.has(call)) responses.set(call, await askDesk(ada, name.replace('desk_', ''), args))
        }
      }
    }
    return JSON.stringify([...responses])
  }
  const before = await readEverything()
  for (const id of [toMark, shortlisted]) {
    await mark(grace, id, null)
    await mark(grace, id, 'yes', 'Warm.')
    await mark(tim, id, 'no', 'Cold.')
  }
  expect(await readEverything()).toBe(before)
  await mark(ada, toMark, 'yes')
  expect(await readEverything()).toContain('Cold.')
})

/** Replaces times, and numbers ids and stamps by their first occurrence, so that responses of two runs can be compared. */
function comparable() {
  const numbers = new Map<string, number>()
  const numberOf = (id: string) => {
    if (!numbers.has(id)) numbers.set(id, numbers.size)
    return `#${numbers.get(id)}`
  }
  return (response: unknown) =>
    JSON.stringify(response)
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)/g, 'time')
      .replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|\b[\da-f]{32}\b/g, numberOf)
}

/**
 * Plays acts of Ada, who marks only some applications, and sets no status but Shortlisted and New. Returns all responses that she
 * gets.
 *
 * @param seed The same seed plays the same acts.
 * @param areOthersMarking Whether Grace and Tim mark the other applications meanwhile.
 */
async function playActs(seed: number, areOthersMarking: boolean) {
  await resetDatabase(server.database.owner)
  const rows = Array.from({ length: 12 }, (_, index) => ({
    ...anApplication({ first_name: `Person ${index}`, last_name: 'L', email: `person${index}@example.org` }),
    id: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
    created_at: new Date(Date.UTC(2026, 0, 1, 0, index)),
  }))
  await server.database.owner`insert into public.retreat_applications ${valuesOf(rows)}`
  const random = randomFrom(seed)
  const othersRandom = randomFrom(seed + 1)
  const pick = <Item>(items: readonly Item[], by = random) => items[Math.floor(by() * items.length)] as Item
  const ids = rows.map(({ id }) => id)
  const [ownIds, otherIds] = [ids.slice(0, 4), ids.slice(4)]
  const versions = new Map<string, number>()
  const values = ['yes', 'maybe', 'no', null] as const
  const acts = [
    () => mark(ada, pick(ownIds), pick(values), pick(['', 'Warm.', 'Cold.'])),
    () => {
      const id = pick(ids)
      const version = versions.get(id) ?? 0
      versions.set(id, version + 1)
      return decide(ada, id, version % 2 === 0 ? 'shortlisted' : 'new', version)
    },
    () => askDesk(ada, 'note', { act: crypto.randomUUID(), application: pick(ids), note: pick(['A', 'B']) }),
    () =>
      askDesk(ada, 'write_to', {
        act: crypto.randomUUID(),
        application: pick(ids),
        subject: 'Hello',
        body: 'You',
      }),
  ]
  const toComparable = comparable()
  const responses: string[] = []
  for (let step = 0; step < 40; step += 1) {
    responses.push(toComparable(await pick(acts)()))
    const [name, calls] = pick(Object.entries(readCalls(pick(ids))))
    const args = pick(calls)
    responses.push(toComparable([name, args, await askDesk(ada, name.replace('desk_', ''), args)]))
    const [client, id, value] = [
      pick([grace, tim], othersRandom),
      pick(otherIds, othersRandom),
      pick(values, othersRandom),
    ]
    if (areOthersMarking) await mark(client, id, value, pick(['Warm.', 'Cold.'], othersRandom))
  }
  return responses
}

test.each(seedsOf({ quick: 1, long: 20 }))(
  'in a sequence of random acts, an organiser gets the same responses with and without marks that are hidden from them (seed %i)',
  async (seed) => {
    const without = await playActs(seed, false)
    const withOthers = await playActs(seed, true)
    const [{ count }] = await server.database.owner<[{ count: number }]>`
      select count(*)::integer as count from private.marks where author <> 'ada@example.org' and mark is not null`
    expect(count).toBeGreaterThan(5)
    expect(withOthers).toEqual(without)
  },
)

test('an exported table has the visible marks, and an erased application loses its marks', async () => {
  const [one = '', two = ''] = await store(2)
  await mark(grace, one, 'yes', '=1+1')
  await mark(grace, two, 'no')
  await mark(ada, two, 'maybe')
  const { applications } = await askDesk<Page<ExportedApplication>>(ada, 'export', {
    filter: { order: 'oldest' },
  })
  expect(applications.map(({ marks }) => marks)).toEqual([
    [],
    [
      { author: 'ada@example.org', mark: 'maybe', why: '', after_seeing: false },
      { author: 'grace@example.org', mark: 'no', why: '', after_seeing: false },
    ],
  ])
  await server.database.owner`delete from public.retreat_applications`
  expect(await server.database.owner`select from private.marks`).toHaveLength(0)
})

test('organisers who only read do not count as missing, and the marks of a removed organiser stay under their email', async () => {
  const [id = ''] = await store(1)
  const { client: leaving } = await server.signedIn('leaving@example.org')
  await mark(leaving, id, 'yes')
  await askDesk(tim, 'set_reads_only', { reads_only: true })
  await server.database.owner`delete from auth.users where email = 'leaving@example.org'`
  expect(summarise(await mark(ada, id, 'no'))).toEqual({
    own: 'no',
    others: [['leaving@example.org', 'yes', false]],
    missing: ['grace@example.org'],
  })
  await askDesk(tim, 'set_reads_only', { reads_only: false })
})

test('an application says whether anybody has marked in its retreat, and how many are accepted to it', async () => {
  const [first = '', second = '', third = ''] = await store(3)
  const facts = async (application: string) => {
    const opened = await askDesk<OpenedApplication>(tim, 'application', { application, filter: null })
    return [opened.is_marking, opened.acceptances]
  }
  expect(await facts(first)).toEqual([false, { accepted: 0, places: null }])
  await mark(ada, second, 'yes')
  await decide(ada, first, 'accepted', 0)
  await server.database.owner`update private.places set places = 40`
  expect(await facts(third)).toEqual([true, { accepted: 1, places: 40 }])
  await mark(ada, second, null)
  expect((await facts(third))[0]).toBe(false)

  // Another retreat has its own.
  await mark(ada, second, 'no')
  await beginEdition(server.database.owner, 'Autumn')
  const [fourth = ''] = await store(1)
  expect(await facts(fourth)).toEqual([false, { accepted: 0, places: 40 }])
  expect(await facts(first)).toEqual([true, { accepted: 1, places: 40 }])
})
