import type { SupabaseClient } from '@supabase/supabase-js'
import { beforeAll, beforeEach, expect, test } from 'vitest'

import { askDesk } from '../../support/ask-desk.ts'
import { anApplication } from '../../support/form.ts'
import { releaseDrafts } from '../../support/letters.ts'
import { resetDatabase } from '../../support/reset.ts'
import { startSignIn, type SignInServer } from '../../support/sign-in-server.ts'
import { valuesOf } from '../../support/sql.ts'
import type { OpenedApplication } from '../../../src/client/desk/applications.ts'
import { removeOrganiser } from '../../../src/server/auth/manage-organisers.ts'
import type { Sql } from '../../../src/server/database/connection/sql.ts'

let server: SignInServer
let sql: Sql
let ada: SupabaseClient
let grace: SupabaseClient

beforeAll(async () => {
  server = await startSignIn()
  sql = server.database.owner
})

beforeEach(async () => {
  await resetDatabase(sql)
  ;[ada, grace] = (
    await Promise.all(['ada@example.org', 'grace@example.org'].map((email) => server.signedIn(email)))
  ).map(({ client }) => client) as [SupabaseClient, SupabaseClient]
})

const newId = () => crypto.randomUUID()
const setName = (client: SupabaseClient, name: string) => askDesk(client, 'set_name', { name })

/** Lets Ada and Grace do one of everything that has an author. Returns the application's id. */
async function actOnEverything() {
  const [{ id }] = await sql<[{ id: string }]>`
    insert into public.retreat_applications ${valuesOf(anApplication({}))} returning id`
  await askDesk(ada, 'mark', { act: newId(), application: id, mark: 'yes', why: '' })
  await askDesk(grace, 'mark', { act: newId(), application: id, mark: 'no', why: '' })
  await askDesk(grace, 'note', { act: newId(), application: id, note: 'Call her.' })
  await askDesk(grace, 'decide', { act: newId(), decisions: [{ id, status: 'accepted', version: 0 }] })
  await askDesk(grace, 'hold', { act: newId(), application: id, reason: 'A prize.' })
  await releaseDrafts(sql, { author: 'grace@example.org' })
  const closed = { closed: true, sentence: '', closes_at: null, closes_after: null }
  await askDesk(grace, 'set_door', { version: 0, ...closed })
  return id
}

/** All authors that Ada is told of. */
async function authorsShown(id: string) {
  const responses = await Promise.all([
    askDesk(ada, 'application', { application: id }),
    askDesk(ada, 'list', {}),
    askDesk(ada, 'refresh', { filter: {}, zone: 'UTC', shown: [{ id, version: 1 }] }),
    askDesk(ada, 'export', {}),
    askDesk(ada, 'history', {}),
    askDesk(ada, 'door', {}),
    askDesk(ada, 'retention', {}),
    askDesk(ada, 'decide', { act: newId(), decisions: [{ id, status: 'declined', version: 0 }] }),
  ])
  return responses.map((response) => {
    const text = JSON.stringify(response)
    return ['grace@example.org', 'Grace H.', 'Rear Admiral'].filter((author) => text.includes(author))
  })
}

test('a name stands in place of the email wherever an author is named, and another name replaces it everywhere', async () => {
  const id = await actOnEverything()
  const all = (author: string) => Array.from({ length: 8 }, () => [author])
  expect(await authorsShown(id)).toEqual(all('grace@example.org'))
  expect(await setName(grace, '  Grace H. ')).toEqual({ email: 'grace@example.org', name: 'Grace H.' })
  expect(await authorsShown(id)).toEqual(all('Grace H.'))
  await setName(grace, 'Rear Admiral')
  expect(await authorsShown(id)).toEqual(all('Rear Admiral'))
  await setName(grace, ' ')
  expect(await authorsShown(id)).toEqual(all('grace@example.org'))
})

test('an organiser who has not marked is named, too, and knows themselves by their name', async () => {
  await setName(grace, 'Grace H.')
  const [{ id }] = await sql<[{ id: string }]>`
    insert into public.retreat_applications ${valuesOf(anApplication({}))} returning id`
  expect(await askDesk(ada, 'mark', { act: newId(), application: id, mark: 'yes', why: '' })).toMatchObject({
    missing: ['Grace H.'],
  })
  expect(await askDesk(grace, 'application', { application: id })).toMatchObject({ me: 'Grace H.' })
  expect(await askDesk(ada, 'application', { application: id })).toMatchObject({ me: 'ada@example.org' })
})

test('what a removed organiser did has their email', async () => {
  const id = await actOnEverything()
  await setName(grace, 'Grace H.')
  await removeOrganiser(sql, 'grace@example.org')
  expect(await authorsShown(id)).toEqual(Array.from({ length: 8 }, () => ['grace@example.org']))
})

test('an organiser who was removed and is added again has their marks again, and counts once', async () => {
  const id = await actOnEverything()
  for (const mark of ['no', 'maybe']) {
    await removeOrganiser(sql, 'grace@example.org')
    const { client } = await server.signedIn('grace@example.org')
    const shown = await askDesk<OpenedApplication>(client, 'application', { application: id })
    expect(shown.marks).toMatchObject({ own: { mark }, others: [{ author: 'ada@example.org' }] })
    await askDesk(client, 'mark', { act: newId(), application: id, mark: 'maybe', why: '' })
    const { marks } = await askDesk<OpenedApplication>(ada, 'application', { application: id })
    expect(marks?.others).toMatchObject([{ author: 'grace@example.org', mark: 'maybe' }])
  }
})

test.each([
  ['another organiser’s, in any case', 'ada'],
  ['another organiser’s with a character that shows nothing', 'A\u200cda'],
  ['another organiser’s in letters of full width', 'Ａｄａ'],
  ['one with an invisible character', 'Gr\u200bace'],
  ['one that turns what follows', 'Grace\u202e'.concat('H')],
  ['the word for applicants', 'Applicant'],
  ['the word for servers', 'server'],
  ['an address', 'ada@example.org'],
  ['two lines', 'Grace\nHopper'],
])('a name is refused if it is %s', async (_what, name) => {
  await setName(ada, 'Ada')
  await setName(grace, 'Grace')
  await expect(setName(grace, name)).rejects.toMatchObject({ code: '22023' })
  expect(await askDesk(grace, 'me', {})).toMatchObject({ name: 'Grace' })
  // One's own name is not taken.
  expect(await setName(grace, 'GRACE')).toMatchObject({ name: 'GRACE' })
})
