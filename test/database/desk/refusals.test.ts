import type { SupabaseClient } from '@supabase/supabase-js'
import { beforeAll, expect, test } from 'vitest'

import { anApplication } from '../../support/form.ts'
import { startSignIn, type SignInServer } from '../../support/sign-in-server.ts'
import { valuesOf } from '../../support/sql.ts'
import type { Letter } from '../../../src/client/desk/letters.ts'

let server: SignInServer
let client: SupabaseClient

beforeAll(async () => {
  server = await startSignIn()
  ;({ client } = await server.signedIn())
  await server.database.owner`update private.postman set seen_at = now()`
})

/** Stores and accepts an application. Returns its id and the draft of its letter. */
async function accept() {
  const [row] = await server.database.owner<{ id: string }[]>`
    insert into public.retreat_applications ${valuesOf(anApplication())} returning id`
  const id = row?.id ?? ''
  await client.rpc('desk_decide', {
    act: crypto.randomUUID(),
    decisions: [{ id, status: 'accepted', version: 0 }],
  })
  const { data } = await client.rpc('desk_letters_of', { applications: [id] })
  const [draft] = data as Letter[]
  return { id, draft }
}

test.each([
  ['list', { filter: { answer: 'maybe' } }, 'There is no answer "maybe".'],
  ['list', { filter: {}, most: 1001 }, 'A call lists from 1 to 1,000 applications.'],
  ['list', { filter: {}, most: 0 }, 'A call lists from 1 to 1,000 applications.'],
  ['list', { filter: { status: 'hired' } }, 'There is no status "hired".'],
  ['list', { filter: { marks: 'agree' } }, 'There are no marks "agree".'],
  ['list', { filter: { marks: 'agree', answer: 'coming' } }, 'There are no marks "agree".'],
  ['outbox', { state: 'sent', after: null }, 'The state must be waiting, refused or given up.'],
  [
    'write_to',
    { act: null, application: crypto.randomUUID(), subject: 's', body: 'b' },
    'The act needs an id.',
  ],
  ['set_answer', { act: null, application: crypto.randomUUID(), answer: 'coming' }, 'has an id.'],
  [
    'set_answer',
    { act: crypto.randomUUID(), application: crypto.randomUUID(), answer: 'maybe' },
    'has an id.',
  ],
  ['set_places', { version: 0, places: -1, days: 14 }, 'There are 0 to 1,000,000 places.'],
  ['set_places', { version: 0, places: 1, days: 366 }, 'There are 1 to 365 days to answer.'],
  ['set_places', { version: 0, places: 1, days: 9, zone: 'Mars' }, 'There is no time zone "Mars".'],
])('desk_%s refuses %j with the reason', async (name, args, reason) => {
  const { error, status } = await client.rpc(`desk_${name}`, args)
  expect([status, error?.message]).toEqual([400, expect.stringContaining(reason)])
})

test('an organiser who reads blind cannot write or edit a letter, or open it in a mail program', async () => {
  const { id, draft } = await accept()
  const { client: blind } = await server.signedIn()
  await blind.rpc('desk_set_blind', { blind: true })
  const act = crypto.randomUUID()
  const [letter, seen] = [draft?.id, draft?.seen]
  const calls = {
    desk_write_to: { act, application: id, subject: 's', body: 'b' },
    desk_edit: { letter, seen, subject: 's', body: 'b' },
    desk_sent_by_hand: { letter, seen },
    desk_hand_over: { act, letter, seen, site: 'https://site.example', zone: 'UTC' },
  }
  for (const [name, args] of Object.entries(calls)) {
    const { error } = await blind.rpc(name, args)
    expect(error).toMatchObject({
      code: '22023',
      message: expect.stringMatching(/^Switch blind reading off to /) as string,
    })
  }
  const { data } = await client.rpc('desk_letters_of', { applications: [id] })
  expect(data).toEqual([draft])
})

test('undoing a decision is refused after its letter was sent, but a new decision is saved', async () => {
  const { id, draft } = await accept()
  await client.rpc('desk_sent_by_hand', { letter: draft?.id, seen: draft?.seen })
  const decide = async (takes_back: boolean) => {
    const decisions = [{ id, status: 'declined', version: 1, takes_back }]
    const { data } = await client.rpc('desk_decide', { act: crypto.randomUUID(), decisions })
    return data as object
  }
  // `told`: the undo was refused, because the applicant has been told of the decision.
  expect(await decide(true)).toMatchObject([{ outcome: 'told', status: 'accepted', version: 1 }])
  expect(await decide(false)).toMatchObject([{ outcome: 'kept', status: 'declined', version: 2 }])
})

test('a template is removed only by an organiser who saw its current version', async () => {
  const template = { occasion: 'Travel', subject: 's' }
  const save = async (version: number | null, body = 'b') =>
    (await client.rpc('desk_set_template', { ...template, version, body })).data as { version: number }
  const first = await save(null)
  const second = await save(first.version, 'c')
  const remove = (version: number) => client.rpc('desk_remove_template', { occasion: 'Travel', version })
  const { error } = await remove(first.version)
  expect(error).toMatchObject({ code: 'PT409', message: 'Somebody else changed this template meanwhile.' })
  expect((await remove(second.version)).data).toEqual({ removed: true })
})

test('a token whose claims contain invalid ids has no rights', async () => {
  const { as } = server.database
  const claims = { sub: 'nobody', session_id: 'none', aal: 'aal1' }
  await expect(as({ role: 'authenticated', claims })`select public.desk_me()`).rejects.toMatchObject({
    code: '42501',
  })
})
