import type { SupabaseClient } from '@supabase/supabase-js'
import { beforeAll, beforeEach, expect, test } from 'vitest'

import { askDesk } from '../../support/ask-desk.ts'
import { storeAcceptedApplicant } from '../../support/accepted.ts'
import { atTestEnd } from '../../support/cleanup.ts'
import { anApplication } from '../../support/form.ts'
import { startRepeating } from '../../support/load.ts'
import { resetDatabase } from '../../support/reset.ts'
import { startSignIn, type SignInServer } from '../../support/sign-in-server.ts'
import { valuesOf } from '../../support/sql.ts'
import { isDuplicate, type Application } from '../../../src/application/application.ts'
import type { PageSettings } from '../../../src/client/desk/page.ts'
import type { ApplicationDetails, ListPage, Overview } from '../../../src/client/desk/applications.ts'

let server: SignInServer
let client: SupabaseClient
let me: string

beforeAll(async () => {
  server = await startSignIn()
  ;({ client, email: me } = await server.signedIn())
})

const sql = () => server.database.owner

beforeEach(() => resetDatabase(sql()))

const ask = <Result>(name: string, args: object = {}) => askDesk<Result>(client, name, args)

// The parts that a new retreat copies from the one before.
const nothing = { templates: false, questions: false, places: false }
const everything = { templates: true, questions: true, places: true }

interface Edition {
  id: number
  name: string
  began_at: string | null
}
interface Shown {
  edition: number
  editions: Edition[]
  places: number | null
  days: number
  free: number | null
  coming: number
  no_answer: number
  waitlisted: number
  questions: { questions: number }
}
/** Begins a retreat. `newest`: the newest edition that the organiser has seen. */
const begin = (newest: number, changes: object = {}) =>
  ask<Shown>('begin_edition', {
    act: crypto.randomUUID(),
    newest,
    name: `Retreat ${newest + 1}`,
    starts_on: null,
    ends_on: null,
    copied: nothing,
    ...changes,
  })

/** Applies as the page does. */
async function apply(changes: Partial<Application> = {}) {
  const application = anApplication({ email: `${crypto.randomUUID()}@example.com`, ...changes })
  const { error } = await server.client().from('retreat_applications').insert(application)
  return { application, error }
}
const send = async (application: Application) => {
  const { error } = await server.client().from('retreat_applications').insert(application)
  return error === null ? 'stored' : isDuplicate(error) ? 'repeat' : error.message
}
const listOf = async (filter: object) =>
  (await ask<ListPage>('list', { filter, after: null })).applications.map(({ email }) => email)
const editionOf = async ({ email }: Application) => {
  const rows = await sql()<{ edition: number }[]>`
    select edition from public.retreat_applications where email = ${email} order by 1`
  return rows.map(({ edition }) => edition)
}
/** Lets the hour pass in which an application to the former retreat counts as a repeat. */
const passAnHour = () => sql()`update private.door set repeats_until = repeats_until - interval '1 hour'`

test('a retreat begins at once, and applications belong to it from then on', async () => {
  const { application: first } = await apply()
  expect(await ask('places')).toMatchObject({ edition: 1, editions: [{ id: 1, name: '', began_at: null }] })
  const shown = await begin(1, { name: ' Spring 2028 ', starts_on: '2028-04-07', ends_on: '2028-04-10' })
  expect(shown).toMatchObject({
    edition: 2,
    editions: [{ id: 2, name: 'Spring 2028', starts_on: '2028-04-07', ends_on: '2028-04-10' }, { id: 1 }],
  })
  const { application: second } = await apply()
  expect(await editionOf(first)).toEqual([1])
  expect(await editionOf(second)).toEqual([2])
  const { happenings } = await ask<{ happenings: object[] }>('history', { after: null })
  expect(happenings[0]).toMatchObject({
    kind: 'edition',
    author: me,
    detail: { edition: 2, name: 'Spring 2028' },
  })
})

// break: repeat-stored-twice-after-begin
test('an application that is sent again after a lost response counts as a repeat for an hour, and later as a new one', async () => {
  const { application } = await apply()
  await begin(1)
  expect(await send(application)).toBe('repeat')
  expect(await send({ ...application, reason: `${application.reason} Again.` })).toBe('stored')
  // A repeat is a success even when the door is closed.
  await sql()`update private.door set closed = true`
  expect(await send(application)).toBe('repeat')
  await sql()`update private.door set closed = false`
  await passAnHour()
  expect(await send(application)).toBe('stored')
  expect(await send(application)).toBe('repeat')
  expect(await editionOf(application)).toEqual([1, 2, 2])
})

test('an application is not stored again after two retreats began within the hour, but after the clock was set back', async () => {
  const { application } = await apply()
  await begin(1)
  await begin(2)
  expect(await send(application)).toBe('repeat')
  // The first retreat ended more than an hour ago.
  await sql()`update private.editions set began_at = began_at - interval '1 hour' where id = 2`
  expect(await send(application)).toBe('stored')
  expect(await send(application)).toBe('repeat')
  const { application: next } = await apply()
  await begin(3)
  // The clock was a day ahead when the retreat began.
  await sql()`update private.door set repeats_until = repeats_until + interval '1 day'`
  expect(await send(next)).toBe('stored')
})

test('lists, searches, counts, charts, exported tables and the next application are those of one retreat', async () => {
  const { application: first } = await apply({ reason: 'Silence', team_size: '1-3' })
  await begin(1)
  const { application: second } = await apply({ reason: 'Silence', team_size: '10+' })
  for (const [edition, email] of [
    [1, first.email],
    [2, second.email],
    [undefined, second.email],
  ] as const) {
    const filter = edition === undefined ? {} : { edition }
    expect(await listOf(filter)).toEqual([email])
    for (const more of [
      { search: 'silence' },
      { status: 'new' },
      { order: 'oldest' },
      { order: 'most yes' },
      { order: 'shuffled' },
    ])
      expect(await listOf({ ...filter, ...more })).toEqual([email])
    const { overview } = await ask<{ overview: Overview }>('refresh', {
      filter,
      zone: 'UTC',
      shown: [],
      oldest: null,
    })
    expect(overview).toMatchObject({ count: 1, counts: { all: { count: 1 }, new: { count: 1 } } })
    expect(Object.keys(overview.team_size)).toEqual([edition === 1 ? '1-3' : '10+'])
    const table = await ask<{ applications: { email: string }[] }>('export', { filter, after: null })
    expect(table.applications.map((row) => row.email)).toEqual([email])
  }
  const [{ id }] = await sql()<[{ id: string }]>`select id from public.retreat_applications where edition = 1`
  const opened = await ask<ApplicationDetails & { edition: number; place: object }>('application', {
    application: id,
    filter: { edition: 1 },
  })
  expect(opened).toMatchObject({ edition: 1, place: { number: 1, count: 1, next: null, previous: null } })
  await expect(listOf({ edition: 3 })).rejects.toMatchObject({
    code: '22023',
    message: 'There is no such retreat.',
  })
})

test('a list that is read while a retreat begins stays that of the retreat it began with', async () => {
  const first = [await apply(), await apply(), await apply()]
  let sent = new Set(first.map(({ application }): string | undefined => application.email))
  for (const order of ['newest', 'oldest', 'most yes', 'shuffled']) {
    const filter = { order }
    const page = await ask<ListPage>('list', { filter, after: null, most: 1 })
    const { editions } = await ask<Shown>('places')
    await begin(editions[0]?.id ?? 0)
    await apply()
    const rest = await ask<ListPage>('list', { filter, after: page.next })
    const emails = [...page.applications, ...rest.applications].map(({ email }) => email)
    expect([order, emails.length, new Set(emails)]).toEqual([order, 3, sent])
    sent = new Set(await listOf({ order }))
    for (let count = 0; count < 2; count += 1) sent.add((await apply()).application.email)
  }
})

test('decisions, RSVPs, places and the waitlist are those of one retreat', async () => {
  await sql()`update private.places set places = 40, days = 7`
  const invited = await storeAcceptedApplicant(sql(), { email: 'first@example.com' })
  await server
    .client()
    .rpc('answer_place', { token: invited.token, answer: 'coming', act: crypto.randomUUID() })
  const { application } = await apply()
  await sql()`
    insert into private.statuses (application_id, created_at, status, version)
    select id, created_at, 'waitlisted', 1 from public.retreat_applications where email = ${application.email}`
  expect(await begin(1)).toMatchObject({ places: null, days: 10, coming: 0, waitlisted: 0, free: null })
  await storeAcceptedApplicant(sql(), { email: 'second@example.com' })
  expect(await ask('places')).toMatchObject({
    edition: 2,
    coming: 0,
    no_answer: 1,
    waitlisted: 0,
    waitlist: [],
  })
  expect(await ask('places', { edition: 1 })).toMatchObject({
    edition: 1,
    places: 40,
    free: 39,
    coming: 1,
    no_answer: 0,
    waitlisted: 1,
    waitlist: [{ email: application.email }],
  })
  // The counts of statuses are those of one retreat too.
  const counts = async (filter: object) =>
    (await ask<{ overview: Overview }>('refresh', { filter, zone: 'UTC', shown: [], oldest: null })).overview
      .counts
  expect(await counts({})).toMatchObject({
    accepted: { count: 1 },
    waitlisted: { count: 0 },
    all: { count: 1 },
  })
  expect(await counts({ edition: 1 })).toMatchObject({
    accepted: { count: 1 },
    waitlisted: { count: 1 },
    all: { count: 2 },
  })
  // The link of the earlier retreat still works, and its people are reminded apart from the others.
  const link = { token: invited.token, answer: 'not coming', act: crypto.randomUUID() }
  expect((await server.client().rpc('answer_place', link)).data).toMatchObject({ answer: 'not coming' })
  await storeAcceptedApplicant(sql(), { email: 'third@example.com' })
  expect(await ask('remind', { act: crypto.randomUUID(), edition: 1 })).toMatchObject({ drafted: 0 })
  expect(await ask('remind', { act: crypto.randomUUID() })).toMatchObject({ drafted: 2 })
})

test('an application shows whether the person applied to an earlier retreat, and whether they applied to this one twice', async () => {
  const email = 'ada@example.com'
  await apply({ email })
  await begin(1)
  await apply({ email: 'ADA@example.com ', reason: 'Next year' })
  const rows = () =>
    ask<ListPage>('list', { filter: {}, after: null }).then(({ applications }) => applications)
  expect(await rows()).toMatchObject([{ same_email: false, applied_before: true }])
  const [row] = await rows()
  const { others } = await ask<ApplicationDetails>('application', { application: row?.id, filter: {} })
  expect(others).toMatchObject([{ edition: 1, status: 'new' }])
  await apply({ email, reason: 'And once more' })
  expect(await rows()).toMatchObject([
    { same_email: true, applied_before: true },
    { same_email: true, applied_before: true },
  ])
  expect(await ask<ListPage>('list', { filter: { edition: 1 }, after: null })).toMatchObject({
    applications: [{ same_email: false, applied_before: false }],
  })
  await ask('set_blind', { blind: true })
  expect(await rows()).toMatchObject([{ applied_before: false }, { applied_before: false }])
})

test('questions and places are copied if an organiser ticks them, and answers are never copied', async () => {
  await ask('set_places', { version: 0, places: 40, days: 7, zone: 'UTC' })
  const question = {
    kind: 'choice',
    text: 'Diet?',
    choices: ['All', 'Vegan'],
    is_required: true,
    is_private: true,
  }
  await ask('set_questions', { version: 0, questions: [question], until: '2027-03-01', private_days: 14 })
  expect(await begin(1, { copied: everything })).toMatchObject({
    places: 40,
    days: 7,
    questions: { questions: 1 },
  })
  // The number that somebody was typing is that of the former retreat.
  await expect(ask('set_places', { version: 1, places: 25, days: 7, zone: 'UTC' })).rejects.toMatchObject({
    code: 'PT409',
  })
  expect(await ask('questions')).toMatchObject({
    version: 0,
    until: null,
    private_days: 14,
    questions: [{ ...question, answers: 0 }],
  })
  expect(await ask('questions', { edition: 1 })).toMatchObject({ until: '2027-03-01', questions: [question] })
  expect(await begin(2)).toMatchObject({ questions: { questions: 0 } })
})

test('the page no longer says when people heard back from the former retreat, keeps its other words, and the desk has the former text', async () => {
  await sql()`update private.page set title = 'Slow', cost = 'Free', hear_back = 'By 15 March', version = 4`
  await begin(1)
  const { version, texts, history } = await ask<PageSettings>('page')
  expect({ version, texts }).toMatchObject({
    version: 5,
    texts: { title: 'Slow', cost: 'Free', hear_back: '' },
  })
  const change = { author: me, kind: 'page', detail: { hear_back: 'By 15 March' } }
  expect(history).toMatchObject([change])
  // Nothing to remove is no change.
  await begin(2)
  expect(await ask('page')).toMatchObject({ version: 5, history })
})

test('templates that are not copied get the texts of a new database, and drafts keep the texts that they had', async () => {
  const idOf = async ({ application: { email } }: Awaited<ReturnType<typeof apply>>) => {
    const [{ id }] = await sql()<[{ id: string }]>`
      select id from public.retreat_applications where email = ${email}`
    return id
  }
  const [id, blank] = [
    await idOf(await apply({ custom_solution: 'a cabin' })),
    await idOf(await apply({ custom_solution: '' })),
  ]
  const body = 'Come, {{first_name}}, to {{custom_solution}}, until {{reply_by}}.'
  const first = await sql()`select name, subject, body from private.templates order by name`
  await ask('set_template', { occasion: 'accepted', version: 0, subject: 'Yes!', body })
  await ask('set_template', { occasion: 'Travel', version: null, subject: 'How', body: 'By train.' })
  const decisions = [id, blank].map((each) => ({ id: each, status: 'accepted', version: 0 }))
  await ask('decide', { act: crypto.randomUUID(), decisions })
  await begin(1, { copied: { ...nothing, templates: true } })
  expect(await sql()`select from private.templates where body in (${body}, 'By train.')`).toHaveLength(2)
  await begin(2)
  expect(await sql()`select name, subject, body from private.templates order by name`).toEqual(first)
  expect(await ask('letters_of', { applications: [id] })).toMatchObject([
    { occasion: 'accepted', body: 'Come, Ada, to a cabin, until {{reply_by}}.', unknown: [] },
  ])
  // It could not be sent before, and cannot be sent now.
  const [letter] = await ask<{ id: string; seen: string }[]>('letters_of', { applications: [blank] })
  expect(letter).toMatchObject({
    body: expect.stringContaining('{{custom_solution}}') as string,
    unknown: ['{{'],
  })
  await sql()`update private.postman set seen_at = now()`
  const letters = [{ id: letter?.id, seen: letter?.seen }]
  expect(await ask('release', { act: crypto.randomUUID(), letters })).toMatchObject([{ outcome: 'missing' }])
})

/** Stores applicants, with the draft of a decision for each. Returns their ids. */
async function storeDecided(count: number) {
  const rows = await sql()<{ id: string }[]>`
    insert into public.retreat_applications ${valuesOf(Array.from({ length: count }, () => ({ ...anApplication() })))}
    returning id`
  const decisions = rows.map(({ id }) => ({ id, status: 'accepted', version: 0 }))
  await ask('decide', { act: crypto.randomUUID(), decisions })
  return rows.map(({ id }) => id)
}

// break: drafts-filled-behind-lock
test('drafts are filled in before the applications are locked, except those that appear meanwhile', async () => {
  const [late, ...others] = await storeDecided(5)
  await sql()`delete from private.letters where application_id = ${late ?? ''}`
  // Counts the texts that are filled in before and under the lock. The first one is filled in when another draft appears.
  await sql().unsafe(`
    create sequence private.before_lock; create sequence private.under_lock;
    grant usage on sequence private.before_lock, private.under_lock to public;
    alter function private.filled rename to original_filled;
    create function private.filled(
      subject text, body text, application public.retreat_applications, blind boolean, invitation_values jsonb default null
    ) returns jsonb language plpgsql as $$
    begin
      perform nextval(case when exists (
        select from pg_locks where pid = pg_backend_pid() and mode = 'AccessExclusiveLock'
          and relation = 'public.retreat_applications'::regclass
      ) then 'private.under_lock' else 'private.before_lock' end);
      insert into private.letters (application_id, template) values ('${late}', 'accepted') on conflict do nothing;
      return private.original_filled(subject, body, application, blind, invitation_values);
    end $$`)
  atTestEnd(() =>
    sql().unsafe(`
      drop function private.filled; alter function private.original_filled rename to filled;
      drop sequence private.before_lock, private.under_lock`),
  )
  await begin(1)
  const [counts] = await sql()`
    select before.last_value::integer as before, under.last_value::integer as under
    from private.before_lock as before, private.under_lock as under`
  expect(counts).toEqual({ before: others.length, under: 1 })
  expect(await sql()`select from private.letters where body like '%Ada%' and version = 1`).toHaveLength(5)
  // The time of a statement ends before all are filled in.
  await sql().unsafe(`
    update private.letters set subject = null, body = null;
    create or replace function private.filled(
      subject text, body text, application public.retreat_applications, blind boolean, invitation_values jsonb default null
    ) returns jsonb language plpgsql as 'begin raise query_canceled; end'`)
  await expect(begin(2)).rejects.toMatchObject({
    code: '22023',
    message: 'There are too many drafts to keep their texts. Send or drop some, or copy the templates.',
  })
  expect(await begin(2, { copied: everything })).toMatchObject({ edition: 3 })
})

test('letters that are stopped after a retreat began become drafts with the text that would have been sent', async () => {
  await ask('set_template', {
    occasion: 'accepted',
    version: 0,
    subject: 'Come',
    body: 'Hello {{first_name}}.\n\n{{answer_link}}',
  })
  const applications = await storeDecided(2)
  for (const occasion of ['Travel', 'Parking'])
    await ask('set_template', { occasion, version: null, subject: occasion, body: 'By train.' })
  await ask('write', { act: crypto.randomUUID(), applications, occasion: 'Travel', again: false })
  await sql()`update private.postman set seen_at = now()`
  const drafts = await ask<{ id: string; seen: string; occasion: string }[]>('letters_of', { applications })
  const letters = drafts.map(({ id, seen }) => ({ id, seen }))
  const act = crypto.randomUUID()
  await ask('release', { act, letters, number: 4, again: false })
  await begin(1)
  expect(await ask('withdraw', { act })).toEqual({ withdrawn: 2, left: 0 })
  const stopped = await sql()`
    select state, subject, body from private.letters order by template = 'Travel'`
  const decision = { state: 'draft', subject: 'Come', body: 'Hello Ada.\n\n{{answer_link}}' }
  const own = { state: 'draft', subject: 'Travel', body: 'By train.' }
  expect(stopped).toEqual([decision, decision, own, own])
  expect(
    await sql()`select name from private.templates where name not in (select name from private.first_templates())`,
  ).toEqual([{ name: 'Travel' }])
})

test('if a retreat is begun twice at the same time, only one begins, and a repeat begins no second one; an invalid name or day is refused', async () => {
  const args = { act: crypto.randomUUID() }
  const results = await Promise.allSettled([begin(1, args), begin(1), begin(1, args)])
  expect(results.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(0)
  const refusals = results.filter((result) => result.status === 'rejected')
  for (const { reason } of refusals)
    expect(reason).toMatchObject({ message: 'Somebody else has begun a retreat meanwhile.' })
  expect(await sql()`select id from private.editions order by id`).toEqual([{ id: 1 }, { id: 2 }])
  for (const name of ['', ' ', 'x'.repeat(101), 'a\nb'])
    await expect(begin(2, { name })).rejects.toMatchObject({ code: '22023' })
  await expect(begin(2, { starts_on: '2028-04-07' })).rejects.toMatchObject({ code: '22023' })
  // The id stands for all that the first call was given.
  const third = { act: crypto.randomUUID(), starts_on: '2028-04-07', ends_on: '2028-04-09' }
  expect(await begin(2, third)).toMatchObject({ edition: 3 })
  expect(await begin(2, third)).toMatchObject({ edition: 3 })
  await expect(begin(2, { ...third, copied: everything })).rejects.toMatchObject({ code: 'PT409' })
})

test('when a retreat begins, the door keeps its limit, and counts only applications to the new retreat', async () => {
  await apply()
  const door = await ask<{ version: number }>('door')
  await ask('set_door', {
    version: door.version,
    closed: false,
    sentence: 'Full.',
    closes_at: null,
    closes_after: 2,
  })
  await begin(1)
  expect(await ask('door')).toMatchObject({ is_open: true, received: 0, closes_after: 2 })
  expect((await apply()).error).toBeNull()
  expect((await apply()).error).toBeNull()
  expect((await apply()).error?.message).toBe('Full.')
  // A door that its limit has closed stays closed, and this counts as a change.
  const closed = await ask<{ version: number }>('door')
  await begin(2)
  const after = await ask<{ version: number }>('door')
  expect(after).toMatchObject({ is_open: false, closed: true, received: 0, closes_after: 2 })
  expect(after.version).toBeGreaterThan(closed.version)
  expect((await apply()).error?.message).toBe('Full.')
})

test('a question of an earlier retreat cannot become one of the newest', async () => {
  const question = {
    id: crypto.randomUUID(),
    kind: 'short',
    text: 'When?',
    is_required: true,
    is_private: false,
  }
  const save = (edition: number, version: number) =>
    ask('set_questions', { version, questions: [question], until: null, private_days: null, edition })
  expect(await save(1, 0)).toMatchObject({ edition: 1, version: 1 })
  await begin(1)
  await expect(save(2, 0)).rejects.toMatchObject({ message: 'This question belongs to another retreat.' })
})

test('applications that are sent while a retreat begins are each stored once', async () => {
  const sent: Application[] = []
  const outcomes: string[] = []
  const applicant = async () => {
    const application = anApplication({ email: `${crypto.randomUUID()}@example.com` })
    sent.push(application)
    outcomes.push(await send(application))
  }
  const applicants = startRepeating([applicant, applicant, applicant, applicant])
  await applicants.waitUntil(() => sent.length > 20)
  await begin(1)
  const before = sent.length
  await applicants.waitUntil(() => sent.length > before + 20)
  await applicants.end()
  // Everybody sends once more, as after a lost response.
  for (const application of sent) expect(await send(application)).toBe('repeat')
  expect(new Set(outcomes)).toEqual(new Set(['stored']))
  const rows = await sql()<{ email: string }[]>`select email from public.retreat_applications`
  expect(rows.map(({ email }) => email).toSorted()).toEqual(sent.map(({ email }) => email).toSorted())
})
