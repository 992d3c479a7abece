import { expect, test } from 'vitest'

import type { ApplicationDetails } from '../../../src/client/desk/applications.ts'
import type { Letter } from '../../../src/client/desk/letters.ts'
import type { Places } from '../../../src/client/desk/retreat.ts'
import { record, type RecordedResult } from '../../../src/server/letters/outcomes.ts'
import { claimLetter } from '../../support/claimed-emails.ts'
import { letterDesk, statesOf } from '../../support/letter-server-for-test-file.ts'

const { me, sql, ask, store, decide, drafts, lettersOf, release, blindReader } = letterDesk()

/** Hands all waiting letters over to a mail server that responds with this. */
async function send(result: RecordedResult = { result: 'done', code: 250 }) {
  await sql()`update private.deliveries set due_at = now() where kind = 'letter' and state = 'waiting'`
  for (;;) {
    await sql()`update private.postman set next_at = '-infinity', paused_until = '-infinity'`
    const claim = await claimLetter(sql())
    if (claim === undefined) return
    await record(sql(), claim, result)
  }
}

/** Stores an applicant who was sent the letter about a decision. Returns the application's id and the letter. */
async function tell(status = 'accepted', email = 'ada@example.com') {
  const id = await store({ email })
  await decide(id, status)
  await release((await drafts(status)).letters)
  await send()
  return { id, letter: (await lettersOf(id)).at(-1) as Letter }
}

const returned = ({ id }: Pick<Letter, 'id'>) => ({ act: crypto.randomUUID(), letter: id })
const places = () => ask<Places>('places')
const conflict = { code: 'PT409', message: expect.stringContaining('This letter has changed meanwhile') }

test('the place of an acceptance that came back is not told, and nobody is reminded of it', async () => {
  const { id, letter } = await tell()
  expect(await places()).toMatchObject({ not_told: 0, no_answer: 1 })
  await sql()`update private.invitations set told_at = now() - interval '10 days', deadline = private.today() + 1`
  expect(await ask('remind', { act: crypto.randomUUID() })).toMatchObject({ drafted: 1 })
  const args = returned(letter)
  expect(await ask('came_back', args)).toMatchObject({ state: 'refused', answer: 'It came back.' })
  expect(await places()).toMatchObject({ not_told: 1, no_answer: 0, to_remind: 0 })
  expect(statesOf(await lettersOf(id))).toEqual(['accepted: refused'])
  expect(await ask('remind', { act: crypto.randomUUID() })).toMatchObject({ drafted: 0 })
  expect(await ask('outbox', { state: 'refused' })).toMatchObject({ retriable: [letter.id] })
  // A repeat after a lost response.
  expect(await ask('came_back', args)).toMatchObject({ state: 'refused' })
  const { history } = await ask<ApplicationDetails>('application', { application: id })
  expect(history.slice(1)).toMatchObject([
    { kind: 'returned', author: me(), detail: { occasion: 'accepted', way: 'mail' } },
  ])
})

test('a letter that came back is tried again with a new deadline, sent elsewhere, or told another way', async () => {
  const { id, letter } = await tell()
  const [{ deadline }] = await sql()<[{ deadline: string }]>`
    select to_char(deadline, 'FMDD FMMonth YYYY') as deadline from private.invitations`
  expect(letter.body).toContain(deadline)
  expect(await ask('came_back', returned(letter))).toMatchObject({
    body: expect.stringContaining('until {{reply_by}}.'),
  })
  expect(await ask('retry', { letters: [letter.id] })).toEqual({ retried: 1 })
  await sql()`update private.places set days = 20`
  await send()
  expect(await lettersOf(id)).toMatchObject([{ state: 'sent', body: expect.not.stringContaining(deadline) }])
  expect(await places()).toMatchObject({ not_told: 0, no_answer: 1 })

  await ask('came_back', returned(letter))
  await ask('readdress', { act: crypto.randomUUID(), letter: letter.id, address: 'ada@example.net' })
  await send()
  expect(await lettersOf(id)).toMatchObject([{ state: 'sent', to: 'ada@example.net' }])

  await ask('came_back', returned(letter))
  expect(await ask('settle', { letters: [letter.id] })).toEqual({ settled: 1 })
  expect(await places()).toMatchObject({ not_told: 0, no_answer: 1 })
  // They were told: nothing comes back.
  await expect(ask('came_back', returned(letter))).rejects.toMatchObject(conflict)
})

test('a letter that was stopped while it was sent can come back and be sent again, and stopped by its act', async () => {
  const id = await store()
  await decide(id, 'accepted')
  await release((await drafts()).letters)
  await sql()`update private.deliveries set due_at = now() where kind = 'letter'`
  const claim = await claimLetter(sql())
  const [letter] = await lettersOf(id)
  expect(await ask('withdraw', { letters: [letter?.id] })).toMatchObject({ left: 1 })
  if (claim) await record(sql(), claim, { result: 'done', code: 250 })
  await ask('came_back', returned(letter as Letter))
  await ask('readdress', { act: crypto.randomUUID(), letter: letter?.id, address: 'ada@example.net' })
  const [again] = await lettersOf(id)
  expect(await ask('withdraw', { act: again?.act })).toEqual({ withdrawn: 1, left: 0 })
  await release((await drafts()).letters)
  await send()
  expect((await lettersOf(id)).at(-1)).toMatchObject({ state: 'sent', to: 'ada@example.net' })
})

test('without a server that emails letters, one that came back becomes a draft for another address, and none is retried', async () => {
  await sql()`update private.postman set seen_at = '-infinity'`
  const id = await store()
  await decide(id, 'accepted')
  const [draft] = (await drafts()).letters
  const sent = await ask<Letter>('sent_by_hand', { letter: draft?.id, seen: draft?.seen })
  await ask('came_back', returned(sent))
  await expect(ask('retry', { letters: [sent.id] })).rejects.toMatchObject({
    code: 'PT409',
    message: 'No letter can be sent: no server with a mail server is running.',
  })
  const args = { act: crypto.randomUUID(), letter: sent.id, address: 'ada@example.net' }
  expect(await ask('readdress', args)).toMatchObject({ state: 'withdrawn' })
  expect((await drafts()).letters).toMatchObject([{ id: draft?.id, to: 'ada@example.net' }])
})

test('with a server that emails letters, one that was sent by hand and came back is stopped by the act that resends it', async () => {
  const id = await store()
  await decide(id, 'accepted')
  const [draft] = (await drafts()).letters
  const sent = await ask<Letter>('sent_by_hand', { letter: draft?.id, seen: draft?.seen })
  await ask('came_back', returned(sent))
  const act = crypto.randomUUID()
  await ask('readdress', { act, letter: sent.id, address: 'ada@example.net' })
  expect(await ask('withdraw', { act })).toEqual({ withdrawn: 1, left: 0 })
})

test('nothing comes back that somebody dealt with, sent again or drafted again, and blind readers record nothing', async () => {
  const { id, letter } = await tell()
  const act = crypto.randomUUID()
  await expect(ask('came_back', { act, letter: letter.id }, await blindReader())).rejects.toMatchObject({
    code: '22023',
    message: 'Switch blind reading off to record that a letter came back.',
  })
  await ask('write', { act: crypto.randomUUID(), applications: [id], occasion: 'accepted', again: true })
  await expect(ask('came_back', returned(letter))).rejects.toMatchObject(conflict)
  await release((await drafts()).letters, { again: true })
  await send()
  await expect(ask('came_back', returned(letter))).rejects.toMatchObject(conflict)
  const second = (await lettersOf(id)).at(-1) as Letter
  await ask('came_back', returned(second))
  // The first may have arrived.
  expect(await places()).toMatchObject({ not_told: 0, no_answer: 1 })
  await ask('retry', { letters: [second.id] })
  await expect(ask('came_back', returned(second))).rejects.toMatchObject(conflict)
})

test('a letter about a former decision that came back is dropped, and the letter about the current one stays', async () => {
  const { id, letter } = await tell()
  await decide(id, 'declined')
  expect(await ask('came_back', returned(letter))).toMatchObject({ state: 'withdrawn' })
  expect(statesOf(await lettersOf(id))).toEqual(['accepted: withdrawn', 'declined: draft'])
  expect(await ask('outbox', { state: 'refused' })).toMatchObject({ letters: [] })
})

test('an RSVP stays when a letter comes back, and so does what an earlier letter asked', async () => {
  const { id, letter } = await tell()
  const asked = { subject: 'Come', body: 'Tell us: {{answer_link}}' }
  await ask('write_to', { act: crypto.randomUUID(), application: id, ...asked })
  await release((await drafts('')).letters)
  await send()
  await ask('came_back', returned(letter))
  expect(await places()).toMatchObject({ not_told: 0, no_answer: 1 })
  const [, personal] = await lettersOf(id)
  await ask('set_answer', { act: crypto.randomUUID(), application: id, answer: 'coming' })
  await ask('came_back', returned(personal as Letter))
  expect(await places()).toMatchObject({ not_told: 0, coming: 1 })
  expect(await sql()`select from private.invitations where told_at is null`).toHaveLength(0)
})

test('an address at which a letter failed or came back is known wherever somebody writes to it, until the letter is accepted', async () => {
  const { letter } = await tell()
  const again = await store({ email: 'Ada@Example.com', reason: 'Once more.' })
  await decide(again, 'declined')
  const failedAt = async () => (await drafts('declined')).letters[0]?.failed_at
  const ofAddress = async (address: string) =>
    (await ask<{ failed_at: string | null }>('address', { address })).failed_at
  expect(await failedAt()).toBeNull()
  await ask('came_back', returned(letter))
  const [{ at }] = await sql()<[{ at: string }]>`select at from private.failures`
  const isSame = (time: string | null | undefined) => new Date(time ?? 0).getTime() === new Date(at).getTime()
  expect(isSame(await failedAt())).toBe(true)
  expect(isSame(await ofAddress('ada@example.com'))).toBe(true)
  expect(await ofAddress('grace@example.com')).toBeNull()
  expect(isSame((await ask<{ failed_at: string }>('application', { application: again })).failed_at)).toBe(
    true,
  )
  const blind = await blindReader()
  expect(await ask('drafts', { occasion: 'declined' }, blind)).toMatchObject({
    letters: [{ failed_at: null }],
  })
  expect(await ask('application', { application: again }, blind)).toMatchObject({ failed_at: null })
  await expect(ask('address', { address: 'ada@example.com' }, blind)).rejects.toMatchObject({ code: '22023' })

  // A failure elsewhere says nothing new about the former address.
  await ask('readdress', { act: crypto.randomUUID(), letter: letter.id, address: 'ada@example.net' })
  await send({ result: 'failed', code: 550, reply: '550 no' })
  expect([await ofAddress('ada@example.net'), isSame(await ofAddress('ada@example.com'))]).toEqual([
    expect.any(String),
    true,
  ])
  await ask('retry', { letters: [letter.id] })
  await send()
  expect([await ofAddress('ada@example.net'), isSame(await ofAddress('ada@example.com'))]).toEqual([
    null,
    true,
  ])
})

test('a date in a letter that came back stays, if the letter had no deadline', async () => {
  await sql()`update private.templates set body = 'Hello. Please pay by 20 June 2027.' where name = 'accepted'`
  const { letter } = await tell()
  await sql()`update private.invitations set deadline = '2027-06-20'`
  expect(await ask('came_back', returned(letter))).toMatchObject({
    body: 'Hello. Please pay by 20 June 2027.',
  })
})
