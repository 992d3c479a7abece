import type { SupabaseClient } from '@supabase/supabase-js'
import { beforeAll, beforeEach, expect, test } from 'vitest'

import { askDesk } from '../../support/ask-desk.ts'
import { storeAcceptedApplicant } from '../../support/accepted.ts'
import { setRetreat } from '../../support/calendars.ts'
import { beginEdition } from '../../support/editions.ts'
import { anApplication } from '../../support/form.ts'
import { resetDatabase } from '../../support/reset.ts'
import { startSignIn, type SignInServer } from '../../support/sign-in-server.ts'
import { valuesOf } from '../../support/sql.ts'
import type { ApplicationDetails } from '../../../src/client/desk/applications.ts'
import type { Retention } from '../../../src/client/desk/retention.ts'
import type { HistoryPage, Places } from '../../../src/client/desk/retreat.ts'

let server: SignInServer
let client: SupabaseClient
let blind: SupabaseClient
let blindEmail: string
let me: string

beforeAll(async () => {
  server = await startSignIn()
  ;({ client, email: me } = await server.signedIn())
  ;({ client: blind, email: blindEmail } = await server.signedIn())
})

const sql = () => server.database.owner

beforeEach(async () => {
  await resetDatabase(sql())
  await sql()`
    update private.organisers set blind = true from auth.users where account_id = id and email = ${blindEmail}`
})

const ask = <Result>(name: string, args: object = {}, as = client) => askDesk<Result>(as, name, args)

const newActId = () => crypto.randomUUID()
const readRetention = (as = client) => ask<Retention>('retention', {}, as)
const detailsOf = (application: string, as = client) =>
  ask<ApplicationDetails>('application', { application }, as)
const setHold = (application: string, reason = 'Comes again') =>
  ask<ApplicationDetails>('hold', { act: newActId(), application, reason })
async function keepFor(months: number | null, monthsForGuests: number | null) {
  const { version } = await readRetention()
  return ask<Retention>('set_retention', { version, months, months_for_guests: monthsForGuests })
}

/** A day such as `2026-12-31`, some days from today and some months before that. */
async function dayIn(days: number, months = 0) {
  const [{ day }] = await sql()<[{ day: string }]>`
    select (private.today() + ${days}::integer - make_interval(months => ${months}))::date::text as day`
  return day
}
/** Sets the last day of the retreat so that applications that are kept for twelve months are due in this many days. */
async function endRetreat(days: number) {
  const ends_on = await dayIn(days, 12)
  await setRetreat(sql(), { starts_on: ends_on, ends_on })
}

/** Stores an application, by default from long before the retreat. */
async function apply(created_at = '2020-01-01') {
  const [{ id }] = await sql()<[{ id: string }]>`
    insert into public.retreat_applications ${valuesOf({ ...anApplication(), created_at: new Date(created_at) })}
    returning id`
  return id
}
async function storeGuest() {
  const { id } = await storeAcceptedApplicant(sql())
  await sql()`update private.invitations set rsvp = 'coming', rsvp_at = now() where application_id = ${id}`
  await sql()`update public.retreat_applications set created_at = '2020-01-01' where id = ${id}`
  return id
}
const stored = async () =>
  (await sql()<{ id: string }[]>`select id from public.retreat_applications`).map(({ id }) => id).toSorted()
const historyOf = async () => {
  const { happenings } = await ask<HistoryPage>('history', { after: null })
  return happenings.map(({ kind, author, detail }) => ({ kind, author, detail }))
}

/** Lets the server announce and erase once, as it does every ten minutes. Returns how many it erased. */
async function announceAndErase(most = 100): Promise<number> {
  let erased = 0
  for (;;) {
    const [{ step }] = await sql()<[{ step: { erased: number } }]>`
      select private.announce_and_erase_applications(${most}) as step`
    if (step.erased === 0) return erased
    erased += step.erased
  }
}
/** Does this twice a day on this many days, of which today is the last. */
async function announceAndEraseOnDays(days: number, most?: number) {
  let erased = 0
  for (let day = 1; day <= days; day += 1) {
    await sql()`update private.announcements set announced_on = announced_on - 1`
    erased += await announceAndErase(most)
    // The second call on a day announces nothing.
    erased += await announceAndErase(most)
  }
  return erased
}

test('applications are kept for ever unless organisers set months', async () => {
  await endRetreat(-400)
  const id = await apply()
  expect(await readRetention()).toMatchObject({
    version: 0,
    months: null,
    months_for_guests: null,
    due: 0,
    announced: null,
  })
  expect(await announceAndEraseOnDays(8)).toBe(0)
  expect(await detailsOf(id)).toMatchObject({ erased_on: null, hold: null })
})

test('an application is erased the set months after its retreat; a guest’s, and one sent after the retreat, are erased later', async () => {
  await endRetreat(0)
  const due = [await apply(), await apply(), await apply()]
  const guest = await storeGuest()
  const late = await apply(await dayIn(-5))
  await keepFor(12, 13)
  expect(await detailsOf(due[0] ?? '')).toMatchObject({ erased_on: await dayIn(0) })
  expect(await readRetention()).toMatchObject({ due: 3, announced: null })
  expect(await announceAndEraseOnDays(6)).toBe(0)
  const from = await dayIn(1)
  expect(await readRetention()).toMatchObject({ due: 3, announced: { applications: 3, from, days: 6 } })
  expect((await ask<Places>('places')).erasing).toEqual({ applications: 3, from, days: 6 })
  // They are erased in steps of two, and the history has one line for all of them.
  expect(await announceAndEraseOnDays(1, 2)).toBe(3)
  expect(await stored()).toEqual([guest, late].toSorted())
  expect((await historyOf())[0]).toEqual({
    kind: 'retention',
    author: 'server',
    detail: { edition: 1, erased: 3 },
  })
  expect(await sql()`select from private.erasures`).toHaveLength(3)
  // Without months for guests, their applications are kept. The late one is due twelve months after it was sent.
  await keepFor(12, null)
  await endRetreat(-3_000)
  expect(await announceAndEraseOnDays(8)).toBe(0)
  expect(await stored()).toEqual([guest, late].toSorted())
})

test('the applications of a retreat without days are kept when those of another retreat are erased', async () => {
  await endRetreat(0)
  const first = await apply()
  await beginEdition(sql(), 'Spring 2028')
  const second = await apply()
  await keepFor(12, 12)
  expect((await readRetention()).editions).toMatchObject([
    { id: 2, ends_on: null, erased_on: null },
    { id: 1, erased_on: await dayIn(0) },
  ])
  expect(await announceAndEraseOnDays(7)).toBe(1)
  expect(await stored()).toEqual([second])
  expect(first).not.toBe(second)
})

// break: clock-jump-erases-unannounced
test('a clock that jumps ahead, and back again, erases nothing that was not announced', async () => {
  await endRetreat(0)
  await apply()
  await keepFor(12, 12)
  await announceAndEraseOnDays(6)
  await sql()`update private.announcements set announced_on = private.today() + 365`
  expect(await announceAndErase()).toBe(0)
  await sql()`update private.announcements set announced_on = private.today() - 365`
  expect(await announceAndEraseOnDays(6)).toBe(0)
  // After six days of announcements, the clock jumps by twenty days. The jump made the application due without an
  // announcement, so it is not erased.
  await sql()`update private.announcements set until = private.today() - 20`
  expect(await announceAndEraseOnDays(3)).toBe(0)
})

// break: clock-jump-makes-seventh-day
test('a day to which the clock jumped is no seventh day of announcement, and a server that was off for days erases later', async () => {
  await endRetreat(-25)
  const id = await apply()
  await keepFor(12, 12)
  await announceAndEraseOnDays(6)
  // Announced on six days, the last of them yesterday and the first 25 days ago: then the clock jumped by twenty days.
  await sql()`update private.announcements set announced_on = private.today() - 20, until = private.today() - 19`
  expect(await announceAndErase()).toBe(0)
  const from = await dayIn(1)
  expect(await readRetention()).toMatchObject({ announced: { applications: 1, from, days: 7 } })
  expect(await stored()).toEqual([id])
  await sql()`update private.announcements set announced_on = announced_on - 1, until = until - 1`
  expect(await announceAndErase()).toBe(1)
})

test('an application is not erased while an organiser holds it, nor in the seven days after the hold ends', async () => {
  await endRetreat(0)
  const [held, other] = [await apply(), await apply()]
  await keepFor(12, 12)
  await announceAndEraseOnDays(6)
  const details = await setHold(held)
  expect(details).toMatchObject({
    erased_on: null,
    hold: { reason: 'Comes again', held_by: me },
    history: [{ kind: 'hold', author: me, detail: { reason: 'Comes again' } }],
  })
  expect(await readRetention()).toMatchObject({ holds: [{ id: held, reason: 'Comes again', held_by: me }] })
  expect(await announceAndEraseOnDays(1)).toBe(1)
  expect(await stored()).toEqual([held])
  expect(other).not.toBe(held)
  await announceAndEraseOnDays(6)
  expect(await setHold(held, ' ')).toMatchObject({ erased_on: await dayIn(0), hold: null })
  expect(await announceAndEraseOnDays(6)).toBe(0)
  expect(await announceAndEraseOnDays(1)).toBe(1)
})

test('an application that a decision makes due during the announcements is announced on seven days itself', async () => {
  await endRetreat(0)
  const [declined, other] = [await storeGuest(), await apply()]
  await keepFor(12, null)
  expect(await announceAndEraseOnDays(6)).toBe(0)
  const decisions = [{ id: declined, status: 'declined', version: 1 }]
  await ask('decide', { act: newActId(), decisions })
  expect(await announceAndEraseOnDays(1)).toBe(1)
  expect(await stored()).toEqual([declined])
  expect(other).not.toBe(declined)
  // The days of the announcements that follow are after the decision. Today is already the first of them.
  await sql()`update private.history set at = at - interval '2 days'`
  expect(await announceAndEraseOnDays(5)).toBe(0)
  expect(await announceAndEraseOnDays(1)).toBe(1)
})

test('an application is not erased if an organiser puts a hold on it while the server erases', async () => {
  await endRetreat(0)
  const [held] = [await apply(), await apply()]
  await keepFor(12, 12)
  await announceAndEraseOnDays(6)
  await sql()`update private.announcements set announced_on = announced_on - 1`
  let erasing: Promise<number> | undefined
  await sql().begin(async (holding) => {
    await holding`insert into private.holds (application_id, reason, held_by) values (${held}, 'Comes again', 'ada')`
    erasing = announceAndErase()
    await expect
      .poll(
        () =>
          sql()`select from pg_stat_activity where wait_event_type = 'Lock' and query like '%announce_and_erase_applications%'`,
      )
      .toHaveLength(1)
  })
  expect(await erasing).toBe(1)
  expect(await stored()).toEqual([held])
})

test('an application is stored while others are being erased, and two servers erase each application once', async () => {
  await endRetreat(0)
  for (let count = 0; count < 10; count += 1) await apply()
  await keepFor(12, 12)
  await announceAndEraseOnDays(6)
  await sql()`update private.announcements set announced_on = announced_on - 1`
  const { database } = server
  await sql().begin(async (erasing) => {
    await erasing`select private.announce_and_erase_applications(2)`
    const { error } = await server.client().from('retreat_applications').insert(anApplication())
    expect(error).toBeNull()
  })
  const erased = await Promise.all([announceAndErase(1), announceAndErase(1), database.owner`select 1`])
  expect(erased[0] + erased[1]).toBe(8)
  await announceAndErase()
  expect(await stored()).toHaveLength(1)
  expect((await historyOf()).filter(({ author }) => author === 'server')).toEqual([
    { kind: 'retention', author: 'server', detail: { edition: 1, erased: 10 } },
  ])
})

test.each([
  ['the months change', () => keepFor(11, 12)],
  [
    'the days of the retreat change',
    async () => {
      const ends_on = await dayIn(-10, 12)
      const version = (await ask<Places>('places')).retreat?.version
      await ask('set_retreat', { version, starts_on: ends_on, ends_on, venue: '' })
    },
  ],
])('announcements begin again if %s', async (_, change) => {
  await endRetreat(0)
  await apply()
  await keepFor(12, 12)
  await announceAndEraseOnDays(6)
  await change()
  expect(await announceAndEraseOnDays(6)).toBe(0)
  expect(await announceAndEraseOnDays(1)).toBe(1)
})

test('an organiser who stops keeping an application and a server that announces it do not deadlock', async () => {
  await endRetreat(6)
  const id = await apply()
  await keepFor(12, 12)
  await announceAndErase()
  const { stopping } = await sql().begin(async (announcing) => {
    await announcing`select from private.announcements for update`
    const call = setHold(id, '')
    await expect
      .poll(() => sql()`select from pg_stat_activity where wait_event_type = 'Lock'`)
      .toHaveLength(1)
    // The waiting organiser has not locked the application, which the server erases after the announcement.
    await announcing`select from public.retreat_applications where id = ${id} for update nowait`
    return { stopping: call }
  })
  expect(await stopping).toMatchObject({ hold: null })
})

test('an organiser erases at once what is due, and a repeat erases nothing more', async () => {
  await endRetreat(0)
  await apply()
  const guest = await storeGuest()
  await keepFor(12, 24)
  const first = newActId()
  expect(await ask('erase_due', { act: first })).toEqual({ erased: 1, due: 0 })
  await apply()
  expect(await ask('erase_due', { act: first })).toEqual({ erased: 1, due: 0 })
  expect(await readRetention()).toMatchObject({ due: 1 })
  expect(await stored()).toHaveLength(2)
  expect((await historyOf())[0]).toEqual({ kind: 'retention', author: me, detail: { edition: 1, erased: 1 } })
  expect(await stored()).toContain(guest)
})

test('an organiser erases at most five hundred due applications at a time', async () => {
  await endRetreat(0)
  await sql()`
    insert into public.retreat_applications ${valuesOf(Array.from({ length: 501 }, () => ({ ...anApplication(), created_at: new Date('2020-01-01') })))}`
  await keepFor(12, 12)
  expect(await ask('erase_due', { act: newActId() })).toEqual({ erased: 500, due: 1 })
})

test('blind readers learn who holds an application, but not the applicant’s name and not the reason', async () => {
  await endRetreat(0)
  const id = await apply()
  await keepFor(12, 12)
  await setHold(id, 'Grace is a friend')
  const { hold, history } = await detailsOf(id, blind)
  expect(hold).toMatchObject({ reason: null, held_by: me })
  expect(history).toMatchObject([{ kind: 'hold', detail: {} }])
  const [held] = (await readRetention(blind)).holds
  expect(Object.keys(held ?? {}).toSorted()).toEqual(['held_at', 'held_by', 'id'])
  // The end of a hold has no reason, by which the desk knows it.
  await setHold(id, '')
  expect((await detailsOf(id, blind)).history).toMatchObject([{ detail: {} }, { detail: { reason: null } }])
})

test('months, from 1 to 120, are saved unless somebody changed them since they were read, and the history says so', async () => {
  const seen = await readRetention()
  expect(await keepFor(12, null)).toMatchObject({ version: 1, months: 12, months_for_guests: null })
  const stale = { version: seen.version, months: 6, months_for_guests: null }
  await expect(ask('set_retention', stale)).rejects.toMatchObject({ code: 'PT409' })
  // A repeat of the same change is no conflict.
  expect(await ask('set_retention', { version: 0, months: 12, months_for_guests: null })).toMatchObject({
    version: 1,
  })
  for (const months of [0, 121, -1])
    await expect(keepFor(months, null)).rejects.toMatchObject({ code: '22023' })
  await expect(setHold(await apply(), 'x'.repeat(501))).rejects.toMatchObject({ code: '22023' })
  expect(await historyOf()).toEqual([
    { kind: 'retention', author: me, detail: { months: 12, months_for_guests: null } },
  ])
})
