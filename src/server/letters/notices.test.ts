import { beforeAll, beforeEach, expect, test } from 'vitest'

import { anApplication } from '../../../test/support/form.ts'
import { startMailSenderFixture, type MailSenderFixture } from '../../../test/support/mail-sender.ts'
import { startMailServer } from '../../../test/support/mail-server.ts'
import { claimNotice, claimTest } from '../../../test/support/claimed-emails.ts'
import { addOrganiser } from '../auth/manage-organisers.ts'
import { tidyNotices, noticeMessage } from './notices.ts'
import { giveBack, record, type RecordedResult } from './outcomes.ts'
import { valuesOf } from '../../../test/support/sql.ts'

let outbox: MailSenderFixture

beforeAll(async () => {
  outbox = await startMailSenderFixture()
})

beforeEach(() => outbox.reset())
const sql = () => outbox.database.owner
const site = new URL('https://example.org/retreat/')
const hour = 3_600
const day = 24 * hour

/** Adds an organiser with this setting of notices. Returns the email address. */
async function storeOrganiser(notices: 'off' | 'each' | 'daily', { blind = false } = {}) {
  const email = `${crypto.randomUUID()}@example.org`
  await addOrganiser(sql(), email)
  await sql()`
    update private.organisers set notices = ${notices}, blind = ${blind}, told_until = now(),
      day_due_at = now() + interval '1 day'
    where account_id = (select id from auth.users where email = ${email})`
  return email
}

/** A different name for each index, which looks neither like a link nor like a message. */
const firstNameOf = (index: number) =>
  `Ada ${String.fromCodePoint(65 + Math.floor(index / 10), 65 + (index % 10))}`

async function apply(first_name: string, last_name = 'Lovelace') {
  const answers = anApplication({ first_name, last_name })
  const [row] = await sql()<[{ id: string }]>`
    insert into public.retreat_applications ${valuesOf({ ...answers })} returning id`
  return row.id
}

const sent: RecordedResult = { result: 'done', code: 250 }
const refused: RecordedResult = { result: 'failed', code: 550, reply: '550 no' }
const retry: RecordedResult = { result: 'waiting', code: 451, reply: '451 later', isUncertain: false }

const claimNext = () => claimNotice(sql())
async function claimAll() {
  const claims = []
  for (;;) {
    const claim = await claimNext()
    if (claim === undefined) return claims
    claims.push(claim)
  }
}

test('an email about each application, with a link to it, is sent only to organisers who chose that', async () => {
  const [email] = [await storeOrganiser('each'), await storeOrganiser('off'), await storeOrganiser('daily')]
  const id = await apply('Zoë')
  const server = await startMailServer()
  outbox.startSender(server)
  const [mail] = await server.waitFor(1, email)
  expect(mail?.text).toContain('Zoë Lovelace has applied.')
  expect(mail?.text).toContain(`https://example.org/retreat/desk#/applications/${id}`)
  expect(mail?.text).toContain('There you can switch them off:\nhttps://example.org/retreat/desk#/account')
  expect(mail?.raw).toMatch(/^Auto-Submitted: auto-generated\r$/m)
  await expect
    .poll(() => sql()`select state from private.deliveries where kind = 'notice'`)
    .toEqual([{ state: 'done' }])
  expect(server.received).toHaveLength(1)
})

// break: notice-has-any-name
test('a notice leaves out the parts of a name that could be a message or a link', async () => {
  await storeOrganiser('each')
  await storeOrganiser('daily')
  const names: [first: string, last: string, subject: string][] = [
    ['Zoë Ann', 'O’Hara Smith', 'New application: Zoë Ann O’Hara Smith'],
    ['Ada', 'evil.example', 'New application: Ada'],
    ['Ada', 'call 0800 555', 'New application: Ada'],
    ['Maria del Carmen', 'de Souza', 'New application: Maria del Carmen'],
    ['evil․example', 'Lovelace', 'A new application'],
    ['Your account is closed now', 'Lovelace', 'A new application'],
    ['Ada\r\nBcc: eve@example.org', 'x\u2028y', 'A new application'],
  ]
  for (const [first, last] of names) await apply(first, last)
  const claims = await claimAll()
  expect(claims.map((claim) => noticeMessage(claim, site).subject)).toEqual(
    names.map(([, , subject]) => subject),
  )
  for (const claim of claims) expect(await record(sql(), claim, refused)).toBe('failed')
  await outbox.advanceTime(day + 120)
  await tidyNotices(sql())
  const daily = await claimNext()
  const body = daily && noticeMessage(daily, site).body
  expect(body).toContain(
    '\n\n- Zoë Ann O’Hara Smith\n- Ada\n- Ada\n- Maria del Carmen\nand 3 more\n\nhttps://',
  )
})

test('a notice to an organiser who reads blind has no name', async () => {
  await storeOrganiser('each', { blind: true })
  await apply('Ada')
  const hidden = await claimNext()
  const message = hidden && noticeMessage(hidden, site)
  expect(message?.subject).toBe('A new application')
  expect(JSON.stringify(message)).not.toMatch(/Ada|Lovelace/)
})

test('the daily email reports the applications beyond ten notices an hour', async () => {
  const email = await storeOrganiser('each')
  for (let index = 0; index < 13; index += 1) await apply(firstNameOf(index))
  // No notices are written beyond ten.
  expect(await sql()`select id from private.deliveries where kind = 'notice'`).toHaveLength(10)
  expect(await claimAll()).toHaveLength(10)
  await sql()`update private.deliveries set state = 'done', due_at = null, done_at = now() where kind = 'notice'`
  await outbox.advanceTime(hour + 1)
  await apply('Zoë')
  expect(await claimAll()).toMatchObject([{ to: email, says: { names: ['Zoë Lovelace'] } }])
  await sql()`update private.deliveries set state = 'done', due_at = null, done_at = now() where kind = 'notice'`
  await outbox.advanceTime(day)
  await tidyNotices(sql())
  const [rest, ...others] = await claimAll()
  expect(rest).toMatchObject({
    to: email,
    says: { application: null, count: 3, names: ['Ada BA Lovelace', 'Ada BB Lovelace', 'Ada BC Lovelace'] },
  })
  expect(others).toEqual([])
})

test('an organiser gets at most ten notices an hour, even for concurrent applications', async () => {
  await storeOrganiser('each')
  await Promise.all(
    Array.from(
      { length: 40 },
      (_, index) =>
        outbox.database
          .server`insert into public.retreat_applications ${valuesOf(anApplication({ first_name: `Ada ${index}` }))}`,
    ),
  )
  const single = await claimAll()
  expect(single).toHaveLength(10)
  // A retried notice does not count again.
  const [failed] = single
  expect(failed && (await record(sql(), failed, retry))).toBe('waiting')
  await outbox.advanceTime(10)
  expect(await claimAll()).toMatchObject([{ id: failed?.id, attempt: 2 }])
  await sql()`update private.deliveries set state = 'done', due_at = null, done_at = now() where kind = 'notice'`
  await outbox.advanceTime(day + 120)
  await tidyNotices(sql())
  expect(await claimAll()).toMatchObject([{ says: { count: 30 } }])
})

test('a notice that was given back unsent does not count towards the ten an hour', async () => {
  await storeOrganiser('each')
  for (let index = 0; index < 10; index += 1) await apply(`Ada ${index}`)
  for (let round = 0; round < 3; round += 1) {
    const claims = await claimAll()
    expect(claims).toHaveLength(10)
    for (const claim of claims) await giveBack(sql(), claim)
  }
})

test('the daily email replaces a notice that still waits', async () => {
  await storeOrganiser('each')
  await apply('Ada')
  await outbox.advanceTime(hour)
  // The notice was tried, and will be retried.
  await sql()`update private.deliveries set attempts = 1, due_at = now() + interval '1 hour' where kind = 'notice'`
  await sql()`update private.organisers set day_due_at = now()`
  await tidyNotices(sql())
  expect(await claimAll()).toMatchObject([{ says: { application: null, count: 1, names: ['Ada Lovelace'] } }])
  await sql()`update private.deliveries set due_at = now() where kind = 'notice' and application_id is not null`
  expect(await claimAll()).toEqual([])
  expect(
    await sql()`select id from private.deliveries where kind = 'notice' and application_id is not null`,
  ).toEqual([])
})

test('the daily email has the number and the names of applicants, and is sent only if somebody applied', async () => {
  const email = await storeOrganiser('daily')
  await outbox.advanceTime(day + 120)
  await tidyNotices(sql())
  expect(await claimAll()).toEqual([])
  for (let index = 0; index < 60; index += 1) await apply(firstNameOf(index))
  // A person whom an organiser added is no news.
  await sql()`
    insert into public.retreat_applications (first_name, last_name, email, phone, linkedin, company, reason, consent, added_by)
    values ('Grace', '', 'grace@example.com', '', '', '', '', false, 'ada@example.org')`
  await tidyNotices(sql())
  expect(await claimAll()).toEqual([])
  await outbox.advanceTime(day + 120)
  await Promise.all([tidyNotices(sql()), tidyNotices(sql())])
  const [claim, ...others] = await claimAll()
  expect(others).toEqual([])
  const message = claim && noticeMessage(claim, site)
  expect(message).toMatchObject({ to: email, subject: '60 new applications' })
  expect(message?.body).toMatch(
    /^60 new applications since 20\d\d-\d\d-\d\d \d\d:\d\d UTC\.\n\n- Ada AA Lovelace\n/,
  )
  expect(message?.body).toContain('- Ada EJ Lovelace\nand 10 more\n\nhttps://example.org/retreat/desk\n')
  // A day later there is nothing new to report.
  expect(claim && (await record(sql(), claim, sent))).toBe('done')
  await outbox.advanceTime(day)
  await tidyNotices(sql())
  expect(await claimAll()).toEqual([])
})

test('a server that starts after the daily email was due writes it and sends it', async () => {
  const email = await storeOrganiser('daily')
  await apply('Ada')
  await outbox.advanceTime(day + 120)
  const server = await startMailServer()
  outbox.startSender(server, { interval: 50 })
  expect(await server.waitFor(1, email)).toMatchObject([{ subject: '1 new application' }])
})

test('the daily email keeps its time of day after days without a server', async () => {
  await storeOrganiser('daily')
  await apply('Ada')
  await outbox.advanceTime(5 * day + hour)
  await tidyNotices(sql())
  const [row] = await sql()`
    select round(extract(epoch from day_due_at - now()) / 3600)::int as hours from private.organisers`
  expect(row).toEqual({ hours: 23 })
  expect(await claimAll()).toMatchObject([{ says: { count: 1 } }])
})

/** Accepts an applicant, who then gives an RSVP. */
async function giveRsvp(id: string, rsvp: string) {
  await sql()`
    insert into private.statuses (application_id, created_at, status, version) values (${id}, now(), 'accepted', 1)
    on conflict do nothing`
  await sql()`select private.set_rsvp(${id}, gen_random_uuid(), 'applicant', ${rsvp})`
}

test('an RSVP is reported like an application: in a notice of its own, or in the daily email', async () => {
  const [id, other] = [await apply('Zoë'), await apply('Grace', 'Hopper')]
  await storeOrganiser('each')
  await storeOrganiser('each', { blind: true })
  await giveRsvp(id, 'coming')
  // An RSVP that an organiser enters is not reported.
  await sql()`select private.set_rsvp(${id}, gen_random_uuid(), 'mary@example.org', 'not coming')`
  const messages = (await claimAll()).map((claim) => noticeMessage(claim, site))
  expect(messages.map(({ subject }) => subject).toSorted()).toEqual([
    'Somebody is coming',
    'Zoë Lovelace is coming',
  ])
  for (const { body } of messages)
    expect(body).toContain(`https://example.org/retreat/desk#/applications/${id}`)

  await sql()`delete from private.organisers`
  await storeOrganiser('daily')
  await giveRsvp(other, 'not coming')
  await giveRsvp(id, 'coming')
  await outbox.advanceTime(day + 120)
  await tidyNotices(sql())
  const claim = await claimNext()
  const daily = claim && noticeMessage(claim, site)
  expect(daily?.subject).toBe('New answers')
  expect(daily?.body).toMatch(
    /^1 answered that they are coming, 1 answered that they are not coming since \d{4}-\d\d-\d\d \d\d:\d\d UTC\.\n/,
  )
})

test('a withdrawal is reported like an RSVP, and its daily number leaves out what was restored', async () => {
  const [id, other] = [await apply('Zoë'), await apply('Grace', 'Hopper')]
  const setWithdrawn = (application: string, isWithdrawn: boolean) =>
    sql()`select private.set_withdrawn(${application}, gen_random_uuid(), ${isWithdrawn})`
  await storeOrganiser('each')
  await storeOrganiser('each', { blind: true })
  await setWithdrawn(id, true)
  await setWithdrawn(id, false)
  const messages = (await claimAll()).map((claim) => noticeMessage(claim, site))
  expect(messages.map(({ subject }) => subject).toSorted()).toEqual([
    'Somebody has restored the withdrawn application',
    'Somebody has withdrawn the application',
    'Zoë Lovelace has restored the withdrawn application',
    'Zoë Lovelace has withdrawn the application',
  ])
  for (const { body } of messages)
    expect(body).toContain(`https://example.org/retreat/desk#/applications/${id}`)

  await sql()`delete from private.organisers`
  await storeOrganiser('daily')
  for (const application of [id, other]) await setWithdrawn(application, true)
  await setWithdrawn(id, false)
  await outbox.advanceTime(day + 120)
  await tidyNotices(sql())
  const claim = await claimNext()
  const daily = claim && noticeMessage(claim, site)
  expect(daily?.subject).toBe('Withdrawn applications')
  expect(daily?.body).toMatch(/^1 application was withdrawn since \d{4}-\d\d-\d\d \d\d:\d\d UTC\.\n/)
})

test('an RSVP is stored even if its notice cannot be written', async () => {
  const id = await apply('Zoë')
  await storeOrganiser('each')
  await sql()`alter table private.deliveries add constraint none_today check (kind <> 'notice') not valid`
  await giveRsvp(id, 'coming')
  await sql()`alter table private.deliveries drop constraint none_today`
  expect(await sql()`select rsvp as answer from private.invitations where application_id = ${id}`).toEqual([
    { answer: 'coming' },
  ])
  expect(await claimAll()).toEqual([])
})

test('pending notices do not report an erased application', async () => {
  await storeOrganiser('each')
  await storeOrganiser('daily')
  await apply('Eve')
  await outbox.advanceTime(day + 120)
  await sql()`update private.organisers set day_due_at = now() where notices = 'daily'`
  await tidyNotices(sql())
  await sql()`delete from public.retreat_applications`
  expect(await claimAll()).toEqual([])
})

test('the daily email replaces a notice that was not sent within a day', async () => {
  await storeOrganiser('each')
  await apply('Ada')
  await outbox.advanceTime(day + 120)
  expect(await claimAll()).toEqual([])
  await tidyNotices(sql())
  expect(await claimAll()).toMatchObject([{ says: { application: null, count: 1 } }])
})

test('notices share the hourly limit with receipts, and test emails do not wait for it', async () => {
  const email = await storeOrganiser('each')
  await apply('Ada')
  await sql()`update private.postman set hour_began_at = now(), in_hour = 100`
  expect(await claimNext()).toBeUndefined()
  await sql()`
    insert into private.deliveries (kind, organiser_id, subject, body)
    select 'test', account_id, '[Test] s', 'b' from private.organisers`
  const testEmail = await claimTest(sql())
  expect(testEmail).toMatchObject({ to: email, says: { subject: '[Test] s', body: 'b' } })
  expect(await claimTest(sql())).toBeUndefined()
  // The text of the sent test is removed.
  expect(testEmail && (await record(sql(), testEmail, sent))).toBe('done')
  expect(await sql()`select subject, body from private.deliveries where kind = 'test'`).toEqual([
    { subject: null, body: null },
  ])
  await outbox.advanceTime(hour + 1)
  expect(await claimNext()).toMatchObject({ to: email, attempt: 1 })
})

test('a test of a letter has the example of its link, in a letter as a button, and no other address', () => {
  const claim = {
    kind: 'test' as const,
    id: 'test',
    to: 'ada@example.org',
    attempt: 1,
    uncertain: 0,
    closings: 0,
    age: 0,
  }
  const says = { subject: '[Test] s', body: 'b' }
  expect(noticeMessage({ ...claim, says }, site)).toMatchObject({
    ...says,
    link: 'https://example.org/retreat/answer/#example',
  })
  const link = 'https://example.org/retreat/withdraw/#example'
  const ofReceipt = { ...says, body: `You can withdraw it here: ${link}` }
  expect(noticeMessage({ ...claim, says: ofReceipt }, site)).toMatchObject({ link, button: null })
})

test('one server claims each notice; a failed notice is retried, and the result of a stale claim is ignored', async () => {
  await storeOrganiser('each')
  await apply('Ada')
  const claims = await Promise.all([1, 2, 3].map(() => claimNotice(outbox.database.server)))
  const [claim, ...others] = claims.filter((each) => each !== undefined)
  expect(others).toEqual([])
  if (claim === undefined) throw new Error('nothing was claimed')
  await giveBack(sql(), claim)
  const reclaimed = await claimNext()
  expect(reclaimed).toMatchObject({ id: claim.id, attempt: 1 })
  expect(await record(sql(), claim, retry)).toBe('waiting')
  expect(await claimNext()).toBeUndefined()
  await outbox.advanceTime(10)
  const second = await claimNext()
  expect(second).toMatchObject({ id: claim.id, attempt: 2 })
  expect(await record(sql(), claim, sent)).toBe('lost')
  expect(await record(sql(), claim, retry)).toBe('lost')
  expect(second && (await record(sql(), second, refused))).toBe('failed')
  expect(await claimNext()).toBeUndefined()
})

test('the daily email says each day that applications will be erased, as long as organisers have set that', async () => {
  await storeOrganiser('daily')
  await outbox.advanceTime(day + 120)
  await apply('Zoë')
  await sql()`
    update private.organisers set told_until = now(), day_due_at = now() - interval '1 minute' where notices = 'daily'`
  await sql()`update private.editions set starts_on = '2020-03-01', ends_on = '2020-03-04'`
  await sql()`update public.retreat_applications set created_at = '2020-01-01'`
  await sql()`update private.retention set months = 12`
  for (const days of [1, 2]) {
    await sql()`select private.announce_and_erase_applications(100)`
    await tidyNotices(sql())
    const claim = await claimNext()
    expect(claim).toMatchObject({ says: { count: 0, erasing: { applications: 1, days } } })
    const message = claim && noticeMessage(claim, site)
    expect(message?.subject).toBe('Applications will be erased')
    expect(message?.body).toMatch(
      /1 application will be erased from \d{4}-\d\d-\d\d on, as set here:\n\S+#\/retention/,
    )
    await sql()`update private.announcements set announced_on = announced_on - 1`
    await sql()`update private.organisers set day_due_at = now() - interval '1 minute' where notices = 'daily'`
  }
  await sql()`update private.retention set months = null`
  await tidyNotices(sql())
  expect(await claimAll()).toEqual([])
  await sql()`delete from private.announcements`
})

test('the daily email says nothing about erasing to a reader, who cannot stop it', async () => {
  const [email, reader] = [await storeOrganiser('daily'), await storeOrganiser('daily')]
  await addOrganiser(sql(), reader, { isReader: true })
  const claimDaily = async () => {
    await sql()`select private.announce_and_erase_applications(100)`
    await tidyNotices(sql())
    const claims = await claimAll()
    return Object.fromEntries(claims.map((claim) => [claim.to, noticeMessage(claim, site).body]))
  }
  await apply('Ada')
  await sql()`update public.retreat_applications set created_at = '2020-01-01'`
  await apply('Zoë')
  await outbox.advanceTime(day + 120)
  await sql()`update private.editions set starts_on = '2020-03-01', ends_on = '2020-03-04'`
  await sql()`update private.retention set months = 12`
  expect(await claimDaily()).toEqual({
    [email]: expect.stringContaining('will be erased') as string,
    [reader]: expect.not.stringContaining('erased') as string,
  })
  // Without anything else to report, a reader gets no email.
  await sql()`update private.organisers set day_due_at = now() - interval '1 minute'`
  expect(Object.keys(await claimDaily())).toEqual([email])
})

test('a change of an organiser is told in one sentence, with its author and a link to the account', async () => {
  const email = await storeOrganiser('off')
  await sql()`update private.postman set seen_at = now()`
  await sql()`
    select private.write_down_organiser('ada@example.org',
      '{"organiser": "grace@example.org", "is_reader": true, "invited": "6f2f2f0e-1f1c-4a7e-9a55-0f5d7d5c9a11"}')`
  const claim = await claimNext()
  const message = claim && noticeMessage(claim, site)
  expect(message).toMatchObject({
    to: email,
    subject: 'Organisers: grace@example.org was invited, and may read, mark and write notes',
  })
  expect(message?.body).toContain('This was done by ada@example.org.')
  expect(message?.body).toContain('https://example.org/retreat/desk#/account')
  expect(await claimNext()).toBeUndefined()
})
