import type { SupabaseClient } from '@supabase/supabase-js'
import { expect, test } from 'vitest'

import type { Letter } from '../../../src/client/desk/letters.ts'
import { letterDesk, outcomesOf, statesOf, type Page } from '../../support/letter-server-for-test-file.ts'

const { client, me, sql, ask, store, decide, drafts, lettersOf, release, markSent, refuse, blindReader } =
  letterDesk()

test('a decision sends nothing: it creates a draft, filled in for its applicant', async () => {
  const id = await store({ first_name: 'Zoë', email: 'zoe@example.org' })
  await decide(id, 'shortlisted')
  expect(await lettersOf(id)).toEqual([])
  await decide(id, 'accepted')
  const { letters } = await drafts()
  expect(letters).toMatchObject([
    {
      application: id,
      state: 'draft',
      edition: 1,
      to: 'zoe@example.org',
      subject: 'Your place at Unplugged',
    },
  ])
  expect(letters[0]?.body).toMatch(/^Hello Zoë,\n/)
  expect(await sql()`select from private.letter_deliveries`).toHaveLength(0)
})

test('a decision that changes many times leaves one draft, for the last decision', async () => {
  const id = await store()
  const flips = ['accepted', 'declined', 'new', 'waitlisted']
  for (let flip = 0; flip < 12; flip += 1) await decide(id, flips[flip % 4] ?? '')
  expect(statesOf(await lettersOf(id))).toEqual(['waitlisted: draft'])
  await decide(id, 'new')
  expect(await lettersOf(id)).toEqual([])
})

// break: earlier-decision-letter-sent
test('a released letter is withdrawn by another decision, and drafted again when that decision is undone', async () => {
  const id = await store()
  await decide(id, 'accepted')
  const { letters } = await drafts()
  expect(outcomesOf(await release(letters))).toEqual(['released'])
  expect(await lettersOf(id)).toMatchObject([{ state: 'waiting', author: me() }])
  await decide(id, 'declined')
  expect(statesOf(await lettersOf(id))).toEqual(['accepted: withdrawn', 'declined: draft'])
  await decide(id, 'accepted')
  const [withdrawn, redrafted] = await lettersOf(id)
  expect(withdrawn).toMatchObject({ state: 'withdrawn' })
  expect(redrafted).toMatchObject({ occasion: 'accepted', state: 'draft', edition: 1 })
  expect(redrafted?.id).not.toBe(withdrawn?.id)
  expect(redrafted?.id).toBe(letters[0]?.id)
})

test('an edited draft keeps its text if its decision is changed and then made again', async () => {
  const id = await store()
  await decide(id, 'accepted')
  const [draft] = (await drafts()).letters
  const edited = { letter: draft?.id, seen: draft?.seen, subject: 'For you', body: 'Only for you.' }
  expect(await ask('edit', edited)).toMatchObject({ is_edited: true, subject: 'For you' })
  // A repeat after a lost response succeeds. An edit by somebody who read the former text is refused.
  expect(await ask('edit', edited)).toMatchObject({ subject: 'For you' })
  await expect(ask('edit', { ...edited, body: 'Other.' })).rejects.toMatchObject({ code: 'PT409' })
  // An edited letter gets no form answers filled in, so placeholders in it are refused.
  for (const text of [{ body: 'Hello {{frist_name}}' }, { subject: '{{first_name}}' }]) {
    await expect(ask('edit', { ...edited, ...text })).rejects.toMatchObject({ code: '22023' })
  }
  await decide(id, 'declined')
  await decide(id, 'accepted')
  expect((await drafts()).letters).toMatchObject([
    { id: draft?.id, subject: 'For you', body: 'Only for you.', is_edited: true },
  ])
  const [returned] = (await drafts()).letters
  expect(await ask('edit', { ...edited, seen: returned?.seen, subject: '', body: '' })).toMatchObject({
    is_edited: false,
    subject: draft?.subject,
  })
})

test.each([
  ['edit', { subject: 's', body: 'b' }],
  ['sent_by_hand', {}],
  ['hand_over', { act: crypto.randomUUID() }],
])('desk_%s refuses to act on a draft without the text that the organiser read', async (name, args) => {
  const id = await store()
  await decide(id, 'accepted')
  const [draft] = await lettersOf(id)
  await expect(ask(name, { letter: draft?.id, seen: null, ...args })).rejects.toMatchObject({ code: 'PT409' })
  expect(await lettersOf(id)).toEqual([draft])
})

test('a discarded draft cannot be edited, even with a blank text', async () => {
  const id = await store()
  await decide(id, 'accepted')
  const [draft] = await lettersOf(id)
  await ask('discard', { letters: [draft?.id] })
  const edited = { letter: draft?.id, seen: draft?.seen, subject: '', body: '' }
  await expect(ask('edit', edited)).rejects.toMatchObject({ code: 'PT409' })
})

test('a leftover draft of an outdated decision can be neither released nor recorded as sent by hand', async () => {
  const id = await store()
  await decide(id, 'accepted')
  const { letters } = await drafts()
  // Without its triggers, a new status does not drop the draft.
  await sql()`alter table private.statuses disable trigger user`
  await sql()`update private.statuses set status = 'declined', version = version + 1`
  await sql()`alter table private.statuses enable trigger user`
  expect(outcomesOf(await release(letters))).toEqual(['gone'])
  const [draft] = letters
  expect(await client().rpc('desk_sent_by_hand', { letter: draft?.id, seen: draft?.seen })).toMatchObject({
    status: 409,
  })
  expect(statesOf(await lettersOf(id))).toEqual(['accepted: draft'])
})

test('a person is told the same decision again only if an organiser asks for that, or after another decision', async () => {
  const id = await store()
  await decide(id, 'accepted')
  await release((await drafts()).letters)
  await markSent()
  await decide(id, 'shortlisted')
  await decide(id, 'accepted')
  expect(statesOf(await lettersOf(id))).toEqual(['accepted: sent'])
  expect(await ask('write', { applications: [id], occasion: 'accepted' })).toMatchObject([
    { outcome: 'written' },
  ])
  expect(await ask('write', { applications: [id], occasion: 'declined' })).toMatchObject([
    { outcome: 'undecided' },
  ])
  expect(await ask('write', { applications: [id], occasion: 'accepted', again: true })).toMatchObject([
    { outcome: 'drafted' },
  ])
  const { letters: second } = await drafts()
  expect(second).toMatchObject([{ edition: 2 }])
  expect(outcomesOf(await release(second))).toEqual(['again'])
  await ask('discard', { letters: second.map((letter) => letter.id) })
  await decide(id, 'declined')
  await release((await drafts('declined')).letters)
  await markSent()
  await decide(id, 'accepted')
  const { letters: third } = await drafts()
  expect(third).toMatchObject([{ edition: 2 }])
  expect(outcomesOf(await release(third, { again: true }))).toEqual(['released'])
})

test('a letter that is being sent when the decision changes is marked as withdrawn, and not drafted again', async () => {
  const id = await store()
  await decide(id, 'accepted')
  await release((await drafts()).letters)
  await sql()`update private.deliveries set state = 'sending' where kind = 'letter'`
  await decide(id, 'declined')
  expect(await lettersOf(id)).toMatchObject([
    {
      occasion: 'accepted',
      state: 'sending',
      withdrawn_at: expect.any(String) as string,
      withdrawn_by: null,
    },
    { occasion: 'declined', state: 'draft', withdrawn_at: null },
  ])
  await decide(id, 'accepted')
  expect((await drafts()).letters).toEqual([])
})

test('a new template is created, changed by an organiser who saw it, used, and removed with its drafts', async () => {
  const text = { occasion: 'Travel', subject: 'How to get there', body: 'By train.' }
  expect(await ask('set_template', { ...text, version: null })).toMatchObject({ version: 0 })
  expect(await ask('set_template', { ...text, version: null })).toMatchObject({ version: 0 })
  expect(await ask('set_template', { ...text, version: 0, body: 'By bus.' })).toMatchObject({ version: 1 })
  const stale = ask('set_template', { ...text, version: 0, body: 'On foot.' })
  await expect(stale).rejects.toMatchObject({ code: 'PT409' })
  const id = await store()
  expect(await ask('write', { applications: [id, crypto.randomUUID()], occasion: 'Travel' })).toHaveLength(2)
  expect((await drafts('Travel')).letters).toMatchObject([{ body: 'By bus.' }])
  const removal = ask('remove_template', { occasion: 'accepted', version: 0 })
  await expect(removal).rejects.toMatchObject({ code: '22023' })
  const receipt = ask('write', { applications: [id], occasion: 'received' })
  await expect(receipt).rejects.toMatchObject({ code: '22023' })
  expect(await ask('remove_template', { occasion: 'Travel', version: 1 })).toEqual({ removed: true })
  expect(await lettersOf(id)).toEqual([])
})

test('an organiser who reads blind also sees which placeholders of a letter are blank', async () => {
  const id = await store({ company: 'x' })
  // The form refuses a blank company, but the database stores one.
  await sql()`update public.retreat_applications set company = ' ' where id = ${id}`
  await decide(id, 'declined')
  const blind = await blindReader()
  const { letters } = await ask<Page>('drafts', { occasion: 'declined' }, blind)
  expect(letters).toMatchObject([{ missing: ['company'] }])
})

test('an organiser who reads blind learns no name, address or text from letters', async () => {
  const id = await store({ first_name: 'Grace', email: 'grace@example.org', company: 'Hopper' })
  await decide(id, 'accepted')
  const blind = await blindReader()
  const shown = async () =>
    JSON.stringify([
      await ask('drafts', { occasion: 'accepted' }, blind),
      await ask('letters_of', { applications: [id] }, blind),
      await ask('outbox', { state: 'waiting' }, blind),
      await ask(
        'preview',
        { subject: '{{first_name}}', body: '{{email}} {{company}}', application: id },
        blind,
      ),
    ])
  expect(await shown()).not.toMatch(/Grace|grace|Hopper/)
  const { letters } = await ask<Page>('drafts', { occasion: 'accepted' }, blind)
  const [released] = await ask<{ outcome: string }[]>(
    'release',
    { act: crypto.randomUUID(), letters: letters.map(({ id: letter, seen }) => ({ id: letter, seen })) },
    blind,
  )
  expect(released?.outcome).toBe('released')
  expect(await shown()).not.toMatch(/Grace|grace|Hopper/)
  // The letter itself is filled in.
  expect(await lettersOf(id)).toMatchObject([{ body: expect.stringMatching(/^Hello Grace,/) as string }])
})

test('an organiser who reads blind gets only the columns listed for them, and no digest that reveals hidden text', async () => {
  const id = await store({ first_name: 'Grace', email: 'grace@example.org' })
  await decide(id, 'accepted')
  const blind = await blindReader()
  const [draft] = (await drafts()).letters
  const seenBy = async (reader: SupabaseClient) =>
    (await ask<Letter[]>('letters_of', { applications: [id] }, reader)).map(({ seen }) => seen)
  // All organisers may read the template.
  expect(await seenBy(blind)).toEqual([draft?.seen])
  const edited = { subject: 'For Grace', body: 'Dear Grace' }
  await ask('edit', { letter: draft?.id, seen: draft?.seen, ...edited })
  const [seen] = await seenBy(blind)
  expect(seen).toBe((await seenBy(client()))[0])
  const { seen: between } = await ask<Letter>('edit', {
    letter: draft?.id,
    seen,
    subject: 'For you',
    body: 'Dear',
  })
  await ask('edit', { letter: draft?.id, seen: between, ...edited })
  // The same text gets another digest each time, so that a digest does not reveal the text.
  expect(await seenBy(blind)).not.toEqual([seen])
  await release((await drafts()).letters)
  expect(await seenBy(blind)).toEqual([''])
  await refuse('550 grace@example.org')
  await ask('readdress', {
    act: crypto.randomUUID(),
    letter: (await lettersOf(id))[0]?.id,
    address: 'hopper@example.org',
  })
  // A future column is hidden until somebody lists it.
  await sql()`alter table public.retreat_applications add column nickname text default 'Amazing'`
  try {
    const responses = [
      await ask('list', { filter: {} }, blind),
      await ask('export', { filter: {} }, blind),
      await ask('application', { application: id }, blind),
      await ask('letters_of', { applications: [id] }, blind),
      await ask('outbox', { state: 'waiting' }, blind),
    ]
    expect(JSON.stringify(responses)).not.toMatch(/grace|hopper|amazing/i)
    expect(JSON.stringify(await ask('export', { filter: {} }))).toMatch(/Amazing/)
  } finally {
    await sql()`alter table public.retreat_applications drop column nickname`
  }
})

test('erasing an application erases its letters', async () => {
  const id = await store({ email: 'gone@example.org' })
  await decide(id, 'accepted')
  await release((await drafts()).letters)
  await ask('erase', { applications: [id], email: 'gone@example.org' })
  expect(await sql()`select from private.letters`).toHaveLength(0)
  expect(await sql()`select from private.letter_deliveries`).toHaveLength(0)
})
