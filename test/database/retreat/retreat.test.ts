import type { SupabaseClient } from '@supabase/supabase-js'
import { beforeAll, beforeEach, expect, test } from 'vitest'

import { storeAcceptedApplicant } from '../../support/accepted.ts'
import { resetDatabase } from '../../support/reset.ts'
import { startSignIn, type SignInServer } from '../../support/sign-in-server.ts'
import type { Retreat } from '../../../src/application/calendar.ts'
import type { Invitation } from '../../../src/client/invitation.ts'
import type { HistoryPage, Places, RetreatDays } from '../../../src/client/desk/retreat.ts'

let server: SignInServer
let client: SupabaseClient
let me: string

beforeAll(async () => {
  server = await startSignIn()
  ;({ client, email: me } = await server.signedIn())
})

const sql = () => server.database.owner

beforeEach(() => resetDatabase(sql()))

const days = { starts_on: '2027-03-12', ends_on: '2027-03-15', venue: 'Hof Sonnenau' }

async function save(args: RetreatDays) {
  const { data, error } = await client.rpc('desk_set_retreat', args)
  if (error) throw error
  return (data as Places).retreat
}

/** Calls as the holder of a link, with only the public key. Returns the retreat of the response. */
async function visit(name: 'place_by_token' | 'answer_place', args: object) {
  const { data, error } = await server.client().rpc(name, args)
  if (error) throw error
  const { retreat } = data as Invitation & { retreat?: Retreat | null }
  return retreat
}
const read = ({ token }: { token: string }) => visit('place_by_token', { token })
const giveRsvp = ({ token }: { token: string }, answer: string) =>
  visit('answer_place', { token, answer, act: crypto.randomUUID() })

// break: venue-shown-to-any-link
test('people read the days and the venue until they decline or the deadline passes, and afterwards if they are coming', async () => {
  const guest = await storeAcceptedApplicant(sql())
  expect(await giveRsvp(guest, 'coming')).toBeNull()
  await save({ version: 0, ...days })
  const retreat = { name: '', sequence: 1, ...days }
  expect(await read(guest)).toMatchObject(retreat)
  expect(await giveRsvp(guest, 'not coming')).toBeNull()
  expect(await read(guest)).toBeNull()
  expect(await giveRsvp(guest, 'coming')).toMatchObject(retreat)
  await sql()`update private.invitations set deadline = private.today() - 1`
  expect(await read(guest)).toMatchObject(retreat)
  const other = await storeAcceptedApplicant(sql())
  expect(await read(other)).toMatchObject(retreat)
  await sql()`update private.invitations set deadline = private.today()`
  expect(await read(other)).toMatchObject(retreat)
  await sql()`update private.invitations set deadline = private.today() - 1`
  expect(await read(other)).toBeNull()
  await sql()`update private.statuses set status = 'declined' where application_id = ${guest.id}`
  expect(await read(guest)).toBeUndefined()
})

test('the calendar’s event has the same id after each change of the days or the venue, and a higher sequence number', async () => {
  const [guest, other] = [await storeAcceptedApplicant(sql()), await storeAcceptedApplicant(sql())]
  await giveRsvp(other, 'coming')
  await save({ version: 0, ...days })
  const first = await giveRsvp(guest, 'coming')
  expect(first?.uid).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  const { version: _, ...unchanged } = (await save({ version: 1, ...days })) ?? {}
  expect(unchanged).toEqual(days)
  expect(await read(guest)).toEqual(first)
  await save({ version: 1, ...days, venue: 'Bernau' })
  expect(await read(guest)).toEqual({ ...first, venue: 'Bernau', sequence: 2 })
  await save({ version: 2, ...days, ends_on: '2027-03-16' })
  await save({ version: 3, ...days, starts_on: null, ends_on: null })
  expect(await read(guest)).toBeNull()
  await save({ version: 4, ...days })
  expect(await read(guest)).toEqual({ ...first, sequence: 5 })
  expect(await read(other)).toEqual({ ...first, sequence: 5 })
})

test('the retreat of an earlier edition stays the same for the people who applied to it', async () => {
  const guest = await storeAcceptedApplicant(sql())
  await giveRsvp(guest, 'coming')
  await save({ version: 0, ...days })
  const before = await read(guest)
  await sql()`insert into private.editions (id, name, began_at) values (2, 'In autumn', now())`
  try {
    const autumn = { starts_on: '2027-10-01', ends_on: '2027-10-04', venue: 'Davos' }
    expect(await save({ version: 0, ...autumn })).toEqual({ version: 1, ...autumn })
    expect(await read(guest)).toEqual(before)
    await sql()`update public.retreat_applications set edition = 2`
    const retreat = await read(guest)
    expect(retreat).toMatchObject({ name: 'In autumn', sequence: 1, ...autumn })
    expect(retreat?.uid).not.toBe(before?.uid)
  } finally {
    await sql()`delete from private.editions where id = 2`
  }
})

test('a repeated change takes effect once, and a change is refused if its author has not seen the current days', async () => {
  expect(await save({ version: 0, ...days })).toEqual({ version: 1, ...days })
  expect(await save({ version: 0, ...days })).toEqual({ version: 1, ...days })
  await expect(save({ version: 0, ...days, venue: 'Bernau' })).rejects.toMatchObject({ code: 'PT409' })
  const { data } = await client.rpc('desk_history', { after: null })
  expect((data as HistoryPage).happenings.filter(({ detail }) => 'venue' in detail)).toMatchObject([
    { kind: 'places', author: me, detail: days },
  ])
})

test.each([
  ['only a first day', { ends_on: null }, 'A retreat has a first and a last day, or neither yet.'],
  ['only a last day', { starts_on: null }, 'A retreat has a first and a last day, or neither yet.'],
  ['an end before its beginning', { ends_on: '2027-03-11' }, 'The last day is before the first.'],
  ['a mistyped year', { starts_on: '0027-03-12' }, 'The days are between 2000 and 2999.'],
  ['a year of five digits', { ends_on: '20270-03-15' }, 'The days are between 2000 and 2999.'],
  ['no last day at all', { ends_on: 'infinity' }, 'The days are between 2000 and 2999.'],
  ['a second line', { venue: 'Hof\r\nBEGIN:VALARM' }, 'The venue is one line of at most 200 characters.'],
  ['too long a venue', { venue: 'x'.repeat(201) }, 'The venue is one line of at most 200 characters.'],
])('a retreat with %s is refused', async (_what, change, message) => {
  await expect(save({ version: 0, ...days, ...change })).rejects.toMatchObject({ code: '22023', message })
})
