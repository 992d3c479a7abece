import { expect, test } from 'vitest'

import type { LettersOverview } from '../../../src/client/desk/letters.ts'
import { letterDesk, statesOf } from '../../support/letter-server-for-test-file.ts'

const { me, sql, ask, store, decide, drafts, lettersOf, release, another } = letterDesk()

test('the reply address is a single address, and only an organiser who saw it can change it', async () => {
  const settings = async () =>
    (await ask<{ settings: { version: number; reply_to: string } }>('letters')).settings
  const { version } = await settings()
  for (const reply_to of ['a@b, c@d', 'Ada <a@b>', 'a@b\r\nBcc: c@d', 'nobody', '@', 'a b@c']) {
    await expect(ask('set_letters', { version, reply_to })).rejects.toMatchObject({ code: '22023' })
  }
  await ask('set_letters', { version, reply_to: 'desk@example.org' })
  await ask('set_letters', { version, reply_to: 'desk@example.org' })
  expect(await settings()).toMatchObject({ version: version + 1, reply_to: 'desk@example.org' })
  await expect(ask('set_letters', { version, reply_to: '' })).rejects.toMatchObject({ code: 'PT409' })
})

test('switches without a version, both at once, leave each other and the reply address unchanged', async () => {
  const { settings } = await ask<LettersOverview>('letters')
  await ask('set_letters', { version: settings.version, reply_to: 'desk@example.org' })
  const withoutVersion = { version: null, reply_to: null }
  await Promise.all([
    ask('set_letters', { ...withoutVersion, receipts: true }),
    ask('set_letters', { ...withoutVersion, confirmations: true }),
  ])
  expect((await ask<LettersOverview>('letters')).settings).toMatchObject({
    reply_to: 'desk@example.org',
    receipts: true,
    confirmations: true,
  })
})

test('only an organiser who saw the current setting can switch receipts on or off, and the history records it', async () => {
  const { settings } = await ask<LettersOverview>('letters')
  expect(settings).toMatchObject({ receipts: false })
  const { version, reply_to } = settings
  const on = { version, reply_to, receipts: true }
  const saved = { version: version + 1, reply_to, receipts: true, confirmations: false }
  expect(await ask('set_letters', on)).toEqual(saved)
  // A repeat after a lost response.
  expect(await ask('set_letters', on)).toEqual(saved)
  await expect(ask('set_letters', { ...on, receipts: false })).rejects.toMatchObject({ code: 'PT409' })
  const id = await store()
  expect(statesOf(await lettersOf(id))).toEqual(['received: waiting'])
  // A person who is sent a letter needs no receipt.
  await decide(id, 'accepted')
  await release((await drafts()).letters)
  expect(statesOf(await lettersOf(id)).toSorted()).toEqual(['accepted: waiting', 'received: withdrawn'])
  const other = await store({ email: 'other@example.org' })
  const [receipt] = await lettersOf(other)
  expect(await ask('withdraw', { letters: [receipt?.id] })).toEqual({ withdrawn: 1, left: 0 })
  expect(statesOf(await lettersOf(other))).toEqual(['received: withdrawn'])
  const later = await store({ email: 'later@example.org' })
  expect(statesOf(await lettersOf(later))).toEqual(['received: waiting'])
  expect(await ask('set_letters', { version: version + 1, reply_to, receipts: false })).toMatchObject({
    receipts: false,
  })
  // Receipts that wait are not sent any more.
  expect(statesOf(await lettersOf(later))).toEqual(['received: withdrawn'])
  const written = await sql()`
    select author, detail from private.history where kind = 'letters' and detail ? 'receipts' order by id`
  expect(written).toEqual([
    { author: me(), detail: { receipts: true } },
    { author: me(), detail: { receipts: false } },
  ])
})

test('confirmations are switched on and off apart from receipts, and the history records it', async () => {
  const { settings } = await ask<LettersOverview>('letters')
  const { version, reply_to, receipts } = settings
  const on = { version, reply_to, confirmations: true }
  const saved = { version: version + 1, reply_to, receipts, confirmations: true }
  expect(await ask('set_letters', on)).toEqual(saved)
  expect(await ask('set_letters', on)).toEqual(saved)
  await expect(ask('set_letters', { ...on, confirmations: false })).rejects.toMatchObject({ code: 'PT409' })
  // A desk of version 1.1 does not send `confirmations`, so the setting is unchanged.
  expect(await ask('set_letters', { version: version + 1, reply_to, receipts })).toMatchObject({
    confirmations: true,
  })
  expect(await ask('set_letters', { ...on, version: version + 1, confirmations: false })).toMatchObject({
    confirmations: false,
  })
  const written = await sql()`
    select detail from private.history where kind = 'letters' and detail ? 'confirmations' order by id`
  expect(written.map(({ detail }) => detail)).toEqual([{ confirmations: true }, { confirmations: false }])
  const { templates } = await ask<LettersOverview>('letters')
  const confirmed = templates.find(({ occasion }) => occasion === 'confirmed')
  await expect(
    ask('remove_template', { occasion: 'confirmed', version: confirmed?.version }),
  ).rejects.toMatchObject({ code: '22023' })
})

test('an organiser switches notices on for themselves, and the first daily email is due a day later', async () => {
  const other = await another()
  expect(await ask('notices')).toEqual({
    notices: 'off',
    day_due_at: null,
    email: me(),
    is_postman_there: true,
  })
  await expect(ask('set_notices', { notices: 'always' })).rejects.toMatchObject({ code: '22023' })
  const each = await ask<{ day_due_at: string }>('set_notices', { notices: 'each' })
  expect(each).toMatchObject({ notices: 'each', email: me() })
  expect(Date.parse(each.day_due_at) - Date.now()).toBeGreaterThan(86_000_000)
  // Earlier applications are not reported, however old the account is.
  const toldUntil = async () => {
    const [row] = await sql()<[{ told: Date }]>`
      select told_until as told from private.organisers where notices <> 'off'`
    return row.told.getTime()
  }
  await sql()`update private.organisers set notices = 'off', told_until = '2026-01-01'`
  const switchedOn = await ask<object>('set_notices', { notices: 'each' })
  expect(Date.now() - (await toldUntil())).toBeLessThan(86_000_000)
  // Changing the kind of notices changes neither the time of day nor which applications are still to be reported.
  await sql()`update private.organisers set told_until = '2026-01-01'`
  expect(await ask('set_notices', { notices: 'daily' })).toEqual({ ...switchedOn, notices: 'daily' })
  expect(await toldUntil()).toBe(Date.parse('2026-01-01T00:00Z'))
  expect(await ask('notices', {}, other.client)).toMatchObject({ notices: 'off' })
  expect(await ask('set_notices', { notices: 'off' })).toMatchObject({ notices: 'off', day_due_at: null })
})
