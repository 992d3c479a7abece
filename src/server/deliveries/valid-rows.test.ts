import { beforeAll, beforeEach, expect, test } from 'vitest'

import { openTestDatabase } from '../../../test/support/database.ts'
import { anApplication } from '../../../test/support/form.ts'
import { valuesOf } from '../../../test/support/sql.ts'
import { visitor } from '../database/connection/pools.ts'
import { insertApplications, sentRowsOf } from '../applications/insert-rows.ts'
import type { Database } from '../database/database.ts'
import type { Sql } from '../database/connection/sql.ts'

let database: Database
let owner: Sql
let ids: { application_id: string; letter_id: string; event_id: string; organiser_id: string }

beforeAll(async () => {
  database = await openTestDatabase()
  owner = database.owner
  await insertApplications(database.as(visitor), sentRowsOf(anApplication()))
  ;[ids] = await owner<[typeof ids]>`
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
  await owner`insert into private.organisers (account_id) values (${ids.organiser_id})`
})

beforeEach(async () => {
  await owner`delete from private.deliveries where kind <> 'application'`
})

const text = { subject: 'Hello', body: 'Dear Ada' }
/** The columns that a delivery of each kind needs. */
const validColumns = (): Record<string, Record<string, unknown>> => {
  const { application_id, letter_id, event_id, organiser_id } = ids
  return {
    rsvp: { application_id, event_id },
    letter: { application_id, letter_id, ...text },
    decision: { application_id, letter_id, ...text },
    receipt: { application_id, mailbox: 'ada@example.com', ...text },
    notice: { organiser_id, until: '2026-11-02' },
    test: { organiser_id },
  }
}
const store = (delivery: object) => owner`insert into private.deliveries ${valuesOf({ ...delivery })}`
const refused = { code: '23514', message: /lacks something, or has too much/ }

test.each(['rsvp', 'letter', 'decision', 'receipt', 'notice', 'test'])(
  'a delivery of kind %s is stored with its columns, and refused if one of them is missing',
  async (kind) => {
    const needs = validColumns()[kind] ?? {}
    await store({ kind, ...needs })
    for (const missing of Object.keys(needs)) {
      await expect(store({ kind, ...needs, [missing]: null })).rejects.toMatchObject(refused)
    }
  },
)

test.each([
  ['an unknown kind', { kind: 'telegram' }],
  ['an unknown state', { state: 'lost' }],
  ['an unknown sender', { by: 'pigeon' }],
  ['a waiting delivery without a due time', { due_at: null }],
  ['a waiting delivery with the time of its end', { done_at: '2026-11-26' }],
  ['a delivery that is done and still due', { state: 'done', done_at: '2026-11-26' }],
  ['a delivery that is done, without the time of its end', { state: 'done', due_at: null }],
  ['a failed delivery that is still due', { state: 'failed' }],
])('%s is refused', async (_name, change) => {
  const delivery = { kind: 'test', ...validColumns()['test'] }
  await expect(store({ ...delivery, ...change })).rejects.toMatchObject(refused)
})

test("no delivery can be changed to an invalid one, not even an application's", async () => {
  await store({ kind: 'test', ...validColumns()['test'] })
  for (const kind of ['test', 'application']) {
    await expect(
      owner`update private.deliveries set state = 'failed' where kind = ${kind}`,
    ).rejects.toMatchObject(refused)
  }
})
