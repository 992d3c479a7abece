import type { SupabaseClient } from '@supabase/supabase-js'
import { beforeAll, beforeEach, expect, test } from 'vitest'

import { askDesk } from '../../support/ask-desk.ts'
import { anApplication } from '../../support/form.ts'
import { claimLetter, claimNotice } from '../../support/claimed-emails.ts'
import { resetDatabase } from '../../support/reset.ts'
import { startSignIn, type SignInServer } from '../../support/sign-in-server.ts'
import { valuesOf } from '../../support/sql.ts'
import type { DecisionOutcome } from '../../../src/client/desk/applications.ts'
import type { Letter } from '../../../src/client/desk/letters.ts'
import type { Sql } from '../../../src/server/database/connection/sql.ts'
import { record, type RecordedResult } from '../../../src/server/letters/outcomes.ts'

const deferred: RecordedResult = { result: 'waiting', code: 451, reply: '451 later', isUncertain: false }
const uncertain: RecordedResult = {
  result: 'waiting',
  code: null,
  reply: 'No response.',
  isUncertain: true,
}

let server: SignInServer
let client: SupabaseClient
let me: string
let owner: Sql

beforeAll(async () => {
  server = await startSignIn()
  ;({ client, email: me } = await server.signedIn())
  owner = server.database.owner
})

beforeEach(async () => {
  await resetDatabase(owner)
  await owner`update private.letter_settings set hold = '0'`
  await owner`update private.postman set seen_at = now()`
  await ask('set_template', {
    occasion: 'Travel',
    version: null,
    subject: 'How to get there',
    body: 'By train.',
  })
})

const ask = <Result>(name: string, args: object = {}) => askDesk<Result>(client, name, args)

let stored = 0
async function store() {
  const answers = anApplication({ email: `a${(stored += 1)}@example.org` })
  const [row] = await owner<[{ id: string }]>`
    insert into public.retreat_applications ${valuesOf(answers)} returning id`
  return row.id
}

async function decide(id: string, status: string) {
  const [row] = await owner<[{ version: number }?]>`
    select version from private.statuses where application_id = ${id}`
  const decisions = [{ id, status, version: row?.version ?? 0 }]
  return ask<DecisionOutcome[]>('decide', { act: crypto.randomUUID(), decisions })
}

const lettersOf = (id: string) => ask<Letter[]>('letters_of', { applications: [id] })
const statesOf = async (id: string) =>
  (await lettersOf(id)).map(({ occasion, way, state }) => `${occasion} by ${way}: ${state}`).toSorted()
const drafts = async (occasion: string) => (await ask<{ letters: Letter[] }>('drafts', { occasion })).letters

const write = (id: string, occasion: string, again = false) =>
  ask('write', { applications: [id], occasion, again })
const writeTo = (application: string) =>
  ask<Letter>('write_to', { act: crypto.randomUUID(), application, subject: 's', body: 'b' })

/** Releases drafts. Returns the id of the act. */
async function send(occasion: string, again = false) {
  const act = crypto.randomUUID()
  const letters = (await drafts(occasion)).map(({ id, seen }) => ({ id, seen }))
  const outcomes = await ask<{ outcome: string }[]>('release', { act, letters, again })
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(letters.map(() => 'released'))
  return act
}

function assertDue<Claim>(claimed: Claim | undefined): Claim {
  if (claimed === undefined) throw new Error('nothing is due')
  return claimed
}
const claim = async () => assertDue(await claimLetter(owner))

/** Accepts a person, by default a new one, and records that the letter was sent by hand. Returns their application's id. */
async function invite(existing?: string) {
  const id = existing ?? (await store())
  await decide(id, 'accepted')
  const [draft] = await drafts('accepted')
  await ask('sent_by_hand', { letter: draft?.id, seen: draft?.seen })
  return id
}
const invitationOf = async (id: string) =>
  (await owner`select token, told_at, rsvp from private.invitations where application_id = ${id}`)[0]

/** Acts as an organiser in a transaction that a second call waits for. Returns the result of the second call. */
async function meanwhile<Result>(act: (sql: Sql) => Promise<unknown>, second: () => Promise<Result>) {
  const { data } = await client.auth.getClaims()
  const { result } = await owner.begin(async (sql) => {
    await sql`select set_config('request.jwt.claims', ${JSON.stringify(data?.claims)}, true)`
    await act(sql)
    const begun = second()
    await expect.poll(waiting).toHaveLength(1)
    // In an object, because the transaction would wait for a promise that it returns.
    return { result: begun }
  })
  return result
}
const waiting = () => owner`select pid from pg_stat_activity where wait_event_type = 'Lock'`

test.each(['accepted', 'Travel'])(
  'a letter that is stopped while it is being sent is not drafted again after another decision: %s',
  async (occasion) => {
    const id = await store()
    await decide(id, 'accepted')
    await write(id, 'Travel')
    const act = await send(occasion)
    const claimed = await claim()
    // `left` counts the applicants whose letter was being sent or had been sent already.
    expect(await ask('withdraw', { act })).toEqual({ withdrawn: 0, left: 1 })
    await decide(id, 'declined')
    expect(await record(owner, claimed, deferred)).toBe('cancelled')
    expect(await statesOf(id)).toEqual(
      [`${occasion} by mail: withdrawn`, 'declined by mail: draft'].toSorted(),
    )
  },
)

test('a reminder that is stopped while it is being sent is not drafted again after an RSVP', async () => {
  const id = await invite()
  await owner`update private.invitations set told_at = told_at - interval '10 days'`
  await ask('remind')
  const act = await send('reminder')
  const claimed = await claim()
  await ask('withdraw', { act })
  await ask('set_answer', { act: crypto.randomUUID(), application: id, answer: 'coming' })
  await ask('withdraw', { act })
  expect(await record(owner, claimed, deferred)).toBe('cancelled')
  expect(await drafts('reminder')).toEqual([])
})

// A blank occasion is that of a letter to one person, without a template.
test.each(['accepted', 'Travel', 'reminder', ''])(
  'a letter that is stopped while it is being sent, and does not arrive, is a draft again, even twice: %s',
  async (occasion) => {
    const id = await invite()
    await (occasion === '' ? writeTo(id) : write(id, occasion, true))
    for (let round = 0; round < 2; round += 1) {
      const act = await send(occasion, true)
      const claimed = await claim()
      await ask('withdraw', { act })
      expect(await drafts(occasion)).toEqual([])
      expect(await record(owner, claimed, deferred)).toBe('cancelled')
      expect(await drafts(occasion)).toHaveLength(1)
      expect(await ask('withdraw', { act })).toEqual({ withdrawn: 1, left: 0 })
    }
  },
)

test('an organiser who erases somebody and a server that sends to them do not deadlock', async () => {
  const id = await store()
  await decide(id, 'accepted')
  await send('accepted')
  // PostgreSQL deletes dependent rows in the order of the constraints' ids. New constraints make it delete the rows of
  // `letters` and then those of `deliveries` last.
  for (const table of ['letters', 'deliveries']) {
    const key = `constraint ${table}_application_id_fkey`
    await owner.unsafe(`alter table private.${table} drop ${key}, add ${key}
      foreign key (application_id) references public.retreat_applications (id) on delete cascade`)
  }
  const { erased, claimed } = await owner.begin(async (sql) => {
    // The erasure waits for the lock of this row.
    await sql`update private.invitations set rsvp = rsvp where application_id = ${id}`
    const erasing = ask('erase', { applications: [id], email: `a${stored}@example.org` })
    await expect.poll(waiting).toHaveLength(1)
    let isClaimed = false
    const claiming = claimLetter(owner).finally(() => (isClaimed = true))
    await expect.poll(async () => isClaimed || (await waiting()).length === 2).toBe(true)
    return { erased: erasing, claimed: claiming }
  })
  expect(await erased).toEqual({ erased: 1 })
  expect(await claimed).toBeUndefined()
})

test('a rejection that may have arrived does not change the invitation of an acceptance that was sent later', async () => {
  const id = await store()
  await decide(id, 'declined')
  await send('declined')
  const rejection = await claim()
  await invite(id)
  await ask('set_answer', { act: crypto.randomUUID(), application: id, answer: 'coming' })
  const before = await invitationOf(id)
  expect(before).toMatchObject({ told_at: expect.any(Date) as Date, rsvp: 'coming' })
  expect(await record(owner, rejection, uncertain)).toBe('cancelled')
  expect(await invitationOf(id)).toEqual(before)
})

test('a rejection resets the invitation, even if a letter to one person was sent after it was released', async () => {
  const id = await invite()
  await ask('set_answer', { act: crypto.randomUUID(), application: id, answer: 'coming' })
  await decide(id, 'declined')
  await send('declined')
  const rejection = await claim()
  const { id: letter, seen } = await writeTo(id)
  await ask('sent_by_hand', { letter, seen })
  const before = await invitationOf(id)
  expect(await record(owner, rejection, { result: 'done', code: 250 })).toBe('done')
  const after = await invitationOf(id)
  expect(after).toMatchObject({ told_at: null, rsvp: null })
  expect(after?.['token']).not.toBe(before?.['token'])
})

test('an acceptance that may have arrived is drafted again if another decision was made and undone meanwhile', async () => {
  const id = await store()
  await decide(id, 'accepted')
  await send('accepted')
  const acceptance = await claim()
  await decide(id, 'declined')
  await decide(id, 'accepted')
  expect(await record(owner, acceptance, uncertain)).toBe('cancelled')
  expect(await drafts('accepted')).toHaveLength(1)
})

test('a repeated act gets the first result, even if no server sends letters any more', async () => {
  const id = await store()
  await decide(id, 'accepted')
  const [draft] = await drafts('accepted')
  const release = { act: crypto.randomUUID(), letters: [{ id: draft?.id, seen: draft?.seen }] }
  const example = { act: crypto.randomUUID(), occasion: 'accepted', subject: 's', body: 'b' }
  const first = [await ask('release', release), await ask('send_test', example)]
  await owner`update private.postman set seen_at = '-infinity'`
  expect([await ask('release', release), await ask('send_test', example)]).toEqual(first)
  // The id stands for all that the first call was given.
  await expect(ask('send_test', { ...example, application: id })).rejects.toMatchObject({ code: 'PT409' })
})

test('a repeated act says of letters that were stopped meanwhile that they changed, and sends nothing', async () => {
  const [stopped, sent] = [await store(), await store()]
  for (const id of [stopped, sent]) await decide(id, 'accepted')
  const letters = (await drafts('accepted')).map(({ id, seen }) => ({ id, seen }))
  const args = { act: crypto.randomUUID(), letters, again: false }
  await ask('release', args)
  const [letter] = await lettersOf(stopped)
  await ask('withdraw', { letters: [letter?.id] })
  const outcomes = await ask<{ application: string; outcome: string }[]>('release', args)
  expect(new Map(outcomes.map(({ application, outcome }) => [application, outcome]))).toEqual(
    new Map([
      [stopped, 'changed'],
      [sent, 'released'],
    ]),
  )
  expect(await statesOf(stopped)).toContain('accepted by mail: draft')
})

test('a stopped letter does not become a draft again if its template is being removed', async () => {
  const id = await store()
  await write(id, 'Travel')
  const act = await send('Travel')
  const claimed = await claim()
  await ask('withdraw', { act })
  const recorded = await meanwhile(
    (sql) => sql`select desk_remove_template('Travel', 0)`,
    () => record(owner, claimed, deferred),
  )
  expect(recorded).toBe('cancelled')
  expect(await statesOf(id)).toEqual(['Travel by mail: withdrawn'])
})

test('after a restore, a stopped letter to one person is a draft again, and a stopped letter of a removed template is not', async () => {
  const [id, other] = [await store(), await store()]
  await writeTo(id)
  const act = await send('')
  await claim()
  await ask('withdraw', { act })
  await write(other, 'Travel')
  await send('Travel')
  await ask('remove_template', { occasion: 'Travel', version: 0 })
  await owner`select private.settle_restored()`
  expect(await statesOf(id)).toEqual([' by mail: draft', ' by mail: withdrawn'])
  expect(await statesOf(other)).toEqual(['Travel by mail: withdrawn'])
})

test('stopping a letter stops its waiting delivery, and counts no earlier deliveries and no other letters', async () => {
  const id = await invite()
  await write(id, 'accepted', true)
  const [draft] = await drafts('accepted')
  await send('accepted', true)
  for (let repeat = 0; repeat < 2; repeat += 1) {
    expect(await ask('withdraw', { letters: [draft?.id] })).toEqual({ withdrawn: 1, left: 0 })
  }
  const [one, next] = [await writeTo(id), await writeTo(id)]
  await send('')
  expect(await ask('withdraw', { letters: [one.id] })).toEqual({ withdrawn: 1, left: 0 })
  expect(await drafts('')).toMatchObject([{ id: one.id }])
  const pending = await owner`select letter_id as id from private.letter_deliveries where state = 'waiting'`
  expect(pending).toEqual([{ id: next.id }])
})

test('a decision says how many letters on their way it stopped, and a repeated one says the same', async () => {
  const id = await store()
  const outcomes = async (status: string) =>
    (await decide(id, status)).map((each) => 'stopped' in each && each.stopped)
  // A draft is not on its way.
  expect([await outcomes('accepted'), await outcomes('declined')]).toEqual([[0], [0]])
  await write(id, 'Travel')
  await send('declined')
  await send('Travel')
  const decisions = [{ id, status: 'waitlisted', version: 2 }]
  const act = crypto.randomUUID()
  const first = await ask('decide', { act, decisions })
  expect(first).toMatchObject([{ outcome: 'kept', stopped: 2 }])
  expect(await ask('decide', { act, decisions })).toEqual(first)
  // A letter that is being sent may still arrive.
  await send('waitlisted')
  await claim()
  expect(await outcomes('new')).toEqual([0])
})

test('a letter that was sent by hand is recorded once, and only with the text that its sender read', async () => {
  const id = await store()
  await decide(id, 'accepted')
  const [draft] = await drafts('accepted')
  const args = { letter: draft?.id, seen: draft?.seen }
  await expect(ask('sent_by_hand', { ...args, seen: null })).rejects.toMatchObject({ code: 'PT409' })
  expect(await statesOf(id)).toEqual(['accepted by mail: draft'])
  const recorded = await ask('sent_by_hand', args)
  expect(await ask('sent_by_hand', args)).toEqual(recorded)
  await write(id, 'accepted', true)
  await expect(ask('sent_by_hand', args)).rejects.toMatchObject({ code: 'PT409' })
  expect(await statesOf(id)).toEqual(['accepted by mail: draft', 'accepted by mail: sent'])
  // A server sends the later one.
  await send('accepted', true)
  await record(owner, await claim(), { result: 'done', code: 250 })
  await expect(ask('sent_by_hand', args)).rejects.toMatchObject({ code: 'PT409' })
})

test('notices to organisers and midnight do not change the stamp of an application', async () => {
  await ask('set_notices', { notices: 'each' })
  const id = await invite()
  const stampOf = async () => (await ask<{ stamp: string }>('stamp', { application: id })).stamp
  const setZone = (name: string) => owner`update private.places set zone = ${name}`
  await setZone('Etc/GMT+12')
  await owner`update private.invitations set deadline = private.today()`
  const stamp = await stampOf()
  const notice = assertDue(await claimNotice(owner))
  expect(notice).toMatchObject({ to: me })
  await record(owner, notice, { result: 'done', code: 250 })
  expect(await stampOf()).toBe(stamp)
  // In this zone, it is a later day already, so the deadline has passed.
  await setZone('Pacific/Kiritimati')
  const overdue = { application: { answer_state: 'late' } }
  expect(await ask('application', { application: id })).toMatchObject(overdue)
  expect(await stampOf()).toBe(stamp)
})
