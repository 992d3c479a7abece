import type { SupabaseClient } from '@supabase/supabase-js'
import { beforeAll, beforeEach, expect, test } from 'vitest'

import { anApplication } from '../../support/form.ts'
import { resetDatabase } from '../../support/reset.ts'
import { startSignIn, type SignInServer } from '../../support/sign-in-server.ts'
import { valuesOf } from '../../support/sql.ts'
import type { FirstSteps } from '../../../src/client/desk/retreat.ts'
import type { Sql } from '../../../src/server/database/connection/sql.ts'

let server: SignInServer
let sql: Sql
let client: SupabaseClient

beforeAll(async () => {
  server = await startSignIn()
  sql = server.database.owner
  ;({ client } = await server.signedIn('grace@example.org'))
})

beforeEach(async () => {
  await resetDatabase(sql)
  await sql`delete from auth.users where email <> 'grace@example.org'`
  await sql`update private.places set zone = null`
})

async function read(caller = client): Promise<FirstSteps> {
  const { data } = await caller.rpc('desk_first_steps').throwOnError()
  return data as FirstSteps
}

const tick = (step: string, is_done: boolean) => client.rpc('desk_tick_step', { step, is_done })

test('at first nothing is done and nothing is ticked', async () => {
  expect(await read()).toEqual({ done: [], ticked: [], has_mail: false, has_server: false })
})

test('the days are done once the days, the places and the time zone are saved', async () => {
  await sql`update private.editions set starts_on = '2027-03-12', ends_on = '2027-03-15'`
  await sql`update private.places set places = 40`
  expect((await read()).done).toEqual([])
  await sql`update private.places set zone = 'UTC'`
  expect((await read()).done).toEqual(['days'])
})

test('the test application stays done after it is erased, which is a step of its own', async () => {
  const [{ id }] = await sql<[{ id: string }]>`
    insert into public.retreat_applications ${valuesOf(anApplication({ email: 'ada@example.com' }))} returning id`
  expect((await read()).done).toEqual(['application'])
  await client
    .rpc('desk_erase', { act: crypto.randomUUID(), applications: [id], email: 'ada@example.com' })
    .throwOnError()
  expect((await read()).done).toEqual(['application', 'erased'])
})

test('the mail server is done once a check found nothing wrong, while the mail server accepts emails', async () => {
  await sql`update private.postman set seen_at = now()`
  expect(await read()).toMatchObject({ done: [], has_mail: true })
  const check = (verdict: string) =>
    sql`update private.postman set checked_at = now(), findings = ${JSON.stringify([
      { about: 'mail', verdict: 'ok', said: '' },
      { about: 'sender', verdict, said: '' },
    ])}::jsonb`
  await check('wrong')
  expect((await read()).done).toEqual([])
  await check('not known')
  expect((await read()).done).toEqual(['mail'])
  await sql`update private.postman set failing_since = now()`
  expect((await read()).done).toEqual([])
})

test('a change of the door, a colleague, the emails about applications and backups are known', async () => {
  await sql`update private.door set version = 1`
  await sql`update private.organisers set notices = 'daily'`
  await sql`update private.first_steps set backed_up_at = now() - interval '1 day'`
  const bob = await server.signedIn('bob@example.org')
  expect((await read()).done.toSorted()).toEqual(['backups', 'colleagues', 'door', 'notices'])
  // The emails are a choice of each organiser.
  expect((await read(bob.client)).done).not.toContain('notices')
  await sql`update private.first_steps set backed_up_at = now() - interval '3 days'`
  expect(await read()).toMatchObject({ done: ['door', 'colleagues', 'notices'], has_server: true })
})

test('the page is done once its words are saved, and the questions once the newest retreat has one', async () => {
  await sql`update private.page set version = 1`
  expect((await read()).done).toEqual(['page'])
  await sql`
    insert into private.questions (edition, position, kind, text, is_required, is_private)
    select max(id), 1, 'short', 'When do you arrive?', false, false from private.editions`
  expect((await read()).done).toEqual(['page', 'questions'])
})

test('a colleague is done once everybody has signed in', async () => {
  await server.signedIn('bob@example.org')
  expect((await read()).done).toEqual(['colleagues'])
  await sql`update auth.users set last_sign_in_at = null where email = 'bob@example.org'`
  expect((await read()).done).toEqual([])
})

test('a second factor is known, of the caller alone', async () => {
  const bob = await server.signedIn('bob@example.org')
  const bobsId = (await bob.client.auth.getUser()).data.user?.id ?? ''
  await sql`
    insert into auth.mfa_factors (id, user_id, factor_type, status, secret, created_at, updated_at)
    values (gen_random_uuid(), ${bobsId}, 'totp', 'verified', 'x', now(), now())`
  expect((await read()).done).toEqual(['colleagues'])
})

test('a step is ticked for all organisers, once, and can be unticked; another step is refused', async () => {
  await tick('read', true).throwOnError()
  const { data } = await tick('read', true).throwOnError()
  expect(data).toEqual({ done: [], ticked: ['read'], has_mail: false, has_server: false })
  const bob = await server.signedIn('bob@example.org')
  expect((await read(bob.client)).ticked).toEqual(['read'])
  await tick('read', false).throwOnError()
  expect((await read()).ticked).toEqual([])
  expect((await tick('made up', true)).error?.code).toBe('22023')
})

test('the first test of a letter ticks its step', async () => {
  await sql`insert into public.retreat_applications ${valuesOf(anApplication())}`
  await sql`update private.postman set seen_at = now()`
  await client.rpc('desk_send_test', { subject: 'Hello', body: 'Hello' }).throwOnError()
  expect((await read()).ticked).toEqual(['test'])
})
