import { beforeAll, beforeEach, expect, test } from 'vitest'

import { openTestDatabase } from '../../../testing/database.ts'
import { anApplication } from '../../../testing/form.ts'
import { valuesOf } from '../../../testing/sql.ts'
import { visitor } from '../database/pools.ts'
import { insertApplications, rowsOf } from '../database/insert.ts'
import type { Database } from '../database/database.ts'
import type { Sql } from '../database/sql.ts'

let database: Database
let owner: Sql
let about: { application_id: string; letter_id: string; event_id: string; organiser_id: string }

beforeAll(async () => {
  database = await openTestDatabase()
  owner = database.owner
  await insertApplications(database.as(visitor), rowsOf(anApplication()))
  ;[about] = await owner<[typeof about]>`
    with account as (
      insert into auth.users (id, email) values (gen_random_uuid(), 'ada@example.com') returning id
    ), letter as (
      insert into private.letters (application_id, subject, body) select id, '', '' from public.retreat_applications
      returning id, application_id
    ), event as (
      insert into private.history (application_id, author, kind)
      select id, 'ada@example.com', 'answer' from public.retreat_applications returning id
    )
    select application_id, letter.id as letter_id, event.id as event_id, account.id as organiser_id
    from letter, event, account`
  await owner`insert into private.organisers (account_id) values (${about.organiser_id})`
})

beforeEach(async () => {
  await owner`delete from private.deliveries where kind <> 'application'`
})

const words = { subject: 'Hello', body: 'Dear Ada' }
/** The columns that a delivery of each kind needs. */
const whole = (): Record<string, Record<string, unknown>> => {
  const { application_id, letter_id, event_id, organiser_id } = about
  return {
    rsvp: { application_id, event_id },
    letter: { application_id, letter_id, ...words },
    decision: { application_id, letter_id, ...words },
    receipt: { application_id, mailbox: 'ada@example.com', ...words },
    notice: { organiser_id, until: '2026-11-02' },
    test: { organiser_id },
  }
}
const store = (delivery: object) => owner`insert into private.deliveries ${valuesOf({ ...delivery })}`
const refused = { code: '23514', message: /lacks something, or has too much/ }

test.each(['rsvp', 'letter', 'decision', 'receipt', 'notice', 'test'])(
  'a delivery of kind %s is stored with its columns, and refused where one of them is missing',
  async (kind) => {
    const needs = whole()[kind] ?? {}
    await store({ kind, ...needs })
    for (const missing of Object.keys(needs)) {
      await expect(store({ kind, ...needs, [missing]: null })).rejects.toMatchObject(refused)
    }
  },
)

test.each([
  ['an unknown kind', { kind: 'telegram' }],
  ['an unknown state', { state: 'lost' }],
  ['an unknown way to tell', { by: 'pigeon' }],
  ['one that waits for no time', { due_at: null }],
  ['one that waits and is done', { done_at: '2026-11-26' }],
  ['one that is done and is due', { state: 'done', done_at: '2026-11-26' }],
  ['one that was done at no time', { state: 'done', due_at: null }],
  ['one that failed and is due', { state: 'failed' }],
])('%s is refused', async (_name, change) => {
  const delivery = { kind: 'test', ...whole()['test'] }
  await expect(store({ ...delivery, ...change })).rejects.toMatchObject(refused)
})

test("a delivery, even an application's, cannot change to an invalid one", async () => {
  await store({ kind: 'test', ...whole()['test'] })
  for (const kind of ['test', 'application']) {
    await expect(
      owner`update private.deliveries set state = 'failed' where kind = ${kind}`,
    ).rejects.toMatchObject(refused)
  }
})
