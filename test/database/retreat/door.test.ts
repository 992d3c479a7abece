import type { SupabaseClient } from '@supabase/supabase-js'
import { beforeAll, beforeEach, expect, test, vi } from 'vitest'

import { askDesk } from '../../support/ask-desk.ts'
import { anApplication } from '../../support/form.ts'
import { resetDatabase } from '../../support/reset.ts'
import { startSignIn, type SignInServer } from '../../support/sign-in-server.ts'
import { valuesOf } from '../../support/sql.ts'
import type { Application } from '../../../src/application/application.ts'
import { readDoor, setDoor, setSentence } from '../../../src/cli/queries/door.ts'
import type { Sql } from '../../../src/server/database/connection/sql.ts'

let server: SignInServer
let owner: Sql
let organiser: SupabaseClient
let email: string

beforeAll(async () => {
  server = await startSignIn()
  owner = server.database.owner
  ;({ client: organiser, email } = await server.signedIn())
})

beforeEach(() => resetDatabase(owner))

interface HistoryEntry {
  author: string
  kind: string
  detail: Record<string, unknown>
}
interface Door {
  version: number
  is_open: boolean
  closed: boolean
  sentence: string
  received: number
  closes_at: string | null
  closes_after: number | null
  history: HistoryEntry[]
}

const ask = <Result>(name: string, args: object = {}) => askDesk<Result>(organiser, name, args)

const door = () => ask<Door>('door')
const happenings = async () => (await ask<{ happenings: HistoryEntry[] }>('history')).happenings

async function set(changes: object) {
  const { version } = await door()
  return ask<Door>('set_door', { version, closed: false, ...changes })
}

/** Sends an application. Returns the status of the response, or the refusal. */
async function send(application = anApplication()) {
  const { status, error } = await server.client().from('retreat_applications').insert(application)
  return error === null ? status : [status, error.code, error.message]
}

async function storeOne() {
  const [row] = await owner<[{ id: string }]>`
    insert into public.retreat_applications ${valuesOf({ ...anApplication() })} returning id`
  return row.id
}

/** The decisions that put applications aside. */
const decisions = (...ids: unknown[]) => ids.map((id) => ({ id, version: 0, status: 'aside' }))

/** Makes the statements of a transaction those of the organiser. */
async function actAs(sql: Sql) {
  const { data } = await organiser.auth.getClaims()
  await sql`select set_config('request.jwt.claims', ${JSON.stringify(data?.claims)}, true)`
}

/** Resolves when this many statements wait for a lock. */
const waitFor = (number: number) =>
  expect
    .poll(() => owner`select pid from pg_stat_activity where wait_event_type = 'Lock'`)
    .toHaveLength(number)

async function countStored() {
  const [row] = await owner`select count(*)::int as n from public.retreat_applications`
  return row?.['n'] as number
}

test('a closed door refuses applications with its sentence, on the page too; a duplicate counts as stored', async () => {
  const duplicate = anApplication()
  expect(await send(duplicate)).toBe(201)
  expect(await door()).toMatchObject({ is_open: true, closed: false, version: 0, sentence: '', history: [] })
  const sentence = 'We are full: 100% “thanks”, see you in 2027. <b>\\</b>'
  expect(await set({ closed: true, sentence })).toMatchObject({
    is_open: false,
    closed: true,
    sentence,
    version: 1,
  })
  expect(await send()).toEqual([403, 'PT403', sentence])
  expect(await send(duplicate)).toMatchObject([
    409,
    '23505',
    expect.stringContaining('retreat_applications_once'),
  ])
  expect(
    await server.client().from('retreat_applications').insert([anApplication(), anApplication()]),
  ).toMatchObject({ status: 403 })

  const postForm = async (application: Application) => {
    const body = new URLSearchParams(
      Object.entries(application).map(([name, value]) => [name, String(value)]),
    )
    const response = await fetch(`${server.origin}/`, { method: 'POST', body })
    return { status: response.status, html: await response.text() }
  }
  const refused = anApplication({ first_name: 'Late Lucy', reason: 'To be kept in the form.' })
  const { status, html } = await postForm(refused)
  expect(status).toBe(403)
  expect(html).toContain('We are full: 100% “thanks”, see you in 2027. &lt;b&gt;\\&lt;/b&gt;')
  for (const answer of [refused.first_name, refused.last_name, refused.email, refused.reason])
    expect(html).toContain(answer)
  expect((await postForm(duplicate)).status).toBe(200)
  expect(await countStored()).toBe(1)
  expect(await owner`select from private.deliveries`).toHaveLength(1)

  // Without a sentence the default is used.
  await set({ closed: true })
  expect(await send()).toEqual([403, 'PT403', 'Applications are closed.'])
  await set({ closed: false, sentence })
  expect(await send(refused)).toBe(201)
  // `desk_door` returns only the last change; `desk_history` returns all of them.
  expect((await door()).history).toMatchObject([{ author: email, kind: 'door', detail: { closed: false } }])
  expect(await happenings()).toMatchObject([
    { author: email, kind: 'door', detail: { closed: false, is_open: true } },
    { author: email, kind: 'door', detail: { closed: true, sentence: '' } },
    { author: email, kind: 'door', detail: { closed: true, sentence, is_open: false } },
  ])
})

test('a door is changed only by an organiser who saw its current state, and only to a valid state', async () => {
  const other = await server.signedIn()
  await set({ closed: true, sentence: 'First.' })
  const change = (args: object, caller = organiser) => caller.rpc('desk_set_door', { closed: false, ...args })
  const stale = { status: 409, data: null, error: { code: 'PT409' } }
  expect(await change({ version: 0 }, other.client)).toMatchObject(stale)
  expect(await change({ version: null })).toMatchObject(stale)
  for (const wrong of [
    { closes_after: 0 },
    { closes_after: -1 },
    { sentence: 'x'.repeat(301) },
    { closes_at: 'soon' },
    { closes_at: 'infinity' },
    { closes_at: '-infinity' },
    { closes_at: '10000-01-01T00:00Z' },
    { closes_at: '20000-01-01T00:00Z' },
  ]) {
    expect(await change({ version: 1, ...wrong })).toMatchObject({ status: 400 })
  }
  expect(await door()).toMatchObject({ version: 1, closed: true, sentence: 'First.' })
  // Of two concurrent changes, one is saved.
  const both = await Promise.all([
    change({ version: 1, sentence: 'a' }),
    change({ version: 1, sentence: 'b', closes_after: 5 }, other.client),
  ])
  expect(both.map(({ status }) => String(status)).toSorted()).toEqual(['200', '409'])
  expect(await door()).toMatchObject({ version: 2 })
  expect(await happenings()).toHaveLength(2)
  // A retry after a lost response succeeds and changes nothing.
  const changed = await change({ version: 2, sentence: 'Again.' })
  expect(changed).toMatchObject({ status: 200, data: { version: 3, sentence: 'Again.' } })
  expect(await change({ version: 2, sentence: 'Again.' })).toMatchObject({ status: 200, data: changed.data })
  expect(await change({ version: 2, sentence: 'Other.' })).toMatchObject(stale)
  expect(await happenings()).toHaveLength(3)
  expect(await set({ sentence: '🌲'.repeat(300) })).toMatchObject({ sentence: '🌲'.repeat(300) })
})

test('a door closes automatically at its closing time', async () => {
  const inAnHour = new Date(Date.now() + 3_600_000).toISOString()
  expect(await set({ closes_at: inAnHour, sentence: 'Too late.' })).toMatchObject({ is_open: true })
  expect(await send()).toBe(201)
  await owner`update private.door set closes_at = now()`
  expect(await door()).toMatchObject({ is_open: false, closed: false })
  expect(await send()).toEqual([403, 'PT403', 'Too late.'])
  expect(await set({ closes_at: null })).toMatchObject({ is_open: true, closes_at: null })
  expect(await send()).toBe(201)
})

test('an organiser who still sees the door open cannot reopen it after it closed automatically', async () => {
  const inAnHour = new Date(Date.now() + 3_600_000).toISOString()
  const closings = [
    [{ closes_at: inAnHour }, () => owner`update private.door set closes_at = now()`],
    // One application has arrived since the first round reopened the door. The next one reaches the limit.
    [{ closes_after: 2 }, () => send()],
  ] as const
  for (const [limits, close] of closings) {
    const seen = await set(limits)
    expect(seen).toMatchObject({ is_open: true })
    await close()
    const closedDoor = await door()
    expect(closedDoor).toMatchObject({ is_open: false, closed: false })
    for (const changes of [{ sentence: 'Soon over.' }, { ...limits, sentence: 'Soon over.' }]) {
      expect(
        await organiser.rpc('desk_set_door', { version: seen.version, closed: false, ...changes }),
      ).toMatchObject({ status: 409, data: null, error: { code: 'PT409' } })
    }
    // Values that are stored already are no change, and so do not open it.
    const { closes_at, closes_after } = closedDoor
    expect(
      await organiser.rpc('desk_set_door', { version: seen.version, closed: false, closes_at, closes_after }),
    ).toMatchObject({ status: 200, data: { is_open: false, closed: false, version: closedDoor.version } })
    expect(await door()).toEqual(closedDoor)
    expect(await send()).toEqual([403, 'PT403', 'Applications are closed.'])
    // An organiser who saw that the door was closed may open it.
    expect(await set({})).toMatchObject({ is_open: true })
    expect(await send()).toBe(201)
  }
})

test('a door closes after exactly its limit of applications, even concurrent ones; reopening resets the count', async () => {
  /** Sends this many applications, more than the door takes. Returns how many were stored. */
  const sendConcurrently = async (size: number) => {
    const responses = await Promise.all(Array.from({ length: size }, () => send()))
    expect(new Set(responses.map(String))).toEqual(new Set(['201', '403,PT403,Full.']))
    return responses.filter((response) => response === 201).length
  }
  // Applications count from the last opening. This door has been open from the start.
  expect(await send()).toBe(201)
  expect(await send()).toBe(201)
  expect(await set({ closes_after: 20, sentence: 'Full.' })).toMatchObject({ is_open: true, received: 2 })
  expect(await sendConcurrently(50)).toBe(18)
  expect(await countStored()).toBe(20)
  expect(await door()).toMatchObject({ is_open: false, closed: false, received: 20 })
  // Setting another limit after the limit was reached opens the door again.
  expect(await set({ closes_after: 22, sentence: 'Full.' })).toMatchObject({ received: 0, is_open: true })
  expect(await sendConcurrently(50)).toBe(22)
  expect(await countStored()).toBe(42)
  await set({ closed: true, sentence: 'Full.' })
  expect(await set({ closes_after: 3, sentence: 'Full.' })).toMatchObject({ received: 0, is_open: true })
  expect(await send()).toBe(201)
  // Another sentence does not restart the count.
  expect(await set({ closes_after: 3, sentence: 'Full!' })).toMatchObject({ received: 1, is_open: true })
  // Applications that are refused for another reason, and duplicates, do not count.
  expect(await send(anApplication({ consent: false }))).toMatchObject([400, '23514', expect.anything()])
  const once = anApplication()
  expect([await send(once), ((await send(once)) as unknown[])[0]]).toEqual([201, 409])
  expect(await door()).toMatchObject({ received: 2, is_open: true })
  // The rows of one request are accepted together or not at all.
  const rows = [anApplication(), anApplication()]
  expect(await server.client().from('retreat_applications').insert(rows)).toMatchObject({ status: 403 })
  expect(await door()).toMatchObject({ received: 2 })
  expect(await send()).toBe(201)
  expect(await send()).toEqual([403, 'PT403', 'Full!'])
  expect(await countStored()).toBe(45)
})

test('a limit that is set while many apply counts every application, without a deadlock', async () => {
  for (let round = 0; round < 5; round += 1) {
    await set({ closes_after: 1000 })
    const changeLimit = async () => {
      for (let change = 0; change < 5; change += 1) await set({ closes_after: 1000 + change })
    }
    const [responses] = await Promise.all([
      Promise.all(Array.from({ length: 30 }, () => send())),
      changeLimit(),
    ])
    expect(new Set(responses)).toEqual(new Set([201]))
    expect((await door()).received).toBe(await countStored())
  }
})

// break: limit-waits-for-vacuum
test('a vacuum delays neither the setting of a limit nor an applicant', async () => {
  await owner.begin(async (vacuum) => {
    // The lock of a vacuum, automatic or not.
    await vacuum`lock table public.retreat_applications in share update exclusive mode`
    expect(await set({ closes_after: 2 })).toMatchObject({ received: 0, is_open: true })
    expect(await send()).toBe(201)
  })
})

test('while one application takes long to store, setting a limit is refused, and other applicants do not wait', async () => {
  await owner.begin(async (transaction) => {
    await transaction`insert into public.retreat_applications ${valuesOf(anApplication())}`
    let isSet = false
    const setting = Promise.resolve(
      organiser.rpc('desk_set_door', { version: 0, closed: false, closes_after: 1000 }),
    ).finally(() => (isSet = true))
    for (let sent = 0; sent < 50; sent += 1) expect(await send()).toBe(201)
    expect(isSet).toBe(false)
    expect(await setting).toMatchObject({ status: 503, error: { code: 'PT503' } })
  })
  expect(await door()).toMatchObject({ version: 0, closes_after: null })
})

test('a call that neither opens nor closes the door is refused, and changes nothing', async () => {
  await set({ closed: true })
  expect(await organiser.rpc('desk_set_door', { version: 1, closed: null })).toMatchObject({ status: 400 })
  expect(await door()).toMatchObject({ version: 1, closed: true })
})

// break: limit-misses-arriving
test('an application that is being stored while a limit is set is counted', async () => {
  const somebodyWaits = () =>
    vi.waitFor(async () => expect(await owner`select from pg_locks where not granted`).not.toHaveLength(0))
  const { setting } = await owner.begin(async (transaction) => {
    await transaction`insert into public.retreat_applications ${valuesOf({ ...anApplication() })}`
    const pending = set({ closes_after: 2 })
    await Promise.race([pending, somebodyWaits()])
    // In an object, because the transaction would wait for a promise that it returns.
    return { setting: pending }
  })
  expect(await setting).toMatchObject({ received: 1, is_open: true })
  expect(await send()).toBe(201)
  expect(await send()).toMatchObject([403, 'PT403', 'Applications are closed.'])
  expect(await countStored()).toBe(2)
})

test('an application that is being put aside while a limit is set is not counted', async () => {
  const [first, second] = [await storeOne(), await storeOne()]
  const { setting } = await owner.begin(async (sql) => {
    await actAs(sql)
    await sql`select desk_decide(gen_random_uuid(), ${JSON.stringify(decisions(first, second))})`
    const pending = set({ closes_after: 2 })
    await Promise.race([pending, waitFor(1)])
    return { setting: pending }
  })
  expect(await setting).toMatchObject({ received: 0, is_open: true })
})

// break: decisions-deadlock
test('putting aside the same applications twice at once does not deadlock while a limit is set', async () => {
  const [first, second] = [await storeOne(), await storeOne()].toSorted()
  await set({ closes_after: 9 })
  const { both } = await owner.begin(async (sql) => {
    await sql`select from private.door for update`
    const decide = (...ids: unknown[]) =>
      ask('decide', { act: crypto.randomUUID(), decisions: decisions(...ids) })
    const one = decide(first, second)
    await waitFor(1)
    const other = decide(second)
    await waitFor(2)
    return { both: Promise.all([one, other]) }
  })
  expect(await both).toMatchObject([[{ outcome: 'kept' }, { outcome: 'kept' }], [{ outcome: 'stale' }]])
})

test('a new sentence does not undo a closing at the same moment', async () => {
  const { setting } = await owner.begin(async (sql) => {
    await actAs(sql)
    await sql`select desk_set_door(0, true)`
    const pending = setSentence(owner, 'Full.')
    await waitFor(1)
    return { setting: pending }
  })
  await setting
  expect(await readDoor(owner)).toMatchObject({ closed: true, sentence: 'Full.' })
})

test('an infinite closing time, which earlier versions stored, is not shown and can be changed', async () => {
  for (const [closes_at, is_open] of [
    ['infinity', true],
    ['20000-01-01', true],
    ['-infinity', false],
  ] as const) {
    await owner.unsafe(`update private.door set closes_at = '${closes_at}'`)
    expect(await door()).toMatchObject({ is_open, closes_at: null })
    expect(await readDoor(owner)).toMatchObject({ is_open, closes_at: null })
    expect(await set({ closed: true })).toMatchObject({ is_open: false })
    expect(await set({})).toMatchObject({ is_open: true })
  }
})

test('the operator can change the sentence alone; each opening keeps the sentence, and resets the count and the limits', async () => {
  const change = (given: Partial<Parameters<typeof setDoor>[1]>) =>
    setDoor(owner, {
      closed: false,
      sentence: undefined,
      closesAt: undefined,
      closesAfter: undefined,
      ...given,
    })
  await change({ closesAfter: 1, sentence: 'We are full.' })
  expect(await send()).toBe(201)
  // An application that is put aside after the limit closed the door leaves it closed.
  const [full] = await owner`select id from public.retreat_applications`
  await ask('decide', { act: crypto.randomUUID(), decisions: decisions(full?.['id']) })
  await setSentence(owner, 'Full.')
  expect(await send()).toEqual([403, 'PT403', 'Full.'])
  expect(await readDoor(owner)).toMatchObject({ is_open: false, received: 1, author: 'operator' })
  // Setting the same limit again is a new opening.
  await change({ closesAfter: 1 })
  expect(await readDoor(owner)).toMatchObject({ is_open: true, received: 0, sentence: 'Full.' })
  expect([await send(), await send()]).toEqual([201, [403, 'PT403', 'Full.']])
  await change({ closesAt: new Date('2999-03-01T12:15Z') })
  expect(await readDoor(owner)).toMatchObject({
    closes_at: new Date('2999-03-01T12:15Z'),
    closes_after: null,
  })
  await change({ closed: true })
  expect(await readDoor(owner)).toMatchObject({ closed: true, closes_at: null, sentence: 'Full.' })
})
