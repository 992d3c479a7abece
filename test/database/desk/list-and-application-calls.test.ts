import type { SupabaseClient } from '@supabase/supabase-js'
import { beforeAll, beforeEach, expect, test } from 'vitest'

import { askDesk } from '../../support/ask-desk.ts'
import { setRetreat } from '../../support/calendars.ts'
import { anApplication } from '../../support/form.ts'
import { resetDatabase } from '../../support/reset.ts'
import { startSignIn, type SignInServer } from '../../support/sign-in-server.ts'
import type { Application } from '../../../src/application/application.ts'
import type {
  ExportedApplication,
  Filter,
  ListPage,
  OpenedApplication,
  Overview,
  Page,
  Cursor,
  SelectedApplication,
} from '../../../src/client/desk/applications.ts'
import type { Notices } from '../../../src/client/desk/letters.ts'
import { applicationsWithDeliveries, withDeskColumns } from '../../../src/cli/queries/applications.ts'
import { valuesOf } from '../../support/sql.ts'

let server: SignInServer
let client: SupabaseClient

beforeAll(async () => {
  server = await startSignIn()
  ;({ client } = await server.signedIn())
})

beforeEach(async () => {
  await resetDatabase(server.database.owner)
  await server.database.owner`update private.postman set seen_at = now()`
})

const ask = <Result>(name: string, args: object = {}, caller = client) => askDesk<Result>(caller, name, args)

const opened = (application: string, filter: Filter | null = {}, caller = client) =>
  ask<OpenedApplication>('application', { application, filter }, caller)
const positionOf = async (application: string, filter: Filter) => (await opened(application, filter)).place

/**
 * Stores applications, each a minute later than the one before. Returns their ids, the oldest first.
 *
 * @param minute The time of the first application, in minutes after the beginning of 2026.
 */
async function store(all: readonly Partial<Application>[], minute = 0) {
  const { owner } = server.database
  const rows = all.map((changes, index) => ({
    ...anApplication(changes),
    created_at: new Date(Date.UTC(2026, 0, 1, 0, minute + index)),
  }))
  const stored: { id: string }[] = []
  for (let from = 0; from < rows.length; from += 500) {
    stored.push(
      ...(await owner<{ id: string }[]>`
        insert into public.retreat_applications ${valuesOf(rows.slice(from, from + 500))} returning id`),
    )
  }
  // As autovacuum would. Without statistics, the planner expects few rows.
  if (rows.length > 500) await owner`analyze public.retreat_applications`
  return stored.map(({ id }) => id)
}

const people = (count: number, changes: Partial<Application> = {}) =>
  Array.from({ length: count }, () => ({ ...changes }))

/** Sets statuses in the database, without a decision. */
async function setStatus(ids: readonly string[], status: string) {
  const { owner } = server.database
  await owner`
    insert into private.statuses (application_id, created_at, status, version)
    select id, created_at, ${status}, 1 from public.retreat_applications where id = any(${ids})
    on conflict (application_id) do update set status = excluded.status, version = statuses.version + 1`
}

const decide = (id: string, status: string, version = 0) =>
  ask('decide', { act: crypto.randomUUID(), decisions: [{ id, status, version }] })

async function releaseAll(occasion: string) {
  const { letters } = await ask<{ letters: { id: string; seen: string }[] }>('drafts', { occasion })
  await ask('release', { act: crypto.randomUUID(), letters: letters.map(({ id, seen }) => ({ id, seen })) })
}

/** Reads the ids of the whole list, page after page. */
async function readAll(filter: Filter) {
  const ids: string[] = []
  let after: Cursor | null = null
  do {
    const page: ListPage = await ask<ListPage>('list', { filter, after })
    ids.push(...page.applications.map(({ id }) => id))
    after = page.next
  } while (after !== null)
  return ids
}

test('a page of the list has the states of the letters to the applicants on it, without the texts', async () => {
  const [first = '', second = '', third = ''] = await store(people(3))
  for (const id of [first, second]) await decide(id, 'accepted')
  await releaseAll('accepted')
  await server.database.owner`
    update private.deliveries set state = 'done', done_at = now(), due_at = null
    where application_id = ${first} and kind = 'letter'`
  await decide(third, 'accepted')
  // Of drafts, it has only those about decisions.
  await ask('write', { applications: [third], occasion: 'reminder' })
  const letter = { occasion: 'accepted', way: 'mail', otherwise: null, sent_at: null }
  const sent = { ...letter, application: first, state: 'sent', sent_at: expect.any(String) as string }
  const { letters } = await ask<ListPage>('list', { filter: {} })
  expect(letters).toHaveLength(3)
  expect(letters).toContainEqual(sent)
  expect(letters).toContainEqual({ ...letter, application: second, state: 'waiting' })
  // Drafts come after everything that was released.
  expect(letters[2]).toEqual({ ...letter, application: third, state: 'draft' })
  expect((await ask<ListPage>('list', { filter: {}, after: null })).letters).toEqual(letters)
  const onlyFirst = { filter: { until: '2026-01-01T00:01:00Z' } }
  expect((await ask<ListPage>('list', onlyFirst)).letters).toEqual([sent])
})

test('an opened application has its letters and its position in the filtered list', async () => {
  const [oldest = '', middle = '', newest = ''] = await store(people(3))
  await decide(middle, 'accepted')
  const { letters, application, place: position } = await opened(middle)
  expect({ letters, status: application.status }).toMatchObject({
    letters: [{ occasion: 'accepted', state: 'draft', application: middle }],
    status: 'accepted',
  })
  expect(position).toEqual({ number: 2, count: 3, more: false, previous: newest, next: oldest })
  expect(await positionOf(newest, {})).toMatchObject({ number: 1, previous: null, next: middle })
  expect(await positionOf(oldest, { order: 'oldest' })).toMatchObject({
    number: 1,
    previous: null,
    next: middle,
  })
  expect(await positionOf(newest, { order: 'oldest' })).toMatchObject({
    number: 3,
    previous: middle,
    next: null,
  })
  // An application that no longer passes the filter still has neighbours, which do pass it.
  const between = { number: null, count: 2, more: false, previous: newest, next: oldest }
  expect(await positionOf(middle, { status: 'new' })).toEqual(between)
  expect(await positionOf(middle, { status: 'new', order: 'oldest' })).toEqual({
    ...between,
    previous: oldest,
    next: newest,
  })
  expect((await opened(middle, null)).place).toBeNull()
  // Desks of earlier versions send no filter.
  expect(await ask('application', { application: middle })).toMatchObject({ place: null, letters: [{}] })
})

test('an application has a position if it is among the first thousand, and neighbours even beyond them', async () => {
  const ids = await store(people(1102))
  // Numbers count from the newest application.
  const idAt = (number: number) => ids.at(-number)
  const positionAt = (number: number, filter: Filter = {}) => positionOf(idAt(number) ?? '', filter)
  const many = { count: 1000, more: true }
  expect(await positionAt(1)).toEqual({ ...many, number: 1, previous: null, next: idAt(2) })
  expect(await positionAt(1000)).toEqual({ ...many, number: 1000, previous: idAt(999), next: idAt(1001) })
  expect(await positionAt(1001)).toEqual({ ...many, number: null, previous: idAt(1000), next: idAt(1002) })
  expect(await positionAt(1100)).toEqual({ ...many, number: null, previous: idAt(1099), next: idAt(1101) })
  expect(await positionAt(1102)).toEqual({ ...many, number: null, previous: idAt(1101), next: null })
  expect(await positionAt(2, { order: 'oldest' })).toEqual({
    ...many,
    number: null,
    previous: idAt(3),
    next: idAt(1),
  })
  // The newest 1,050 applications do not match.
  await setStatus(ids.slice(-1050), 'declined')
  expect(await positionAt(1051, { status: 'new' })).toEqual({
    number: 1,
    count: 52,
    more: false,
    previous: null,
    next: idAt(1052),
  })
})

test('an organiser who reads blind gets no position for a search of a hidden field', async () => {
  const [id = ''] = await store([{ last_name: 'Quillfeather', reason: 'A forest.' }])
  const { client: blind } = await server.signedIn()
  await ask('set_blind', { blind: true }, blind)
  const numberFor = async (search: string, caller: SupabaseClient) =>
    (await opened(id, { search }, caller)).place?.number
  expect(await numberFor('quillfeather', client)).toBe(1)
  expect(await numberFor('quillfeather', blind)).toBeNull()
  expect(await numberFor('forest', blind)).toBe(1)
})

test('a list has the oldest first on request, with any filter and search', async () => {
  const ids = await store([
    ...people(60, { reason: 'odd silence' }),
    ...people(60, { reason: 'even silence', team_size: '10+' }),
  ])
  await setStatus(ids.slice(30, 90), 'accepted')
  const filters: Filter[] = [
    {},
    { status: 'accepted' },
    { status: 'new' },
    { search: 'odd' },
    { search: 'silence', team_size: '10+' },
    { since: '2026-01-01T00:10:00Z', until: '2026-01-01T01:05:00Z' },
    { status: 'accepted', since: '2026-01-01T00:40:00Z', until: '2026-01-01T01:05:00Z' },
    { search: 'silence', since: '2026-01-01T00:10:00Z', until: '2026-01-01T01:05:00Z' },
  ]
  for (const filter of filters) {
    const newestFirst = await readAll(filter)
    expect(newestFirst.length).toBeGreaterThan(20)
    expect({ filter, ids: await readAll({ ...filter, order: 'oldest' }) }).toEqual({
      filter,
      ids: newestFirst.toReversed(),
    })
  }
  expect(await readAll({ order: 'oldest' })).toEqual(ids)
  const counts = async (filter: Filter) =>
    (await ask<{ counts: object }>('overview', { filter, zone: 'UTC' })).counts
  expect(await counts({ order: 'oldest' })).toEqual(await counts({}))
})

test('a list has the oldest first on request, even if more than a thousand applications match a search', async () => {
  await store(people(1100, { reason: 'silence' }))
  const newestFirst = await readAll({ search: 'silence' })
  expect(newestFirst).toHaveLength(1100)
  expect(await readAll({ search: 'silence', order: 'oldest' })).toEqual(newestFirst.toReversed())
})

test('applications that joined a list since it was read are counted, and those newer than all its rows are counted separately', async () => {
  const [first = '', second = '', third = '', fourth = ''] = await store(people(4))
  await setStatus([second, third, fourth], 'accepted')
  await decide(fourth, 'declined', 1)
  const filter: Filter = { status: 'accepted' }
  const shown = [third, second].map((id) => ({ id, version: 1 }))
  const meanwhile = (given: object) =>
    ask<Record<string, unknown>>('meanwhile', { filter, shown, oldest: null, ...given })
  const noChange = {
    changed: [],
    gone: [],
    withdrawn: [],
    marks: {},
    new_notes: [],
    newer: 0,
    older: 0,
    more: false,
  }
  expect(await meanwhile({})).toEqual({
    ...noChange,
    letters: [{}, {}].map(() => expect.objectContaining({ occasion: 'accepted', state: 'draft' }) as object),
    answers: expect.any(Object) as object,
    unseen: [],
  })
  await setStatus([first, fourth], 'accepted')
  const twoJoined = { ...noChange, newer: 1, older: 1 }
  expect(await meanwhile({})).toMatchObject(twoJoined)
  expect(await meanwhile({ filter: { ...filter, order: 'oldest' } })).toMatchObject(twoJoined)
  // If the list has more pages, applications after the last one shown are not counted.
  const minute = (at: number) => `2026-01-01T00:0${at}:00Z`
  expect(await meanwhile({ oldest: { created_at: minute(1), id: second } })).toMatchObject({
    ...twoJoined,
    older: 0,
  })
  expect(
    await meanwhile({
      filter: { ...filter, order: 'oldest' },
      oldest: { created_at: minute(2), id: third },
    }),
  ).toMatchObject({ ...twoJoined, newer: 0 })
  expect(await meanwhile({ shown: [] })).toMatchObject({ newer: 4, older: 0 })
  await decide(third, 'waitlisted', 1)
  await releaseAll('waitlisted')
  expect(await meanwhile({})).toMatchObject({
    changed: [{ id: third, status: 'waitlisted', version: 2 }],
    letters: [
      { application: third, occasion: 'waitlisted', state: 'waiting' },
      { application: second, occasion: 'accepted', state: 'draft' },
    ],
  })
})

test('in a very long list with the oldest first, new applications between its rows and after its end are counted', async () => {
  const ids = await store(people(1010))
  const shown = ids.slice(0, 50).map((id) => ({ id, version: 0 }))
  const oldest = { created_at: '2026-01-01T00:49:00Z', id: ids[49] }
  const [between] = await store(people(1), 20)
  expect(await ask('meanwhile', { filter: { order: 'oldest' }, shown, oldest })).toMatchObject({
    newer: 0,
    older: 1,
    more: false,
    unseen: [{ id: between }],
  })
  // If the list was read to its end, applications after its last row are counted too.
  const [newest] = await store(people(1), 2000)
  const all = await readAll({ order: 'oldest' })
  const { newer } = await ask<{ newer: number }>('meanwhile', {
    filter: { order: 'oldest' },
    shown: all
      .filter((id) => id !== newest)
      .slice(-1000)
      .map((id) => ({ id, version: 0 })),
    oldest: null,
  })
  expect(newer).toBe(1)
})

test('one call returns the counts and the changes that desks of earlier versions get by two calls', async () => {
  const [first = '', second = '', third = ''] = await store(people(3))
  await decide(first, 'accepted', 0)
  const filter: Filter = { status: 'new' }
  const [oldest, zone] = [null, 'Europe/Berlin']
  const shown = [first, second].map((id) => ({ id, version: 0 }))
  const overview = await ask<object>('overview', { filter, zone })
  const { unseen, ...changes } = await ask<Record<string, unknown>>('meanwhile', { filter, shown, oldest })
  expect(unseen).toMatchObject([{ id: third }])
  expect(overview).toMatchObject({ counts: { new: { count: 2 }, accepted: { count: 1 } } })
  expect(changes).toMatchObject({ changed: [{ id: first, status: 'accepted' }], newer: 1 })
  expect(await ask('refresh', { filter, zone, shown, oldest })).toEqual({ overview, changes })
})

test('a filter by RSVP changes the counts of Accepted and All, and of no other tab', async () => {
  const [first = '', second = '', third = ''] = await store(people(4))
  await setStatus([first, second], 'accepted')
  await decide(third, 'declined', 0)
  const countsOf = async (filter: Filter) => {
    const { counts } = await ask<Overview>('overview', { filter, zone: 'UTC' })
    return Object.fromEntries(Object.entries(counts).map(([name, { count }]) => [name, count]))
  }
  const otherTabs = { new: 1, shortlisted: 0, waitlisted: 0, declined: 1, aside: 0 }
  expect(await countsOf({ status: 'accepted', answer: 'not told' })).toEqual({
    ...otherTabs,
    accepted: 2,
    all: 2,
  })
  expect(await countsOf({ status: 'accepted', answer: 'coming' })).toEqual({
    ...otherTabs,
    accepted: 0,
    all: 0,
  })
  expect(await countsOf({ answer: 'not told', search: 'nobody' })).toEqual({
    new: 0,
    shortlisted: 0,
    accepted: 0,
    waitlisted: 0,
    declined: 0,
    aside: 0,
    all: 0,
  })
})

test('a call lists the requested number of applications, up to a thousand, even if few candidates match', async () => {
  const ids = await store(people(1100))
  const newestFirst = ids.toReversed()
  const { applications, next } = await ask<ListPage>('list', { filter: {}, after: null, most: 1000 })
  expect(applications.map(({ id }) => id)).toEqual(newestFirst.slice(0, 1000))
  const rest = await ask<ListPage>('list', { filter: {}, after: next, most: 1000 })
  expect(rest.applications.map(({ id }) => id)).toEqual(newestFirst.slice(1000))
  expect(rest.next).toBeNull()
  const decided = newestFirst.filter((_, index) => index % 4 > 0)
  for (let from = 0; from < decided.length; from += 500)
    await setStatus(decided.slice(from, from + 500), 'declined')
  const few = await ask<ListPage>('list', { filter: { status: 'new' }, after: null, most: 270 })
  expect(few.applications).toHaveLength(270)
})

test('the stamp of an application changes if, and only if, something about the application changes', async () => {
  const [id = '', other = ''] = await store(people(2))
  const { owner } = server.database
  const stampOf = async () => {
    const { stamp } = await ask<{ stamp: string }>('stamp', { application: id })
    expect((await opened(id)).stamp).toBe(stamp)
    return stamp
  }
  await setRetreat(owner, { starts_on: '2026-03-12', ends_on: '2026-03-15' })
  const seen = [await stampOf()]
  await decide(other, 'accepted')
  expect(await stampOf()).toBe(seen[0])
  const changes = [
    () => decide(id, 'accepted'),
    () => ask('note', { act: crypto.randomUUID(), application: id, note: 'A note.' }),
    () => releaseAll('accepted'),
    () => owner`update private.deliveries set attempts = 1 where application_id = ${id} and kind = 'letter'`,
    () => owner`update private.deliveries set attempts = 1, reply_status = 500 where id = ${id}`,
    () => ask('set_retention', { version: 0, months: 12, months_for_guests: null }),
    () => ask('hold', { act: crypto.randomUUID(), application: id, reason: 'Comes again' }),
    () => owner`update private.editions set questions_version = questions_version + 1`,
  ]
  for (const change of changes) {
    await change()
    seen.push(await stampOf())
  }
  expect(new Set(seen).size).toBe(changes.length + 1)
  await owner`delete from public.retreat_applications where id = ${id}`
  expect(await client.rpc('desk_stamp', { application: id })).toMatchObject({
    status: 404,
    error: { code: 'PT404' },
  })
})

test('`desk_notices` says whether a server that sends emails is running', async () => {
  const isSending = async () => (await ask<Notices>('notices')).is_postman_there
  expect(await isSending()).toBe(true)
  await server.database.owner`update private.postman set seen_at = now() - interval '2 minutes'`
  expect(await isSending()).toBe(false)
})

test('a selection has the ids and versions of all applications that match; blind readers get no names', async () => {
  const ids = await store([
    ...people(1010),
    { first_name: 'Zoe', last_name: 'Quillfeather', reason: 'forest' },
  ])
  await setStatus(ids.slice(0, 4), 'accepted')
  const select = (filter: Filter, after: Cursor | null = null, caller = client) =>
    ask<Page<SelectedApplication>>('select', { filter, after }, caller)
  const { applications, next } = await select({ status: 'accepted', order: 'oldest' })
  expect({ next, ids: applications.map(({ id }) => id) }).toEqual({ next: null, ids: ids.slice(0, 4) })
  expect(applications[0]).toEqual({
    id: ids[0],
    status: 'accepted',
    version: 1,
    first_name: 'Ada',
    last_name: expect.stringMatching(/^Lovelace/) as string,
  })
  const all = await select({})
  expect(all.applications).toHaveLength(1000)
  expect(all.applications[0]).toMatchObject({
    id: ids.at(-1),
    status: 'new',
    version: 0,
    last_name: 'Quillfeather',
  })
  expect((await select({}, all.next)).applications).toHaveLength(11)
  const { client: blind } = await server.signedIn()
  await ask('set_blind', { blind: true }, blind)
  expect((await select({ search: 'forest' }, null, blind)).applications).toEqual([
    { id: ids.at(-1), status: 'new', version: 0 },
  ])
  expect((await select({ search: 'quillfeather' }, null, blind)).applications).toEqual([])
})

test("an export has each application's decision with its author, its notes and its letters", async () => {
  const [first = '', second = ''] = await store(people(2))
  const { client: other, email } = await server.signedIn()
  const exported = async (caller = client) =>
    (await ask<Page<ExportedApplication>>('export', { filter: { order: 'oldest' } }, caller)).applications
  const nothing = { decided_by: null, decided_at: null, notes: [], letters: [] }
  expect(await exported()).toMatchObject([nothing, nothing])
  await decide(first, 'accepted')
  await ask(
    'decide',
    { act: crypto.randomUUID(), decisions: [{ id: first, status: 'declined', version: 1 }] },
    other,
  )
  for (const note of ['Convincing.', 'Or not.'])
    await ask('note', { act: crypto.randomUUID(), application: first, note }, other)
  await releaseAll('declined')
  const [one, two] = await exported()
  const moment = expect.stringMatching(/^20\d\d-/) as string
  expect(one).toMatchObject({
    status: 'declined',
    decided_by: email,
    decided_at: moment,
    notes: [
      { at: moment, author: email, note: 'Convincing.' },
      { at: moment, author: email, note: 'Or not.' },
    ],
    letters: [{ occasion: 'declined', way: 'mail', state: 'waiting', otherwise: null, at: moment }],
  })
  expect(two).toMatchObject({ id: second, ...nothing })
  // The table of `npm run applications` has the same values.
  await server.database.owner.begin(async (owner) => {
    for await (const rows of withDeskColumns(owner, applicationsWithDeliveries(owner, 10))) {
      const { status, decided_by, decided_at, notes, letters } = one ?? {}
      expect(rows.at(-1)).toMatchObject({ id: first, status, decided_by, decided_at, notes, letters })
      expect(rows[0]).toMatchObject({ id: second, status: 'new', ...nothing })
    }
  })
  // The export for an organiser who reads blind has no texts or addresses of letters, and no RSVPs.
  await ask('set_blind', { blind: true }, other)
  expect(JSON.stringify(await exported(other))).not.toMatch(/subject|body|"to"|address|"answer":"/)
})
