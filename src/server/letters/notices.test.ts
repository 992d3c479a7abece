import { beforeAll, beforeEach, expect, test } from 'vitest'

import { anApplication } from '../../../testing/form.ts'
import { startPostmanFixture, type PostmanFixture } from '../../../testing/postman.ts'
import { claimNotice, claimTest } from '../../../testing/claims.ts'
import { addOrganiser } from '../auth/organisers.ts'
import { tidyNotices, noticeMessage } from './notices.ts'
import { giveBack, record, type RecordedResult } from './outcomes.ts'
import { valuesOf } from '../../../testing/sql.ts'

let outbox: PostmanFixture

beforeAll(async () => {
  outbox = await startPostmanFixture()
})

beforeEach(() => outbox.reset())
const sql = () => outbox.database.owner
const site = new URL('https://example.org/retreat/')
const hour = 3_600
const day = 24 * hour

/** An organiser with notices. */
async function organiser(notices: 'off' | 'each' | 'daily', { blind = false } = {}) {
  const email = `${crypto.randomUUID()}@example.org`
  await addOrganiser(sql(), email)
  await sql()`
    update private.organisers set notices = ${notices}, blind = ${blind}, told_until = now(),
      day_due_at = now() + interval '1 day'
    where account_id = (select id from auth.users where email = ${email})`
  return email
}

/** A name for each of many. */
const named = (index: number) => `Ada ${String.fromCodePoint(65 + Math.floor(index / 10), 65 + (index % 10))}`

async function apply(first_name: string, last_name = 'Lovelace') {
  const answers = anApplication({ first_name, last_name })
  const [row] = await sql()<[{ id: string }]>`
    insert into public.retreat_applications ${valuesOf({ ...answers })} returning id`
  return row.id
}

const sent: RecordedResult = { outcome: 'sent', code: 250 }
const refused: RecordedResult = { outcome: 'refused', code: 550, reply: '550 no' }
const retry: RecordedResult = { outcome: 'retry', code: 451, reply: '451 later', isUncertain: false }

const take = () => claimNotice(sql())
async function takeAll() {
  const claims = []
  for (;;) {
    const claim = await take()
    if (claim === undefined) return claims
    claims.push(claim)
  }
}

test('an organiser with notices hears of each application, with a link to it', async () => {
  const [each] = [await organiser('each'), await organiser('off'), await organiser('daily')]
  const id = await apply('Zoë')
  const server = await outbox.receiver()
  outbox.postmanFor(server)
  const [mail] = await server.waitFor(1, each)
  expect(mail?.text).toContain('Zoë Lovelace has applied.')
  expect(mail?.text).toContain(`https://example.org/retreat/desk#/applications/${id}`)
  expect(mail?.text).toContain('There you can switch them off:\nhttps://example.org/retreat/desk#/account')
  expect(mail?.raw).toMatch(/^Auto-Submitted: auto-generated\r$/m)
  await expect
    .poll(() => sql()`select state from private.deliveries where kind = 'notice'`)
    .toEqual([{ state: 'done' }])
  expect(server.received).toHaveLength(1)
})

test('a notice has a plain name or none', async () => {
  await organiser('each')
  await organiser('daily')
  const names: [string, string, string][] = [
    ['Zoë Ann', 'O’Hara Smith', 'New application: Zoë Ann O’Hara Smith'],
    ['Ada', 'evil.example', 'New application: Ada'],
    ['Ada', 'call 0800 555', 'New application: Ada'],
    ['Maria del Carmen', 'de Souza', 'New application: Maria del Carmen'],
    ['evil․example', 'Lovelace', 'A new application'],
    ['Your account is closed now', 'Lovelace', 'A new application'],
    ['Ada\r\nBcc: eve@example.org', 'x\u2028y', 'A new application'],
  ]
  for (const [first, last] of names) await apply(first, last)
  const claims = await takeAll()
  expect(claims.map((claim) => noticeMessage(claim, site).subject)).toEqual(
    names.map(([, , subject]) => subject),
  )
  for (const claim of claims) expect(await record(sql(), claim, refused)).toBe('refused')
  await outbox.advanceTime(day + 120)
  await tidyNotices(sql())
  const daily = await take()
  const body = daily && noticeMessage(daily, site).body
  expect(body).toContain(
    '\n\n- Zoë Ann O’Hara Smith\n- Ada\n- Ada\n- Maria del Carmen\nand 3 more\n\nhttps://',
  )
})

test('an organiser who reads blind gets no name', async () => {
  await organiser('each', { blind: true })
  await apply('Ada')
  const hidden = await take()
  const letter = hidden && noticeMessage(hidden, site)
  expect(letter?.subject).toBe('A new application')
  expect(JSON.stringify(letter)).not.toMatch(/Ada|Lovelace/)
})

test('above ten an hour the daily email reports the rest', async () => {
  const email = await organiser('each')
  for (let index = 0; index < 13; index += 1) await apply(named(index))
  // No notice is written for them.
  expect(await sql()`select id from private.deliveries where kind = 'notice'`).toHaveLength(10)
  expect(await takeAll()).toHaveLength(10)
  await sql()`update private.deliveries set state = 'done', due_at = null, done_at = now() where kind = 'notice'`
  await outbox.advanceTime(hour + 1)
  await apply('Zoë')
  expect(await takeAll()).toMatchObject([{ to: email, says: { names: ['Zoë Lovelace'] } }])
  await sql()`update private.deliveries set state = 'done', due_at = null, done_at = now() where kind = 'notice'`
  await outbox.advanceTime(day)
  await tidyNotices(sql())
  const [rest, ...others] = await takeAll()
  expect(rest).toMatchObject({
    to: email,
    says: { application: null, count: 3, names: ['Ada BA Lovelace', 'Ada BB Lovelace', 'Ada BC Lovelace'] },
  })
  expect(others).toEqual([])
})

test('ten an hour is the limit, even for concurrent applications', async () => {
  await organiser('each')
  await Promise.all(
    Array.from(
      { length: 40 },
      (_, index) =>
        outbox.database
          .server`insert into public.retreat_applications ${valuesOf(anApplication({ first_name: `Ada ${index}` }))}`,
    ),
  )
  const single = await takeAll()
  expect(single).toHaveLength(10)
  // A retried one is not another one.
  const [failed] = single
  expect(failed && (await record(sql(), failed, retry))).toBe('retry')
  await outbox.advanceTime(10)
  expect(await takeAll()).toMatchObject([{ id: failed?.id, attempt: 2 }])
  await sql()`update private.deliveries set state = 'done', due_at = null, done_at = now() where kind = 'notice'`
  await outbox.advanceTime(day + 120)
  await tidyNotices(sql())
  expect(await takeAll()).toMatchObject([{ says: { count: 30 } }])
})

test('a notice that could not be handed over is not one of the ten', async () => {
  await organiser('each')
  for (let index = 0; index < 10; index += 1) await apply(`Ada ${index}`)
  for (let round = 0; round < 3; round += 1) {
    const claims = await takeAll()
    expect(claims).toHaveLength(10)
    for (const claim of claims) await giveBack(sql(), claim)
  }
})

test('a notice that waits when the daily email is due is replaced by it', async () => {
  await organiser('each')
  await apply('Ada')
  await outbox.advanceTime(hour)
  // It was tried, and will be retried.
  await sql()`update private.deliveries set attempts = 1, due_at = now() + interval '1 hour' where kind = 'notice'`
  await sql()`update private.organisers set day_due_at = now()`
  await tidyNotices(sql())
  expect(await takeAll()).toMatchObject([{ says: { application: null, count: 1, names: ['Ada Lovelace'] } }])
  await sql()`update private.deliveries set due_at = now() where kind = 'notice' and application_id is not null`
  expect(await takeAll()).toEqual([])
  expect(
    await sql()`select id from private.deliveries where kind = 'notice' and application_id is not null`,
  ).toEqual([])
})

test('the daily email has the number and the names, and is sent only if somebody applied', async () => {
  const email = await organiser('daily')
  await outbox.advanceTime(day + 120)
  await tidyNotices(sql())
  expect(await takeAll()).toEqual([])
  for (let index = 0; index < 60; index += 1) await apply(named(index))
  await tidyNotices(sql())
  expect(await takeAll()).toEqual([])
  await outbox.advanceTime(day + 120)
  await Promise.all([tidyNotices(sql()), tidyNotices(sql())])
  const [claim, ...others] = await takeAll()
  expect(others).toEqual([])
  const letter = claim && noticeMessage(claim, site)
  expect(letter).toMatchObject({ to: email, subject: '60 new applications' })
  expect(letter?.body).toMatch(
    /^60 new applications since 20\d\d-\d\d-\d\d \d\d:\d\d UTC\.\n\n- Ada AA Lovelace\n/,
  )
  expect(letter?.body).toContain('- Ada EJ Lovelace\nand 10 more\n\nhttps://example.org/retreat/desk\n')
  // The next one comes a day later, at the same time of day, and repeats nothing.
  expect(claim && (await record(sql(), claim, sent))).toBe('sent')
  await outbox.advanceTime(day)
  await tidyNotices(sql())
  expect(await takeAll()).toEqual([])
})

test('a server that comes back writes the daily email and sends it', async () => {
  const email = await organiser('daily')
  await apply('Ada')
  await outbox.advanceTime(day + 120)
  const server = await outbox.receiver()
  outbox.postmanFor(server, { interval: 50 })
  expect(await server.waitFor(1, email)).toMatchObject([{ subject: '1 new application' }])
})

test('the daily email keeps its time of day after days without a server', async () => {
  await organiser('daily')
  await apply('Ada')
  await outbox.advanceTime(5 * day + hour)
  await tidyNotices(sql())
  const [row] = await sql()`
    select round(extract(epoch from day_due_at - now()) / 3600)::int as hours from private.organisers`
  expect(row).toEqual({ hours: 23 })
  expect(await takeAll()).toMatchObject([{ says: { count: 1 } }])
})

/** Lets an accepted person give an RSVP. */
async function answer(id: string, given: string) {
  await sql()`
    insert into private.statuses (application_id, created_at, status, version) values (${id}, now(), 'accepted', 1)
    on conflict do nothing`
  await sql()`select private.set_rsvp(${id}, gen_random_uuid(), 'applicant', ${given})`
}

test('an RSVP is reported like an application: singly, or in the daily email', async () => {
  const [id, other] = [await apply('Zoë'), await apply('Grace', 'Hopper')]
  await organiser('each')
  await organiser('each', { blind: true })
  await answer(id, 'coming')
  // An RSVP that an organiser notes is no news.
  await sql()`select private.set_rsvp(${id}, gen_random_uuid(), 'mary@example.org', 'not coming')`
  const letters = (await takeAll()).map((claim) => noticeMessage(claim, site))
  expect(letters.map(({ subject }) => subject).toSorted()).toEqual([
    'Somebody is coming',
    'Zoë Lovelace is coming',
  ])
  for (const { body } of letters)
    expect(body).toContain(`https://example.org/retreat/desk#/applications/${id}`)

  await sql()`delete from private.organisers`
  await organiser('daily')
  await answer(other, 'not coming')
  await answer(id, 'coming')
  await outbox.advanceTime(day + 120)
  await tidyNotices(sql())
  const claim = await take()
  const daily = claim && noticeMessage(claim, site)
  expect(daily?.subject).toBe('New answers')
  expect(daily?.body).toMatch(
    /^1 answered that they are coming, 1 answered that they are not coming since \d{4}-\d\d-\d\d \d\d:\d\d UTC\.\n/,
  )
})

test('an RSVP is stored even where its notice cannot be written', async () => {
  const id = await apply('Zoë')
  await organiser('each')
  await sql()`alter table private.deliveries add constraint none_today check (kind <> 'notice') not valid`
  await answer(id, 'coming')
  await sql()`alter table private.deliveries drop constraint none_today`
  expect(await sql()`select rsvp as answer from private.invitations where application_id = ${id}`).toEqual([
    { answer: 'coming' },
  ])
  expect(await takeAll()).toEqual([])
})

test('an erased person is named in no notice', async () => {
  await organiser('each')
  await organiser('daily')
  await apply('Eve')
  await outbox.advanceTime(day + 120)
  await sql()`update private.organisers set day_due_at = now() where notices = 'daily'`
  await tidyNotices(sql())
  await sql()`delete from public.retreat_applications`
  expect(await takeAll()).toEqual([])
})

test('a notice that was not sent within a day is replaced by the daily email', async () => {
  await organiser('each')
  await apply('Ada')
  await outbox.advanceTime(day + 120)
  expect(await takeAll()).toEqual([])
  await tidyNotices(sql())
  expect(await takeAll()).toMatchObject([{ says: { application: null, count: 1 } }])
})

test("notices share the hour's limit with receipts, and tests do not wait for it", async () => {
  const email = await organiser('each')
  await apply('Ada')
  await sql()`update private.postman set hour_began_at = now(), in_hour = 100`
  expect(await take()).toBeUndefined()
  await sql()`
    insert into private.deliveries (kind, organiser_id, subject, body)
    select 'test', account_id, '[Test] s', 'b' from private.organisers`
  const trial = await claimTest(sql())
  expect(trial).toMatchObject({ to: email, says: { subject: '[Test] s', body: 'b' } })
  expect(await claimTest(sql())).toBeUndefined()
  // Nothing of it is stored.
  expect(trial && (await record(sql(), trial, sent))).toBe('sent')
  expect(await sql()`select subject, body from private.deliveries where kind = 'test'`).toEqual([
    { subject: null, body: null },
  ])
  await outbox.advanceTime(hour + 1)
  expect(await take()).toMatchObject({ to: email, attempt: 1 })
})

test('each notice goes to one server; a failed one is retried, and a late result is ignored', async () => {
  await organiser('each')
  await apply('Ada')
  const claims = await Promise.all([1, 2, 3].map(() => claimNotice(outbox.database.server)))
  const [claim, ...others] = claims.filter((each) => each !== undefined)
  expect(others).toEqual([])
  if (claim === undefined) throw new Error('nobody has it')
  await giveBack(sql(), claim)
  const again = await take()
  expect(again).toMatchObject({ id: claim.id, attempt: 1 })
  expect(await record(sql(), claim, retry)).toBe('retry')
  expect(await take()).toBeUndefined()
  await outbox.advanceTime(10)
  const second = await take()
  expect(second).toMatchObject({ id: claim.id, attempt: 2 })
  expect(await record(sql(), claim, sent)).toBe('lost')
  expect(await record(sql(), claim, retry)).toBe('lost')
  expect(second && (await record(sql(), second, refused))).toBe('refused')
  expect(await take()).toBeUndefined()
})
