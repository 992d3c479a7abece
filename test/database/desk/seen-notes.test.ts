import type { SupabaseClient } from '@supabase/supabase-js'
import { beforeAll, beforeEach, expect, test } from 'vitest'

import { askDesk } from '../../support/ask-desk.ts'
import { anApplication } from '../../support/form.ts'
import { resetDatabase } from '../../support/reset.ts'
import { startSignIn, type SignInServer } from '../../support/sign-in-server.ts'
import { valuesOf } from '../../support/sql.ts'
import type { HistoryEntry, ListPage, OpenedApplication } from '../../../src/client/desk/applications.ts'
import type { Sql } from '../../../src/server/database/connection/sql.ts'

let server: SignInServer
let sql: Sql
let ada: SupabaseClient
let grace: SupabaseClient
let id: string

beforeAll(async () => {
  server = await startSignIn()
  sql = server.database.owner
})

beforeEach(async () => {
  await resetDatabase(sql)
  ;[ada, grace] = (
    await Promise.all(['ada@example.org', 'grace@example.org'].map((email) => server.signedIn(email)))
  ).map(({ client }) => client) as [SupabaseClient, SupabaseClient]
  ;[{ id }] = await sql<[{ id: string }]>`
    insert into public.retreat_applications ${valuesOf(anApplication({}))} returning id`
})

/** Adds a note and returns its time. */
const write = async (client: SupabaseClient, note: string) => {
  const history = await askDesk<HistoryEntry[]>(client, 'note', {
    act: crypto.randomUUID(),
    application: id,
    note,
  })
  return history.at(-1)?.at ?? ''
}
const see = (client: SupabaseClient, until: string) =>
  askDesk(client, 'see_notes', { application: id, until })
/** Whether the application has a new note, as the list and its changes say. Both must agree. */
const isNew = async (client: SupabaseClient) => {
  const { new_notes } = await askDesk<ListPage>(client, 'list', {})
  const { changes } = await askDesk<{ changes: Pick<ListPage, 'new_notes'> }>(client, 'refresh', {
    filter: {},
    zone: 'UTC',
    shown: [{ id, version: 0 }],
  })
  expect(changes.new_notes).toEqual(new_notes)
  expect([[], [id]]).toContainEqual(new_notes)
  return new_notes.length > 0
}

test('a note is new to everybody but its author, until they have seen it', async () => {
  expect(await isNew(ada)).toBe(false)
  const first = await write(grace, 'Call her.')
  expect([await isNew(ada), await isNew(grace)]).toEqual([true, false])
  const second = await write(grace, 'She called.')
  await see(ada, first)
  expect(await isNew(ada)).toBe(true)
  await see(ada, second)
  expect(await isNew(ada)).toBe(false)
  // A late call about an earlier note changes nothing.
  await see(ada, first)
  expect(await isNew(ada)).toBe(false)
  const { notes_seen_until: until } = await askDesk<OpenedApplication>(ada, 'application', {
    application: id,
  })
  expect(until).toBe(second)

  await write(ada, 'Good.')
  expect([await isNew(ada), await isNew(grace)]).toEqual([false, true])
})

test('nobody can see notes that are not written yet', async () => {
  await see(ada, 'infinity')
  await write(grace, 'Call her.')
  expect(await isNew(ada)).toBe(true)
})

test('notes that were seen before the clock was set back hide no new ones', async () => {
  const first = await write(grace, 'Call her.')
  await see(ada, first)
  await server.database.owner`update private.seen_notes set until = now() + interval '1 hour'`
  expect(await isNew(ada)).toBe(true)
  await see(ada, first)
  expect(await isNew(ada)).toBe(false)
  await write(grace, 'She called.')
  expect(await isNew(ada)).toBe(true)
})

test('notes from before somebody became an organiser are not new to them, and blind readers are told of new ones', async () => {
  await write(grace, 'Call her.')
  const { client: tim } = await server.signedIn('tim@example.org')
  expect(await isNew(tim)).toBe(false)
  await tim.rpc('desk_set_blind', { blind: true }).throwOnError()
  await write(grace, 'She called.')
  expect(await isNew(tim)).toBe(true)
})
