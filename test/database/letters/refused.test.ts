import { expect, test } from 'vitest'

import { claimLetter } from '../../support/claimed-emails.ts'
import type { ApplicationDetails } from '../../../src/client/desk/applications.ts'
import { retryGivenUpApplications } from '../../../src/server/deliveries/overview.ts'
import { letterDesk, statesOf } from '../../support/letter-server-for-test-file.ts'

const { me, sql, ask, store, decide, drafts, lettersOf, release, refuse, blindReader } = letterDesk()

test('refused letters can be retried, and letters that were sent by hand are recorded', async () => {
  const ids = [await store(), await store({ email: 'b@example.org' })]
  for (const id of ids) await decide(id, 'accepted')
  const [first, second] = (await drafts()).letters
  await release(first ? [first] : [])
  await refuse()
  const [failed] = await lettersOf(ids[0] ?? '')
  expect(await ask('outbox', { state: 'refused' })).toMatchObject({ letters: [{ answer: '550 no' }] })
  expect(await ask('letters')).toMatchObject({ states: { refused: { count: 1, more: false } } })
  const blind = await blindReader()
  expect(await ask('outbox', { state: 'refused' }, blind)).toMatchObject({
    letters: [{ answer: '', to: null }],
  })
  expect(await ask('retry', { letters: [failed?.id] })).toEqual({ retried: 1 })
  // A repeat after a lost response.
  expect(await ask('retry', { letters: [failed?.id] })).toEqual({ retried: 1 })
  expect(await lettersOf(ids[0] ?? '')).toMatchObject([{ state: 'waiting', attempts: 0 }])
  expect(await sql()`select from private.letter_deliveries where due_at <= now()`).toHaveLength(1)
  const byHand = { letter: second?.id, seen: second?.seen }
  expect(await ask('sent_by_hand', byHand)).toMatchObject({ state: 'sent', author: me() })
})

test('a refused letter and later letters are sent to another address; the form answer stays unchanged', async () => {
  const id = await store({ email: 'grace@exampel.org' })
  await decide(id, 'accepted')
  await release((await drafts()).letters)
  await refuse()
  const [letter] = await lettersOf(id)
  const args = { act: crypto.randomUUID(), letter: letter?.id, address: 'grace@example.org' }
  for (const address of ['', 'grace', 'a@b, c@d', 'a@b\r\nBcc: c@d', `${'a'.repeat(250)}@b.org`]) {
    await expect(ask('readdress', { ...args, address })).rejects.toMatchObject({ code: '22023' })
  }
  const blind = await blindReader()
  await expect(ask('readdress', args, blind)).rejects.toMatchObject({ code: '22023' })
  expect(await ask('write', { applications: [id], occasion: 'accepted' })).toMatchObject([
    { outcome: 'written', state: 'refused' },
  ])
  const sent = { state: 'waiting', attempts: 0, to: 'grace@example.org', answer: '' }
  expect(await ask('readdress', args)).toMatchObject(sent)
  // A repeat after a lost response.
  expect(await ask('readdress', args)).toMatchObject(sent)
  await expect(ask('readdress', { ...args, act: crypto.randomUUID() })).rejects.toMatchObject({
    code: 'PT409',
  })
  await sql()`update private.deliveries set due_at = now() where kind = 'letter'`
  expect(await claimLetter(sql())).toMatchObject({ id: letter?.id, to: 'grace@example.org' })
  await sql()`update private.deliveries set state = 'waiting', due_at = now() where kind = 'letter'`
  await refuse()
  expect(await ask('settle', { letters: [letter?.id] })).toEqual({ settled: 1 })
  expect(await ask('settle', { letters: [letter?.id] })).toEqual({ settled: 1 })
  expect(await lettersOf(id)).toMatchObject([{ state: 'sent', otherwise: 'told' }])
  // They were told: nothing is drafted when the decision is undone and made again.
  await decide(id, 'new')
  await decide(id, 'accepted')
  expect((await drafts()).letters).toEqual([])
  await decide(id, 'declined')
  expect((await drafts('declined')).letters).toMatchObject([{ to: 'grace@example.org' }])
  // A newer address replaces the earlier one. A change of the history changes no address.
  await release((await drafts('declined')).letters)
  await refuse()
  const [, declined] = await lettersOf(id)
  const next = { act: crypto.randomUUID(), letter: declined?.id, address: 'grace@example.net' }
  expect(await ask('readdress', next)).toMatchObject({ to: 'grace@example.net' })
  // A late repeat of the earlier act has no effect.
  await ask('readdress', args)
  await sql()`
    update private.history set detail = detail || '{"address": "mary@example.org"}' where act = ${next.act}`
  expect(await lettersOf(id)).toMatchObject([{ to: 'grace@example.net' }, { to: 'grace@example.net' }])
  const { application, history } = await ask<ApplicationDetails>('application', { application: id })
  expect(application.email).toBe('grace@exampel.org')
  expect(history.filter(({ kind }) => kind !== 'status')).toMatchObject([
    { kind: 'address', author: me(), detail: { address: 'grace@example.org', occasion: 'accepted' } },
    { kind: 'told', author: me(), detail: { occasion: 'accepted', way: 'mail' } },
    { kind: 'address', author: me() },
  ])
})

test('a retry leaves nothing of the former tries except the copies that may have arrived, for a webhook as for a letter', async () => {
  const id = await store()
  await decide(id, 'accepted')
  await release((await drafts()).letters)
  const letters = await lettersOf(id)
  const read = () =>
    sql()`
      select kind, state, due_at <= now() as is_due, attempts, tried_at, reply_status, reply, is_refused, closings, may_have_arrived
      from private.deliveries order by kind`
  await sql()`
    update private.deliveries set state = 'failed', due_at = null, attempts = 3, tried_at = now(), reply_status = 500,
      reply = 'no', is_refused = true, closings = 2, may_have_arrived = 1`
  await ask('retry', { letters: letters.map((letter) => letter.id) })
  expect(await retryGivenUpApplications(sql())).toBe(1)
  const retried = {
    state: 'waiting',
    is_due: true,
    attempts: 0,
    tried_at: null,
    reply_status: null,
    reply: '',
    is_refused: false,
    closings: 0,
    may_have_arrived: 1,
  }
  expect(await read()).toEqual([
    { kind: 'application', ...retried },
    { kind: 'letter', ...retried },
  ])
})

test('a refused receipt can be retried within a day, and not later', async () => {
  await sql()`update private.letter_settings set receipts = true`
  const id = await store()
  await sql()`update private.letter_settings set receipts = false`
  await refuse()
  const [receipt] = await lettersOf(id)
  expect(await ask('retry', { letters: [receipt?.id] })).toEqual({ retried: 1 })
  await refuse()
  await sql()`update private.deliveries set queued_at = now() - interval '25 hours'`
  expect(await ask('retry', { letters: [receipt?.id] })).toEqual({ retried: 0 })
})

test('a letter that was sent by hand cancels the waiting receipt', async () => {
  await sql()`update private.letter_settings set receipts = true`
  const id = await store({ email: 'receipt@example.org' })
  await sql()`update private.letter_settings set receipts = false`
  await decide(id, 'accepted')
  const [draft] = (await drafts()).letters
  await ask('sent_by_hand', { letter: draft?.id, seen: draft?.seen })
  expect(statesOf(await lettersOf(id)).toSorted()).toEqual(['accepted: sent', 'received: withdrawn'])
})
