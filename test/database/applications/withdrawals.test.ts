import { expect, test } from 'vitest'

import { claimReceipt } from '../../support/claimed-emails.ts'
import { idsOf, type Overview, type Page } from '../../support/ask-desk.ts'
import { beginEdition } from '../../support/editions.ts'
import { anApplication } from '../../support/form.ts'
import { retreatDesk, site } from '../../support/invitation-server-for-test-file.ts'
import { valuesOf } from '../../support/sql.ts'
import type { Application } from '../../../src/application/application.ts'
import type { DecisionOutcome, ListChanges } from '../../../src/client/desk/applications.ts'
import type { WriteOutcome } from '../../../src/client/desk/letters.ts'
import { record } from '../../../src/server/letters/outcomes.ts'

const { sql, ask, visit, decide, lettersOf, release, send, details } = retreatDesk()

const insert = (answers: Application) =>
  sql().begin(async (transaction) => {
    await transaction`set local role anon`
    await transaction`insert into public.retreat_applications ${valuesOf({ ...answers })}`
  })

/** Stores an application, and sends its receipt. Returns its id, its form answers and the token of the link. */
async function apply(changes: Partial<Application> = {}) {
  await sql()`update private.letter_settings set receipts = true`
  const answers = anApplication({
    first_name: 'Ada',
    email: `ada@company-${crypto.randomUUID()}.org`,
    ...changes,
  })
  await insert(answers)
  const claim = await claimReceipt(sql())
  if (claim === undefined) throw new Error('no receipt is due')
  expect(await record(sql(), claim, { result: 'done', code: 250 })).toBe('done')
  const [row] = await sql()<[{ id: string; token: string }]>`
    select id, token from public.retreat_applications join private.withdrawal_links on application_id = id
    where email = ${answers.email}`
  return { ...row, answers, claim }
}

const read = (token: string) => visit('withdrawal_by_token', { token })
const setWithdrawn = (token: string, is_withdrawn: boolean, act: string = crypto.randomUUID()) =>
  visit('withdraw_application', { token, is_withdrawn, act })
const countOf = async (table: string) =>
  (await sql().unsafe(`select count(*)::integer as count from ${table}`))[0]?.['count'] as number

test('a receipt has the link in its text, and no screen, table or stored text has the token', async () => {
  const { id, token, claim } = await apply()
  expect(claim).toMatchObject({ link: `${site}/withdraw/#${token}`, button: null })
  expect(claim.body).toContain(`you can withdraw it here: ${site}/withdraw/#${token}\n`)
  const stored = await Promise.all([lettersOf(id), details(id), ask('export', {}), ask('list', {})])
  expect(JSON.stringify(stored)).not.toContain(token)
  expect((await lettersOf(id))[0]?.body).toContain('{{withdraw_link}}')
})

test('a receipt leaves the paragraph with the link out if the address of the site is unknown', async () => {
  await sql()`update private.places set site = ''`
  const { claim } = await apply()
  expect(claim.link).toBeNull()
  expect(claim.body).toMatch(/back to you soon\.\n\nThe organisers/)
})

// break: receipt-link-tells-status
test('the link of a receipt shows the first name and the day, withdraws the application, and restores it', async () => {
  const { id, token } = await apply()
  await sql()`update public.retreat_applications set created_at = '2026-11-03T12:00Z'`
  const shown = { first_name: 'Ada', applied_on: '2026-11-03' }
  expect(await read(token)).toEqual({ state: 'open', ...shown })
  expect(await countOf('private.statuses')).toBe(0)
  const act = crypto.randomUUID()
  const withdrawn = { state: 'withdrawn', ...shown }
  expect(await setWithdrawn(token, true, act)).toEqual(withdrawn)
  expect(await setWithdrawn(token, true, act)).toEqual(withdrawn)
  expect(await setWithdrawn(token.toUpperCase(), true)).toEqual(withdrawn)
  expect((await details(id)).application).toMatchObject({
    status: 'new',
    version: 0,
    withdrawn_at: expect.any(String) as string,
  })
  expect(await setWithdrawn(token, false)).toEqual({ state: 'open', ...shown })
  // The first request arrives once more.
  expect(await setWithdrawn(token, true, act)).toEqual({ state: 'open', ...shown })
  const { application, history } = await details(id)
  expect(application.withdrawn_at).toBeNull()
  expect(history).toMatchObject([
    { author: 'applicant', kind: 'withdrawal', detail: { is_withdrawn: true } },
    { author: 'applicant', kind: 'withdrawal', detail: { is_withdrawn: false } },
  ])
})

test('the page of the link repeats no name that may be a message', async () => {
  const { token } = await apply({ first_name: 'Win a car at shop.example' })
  expect(await read(token)).toMatchObject({ state: 'open', first_name: null })
})

// break: receipt-link-outlives-retreat
test('links that are garbled, unknown, or of erased applications and former retreats get the same response', async () => {
  const [{ id, token }, former] = [await apply(), await apply()]
  await sql()`delete from public.retreat_applications where id = ${id}`
  await beginEdition(sql(), 'Spring')
  for (const each of [token, former.token, crypto.randomUUID(), 'example', '', `${former.token}0`]) {
    expect(await read(each)).toEqual({ state: 'invalid' })
    expect(await setWithdrawn(each, true)).toEqual({ state: 'invalid' })
  }
  expect((await details(former.id)).application.withdrawn_at).toBeNull()
})

// break: withdrawn-after-decision
test('a decided application is not withdrawn, and a withdrawn one is not decided', async () => {
  const { id, token } = await apply()
  await decide(id, 'declined')
  expect(await setWithdrawn(token, true)).toMatchObject({ state: 'decided' })
  expect((await details(id)).application.withdrawn_at).toBeNull()
  await decide(id, 'shortlisted')
  expect(await setWithdrawn(token, true)).toMatchObject({ state: 'withdrawn' })
  const decideTo = (status: string) =>
    ask<DecisionOutcome[]>('decide', {
      act: crypto.randomUUID(),
      decisions: [{ id, status, version: 2 }],
    })
  expect(await decideTo('accepted')).toMatchObject([{ outcome: 'withdrawn', status: 'shortlisted' }])
  expect(await decideTo('new')).toMatchObject([{ outcome: 'kept', status: 'new' }])
})

test('one link changes an application at most twenty times an hour', async () => {
  const { token } = await apply()
  for (let index = 0; index < 20; index += 1) await setWithdrawn(token, index % 2 === 0)
  await expect(setWithdrawn(token, true)).rejects.toMatchObject({ code: 'PT429' })
})

// break: repeat-hides-withdrawal
test('the same form answers sent again restore a withdrawn application, and others are a new one', async () => {
  const { id, token, answers } = await apply()
  await setWithdrawn(token, true)
  await insert(answers)
  expect(await read(token)).toMatchObject({ state: 'open' })
  expect((await details(id)).history.at(-1)).toMatchObject({ detail: { is_withdrawn: false } })
  // The next one is a repeat again.
  await expect(insert(answers)).rejects.toMatchObject({ code: '23505' })
  await setWithdrawn(token, true)
  await insert({ ...answers, reason: 'Another reason' })
  expect(await read(token)).toMatchObject({ state: 'withdrawn' })
  expect(await countOf('public.retreat_applications')).toBe(2)
})

test('an organiser who adds the same person again does not restore what that person withdrew', async () => {
  const add = () =>
    ask<{ application: string }>('add', {
      act: crypto.randomUUID(),
      person: { first_name: 'Ada', email: 'ada@company.example' },
      again: true,
      receipt: false,
      webhook: false,
    })
  const { application } = await add()
  await sql()`select private.set_withdrawn(${application}, gen_random_uuid(), true)`
  await expect(add()).rejects.toMatchObject({ code: 'PT409' })
  expect((await details(application)).application.withdrawn_at).not.toBeNull()
})

test('the same form answers sent again within the hour are stored for the next retreat if they were withdrawn', async () => {
  const { token, answers } = await apply()
  await setWithdrawn(token, true)
  await beginEdition(sql(), 'Spring')
  await sql()`update private.door set repeats_until = now() + interval '1 hour'`
  await insert(answers)
  expect(await sql()`select edition from public.retreat_applications order by 1`).toEqual([
    { edition: 1 },
    { edition: 2 },
  ])
})

// break: letter-to-withdrawn-applicant
test('a withdrawal stops letters, and nobody can send one while it lasts', async () => {
  const { id, token } = await apply()
  await ask('set_template', { occasion: 'Travel', version: null, subject: 'Travel', body: 'By train.' })
  const write = async () => {
    const [outcome] = await ask<WriteOutcome[]>('write', { applications: [id], occasion: 'Travel' })
    return outcome?.outcome
  }
  const writeTo = () =>
    ask('write_to', { act: crypto.randomUUID(), application: id, subject: 'Hello', body: 'A letter.' })
  const statesOf = async () =>
    (await lettersOf(id))
      .filter(({ occasion }) => occasion !== 'received')
      .map(({ occasion, state }) => `${occasion} ${state}`)
  expect(await write()).toBe('drafted')
  expect(await release(id)).toBe('released')
  await writeTo()
  expect(await statesOf()).toEqual(['Travel waiting', ' draft'])
  await setWithdrawn(token, true)
  expect(await statesOf()).toEqual(['Travel withdrawn', ' draft'])
  expect(await release(id)).toBe('withdrawn')
  expect(await write()).toBe('withdrawn')
  const [draft] = (await lettersOf(id)).filter(({ state }) => state === 'draft')
  const acts = [
    writeTo,
    () => ask('hand_over', { act: crypto.randomUUID(), letter: draft?.id, seen: draft?.seen }),
    () => ask('sent_by_hand', { letter: draft?.id, seen: draft?.seen }),
  ]
  for (const act of acts)
    await expect(act()).rejects.toMatchObject({
      code: 'PT409',
      message: 'The applicant withdrew this application, so no letter is sent to them.',
    })
  await setWithdrawn(token, false)
  expect(await release(id)).toBe('released')
})

test('a letter that comes back after a withdrawal is not sent again', async () => {
  const { id, token } = await apply()
  await ask('write_to', { act: crypto.randomUUID(), application: id, subject: 'Hello', body: 'A letter.' })
  expect(await release(id)).toBe('released')
  const letter = (await send()).id
  await setWithdrawn(token, true)
  await ask('came_back', { act: crypto.randomUUID(), letter })
  expect(await ask('retry', { letters: [letter] })).toEqual({ retried: 0 })
  await expect(
    ask('readdress', { act: crypto.randomUUID(), letter, address: 'ada@example.net' }),
  ).rejects.toMatchObject({ code: 'PT409' })
  await setWithdrawn(token, false)
  expect(await ask('retry', { letters: [letter] })).toEqual({ retried: 1 })
})

test('withdrawn applications are in the list of all, and not among those to read or to decide', async () => {
  const [one, shortlisted, aside, other] = [await apply(), await apply(), await apply(), await apply()]
  await decide(shortlisted.id, 'shortlisted')
  await decide(aside.id, 'aside')
  const list = (filter: object) => ask<Page>('list', { filter })
  const shown = (await list({ status: 'all' })).applications.map(({ id }) => ({ id, version: 0 }))
  for (const { token } of [one, shortlisted, aside]) await setWithdrawn(token, true)
  expect(idsOf(await list({ status: 'new' }))).toEqual([other.id])
  expect(idsOf(await list({ status: 'shortlisted' }))).toEqual([])
  expect(idsOf(await list({ status: 'aside' }))).toEqual([aside.id])
  expect(idsOf(await list({ status: 'all' }))).toEqual([other.id, shortlisted.id, one.id])
  expect(idsOf(await list({ search: one.answers.email }))).toEqual([one.id])
  for (const filter of [{}, { search: 'Ada' }]) {
    const { counts } = await ask<Overview>('overview', { filter })
    const numbers = Object.fromEntries(Object.entries(counts).map(([name, { count }]) => [name, count]))
    expect(numbers).toMatchObject({ new: 1, shortlisted: 0, aside: 1, all: 3 })
  }
  const { changes } = await ask<{ changes: ListChanges }>('refresh', { filter: {}, zone: 'UTC', shown })
  expect(changes.withdrawn?.toSorted()).toEqual([one.id, shortlisted.id].toSorted())
  const { applications } = await ask<{ applications: { id: string; withdrawn_at: string | null }[] }>(
    'export',
    { filter: { status: 'all' } },
  )
  expect(applications.map(({ withdrawn_at }) => withdrawn_at !== null)).toEqual([false, true, true])
})

test('an erased application leaves nothing of its withdrawal', async () => {
  const { id, token, answers } = await apply()
  await setWithdrawn(token, true)
  await ask('erase', { applications: [id], email: answers.email })
  for (const table of ['private.withdrawal_links', 'private.statuses', 'public.retreat_applications'])
    expect(await countOf(table)).toBe(0)
  expect(await sql()`select from private.history where kind = 'withdrawal'`).toEqual([])
})
