import type { SupabaseClient } from '@supabase/supabase-js'
import * as fc from 'fast-check'
import { beforeAll, beforeEach, expect, test } from 'vitest'

import { actOf, playRandomActs } from '../../support/acts.ts'
import { claimLetter } from '../../support/claims.ts'
import { extent } from '../../support/extent.ts'
import { anApplication } from '../../support/form.ts'
import { resetDatabase } from '../../support/reset.ts'
import { startSignIn, type SignInServer } from '../../support/sign-in.ts'
import type { ApplicationDetails } from '../../../src/client/desk/applications.ts'
import type { Letter, ReleaseOutcome } from '../../../src/client/desk/letters.ts'
import type { HistoryPage, Places, ReminderOutcome } from '../../../src/client/desk/retreat.ts'
import { inviteAccepted } from '../../../src/server/backups/older.ts'
import { writeSite } from '../../../src/server/database/places.ts'
import type { Sql } from '../../../src/server/database/sql.ts'
import { record } from '../../../src/server/letters/outcomes.ts'
import { retryUndelivered } from '../../../src/server/letters/overview.ts'
import { valuesOf } from '../../support/sql.ts'

let server: SignInServer
let client: SupabaseClient
let me: string

const sql = () => server.database.owner
const site = 'https://unplugged.example/retreat'

beforeAll(async () => {
  server = await startSignIn()
  ;({ client, email: me } = await server.signedIn())
})

/** Restores a new database, with a site and a mail sender. */
async function resetRetreat() {
  await resetDatabase(sql())
  await sql()`update private.letter_settings set hold = '0', reply_to = 'answers@example.org'`
  await sql()`update private.postman set seen_at = now()`
  await writeSite(sql(), { siteUrl: `${site}/`, mailServer: undefined })
}

beforeEach(resetRetreat)

async function ask<Result>(name: string, args: object = {}): Promise<Result> {
  const { data, error } = await client.rpc(`desk_${name}`, args)
  if (error) throw error
  return data as Result
}

/** Calls as the holder of a link, with only the public key. */
async function visit(name: 'place_by_token' | 'answer_place', args: object) {
  const { data, error } = await server.client().rpc(name, args)
  if (error) throw error
  return data as unknown
}

async function store(first_name = 'Ada') {
  const [row] = await sql()<[{ id: string }]>`
    insert into public.retreat_applications ${valuesOf({ ...anApplication({ first_name, email: `${crypto.randomUUID()}@example.com` }) })}
    returning id`
  return row.id
}

async function decide(id: string, status: string) {
  const [row] = await sql()<[{ version: number }?]>`
    select version from private.statuses where application_id = ${id}`
  const decisions = [{ id, status, version: row?.version ?? 0 }]
  expect(await ask('decide', { act: crypto.randomUUID(), decisions })).toMatchObject([
    { outcome: 'kept', status },
  ])
}

const lettersOf = (id: string) => ask<Letter[]>('letters_of', { applications: [id] })

/** Releases the drafts of an application. Returns the first outcome. */
async function release(id: string, again = false) {
  const letters = (await lettersOf(id)).filter(({ state }) => state === 'draft')
  const [outcome] = await ask<ReleaseOutcome[]>('release', {
    act: crypto.randomUUID(),
    letters: letters.map(({ id: letter, seen }) => ({ id: letter, seen })),
    number: null,
    again,
  })
  return outcome?.outcome
}

/** Sends a due letter, as a mail sender does. Returns the claim, which has the letter. */
async function send() {
  await sql()`update private.postman set next_at = '-infinity'`
  const claim = await claimLetter(sql())
  if (claim === undefined) throw new Error('no letter is due')
  expect(await record(sql(), claim, { outcome: 'sent', code: 250 })).toBe('sent')
  return claim
}

const tokenIn = (text: string) => /\/answer\/#(\S+)/.exec(text)?.[1] ?? ''

/** Stores a person, accepts them and sends them the letter. Returns their id and the token of their link. */
async function invite(name?: string) {
  const id = await store(name)
  await decide(id, 'accepted')
  expect(await release(id)).toBe('released')
  const { body } = await send()
  return { id, token: tokenIn(body) }
}

const sendRsvp = (token: string, rsvp: string, actId: string = crypto.randomUUID()) =>
  visit('answer_place', { token, answer: rsvp, act: actId })
const details = (id: string) => ask<ApplicationDetails>('application', { application: id })
const places = () => ask<Places>('places')
/** The date in this many days, in the time zone of deadlines. */
async function dayIn(days: number) {
  const [row] = await sql()<[{ day: string }]>`select (private.today() + ${days}::integer)::text as day`
  return row.day
}
/** Moves all reminders three days into the past. After three days, people may be reminded again. */
const passThreeDays = () =>
  sql()`update private.invitations set reminded_at = reminded_at - interval '3 days'`
/** Lets a person's deadline pass. */
const passDeadline = (id: string) =>
  sql()`update private.invitations set deadline = private.today() - 1 where application_id = ${id}`

// break: stored-letter-has-link
test('an acceptance gets its link and deadline when it is handed to the mail server, and the desk never shows the link', async () => {
  const id = await store()
  await decide(id, 'accepted')
  const [draft] = await lettersOf(id)
  expect(draft).toMatchObject({ missing: [], unknown: [] })
  expect(draft?.body).toContain('{{answer_link}}')
  expect(await places()).toMatchObject({ not_told: 1, no_answer: 0 })
  expect(await release(id)).toBe('released')
  const { body, link } = await send()
  const [invitation] = await sql()<{ token: string }[]>`select token from private.invitations`
  expect(link).toBe(`${site}/answer/#${invitation?.token}`)
  const [row] = await sql()<
    [{ shown: string }]
  >`select to_char(private.today() + 10, 'FMDD FMMonth YYYY') as shown`
  expect(body).toContain(`You can say so here: ${link}`)
  expect(body).toContain(`until ${row.shown}.`)
  expect(body).not.toContain('{{')
  const stored = JSON.stringify([
    await lettersOf(id),
    await details(id),
    await ask('export', {}),
    await ask('list', {}),
  ])
  expect(stored).not.toContain(invitation?.token)
  expect(await places()).toMatchObject({ not_told: 0, no_answer: 1, late: 0 })
  expect((await details(id)).application).toMatchObject({
    answer_state: 'no answer',
    kept_until: await dayIn(10),
  })

  // The record of the letter has the date that was sent, also after the deadline is moved.
  await ask('keep_until', { act: crypto.randomUUID(), application: id, until: await dayIn(20) })
  const [sent] = await lettersOf(id)
  expect(sent?.body).toContain(`until ${row.shown}.`)
  expect(sent?.body).toContain('here: {{answer_link}}')
})

test('the holder of the link sees the first name and the deadline, and can change the RSVP until then', async () => {
  const { id, token } = await invite('Zoë')
  const until = await dayIn(10)
  const address = 'answers@example.org'
  expect(await visit('place_by_token', { token })).toEqual({
    state: 'open',
    first_name: 'Zoë',
    until,
    answer: null,
    address,
    retreat: null,
    questions: null,
  })
  expect((await details(id)).application.answer).toBeNull()
  const act = crypto.randomUUID()
  const coming = {
    state: 'open',
    first_name: 'Zoë',
    until,
    answer: 'coming',
    address,
    retreat: null,
    questions: null,
  }
  expect(await sendRsvp(token, 'coming', act)).toEqual(coming)
  expect(await sendRsvp(token, 'coming', act)).toEqual(coming)
  await expect(sendRsvp(token, 'not coming', act)).rejects.toMatchObject({ code: 'PT409' })
  expect(await sendRsvp(token, 'not coming')).toMatchObject({ answer: 'not coming' })
  expect((await details(id)).history.filter(({ kind }) => kind === 'answer')).toMatchObject([
    { author: 'applicant', detail: { answer: 'coming' } },
    { author: 'applicant', detail: { answer: 'not coming' } },
  ])
  await expect(sendRsvp(token, 'perhaps')).rejects.toMatchObject({ code: '22023' })
  // The day of the deadline is included.
  await sql()`update private.invitations set deadline = private.today()`
  expect(await sendRsvp(token, 'coming')).toMatchObject({ state: 'open', answer: 'coming' })
  await passDeadline(id)
  const over = { state: 'over', answer: 'coming', address }
  expect(await visit('place_by_token', { token })).toMatchObject(over)
  expect(await sendRsvp(token, 'not coming')).toMatchObject(over)
  expect(await sql()`select from private.history where kind = 'answer'`).toHaveLength(3)
})

// break: undone-acceptance-link-works
test('a wrong link and one that is no longer valid get the same response', async () => {
  const { id, token } = await invite()
  const invalid = { state: 'invalid' }
  for (const wrong of [crypto.randomUUID(), 'example', '', `${token} `, token.toUpperCase(), `${token}0`]) {
    expect(await visit('place_by_token', { token: wrong })).toEqual(invalid)
    expect(await sendRsvp(wrong, 'coming')).toEqual(invalid)
  }
  await decide(id, 'waitlisted')
  expect(await visit('place_by_token', { token })).toEqual(invalid)
  expect(await sendRsvp(token, 'coming')).toEqual(invalid)
  expect(await sql()`select from private.history where kind = 'answer'`).toHaveLength(0)
})

test('a rejection that is undone before it is sent keeps the link and the RSVP; a sent one ends both', async () => {
  const { id, token } = await invite()
  await sendRsvp(token, 'coming')
  await decide(id, 'declined')
  await decide(id, 'accepted')
  expect(await visit('place_by_token', { token })).toMatchObject({ state: 'open', answer: 'coming' })
  expect(await places()).toMatchObject({ coming: 1, not_told: 0 })
  await decide(id, 'declined')
  expect(await release(id)).toBe('released')
  await send()
  await decide(id, 'accepted')
  expect(await visit('place_by_token', { token })).toEqual({ state: 'invalid' })
  expect(await places()).toMatchObject({ coming: 0, not_told: 1 })
  expect(await release(id, true)).toBe('released')
  const next = tokenIn((await send()).body)
  expect(next).not.toBe(token)
  expect(await visit('place_by_token', { token: next })).toMatchObject({ state: 'open', answer: null })
  // The former RSVP stays in the history.
  expect((await details(id)).history.filter(({ kind }) => kind === 'answer')).toHaveLength(1)
})

test('a rejection that is sent although the decision was undone meanwhile ends the link', async () => {
  const { id, token } = await invite()
  await decide(id, 'declined')
  expect(await release(id)).toBe('released')
  await sql()`update private.postman set next_at = '-infinity'`
  const claim = await claimLetter(sql())
  if (claim === undefined) throw new Error('no letter is due')
  await decide(id, 'accepted')
  expect(await visit('place_by_token', { token })).toMatchObject({ state: 'open' })
  await record(sql(), claim, { outcome: 'sent', code: 250 })
  expect(await visit('place_by_token', { token })).toEqual({ state: 'invalid' })
  expect(await release(id, true)).toBe('released')
  expect(await visit('place_by_token', { token: tokenIn((await send()).body) })).toMatchObject({
    state: 'open',
  })
})

// break: answer-placeholder-filled
test("a placeholder in an applicant's text is not filled in; without a site the link's paragraph is left out", async () => {
  const id = await store('{{answer_link}}')
  await decide(id, 'accepted')
  await sql()`update private.places set site = ''`
  expect(
    await ask('preview', {
      subject: 'Hello',
      body: 'a\n\nb {{answer_link}}\n\nc {{reply_by}}',
      application: id,
    }),
  ).toMatchObject({
    has_no_site: true,
    body: expect.stringMatching(/^a\n\nc \d+ \w+ \d{4}$/) as string,
  })
  expect(
    await ask('preview', {
      subject: 'Hello',
      body: '{{answer_link}}',
      application: id,
      site: 'https://desk.example',
    }),
  ).toMatchObject({ has_no_site: false, body: 'https://desk.example/answer/#example' })
  expect(await release(id)).toBe('released')
  const { body, link } = await send()
  expect(link).toBeNull()
  expect(body).toContain('Hello { {answer_link}},')
  expect(body).not.toContain('You can say so here')
  expect(body).toContain('Or just reply to this email.')
})

test.each([
  ['{{', 'answer_link}}'],
  ['{', '{reply_by}}'],
  ['{{ answer_link', '}}'],
])('the names “%s” and “%s” together form no placeholder', async (first_name, last_name) => {
  const id = await store(first_name)
  await sql()`update public.retreat_applications set last_name = ${last_name} where id = ${id}`
  const body = 'Dear {{first_name}}{{last_name}}, {{first_name}} {{last_name}}.'
  await ask('set_template', { occasion: 'Travel', version: null, subject: 'Travel', body })
  await ask('write', { applications: [id], occasion: 'Travel' })
  expect(await release(id)).toBe('released')
  const sent = await send()
  expect(sent.link).toBeNull()
  expect(sent.body.replaceAll(/\s/g, '')).toBe(
    `Dear${first_name}${last_name},${first_name}${last_name}.`.replaceAll(' ', ''),
  )
  await ask('remove_template', { occasion: 'Travel', version: 0 })
})

test('a letter cannot ask for an RSVP if its recipient is not accepted, or after the deadline', async () => {
  const id = await store()
  const body = 'Here: {{answer_link}}'
  await ask('set_template', { occasion: 'Travel', version: null, subject: 'Travel', body })
  await ask('write', { applications: [id], occasion: 'Travel' })
  expect(await lettersOf(id)).toMatchObject([{ missing: ['answer_link'] }])
  expect(await release(id)).toBe('missing')
  const template = (occasion: string) => ask('set_template', { occasion, version: 0, subject: 'Hello', body })
  for (const occasion of ['declined', 'waitlisted', 'received']) {
    await expect(template(occasion)).rejects.toMatchObject({ code: '22023' })
  }
  await decide(id, 'accepted')
  await ask('write', { applications: [id], occasion: 'Travel' })
  expect(await lettersOf(id)).toMatchObject([{ missing: [] }, { missing: [] }])
  await ask('keep_until', { act: crypto.randomUUID(), application: id, until: await dayIn(3) })
  await passDeadline(id)
  expect((await lettersOf(id)).map(({ missing }) => missing.join()).toSorted()).toEqual([
    'answer_link',
    'answer_link,reply_by',
  ])
  await ask('remove_template', { occasion: 'Travel', version: 0 })
})

// break: repeated-rsvp-stored-again
test('organisers record RSVPs that people gave another way, and the newest RSVP counts', async () => {
  const { id, token } = await invite()
  const set = (given: string | null, act: string = crypto.randomUUID()) =>
    ask<ApplicationDetails>('set_answer', { act, application: id, answer: given })
  const first = crypto.randomUUID()
  expect((await set('coming', first)).application).toMatchObject({ answer_state: 'coming' })
  expect(await sendRsvp(token, 'not coming')).toMatchObject({ answer: 'not coming' })
  // A repeat after a lost response: a later RSVP stays.
  expect((await set('coming', first)).application).toMatchObject({ answer_state: 'not coming' })
  const { application, history } = await set(null)
  expect(application).toMatchObject({ answer_state: 'no answer', answered_at: null })
  expect(history.filter(({ kind }) => kind === 'answer')).toMatchObject([
    { author: me, detail: { answer: 'coming' } },
    { author: 'applicant', detail: { answer: 'not coming' } },
    { author: me, detail: { answer: null } },
  ])
  await decide(id, 'declined')
  await expect(set('coming')).rejects.toMatchObject({ code: 'PT409' })
})

test('organisers set the deadline, the reminder quotes it, and nobody is reminded twice in three days or after an RSVP', async () => {
  const { id, token } = await invite()
  await passDeadline(id)
  expect(await places()).toMatchObject({ no_answer: 1, late: 1, to_remind: 1 })
  expect(await ask<ReminderOutcome>('remind')).toMatchObject({
    drafted: 1,
    late: 1,
    waiting: 0,
    reminded: 0,
    more: false,
  })
  expect(await places()).toMatchObject({ no_answer: 1, to_remind: 0 })
  expect(await release(id)).toBe('missing')
  const act = crypto.randomUUID()
  const day = await dayIn(3)
  const { history } = await ask<ApplicationDetails>('keep_until', { act, application: id, until: day })
  expect(history.at(-1)).toMatchObject({ kind: 'kept', author: me, detail: { until: day } })
  await expect(
    ask('keep_until', { act: crypto.randomUUID(), application: id, until: await dayIn(-1) }),
  ).rejects.toMatchObject({ code: '22023' })
  expect(await release(id)).toBe('released')
  const { body } = await send()
  expect(tokenIn(body)).toBe(token)
  expect(body).toContain(
    `until ${new Date(`${day}T00:00Z`).toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' })}.`,
  )
  // No call reminds anybody twice in three days.
  expect(await ask<ReminderOutcome>('remind')).toMatchObject({ drafted: 0, reminded: 1 })
  expect(await ask('write', { applications: [id], occasion: 'reminder', again: true })).toMatchObject([
    { outcome: 'written', state: 'sent' },
  ])
  expect(await places()).toMatchObject({ to_remind: 0 })
  await passThreeDays()
  expect(await places()).toMatchObject({ to_remind: 1 })
  // A repeat after a lost response gets the same result. The other calls have no act id, like those of desks of version 1.0.
  const reminding = { act: crypto.randomUUID() }
  for (let time = 0; time < 2; time += 1)
    expect(await ask<ReminderOutcome>('remind', reminding)).toMatchObject({ drafted: 1, late: 0 })
  expect(await ask<ReminderOutcome>('remind')).toMatchObject({ drafted: 0, waiting: 1 })
  // A person with an RSVP is no longer reminded.
  await sendRsvp(token, 'coming')
  expect((await lettersOf(id)).filter(({ state }) => state === 'draft')).toEqual([])
  expect(await ask<ReminderOutcome>('remind')).toMatchObject({ drafted: 0, waiting: 0, reminded: 0 })
})

/** Invites a person and releases their reminder, but does not send it. */
async function inviteAndRemind() {
  const invited = await invite()
  expect(await ask<ReminderOutcome>('remind')).toMatchObject({ drafted: 1 })
  expect(await release(invited.id)).toBe('released')
  return invited
}

/** Claims a due letter, as a server does before it hands the letter over. */
async function claimDue() {
  const claimed = await claimLetter(sql())
  if (claimed === undefined) throw new Error('no letter is due')
  return claimed
}

const remindersOf = async (id: string) =>
  (await lettersOf(id)).filter(({ occasion }) => occasion === 'reminder').map(({ state }) => state)
const deferred = { outcome: 'retry', code: 451, reply: '451 later', isUncertain: false } as const

/** Makes the statements of a transaction act as the signed-in organiser. */
async function actAsOrganiser(transaction: Sql) {
  const { data } = await client.auth.getClaims()
  await transaction`select set_config('request.jwt.claims', ${JSON.stringify(data?.claims)}, true)`
}
/** Resolves when a call waits for a lock. */
async function somebodyWaits() {
  await expect.poll(() => sql()`select from pg_stat_activity where wait_event_type = 'Lock'`).toHaveLength(1)
}

test('a letter quotes the deadline that an organiser sets while the letter is being sent', async () => {
  const id = await store()
  await decide(id, 'accepted')
  expect(await release(id)).toBe('released')
  const day = await dayIn(3)
  const { sent } = await sql().begin(async (setting) => {
    await actAsOrganiser(setting)
    await setting`select desk_keep_until(gen_random_uuid(), ${id}, ${day})`
    const sending = send()
    await somebodyWaits()
    // In an object, because the transaction would wait for a promise that it returns.
    return { sent: sending }
  })
  const [row] = await sql()<[{ shown: string }]>`select to_char(${day}::date, 'FMDD FMMonth YYYY') as shown`
  expect((await sent).body).toContain(`until ${row.shown}.`)
  expect((await details(id)).application).toMatchObject({ kept_until: day })
})

// break: deadline-overwritten-by-repeat
test('a repeated change of a deadline after a lost response does not overwrite a later change', async () => {
  const { id } = await invite()
  const first = { act: crypto.randomUUID(), application: id, until: await dayIn(3) }
  const { repeated } = await sql().begin(async (setting) => {
    await actAsOrganiser(setting)
    await setting`select desk_keep_until(${first.act}, ${id}, ${first.until})`
    await setting`select desk_keep_until(gen_random_uuid(), ${id}, ${await dayIn(5)})`
    const repeat = ask<ApplicationDetails>('keep_until', first)
    await somebodyWaits()
    return { repeated: repeat }
  })
  expect((await repeated).application).toMatchObject({ kept_until: await dayIn(5) })
})

test('an acceptance after a rejection gets a new deadline, counted from the handover of its letter', async () => {
  const { id } = await invite()
  await ask('keep_until', { act: crypto.randomUUID(), application: id, until: await dayIn(3) })
  await decide(id, 'declined')
  expect(await release(id)).toBe('released')
  await send()
  await decide(id, 'accepted')
  expect(await release(id, true)).toBe('released')
  const claim = await claimDue()
  expect(await record(sql(), claim, deferred)).toBe('retry')
  // As if the deferred attempt, which set the deadline, was eight days ago.
  await sql()`
    update private.invitations set deadline = private.today() + 2 where application_id = ${id}`
  await sql()`update private.deliveries set due_at = now() where kind = 'letter' and state = 'waiting'`
  await send()
  expect((await details(id)).application).toMatchObject({ kept_until: await dayIn(10) })
})

test('a refused reminder is not retried after its recipient gave an RSVP', async () => {
  const { id } = await inviteAndRemind()
  expect(await record(sql(), await claimDue(), { outcome: 'refused', code: 550, reply: '550 no' })).toBe(
    'refused',
  )
  await ask('set_answer', { act: crypto.randomUUID(), application: id, answer: 'coming' })
  expect(await retryUndelivered(sql())).toBe(0)
  expect(await remindersOf(id)).toEqual(['withdrawn'])
})

test('a reminder is given up once its deadline has passed, and can be retried after the deadline is moved', async () => {
  const { id } = await inviteAndRemind()
  await passDeadline(id)
  expect(await claimLetter(sql())).toBeUndefined()
  const [givenUp] = (await lettersOf(id)).filter(({ occasion }) => occasion === 'reminder')
  expect(givenUp).toMatchObject({ state: 'given up', answer: 'The last day to answer has passed.' })
  expect(await ask('retry', { letters: [givenUp?.id] })).toEqual({ retried: 0 })
  await ask('keep_until', { act: crypto.randomUUID(), application: id, until: await dayIn(2) })
  expect(await ask('retry', { letters: [givenUp?.id] })).toEqual({ retried: 1 })
  await send()
  expect(await remindersOf(id)).toEqual(['sent'])
})

test.each([
  ['a letter to one person with the deadline', { occasion: '', body: 'Until {{reply_by}}, please.' }],
  ['a letter to one person with the link', { occasion: '', body: 'Here: {{answer_link}}' }],
  ['a letter of a template with the deadline', { occasion: 'Rooms', body: 'Until {{reply_by}}, please.' }],
  ['an acceptance whose deadline an organiser set', { occasion: 'accepted', body: '' }],
])('%s is not sent after the deadline until the deadline is moved', async (_what, { occasion, body }) => {
  const moveDeadline = (id: string, days: number) =>
    dayIn(days).then((until) => ask('keep_until', { act: crypto.randomUUID(), application: id, until }))
  const { id } = occasion === 'accepted' ? { id: await store() } : await invite()
  if (occasion === '') {
    await ask('write_to', { act: crypto.randomUUID(), application: id, subject: 'Coming?', body })
  } else if (occasion === 'accepted') {
    await decide(id, 'accepted')
    await moveDeadline(id, 1)
  } else {
    await ask('set_template', { occasion, version: null, subject: 'Coming?', body })
    await ask('write', { applications: [id], occasion })
  }
  expect(await release(id)).toBe('released')
  await passDeadline(id)
  expect(await claimLetter(sql())).toBeUndefined()
  const [givenUp] = (await lettersOf(id)).filter(({ state }) => state !== 'sent')
  expect(givenUp).toMatchObject({ state: 'given up', answer: 'The last day to answer has passed.' })
  expect(await ask('retry', { letters: [givenUp?.id] })).toEqual({ retried: 0 })
  await moveDeadline(id, 2)
  expect(await ask('retry', { letters: [givenUp?.id] })).toEqual({ retried: 1 })
  await send()
})

test('an acceptance that did not arrive before its deadline is drafted again and sent with a later deadline', async () => {
  const id = await store()
  await decide(id, 'accepted')
  expect(await release(id)).toBe('released')
  expect(await record(sql(), await claimDue(), { outcome: 'refused', code: 550, reply: '550 no' })).toBe(
    'refused',
  )
  await passDeadline(id)
  await decide(id, 'new')
  await decide(id, 'accepted')
  expect(await release(id)).toBe('released')
  expect((await send()).body).toContain(`${site}/answer/#`)
  expect((await details(id)).application).toMatchObject({ kept_until: await dayIn(10) })
})

test('a reminder that does not quote the deadline is sent even after the deadline', async () => {
  const { id } = await invite()
  await passDeadline(id)
  await ask('remind')
  const draft = (await lettersOf(id)).find(({ state }) => state === 'draft')
  await ask('edit', {
    letter: draft?.id,
    seen: draft?.seen,
    subject: 'Still there?',
    body: 'Please call us.',
  })
  expect(await release(id)).toBe('released')
  expect(await send()).toMatchObject({ body: 'Please call us.' })
})

test('a reminder that is being sent when the RSVP arrives is not retried, and nothing is drafted', async () => {
  const { id, token } = await inviteAndRemind()
  // As if a letter without a template had told them of the acceptance.
  await sql()`
    update private.letters set template = null, subject = 'Welcome', body = 'You have a place.'
    where application_id = ${id} and template = 'accepted'`
  const claimed = await claimDue()
  await sendRsvp(token, 'coming')
  expect(await remindersOf(id)).toEqual(['sending'])
  expect(await record(sql(), claimed, deferred)).toBe('withdrawn')
  expect((await lettersOf(id)).map(({ state }) => state).toSorted()).toEqual(['sent', 'withdrawn'])
})

test('a reminder that a server claims at the moment of an RSVP is not reported as stopped', async () => {
  const { id, token } = await inviteAndRemind()
  const { answering } = await sql().begin(async (claiming) => {
    await claiming`
      select from private.deliveries as waiting, private.claim_one(waiting.id, '90 seconds')
      where waiting.kind = 'letter' and waiting.state = 'waiting'`
    const call = sendRsvp(token, 'coming')
    await expect
      .poll(
        () =>
          sql()`select from pg_stat_activity where wait_event_type = 'Lock' and query like '%answer_place%'`,
      )
      .toHaveLength(1)
    return { answering: call }
  })
  await answering
  expect(await remindersOf(id)).toEqual(['sending'])
  const [claimed] = await sql()<[{ id: string; attempt: number }]>`
    select id, attempts as attempt from private.deliveries where state = 'sending'`
  expect(await record(sql(), { ...claimed, age: 0 }, { outcome: 'sent', code: 250 })).toBe('sent')
  expect(await remindersOf(id)).toEqual(['sent'])
})

test('the numbers of places add up, and the waitlist begins with those who have waited longest', async () => {
  expect(await places()).toMatchObject({
    places: null,
    free: null,
    days: 10,
    zone: 'UTC',
    today: await dayIn(0),
  })
  const { version } = await places()
  expect(await ask('set_places', { version, places: 4, days: 7 })).toMatchObject({
    places: 4,
    free: 4,
    days: 7,
  })
  // A repeat succeeds. A change by somebody who saw an older version is refused.
  expect(await ask('set_places', { version, places: 4, days: 7 })).toMatchObject({ version: version + 1 })
  await expect(ask('set_places', { version, places: 5, days: 7 })).rejects.toMatchObject({ code: 'PT409' })
  const [coming, declining] = [await invite(), await invite(), await invite()]
  await sendRsvp(coming.token, 'coming')
  await sendRsvp(declining.token, 'not coming')
  await decide(await store(), 'accepted')
  const [first, second] = [await store(), await store()]
  await decide(second, 'waitlisted')
  await decide(first, 'waitlisted')
  const { waitlist, ...counts } = await places()
  expect(counts).toMatchObject({ coming: 1, not_coming: 1, no_answer: 1, late: 0, not_told: 1, free: 1 })
  expect(waitlist.map(({ id }) => id)).toEqual([second, first])
  await decide(first, 'accepted')
  await decide(second, 'accepted')
  expect(await places()).toMatchObject({ not_told: 3, free: -1, waitlisted: 0, waitlist: [] })
  const countListed = async (wanted: string) =>
    (await ask<{ applications: { id: string }[] }>('list', { filter: { answer: wanted } })).applications
      .length
  expect(
    await Promise.all(['coming', 'not coming', 'no answer', 'late', 'not told'].map(countListed)),
  ).toEqual([1, 1, 1, 0, 3])
})

test('a person who was accepted before there were invitations gets a link with their next letter', async () => {
  const [toldBefore, toldOfRejection, untold] = [await invite(), await invite(), await store()]
  await decide(untold, 'accepted')
  await decide(toldOfRejection.id, 'declined')
  await release(toldOfRejection.id)
  await send()
  // As in a restored backup from before there were invitations. The times of its decisions are in the history alone.
  await sql()`delete from private.invitations`
  await sql()`update private.statuses set set_at = now() + interval '1 day'`
  await sql().begin(inviteAccepted)
  expect(await places()).toMatchObject({ no_answer: 1, late: 0, not_told: 1, coming: 0 })
  expect((await details(toldBefore.id)).application).toMatchObject({
    answer_state: 'no answer',
    kept_until: null,
  })
  expect(await sql()`select from private.statuses where set_at > now()`).toHaveLength(0)
  expect(await ask<ReminderOutcome>('remind')).toMatchObject({ drafted: 1, late: 0 })
  expect(await release(toldBefore.id)).toBe('released')
  const token = tokenIn((await send()).body)
  expect(await visit('place_by_token', { token })).toMatchObject({ state: 'open', until: await dayIn(10) })
})

test('reminding reads only the letters that were not sent, however many were sent', async () => {
  const [{ id }, drafted, released] = [await invite(), await invite(), await invite()]
  await ask('write', { applications: [drafted.id, released.id], occasion: 'reminder' })
  expect(await release(released.id)).toBe('released')
  const others = Array.from({ length: 2000 }, (_, index) => ({
    ...anApplication({ email: `${index}@example.com` }),
  }))
  await sql()`
    with stored as (
      insert into public.retreat_applications ${valuesOf(others)} returning id
    ), letter as (
      insert into private.letters (application_id, template, state) select id, 'Travel', 'released' from stored
      returning id, application_id
    )
    insert into private.deliveries (kind, application_id, letter_id, state, subject, body, due_at, done_at)
      select 'letter', application_id, id, 'done', 'Hello', 'Hello', null, now() from letter`
  await sql()`vacuum analyze private.letters, private.deliveries`
  const read = await sql().begin(async (transaction) => {
    const countRowsRead = async () => {
      const [row] = await transaction<[{ count: number }]>`
        select sum(seq_tup_read + idx_tup_fetch)::integer as count from pg_stat_xact_user_tables
        where relname in ('letters', 'deliveries')`
      return row.count
    }
    const before = await countRowsRead()
    const [found] = await transaction<[{ wanted: string[] }]>`
      select wanted from private.to_remind('reminder', 1, private.today())`
    expect(found.wanted).toEqual([id])
    return (await countRowsRead()) - before
  })
  // The draft, and the delivery and the letter of the released reminder.
  expect(read).toBe(3)
})

test("a letter for an organiser's own mail program contains the link, and the history records that the organiser got it", async () => {
  const id = await store()
  await decide(id, 'accepted')
  await sql()`update private.places set site = '', zone = null`
  const [draft] = await lettersOf(id)
  const given = {
    letter: draft?.id,
    seen: draft?.seen,
    site: 'https://desk.example',
    zone: 'Pacific/Auckland',
  }
  const act = crypto.randomUUID()
  const handed = await ask<{ body: string }>('hand_over', { ...given, act })
  expect(handed.body).toContain('https://desk.example/answer/#')
  expect(await ask('hand_over', { ...given, act })).toEqual(handed)
  expect((await details(id)).history).toMatchObject([{ kind: 'status' }, { kind: 'link', author: me }])
  expect(await places()).toMatchObject({ zone: 'Pacific/Auckland', not_told: 1 })
  expect(await visit('place_by_token', { token: tokenIn(handed.body) })).toMatchObject({ state: 'open' })
  await ask('sent_by_hand', { letter: draft?.id, seen: draft?.seen })
  expect(await places()).toMatchObject({ not_told: 0, no_answer: 1 })
  expect(JSON.stringify(await lettersOf(id))).not.toContain(tokenIn(handed.body))
  for (const wrong of ['javascript:alert(1)', 'https://desk.example/ x', 'https://desk.example/']) {
    await expect(ask('hand_over', { ...given, act, site: wrong })).rejects.toMatchObject({ code: '22023' })
  }
})

// break: rsvp-changed-without-limit
test('an RSVP is changed at most twenty times an hour', async () => {
  const { token } = await invite()
  for (let time = 0; time < 20; time += 1) await sendRsvp(token, time % 2 === 0 ? 'coming' : 'not coming')
  await expect(sendRsvp(token, 'coming')).rejects.toMatchObject({ code: 'PT429' })
  expect(await visit('place_by_token', { token })).toMatchObject({ answer: 'not coming' })
})

test('organisers set the time zone of deadlines; reading the places never sets one', async () => {
  await sql()`update private.places set zone = null`
  // Older desks send a time zone.
  expect(await ask<Places>('places', { zone: 'Europe/Berlin' })).toMatchObject({
    zone: 'UTC',
    is_zone_set: false,
  })
  const { version, days } = await places()
  const set = (zone: string | null | undefined, shownVersion = version) =>
    ask<Places>('set_places', { version: shownVersion, places: null, days, zone })
  await expect(set('Nowhere/None')).rejects.toMatchObject({
    code: '22023',
    message: 'There is no time zone "Nowhere/None".',
  })
  const saved = { version: version + 1, zone: 'Pacific/Kiritimati', is_zone_set: true }
  expect(await set('Pacific/Kiritimati')).toMatchObject(saved)
  // A repeat succeeds. A change by somebody who saw an older version is refused.
  expect(await set('Pacific/Kiritimati')).toMatchObject(saved)
  await expect(set('Europe/Berlin')).rejects.toMatchObject({ code: 'PT409' })
  const [row] = await sql()<[{ is_equal: boolean }]>`
    select private.today() = (now() at time zone 'Pacific/Kiritimati')::date as is_equal`
  expect(row.is_equal).toBe(true)
  // Older desks send no time zone.
  expect(await ask('set_places', { version: version + 1, places: 4, days })).toMatchObject({
    places: 4,
    zone: 'Pacific/Kiritimati',
  })
  const { happenings } = await ask<HistoryPage>('history')
  expect(happenings.slice(0, 2)).toMatchObject([
    { kind: 'places', detail: { places: 4, days } },
    { kind: 'places', detail: { places: null, days, zone: 'Pacific/Kiritimati' } },
  ])
  expect(happenings[0]?.detail).not.toHaveProperty('zone')
})

test('a server stores the time zone of its machine if PostgreSQL knows that zone and none is set', async () => {
  const setSite = (zone: string) => sql()`select private.know_site('', '', ${zone})`
  await sql()`update private.places set zone = null`
  await setSite('Nowhere/None')
  expect(await places()).toMatchObject({ zone: 'UTC', is_zone_set: false })
  await setSite('Europe/Berlin')
  expect(await places()).toMatchObject({ zone: 'Europe/Berlin', is_zone_set: true })
  await setSite('Pacific/Kiritimati')
  expect(await places()).toMatchObject({ zone: 'Europe/Berlin' })
})

test("a letter with a deadline is not handed to an organiser's mail program until a time zone is set", async () => {
  const id = await store()
  await decide(id, 'accepted')
  await sql()`update private.places set site = '', zone = null`
  const [draft] = await lettersOf(id)
  const handOver = (given: object = {}) =>
    ask<{ body: string }>('hand_over', {
      act: crypto.randomUUID(),
      letter: draft?.id,
      seen: draft?.seen,
      site: 'https://desk.example',
      ...given,
    })
  const refusal = {
    code: '22023',
    message: 'This letter has a deadline: first save the time zone under Places.',
  }
  await expect(handOver()).rejects.toMatchObject(refusal)
  await expect(handOver({ zone: 'Nowhere/None' })).rejects.toMatchObject(refusal)
  expect((await details(id)).history).toMatchObject([{ kind: 'status' }])
  expect((await details(id)).application).toMatchObject({ kept_until: null })
  const { version } = await places()
  await ask('set_places', { version, places: null, days: 10, zone: 'Pacific/Kiritimati' })
  expect((await handOver()).body).toContain('https://desk.example/answer/#')
  expect((await details(id)).application).toMatchObject({ kept_until: await dayIn(10) })
})

/** A person, and what the test knows about them without asking the database. */
interface Guest {
  id: string
  status: string
  isTold: boolean
  answer: string | null
  isLate: boolean
  /** The tokens of the links that they were sent, the newest last. */
  links: string[]
  /** Whether they have no valid link: none was sent, or another decision was sent after the newest. */
  hasNoLink: boolean
}

interface Retreat {
  guests: Guest[]
  /** The number of places, if it is set. */
  total: number | null
}

const guestCount = 3
const anyGuest = fc.nat(guestCount - 1)
const guestOf = ({ guests }: Readonly<Retreat>, index: number) => {
  const guest = guests[index]
  if (guest === undefined) throw new Error('There are three guests.')
  return guest
}
const isInvited = (retreat: Readonly<Retreat>, [index]: [number]) => {
  const { isTold, status } = guestOf(retreat, index)
  return isTold && status === 'accepted'
}

/** Hands over everything that is due, and notes what each person is told. */
async function deliverTo({ guests }: Retreat) {
  for (;;) {
    await sql()`update private.postman set next_at = '-infinity'`
    const claim = await claimLetter(sql())
    if (claim === undefined) return
    await record(sql(), claim, { outcome: 'sent', code: 250 })
    const [letter] = await sql()<[{ application: string }]>`
      select application_id as application from private.deliveries where id = ${claim.id}`
    const guest = guests.find(({ id }) => id === letter.application)
    if (guest === undefined) throw new Error('a letter to nobody')
    const token = tokenIn(claim.body)
    // A valid link is repeated in every letter. After an invalid one, the link is new.
    const isExpected = guest.hasNoLink ? !guest.links.includes(token) : token === guest.links.at(-1)
    expect(token === '' || isExpected).toBe(true)
    if (token !== '') {
      if (guest.hasNoLink) guest.links.push(token)
      guest.hasNoLink = false
      guest.isTold = true
    } else {
      // The letter tells them that they are not accepted.
      Object.assign(guest, { isTold: false, answer: null, isLate: false, hasNoLink: true })
    }
  }
}

const retreatActs = {
  decide: actOf(
    'decide',
    [anyGuest, fc.constantFrom('accepted', 'shortlisted', 'accepted', 'waitlisted', 'declined')],
    {
      async do(retreat: Retreat, [index, status]) {
        const guest = guestOf(retreat, index)
        guest.status = status
        await decide(guest.id, status)
      },
    },
  ),
  send: actOf('send', [fc.shuffledSubarray([0, 1, 2])], {
    can: ({ guests }: Readonly<Retreat>) => guests.some(({ status }) => status !== 'new'),
    async do(retreat, [released]) {
      await sql()`update private.postman set seen_at = now()`
      for (const index of released) await release(guestOf(retreat, index).id, true)
      await deliverTo(retreat)
    },
  }),
  answer: actOf('answer', [anyGuest, fc.nat(3), fc.constantFrom('coming', 'not coming')], {
    can: (retreat: Readonly<Retreat>, [index]) => guestOf(retreat, index).links.length > 0,
    async do(retreat, [index, linkAge, given]) {
      const guest = guestOf(retreat, index)
      const token = guest.links[Math.max(guest.links.length - 1 - linkAge, 0)] ?? ''
      const isValid = guest.status === 'accepted' && !guest.hasNoLink && token === guest.links.at(-1)
      const response = await sendRsvp(token, given)
      expect(response).toMatchObject({ state: isValid ? (guest.isLate ? 'over' : 'open') : 'invalid' })
      if (isValid && !guest.isLate) guest.answer = given
    },
  }),
  recordRsvp: actOf('recordRsvp', [anyGuest, fc.constantFrom('coming', 'not coming', null)], {
    can: (retreat: Readonly<Retreat>, [index]) => guestOf(retreat, index).status === 'accepted',
    async do(retreat, [index, given]) {
      const guest = guestOf(retreat, index)
      guest.answer = given
      await ask('set_answer', { act: crypto.randomUUID(), application: guest.id, answer: given })
    },
  }),
  remind: actOf('remind', [], {
    can: ({ guests }: Readonly<Retreat>) => guests.some(({ isTold }) => isTold),
    async do() {
      await ask('remind')
      await passThreeDays()
    },
  }),
  passDays: actOf('passDays', [anyGuest], {
    can: isInvited,
    async do(retreat: Retreat, [index]) {
      const guest = guestOf(retreat, index)
      guest.isLate = true
      await passDeadline(guest.id)
    },
  }),
  moveDeadline: actOf('moveDeadline', [anyGuest], {
    can: isInvited,
    async do(retreat: Retreat, [index]) {
      const guest = guestOf(retreat, index)
      guest.isLate = false
      await ask('keep_until', { act: crypto.randomUUID(), application: guest.id, until: await dayIn(2) })
    },
  }),
  setPlaces: actOf('setPlaces', [fc.constantFrom(null, 0, 2, 3)], {
    async do(retreat: Retreat, [total]) {
      retreat.total = total
      await ask('set_places', { version: (await places()).version, places: total, days: 10 })
    },
  }),
}
const { decide: decides, answer: answers } = retreatActs

/** Checks that the sums of the desk match the guests. */
async function checkSums({ guests, total }: Retreat) {
  const accepted = guests.filter(({ status }) => status === 'accepted')
  const count = (predicate: (guest: Guest) => boolean) => accepted.filter(predicate).length
  const isAwaited = (guest: Guest) => guest.answer === null && guest.isTold
  const expected = {
    coming: count((guest) => guest.answer === 'coming'),
    not_coming: count((guest) => guest.answer === 'not coming'),
    no_answer: count(isAwaited),
    late: count((guest) => isAwaited(guest) && guest.isLate),
    not_told: count((guest) => guest.answer === null && !guest.isTold),
  }
  const free = total === null ? null : total - (accepted.length - expected.not_coming)
  expect(await places()).toMatchObject({ ...expected, free, places: total })
}

const retreats = extent({ quick: 3, long: 40 })

test(`after random decisions, letters, RSVPs, reminders and places in ${retreats} retreats the sums are right`, async () => {
  const done = await playRandomActs({
    // Frequent acts are listed several times.
    acts: [...Object.values(retreatActs), decides, answers, answers],
    sequences: retreats,
    maxActs: 140,
    timeLimit: 200_000,
    async begin() {
      await resetRetreat()
      const guests = await Promise.all(
        Array.from({ length: guestCount }, async (): Promise<Guest> => {
          const id = await store()
          return { id, status: 'new', isTold: false, answer: null, isLate: false, links: [], hasNoLink: true }
        }),
      )
      return { guests, total: null }
    },
    afterEach: checkSums,
  })
  expect(done).toBeGreaterThan(30 * retreats)
})
