import { expect, test } from 'vitest'

import { atTestEnd } from '../../support/cleanup.ts'
import { beginEdition } from '../../support/editions.ts'
import { anApplication } from '../../support/form.ts'
import { retreatDesk, tokenIn } from '../../support/invitation-server-for-test-file.ts'
import { valuesOf } from '../../support/sql.ts'
import type { AddedPerson, Overview } from '../../../src/client/desk/applications.ts'
import type { AllAbout } from '../../../src/client/desk/person.ts'
import { claimDue } from '../../../src/server/deliveries/claims.ts'
import { letterMessage } from '../../../src/server/letters/letter-message.ts'

const { me, sql, ask, decide, release, send, sendRsvp, details, lettersOf, places } = retreatDesk()

const grace = { first_name: 'Grace', email: 'grace@example.com' }

/** Adds a person. Returns the response. */
const add = (person: object = grace, more: object = {}, act: string = crypto.randomUUID()) =>
  ask<AddedPerson>('add', { act, person, again: false, receipt: false, webhook: false, ...more })

const kinds = async () => {
  const rows = await sql()<{ kind: string }[]>`select kind from private.deliveries order by kind`
  return rows.map(({ kind }) => kind)
}
const nameMe = (name: string | null) =>
  sql()`
    update private.organisers set name = ${name}
    where account_id = (select id from auth.users where email = ${me()})`

test('an added person has no consent and says who added them, through a decision, a letter and an RSVP', async () => {
  await nameMe('Ada')
  const { application } = await add({ ...grace, consent: true })
  const id = application ?? ''
  expect(await details(id)).toMatchObject({
    application: { ...grace, last_name: '', company: '', reason: '', consent: false, added_by: 'Ada' },
    history: [{ kind: 'added', author: 'Ada' }],
  })
  expect(await ask('export', {})).toMatchObject({ applications: [{ consent: false, added_by: 'Ada' }] })
  expect(await ask<AllAbout>('all_about', { application: id })).toMatchObject({
    applications: [{ consent: { given: false, sentence: null, added_by: 'Ada' } }],
  })
  await sql()`update private.templates set body = 'Hello {{first_name}}, say so here: {{answer_link}}' where name = 'accepted'`
  await decide(id, 'accepted')
  expect(await release(id)).toBe('released')
  const claim = await send()
  const why = () => letterMessage(claim, 'Unplugged.').why
  expect(why()).toEqual({
    text: 'You receive this email because Ada added you as an applicant to Unplugged.',
  })
  await sendRsvp(tokenIn(claim.body), 'coming')
  expect(await places()).toMatchObject({ coming: 1 })
  // Without a name, an applicant does not get the organiser's email.
  await nameMe(null)
  await ask('write', { act: crypto.randomUUID(), applications: [id], occasion: 'accepted', again: true })
  await release(id, true)
  expect(letterMessage(await send(), 'Unplugged.').why).toEqual({
    text: 'You receive this email because an organiser added you as an applicant to Unplugged.',
  })
  expect(await details(id)).toMatchObject({ application: { added_by: me() } })
})

test('a letter to an added person is sent, even if two organisers have what reads as one email', async () => {
  await nameMe('Ada')
  await sql()`update auth.users set email = 'ada@münchen.example' where email = ${me()}`
  const [{ account }] = await sql()<[{ account: string }]>`
    insert into auth.users (email) values ('ada@xn--mnchen-3ya.example') returning id as account`
  atTestEnd(async () => {
    await sql()`delete from auth.users where id = ${account}`
    await sql()`update auth.users set email = ${me()} where email = 'ada@münchen.example'`
  })
  await sql()`insert into private.organisers (account_id, name) values (${account}, 'Ada of the other')`
  const { application: id } = await add()
  await decide(id ?? '', 'accepted')
  expect(await release(id ?? '')).toBe('released')
  expect(letterMessage(await send(), 'Unplugged.').why.text).toContain('because Ada')
})

test('somebody who was added to the former retreat is added to the next one as soon as it has begun', async () => {
  const { application } = await add()
  await beginEdition(sql(), 'Spring')
  await sql()`update private.door set repeats_until = now() + interval '1 hour'`
  const next = await add()
  expect(next).toMatchObject({ application: expect.any(String) as string, others: [] })
  expect(next.application).not.toBe(application)
})

test('a letter that quotes what was not entered is not sent, and no letter can quote who added a person', async () => {
  const { application } = await add()
  await sql()`update private.templates set body = 'Hello {{company}} {{added_by}}' where name = 'declined'`
  await decide(application ?? '', 'declined')
  expect(await lettersOf(application ?? '')).toMatchObject([{ missing: ['company'], unknown: ['added_by'] }])
})

test('nobody is told that a person was added, unless that is ticked', async () => {
  await nameMe('Ada')
  await sql()`update private.letter_settings set receipts = true`
  await sql()`update private.organisers set notices = 'each'`
  await add()
  expect(await kinds()).toEqual([])
  await sql()`update private.letter_settings set receipts = false`
  const mary = { ...grace, email: 'mary@example.com' }
  const { application, receipt } = await add(mary, { receipt: true, webhook: true })
  expect(receipt).toBe(true)
  expect(await kinds()).toEqual(['application', 'receipt'])
  const [claim] = await claimDue(sql(), 'application', 10)
  expect(claim).toMatchObject({ id: application })
  const body = Object.fromEntries(claim?.body ?? [])
  expect(body).toMatchObject({ email: 'mary@example.com', consent: 'false', addedBy: 'Ada' })
  expect(Object.keys(body).at(-1)).toBe('addedBy')
  // The address had a receipt a moment ago.
  const again = { ...grace, last_name: 'H', email: 'mary@example.com' }
  expect(await add(again, { receipt: true, again: true })).toMatchObject({ receipt: false })
})

test('somebody who is there already is shown before another is added, and a repeated act adds nobody', async () => {
  const [{ id }] = await sql()<[{ id: string }]>`
    insert into public.retreat_applications ${valuesOf({ ...anApplication({ first_name: 'Grace', last_name: 'H', email: ' Grace@Example.com' }) })}
    returning id`
  await decide(id, 'waitlisted')
  const there = { id, first_name: 'Grace', last_name: 'H', status: 'waitlisted' }
  expect(await add()).toEqual({ application: null, receipt: false, others: [there] })
  const act = crypto.randomUUID()
  const added = { application: act, receipt: false, others: [there] }
  expect(await add(grace, { again: true }, act)).toEqual(added)
  expect(await add(grace, { again: true }, act)).toEqual(added)
  await expect(add({ ...grace, first_name: 'G' }, { again: true }, act)).rejects.toMatchObject({
    code: 'PT409',
  })
  await expect(add(grace, { again: true })).rejects.toMatchObject({
    code: 'PT409',
    message: 'Somebody added a person with exactly these answers already.',
  })
  const { counts } = await ask<Overview>('overview', { filter: {} })
  expect(counts.all).toEqual({ count: 2, more: false })
})

test('a first name and one address are required, and a blind reader adds nobody', async () => {
  for (const person of [
    {},
    { first_name: ' ', email: 'a@example.org' },
    { first_name: 'Ada' },
    { ...grace, email: 'a, b@c.d' },
  ])
    await expect(add(person)).rejects.toMatchObject({ code: '22023' })
  await sql()`update private.organisers set blind = true`
  await expect(add()).rejects.toMatchObject({ message: 'Switch blind reading off to add a person.' })
})

test('a closed door refuses no added person, and people who were added look like no junk', async () => {
  await sql()`select private.set_door('operator', null, true, '', null, null)`
  for (const email of ['a@example.org', 'b@example.org', 'c@example.org']) await add({ ...grace, email })
  expect(await sql()`select from public.retreat_applications`).toHaveLength(3)
  expect(await ask('junk')).toEqual([])
})

// break: visitor-claims-added-by
test('visitors cannot say that somebody added them, and only an added person has no consent and no answers', async () => {
  const asVisitor = sql().begin(async (transaction) => {
    await transaction`set local role anon`
    await transaction`
      insert into public.retreat_applications ${valuesOf({ ...anApplication(), added_by: me(), consent: false })}`
  })
  await expect(asVisitor).rejects.toMatchObject({ code: '42501' })
  const store = (values: object) =>
    sql()`insert into public.retreat_applications ${valuesOf({ ...anApplication(), ...values })}`
  for (const column of ['last_name', 'phone', 'linkedin', 'company', 'reason']) {
    await expect(store({ [column]: '' })).rejects.toMatchObject({ code: '23514' })
    await store({ [column]: '', added_by: me(), consent: false })
  }
  for (const values of [
    { consent: false },
    { added_by: me() },
    { added_by: me(), consent: false, email: '' },
  ])
    await expect(store(values)).rejects.toMatchObject({ code: '23514' })
})
