import type { SupabaseClient } from '@supabase/supabase-js'
import { beforeAll, beforeEach, expect, test } from 'vitest'

import { askDesk, idsOf } from '../../support/ask-desk.ts'
import { anApplication } from '../../support/form.ts'
import { resetDatabase } from '../../support/reset.ts'
import { startSignIn, type SignInServer } from '../../support/sign-in-server.ts'
import { valuesOf } from '../../support/sql.ts'
import type { Application } from '../../../src/application/application.ts'
import type { JunkGroup, ListPage, Overview } from '../../../src/client/desk/applications.ts'
import type { Door } from '../../../src/client/desk/retreat.ts'

let server: SignInServer
let client: SupabaseClient

beforeAll(async () => {
  server = await startSignIn()
  ;({ client } = await server.signedIn())
})

beforeEach(() => resetDatabase(server.database.owner))

const ask = <Result>(name: string, args: object = {}) => askDesk<Result>(client, name, args)

async function store(all: (Partial<Application> & { created_at?: Date })[]) {
  const rows = all.map((changes) => ({ created_at: new Date(), ...anApplication(changes), ...changes }))
  const stored = await server.database.owner<{ id: string }[]>`
    insert into public.retreat_applications ${valuesOf(rows)} returning id`
  return stored.map(({ id }) => id)
}

const decide = (id: string, status: string, version: number) =>
  ask('decide', { act: crypto.randomUUID(), decisions: [{ id, status, version }] })

const listed = async (filter: object) => idsOf(await ask<ListPage>('list', { filter }))
const door = () => ask<Door>('door')

test('an application that was put aside is only in the list and the count of its status, in no chart or table, until it is New again', async () => {
  const [genuine = '', junk = ''] = await store([{ reason: 'To think.' }, { reason: 'Best casino.' }])
  await decide(junk, 'aside', 0)
  for (const filter of [{}, { status: 'new' }, { order: 'oldest' }])
    expect(await listed(filter)).toEqual([genuine])
  expect(await listed({ search: 'casino' })).toEqual([])
  expect(await listed({ status: 'aside' })).toEqual([junk])
  expect(idsOf(await ask('export', { filter: {} }))).toEqual([genuine])
  expect(idsOf(await ask('select', { filter: {} }))).toEqual([genuine])
  const overview = await ask<Overview>('overview', { filter: {} })
  expect(overview.counts).toMatchObject({ new: { count: 1 }, aside: { count: 1 }, all: { count: 1 } })
  expect([overview.count, Object.values(overview.days)]).toEqual([1, [1]])
  const narrowed = await ask<Overview>('overview', { filter: { search: 'casino' } })
  expect(narrowed.counts).toMatchObject({ new: { count: 0 }, aside: { count: 1 }, all: { count: 0 } })
  await decide(junk, 'new', 1)
  expect(await listed({ status: 'new' })).toHaveLength(2)
  expect(await listed({ status: 'aside' })).toEqual([])
})

test('an application that is put aside no longer counts towards the limit of an open door, and a closed door stays closed', async () => {
  const { version } = await door()
  await ask('set_door', { version, closed: false, sentence: '', closes_after: 3 })
  const insert = (name: string) =>
    server
      .client()
      .from('retreat_applications')
      .insert(anApplication({ first_name: name }))
  await insert('One')
  await insert('Two')
  const [junk = '', other = ''] = await listed({})
  const before = (await door()).received
  await decide(junk, 'aside', 0)
  expect((await door()).received).toBe(before - 1)
  await decide(junk, 'new', 1)
  expect((await door()).received).toBe(before)
  await decide(junk, 'aside', 2)
  await server.database.owner`update private.door set closes_after = received`
  expect((await door()).is_open).toBe(false)
  await decide(other, 'aside', 0)
  expect((await door()).is_open).toBe(false)
})

test('junk is suggested in groups with the same reason, links or domain, and each application is in one group', async () => {
  const minute = (number: number) => new Date(Date.UTC(2026, 0, 1, 0, number))
  // Not junk: two people of one company with the same reason, a whole day's applicants of one email provider, and a reason
  // with a link among other words.
  const people = await store([
    ...Array.from({ length: 30 }, (_, index) => ({
      email: `person${index}@company${index}.example`,
      reason: `I want to think about ${index}.`,
      created_at: minute(index),
    })),
    { email: 'a@twins.example', reason: 'We are two.' },
    { email: 'b@twins.example', reason: 'We are two.' },
    ...Array.from({ length: 24 }, (_, index) => ({
      email: `many${index}@provider.example`,
      reason: `Another reason ${index}`,
      created_at: minute(60 * index),
    })),
    { reason: 'Read https://example.com before you answer.' },
  ])
  const sameReason = await store(
    ['Cheap  SEO\nnow', 'cheap seo now', 'CHEAP SEO\u00a0NOW '].map((reason, index) => ({
      reason,
      email: `s${index}@s${index}.example`,
    })),
  )
  const links = await store([
    { reason: 'https://spam.example/a' },
    { reason: ' www.spam.example , http://spam.example/b\n' },
  ])
  const domain = await store(
    Array.from({ length: 20 }, (_, index) => ({
      email: `x${index}@Bots.example`,
      reason: `Unique ${index}`,
      created_at: minute(600 + 2 * index),
    })),
  )
  const groups = await ask<JunkGroup[]>('junk')
  expect(groups.map(({ kind, key, applications }) => [kind, key, applications.length])).toEqual([
    ['domain', 'bots.example', 20],
    ['reason', null, 3],
    ['links', null, 2],
  ])
  expect(groups.flatMap(idsOf).toSorted()).toEqual([...domain, ...sameReason, ...links].toSorted())
  expect(groups.flatMap(idsOf).some((id) => people.includes(id))).toBe(false)
  expect(groups[1]?.example).toMatch(/^cheap\s+seo\s+now ?$/i)
  await decide(sameReason[0] ?? '', 'declined', 0)
  expect((await ask<JunkGroup[]>('junk')).map(({ kind }) => kind)).toEqual(['domain', 'links'])
})

test('junk is searched for a second, among the newest applications', async () => {
  await store(
    Array.from({ length: 500 }, (_, index) => ({
      reason: 'Best casino.',
      email: `c${index}@c${index}.example`,
      created_at: new Date(Date.UTC(2026, 0, 1) - index * 1_000),
    })),
  )
  const read = await server.database.owner.begin(async (transaction) => {
    const [{ definition }] = await transaction<[{ definition: string }]>`
      select pg_get_functiondef('private.person(text)'::regprocedure) as definition`
    await transaction`
      create or replace function private.person(email text) returns text language plpgsql immutable parallel safe as $$
      begin perform pg_sleep(0.005); return email; end $$`
    const rows = await transaction<{ id: string; is_read: boolean }[]>`
      with newest as materialized (
        select array_agg(id order by created_at desc) as ids from public.retreat_applications
      ), traits as materialized (select traits.id from newest cross join private.traits(newest.ids))
      select one.id, traits.id is not null as is_read
      from newest cross join unnest(ids) with ordinality as one (id, position) left join traits on traits.id = one.id
      order by position`
    await transaction.unsafe(definition)
    return rows.map(({ is_read }) => is_read)
  })
  const count = read.lastIndexOf(true) + 1
  // Fifty are read at a time, and two hundred in a second at most.
  expect(count).toBeGreaterThan(0)
  expect(count).toBeLessThanOrEqual(250)
  expect(read.slice(0, count)).not.toContain(false)
})
