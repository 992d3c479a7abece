import ICAL from 'ical.js'
import { beforeAll, beforeEach, expect, test } from 'vitest'

import { rsvpsOf, storeAcceptedApplicant, type AcceptedApplicant } from '../../support/accepted.ts'
import { calendarIn, setRetreat } from '../../support/calendars.ts'
import { claimLetter } from '../../support/claimed-emails.ts'
import { startMailSenderFixture, type MailSenderFixture } from '../../support/mail-sender.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { valuesOf } from '../../support/sql.ts'
import type { Rsvp } from '../../../src/application/statuses.ts'
import { recordHeartbeat } from '../../../src/server/deliveries/record-result.ts'
import { record } from '../../../src/server/letters/outcomes.ts'

let outbox: MailSenderFixture

beforeAll(async () => {
  outbox = await startMailSenderFixture()
})

beforeEach(async () => {
  await outbox.reset()
  await recordHeartbeat(sql(), 'mail sender')
  await setConfirmations(true)
})

const sql = () => outbox.database.owner
const setConfirmations = (confirmations: boolean) =>
  sql()`update private.letter_settings set confirmations = ${confirmations}`
/** Lets the time pass in which a letter can be stopped. */
const passHold = () => outbox.advanceTime(61)
const give = ({ token }: AcceptedApplicant, rsvp: Rsvp) =>
  sql()`select public.answer_place(${token}, ${rsvp}, ${crypto.randomUUID()})`
const setTemplate = (body: string) =>
  sql()`update private.templates set subject = 'See you', body = ${body} where name = 'confirmed'`

/** The states of the deliveries of somebody's confirmation, the oldest first. */
async function statesOf({ id }: AcceptedApplicant) {
  const rows = await sql()<{ state: string }[]>`
    select delivery.state from private.deliveries as delivery join private.letters as letter on letter.id = letter_id
    where delivery.application_id = ${id} and template = 'confirmed' order by queued_at, delivery.id`
  return rows.map(({ state }) => state)
}

/** The state of somebody's confirmation as a letter, which is a draft if an organiser has to look at it. */
async function letterOf({ id }: AcceptedApplicant) {
  const [row] = await sql()<[{ state: string }?]>`
    select state from private.letters where application_id = ${id} and template = 'confirmed'`
  return row?.state
}

/** Claims the letter that is due, and records that the mail server accepted it. */
async function send() {
  const claim = await claimLetter(sql())
  if (claim === undefined) throw new Error('no letter is due')
  expect(await record(sql(), claim, { result: 'done', code: 250 })).toBe('done')
  return claim
}

test('people who say that they are coming get a confirmation, once an organiser has switched confirmations on', async () => {
  await setConfirmations(false)
  const earlier = await storeAcceptedApplicant(sql())
  await give(earlier, 'coming')
  expect(await letterOf(earlier)).toBeUndefined()
  await setConfirmations(true)
  await setRetreat(sql(), { starts_on: '2027-03-12', ends_on: '2027-03-15', venue: 'Hof; Sonnenau' })
  await sql()`select private.know_site('https://unplugged.example', '', 'UTC')`
  const guest = await storeAcceptedApplicant(sql(), { first_name: 'Zoë', email: 'zoe@example.org' })
  await give(guest, 'coming')
  expect(await statesOf(guest)).toEqual(['waiting'])
  await passHold()
  const server = await startMailServer()
  // Only one of two servers sends the confirmation.
  outbox.startSender(server)
  outbox.startSender(server)
  const [mail] = await server.waitFor(1, 'zoe@example.org')
  expect(mail).toMatchObject({ subject: 'See you at Unplugged' })
  expect(mail?.text).toContain('Hello Zoë,')
  expect(mail?.text).toContain(`https://unplugged.example/answer/#${guest.token}`)
  // They have answered already.
  expect(mail?.text).toContain('>Change my answer</a>')
  await expect.poll(() => statesOf(guest)).toEqual(['done'])
  expect(server.received).toHaveLength(1)
  expect(await statesOf(earlier)).toEqual([])

  // A mail program shows the letter itself, and the event is an attached file.
  expect(mail?.raw).toMatch(/^Content-Type: multipart\/mixed/m)
  expect(mail?.raw).toMatch(
    /Content-Type: text\/calendar; charset=utf-8; method=PUBLISH;\s+name=retreat.ics\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: attachment; filename=retreat.ics/,
  )
  const event = ICAL.Component.fromString(calendarIn(mail ?? { raw: '' }) ?? '').getFirstSubcomponent(
    'vevent',
  )
  expect(event?.getFirstPropertyValue('location')).toBe('Hof; Sonnenau')
  expect(String(event?.getFirstPropertyValue('dtstart'))).toBe('2027-03-12')
  expect(String(event?.getFirstPropertyValue('dtend'))).toBe('2027-03-16')
  const [{ retreat }] = await sql()<[{ retreat: { uid: string } }]>`
    select public.place_by_token(${guest.token}) -> 'retreat' as retreat`
  expect(event?.getFirstPropertyValue('uid')).toBe(retreat.uid)
})

test('a confirmation has no calendar file until the days of the retreat are set, and other letters never have one', async () => {
  const [guest, other] = [await storeAcceptedApplicant(sql()), await storeAcceptedApplicant(sql())]
  await give(guest, 'coming')
  await passHold()
  expect(await send()).not.toHaveProperty('calendar')
  await setRetreat(sql(), { starts_on: '2027-03-12', ends_on: '2027-03-15' })
  await sql()`
    with letter as (
      update private.letters set state = 'released' where application_id = ${other.id} returning id
    )
    insert into private.deliveries (kind, application_id, letter_id, subject, body)
    select 'letter', ${other.id}, id, 'Your place', 'You are in.' from letter`
  expect(await send()).not.toHaveProperty('calendar')
})

test('a confirmation has the days as they are set when it is sent, and a later change sends no email', async () => {
  const guest = await storeAcceptedApplicant(sql())
  await setRetreat(sql(), { starts_on: '2027-03-12', ends_on: '2027-03-15', calendar_sequence: 1 })
  await give(guest, 'coming')
  await setRetreat(sql(), { starts_on: '2027-04-09', ends_on: '2027-04-12', calendar_sequence: 2 })
  await passHold()
  const { calendar } = await send()
  expect(calendar).toMatch(/\r\nSEQUENCE:2\r\n[^]*DTSTART;VALUE=DATE:20270409\r\n/)
  await setRetreat(sql(), { starts_on: '2027-05-09', ends_on: '2027-05-12', calendar_sequence: 3 })
  expect(await statesOf(guest)).toEqual(['done'])
})

test('a confirmation that is not sent yet is dropped if the RSVP changes, and “coming” queues a new one', async () => {
  const guest = await storeAcceptedApplicant(sql())
  for (let change = 0; change < 3; change += 1) {
    await give(guest, 'coming')
    await give(guest, 'not coming')
  }
  expect(await statesOf(guest)).toEqual(['cancelled', 'cancelled', 'cancelled'])
  expect(await letterOf(guest)).toBe('dropped')
  await passHold()
  expect(await claimLetter(sql())).toBeUndefined()
  await give(guest, 'coming')
  await give(guest, 'coming')
  await passHold()
  await send()
  expect(await statesOf(guest)).toEqual(['cancelled', 'cancelled', 'cancelled', 'done'])
})

// break: confirmation-for-each-change
test('a person gets at most one confirmation an hour, however often they change their mind', async () => {
  const guest = await storeAcceptedApplicant(sql())
  await give(guest, 'coming')
  await passHold()
  await send()
  for (let change = 0; change < 5; change += 1) {
    await give(guest, 'not coming')
    await give(guest, 'coming')
  }
  expect(await statesOf(guest)).toEqual(['done'])
  await outbox.advanceTime(3_601)
  await give(guest, 'not coming')
  await give(guest, 'coming')
  expect(await statesOf(guest)).toEqual(['done', 'waiting'])
  expect(await rsvpsOf(sql(), guest)).toHaveLength(13)
})

test('a confirmation is sent even if the deadline has passed meanwhile', async () => {
  const guest = await storeAcceptedApplicant(sql())
  await give(guest, 'coming')
  await sql()`update private.invitations set deadline = private.today() - 1`
  await passHold()
  await send()
  expect(await statesOf(guest)).toEqual(['done'])
})

test('a decision that takes the acceptance back drops a confirmation', async () => {
  const guest = await storeAcceptedApplicant(sql())
  await give(guest, 'coming')
  await sql()`update private.statuses set status = 'declined' where application_id = ${guest.id}`
  expect(await statesOf(guest)).toEqual(['cancelled'])
})

test('a confirmation that an organiser stopped is a draft until the guest no longer comes', async () => {
  const guest = await storeAcceptedApplicant(sql())
  await give(guest, 'coming')
  await sql()`
    select private.recall(array(select id from private.deliveries where application_id = ${guest.id}), 'ada@example.org')`
  await sql()`
    select private.settle_letter(delivery) from private.deliveries as delivery where application_id = ${guest.id}`
  expect(await letterOf(guest)).toBe('draft')
  await give(guest, 'not coming')
  expect(await letterOf(guest)).toBe('dropped')
})

test('no confirmation is queued if no mail sender has run for a day, even if a server for an automation runs', async () => {
  await recordHeartbeat(sql(), 'automation')
  await sql()`update private.postman set seen_at = now() - interval '25 hours'`
  const guest = await storeAcceptedApplicant(sql())
  await give(guest, 'coming')
  expect(await letterOf(guest)).toBeUndefined()
  expect(await rsvpsOf(sql(), guest)).toEqual(['coming'])
})

test('a confirmation that quotes a blank form answer is a draft for an organiser', async () => {
  await setTemplate('Hello {{first_name}}, you use {{custom_solution}}.')
  const guest = await storeAcceptedApplicant(sql(), { custom_solution: '' })
  await give(guest, 'coming')
  expect([await letterOf(guest), await statesOf(guest)]).toEqual(['draft', []])
})

test('a confirmation has the template’s text, not the text of a draft that an organiser edited and removed', async () => {
  const guest = await storeAcceptedApplicant(sql())
  const removed = {
    application_id: guest.id,
    template: 'confirmed',
    state: 'dropped',
    subject: 'Old',
    body: 'Old.',
  }
  await sql()`insert into private.letters ${valuesOf(removed)}`
  await setTemplate('Hello {{first_name}}.')
  await give(guest, 'coming')
  await passHold()
  expect(await send()).toMatchObject({ subject: 'See you', body: 'Hello Ada.' })
})

test('an RSVP is stored even if its confirmation cannot be', async () => {
  await sql()`
    alter table private.letters add constraint none_confirmed check (template is distinct from 'confirmed') not valid`
  try {
    const guest = await storeAcceptedApplicant(sql())
    await give(guest, 'coming')
    expect(await rsvpsOf(sql(), guest)).toEqual(['coming'])
    expect(await letterOf(guest)).toBeUndefined()
  } finally {
    await sql()`alter table private.letters drop constraint none_confirmed`
  }
})
