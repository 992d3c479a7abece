import type { SupabaseClient } from '@supabase/supabase-js'
import { beforeAll, beforeEach, expect, test } from 'vitest'

import { askDesk } from '../../support/ask-desk.ts'
import { storeAcceptedApplicant, type AcceptedApplicant } from '../../support/accepted.ts'
import { setRetreat } from '../../support/calendars.ts'
import { claimLetter } from '../../support/claimed-emails.ts'
import { resetDatabase } from '../../support/reset.ts'
import { startSignIn, type SignInServer } from '../../support/sign-in-server.ts'

let server: SignInServer
let client: SupabaseClient
let blind: SupabaseClient
let blindEmail: string
let me: string

beforeAll(async () => {
  server = await startSignIn()
  ;({ client, email: me } = await server.signedIn())
  ;({ client: blind, email: blindEmail } = await server.signedIn())
})

const sql = () => server.database.owner

beforeEach(async () => {
  await resetDatabase(sql())
  await sql()`
    update private.organisers set blind = true from auth.users where account_id = id and email = ${blindEmail}`
  await sql()`update private.places set site = 'https://unplugged.example', zone = 'UTC'`
  await sql()`update private.letter_settings set hold = '0'`
  await sql()`update private.postman set seen_at = now()`
})

/** A question as an organiser writes it. */
interface Question {
  id: string
  kind: string
  text: string
  choices: string[]
  is_required: boolean
  is_private: boolean
}
const question = (text: string, changes: Partial<Question> = {}): Question => ({
  id: crypto.randomUUID(),
  kind: 'short',
  text,
  choices: [],
  is_required: false,
  is_private: false,
  ...changes,
})

const arrival = question('When do you arrive?', { is_required: true })
const diet = question('What do you eat?', { kind: 'choice', choices: ['All', 'No meat', 'Vegan'] })
const car = question('Do you come by car?', { kind: 'yes-no' })
const more = question('What else?', { kind: 'long' })
const allergies = question('Allergies?', { is_private: true })
const all = [arrival, diet, car, more, allergies]

/** The questions as the page of a link shows them. */
interface Asked {
  until: string | null
  is_open: boolean
  private_days: number | null
  list: (Question & { is_answered: boolean; answer: string | null })[]
}
/** The response to the page of a link. */
interface Seen {
  state: string
  answer?: string | null
  questions?: Asked | null
}

const ask = <Result>(name: string, args: object = {}, caller = client) => askDesk<Result>(caller, name, args)

/** The questions as the desk shows them. `answers`: how many guests have answered. */
interface Listed {
  version: number
  due: number
  erased_on: string | null
  closes_on: string | null
  questions: (Question & { answers: number })[]
}
const listQuestions = () => ask<Listed>('questions')
const setQuestions = (questions: object[], changes: object = {}, version = 0) =>
  ask<Listed>('set_questions', { version, questions, until: null, private_days: 30, ...changes })

/** Calls as the holder of a link, with only the public key. */
async function visit(name: string, args: object): Promise<Seen> {
  const { data, error } = await server.client().rpc(name, args)
  if (error) throw error
  return data as Seen
}
const read = ({ token }: AcceptedApplicant) => visit('place_by_token', { token })
const giveRsvp = ({ token }: AcceptedApplicant, answer: string) =>
  visit('answer_place', { token, answer, act: crypto.randomUUID() })
const giveAnswers = ({ token }: AcceptedApplicant, answers: object, act: string = crypto.randomUUID()) =>
  visit('answer_questions', { token, answers, act })

/** Stores somebody who is coming. */
async function storeGuest(first_name = 'Ada') {
  const guest = await storeAcceptedApplicant(sql(), {
    first_name,
    email: `${crypto.randomUUID()}@example.com`,
  })
  await giveRsvp(guest, 'coming')
  return guest
}

/** A guest's stored answers, by the text of the question. */
async function stored({ id }: AcceptedApplicant) {
  const rows = await sql()<{ text: string; answer: string }[]>`
    select text, answer from private.question_answers join private.questions on questions.id = question_id
    where application_id = ${id}`
  return Object.fromEntries(rows.map(({ text, answer }) => [text, answer]))
}

const historyOf = ({ id }: AcceptedApplicant) => sql()<{ author: string; detail: object }[]>`
  select author, detail from private.history where application_id = ${id} and kind = 'questions' order by id`

/** The date in this many days, in the time zone of deadlines. */
async function dayIn(days: number) {
  const [row] = await sql()<[{ day: string }]>`select (private.today() + ${days}::integer)::text as day`
  return row.day
}

test('guests are asked in order, and their answers are stored, changed and removed', async () => {
  expect(await setQuestions(all)).toMatchObject({ version: 1, questions: all })
  const guest = await storeGuest()
  const { questions } = await read(guest)
  expect(questions).toMatchObject({ until: null, is_open: true, private_days: 30 })
  expect(questions?.list).toEqual(all.map((each) => ({ ...each, is_answered: false, answer: null })))
  const given = { [arrival.id]: ' On Friday ', [diet.id]: 'Vegan', [car.id]: 'no', [more.id]: 'A\nB' }
  const after = await giveAnswers(guest, given)
  expect(after.questions?.list.map(({ answer }) => answer)).toEqual([
    'On Friday',
    'Vegan',
    'no',
    'A\nB',
    null,
  ])
  await giveAnswers(guest, { [diet.id]: '', [car.id]: 'yes' })
  expect(await stored(guest)).toEqual({
    [arrival.text]: 'On Friday',
    [car.text]: 'yes',
    [more.text]: 'A\nB',
  })
  expect(await historyOf(guest)).toEqual([
    { author: 'applicant', detail: { changes: 4 } },
    { author: 'applicant', detail: { changes: 2 } },
  ])
})

// break: questions-open-to-any-link
test('only guests are asked: not people without an RSVP, people who cannot come, or people without the link', async () => {
  await setQuestions([arrival])
  const invited = await storeAcceptedApplicant(sql())
  expect((await read(invited)).questions).toBeNull()
  await giveAnswers(invited, { [arrival.id]: 'Friday' })
  const guest = await storeGuest()
  await giveAnswers(guest, { [arrival.id]: 'Friday' })
  expect((await giveRsvp(guest, 'not coming')).questions).toBeNull()
  await giveAnswers(guest, { [arrival.id]: 'Saturday' })
  expect(await stored(invited)).toEqual({})
  expect(await stored(guest)).toEqual({ [arrival.text]: 'Friday' })
  const stranger = { ...guest, token: crypto.randomUUID() }
  expect(await giveAnswers(stranger, { [arrival.id]: 'Friday' })).toEqual({ state: 'invalid' })
  await sql()`delete from private.questions`
  expect((await giveRsvp(guest, 'coming')).questions).toBeNull()
})

test('an answer has to fit its question, and required questions have to be answered', async () => {
  await setQuestions(all)
  const guest = await storeGuest()
  const refused = [
    { [arrival.id]: 'Friday', [diet.id]: 'Meat' },
    { [arrival.id]: 'Friday', [car.id]: 'maybe' },
    { [arrival.id]: 'Friday\nSaturday' },
    { [arrival.id]: 'x'.repeat(2001) },
    { [arrival.id]: null },
    { [arrival.id]: ['Friday'] },
    { [diet.id]: 'Vegan' },
    { [arrival.id]: ' ' },
  ]
  for (const answers of refused)
    await expect(giveAnswers(guest, answers)).rejects.toMatchObject({ code: '22023' })
  for (const answers of [null, [], 'Friday'])
    await expect(giveAnswers(guest, answers as object)).rejects.toMatchObject({ code: '22023' })
  const gone = { [arrival.id]: 'Friday', [crypto.randomUUID()]: 'Friday' }
  await expect(giveAnswers(guest, gone)).rejects.toMatchObject({
    message: expect.stringContaining('reload') as string,
  })
  expect(await stored(guest)).toEqual({})
  expect(await historyOf(guest)).toEqual([])
})

test('a repeat of an act stores nothing more, and there are at most twenty changes an hour', async () => {
  await setQuestions([arrival])
  const guest = await storeGuest()
  const act = crypto.randomUUID()
  await giveAnswers(guest, { [arrival.id]: 'Friday' }, act)
  await giveAnswers(guest, { [arrival.id]: 'Saturday' })
  await giveAnswers(guest, { [arrival.id]: 'Friday' }, act)
  expect(await stored(guest)).toEqual({ [arrival.text]: 'Saturday' })
  // The RSVP and the two changes above count as three.
  for (let change = 3; change < 20; change += 1) await giveAnswers(guest, { [arrival.id]: `Day ${change}` })
  await expect(giveAnswers(guest, { [arrival.id]: 'Monday' })).rejects.toMatchObject({
    message: 'There were too many changes. Please try again in an hour.',
  })
})

test('answers and RSVPs that change nothing store no act, and no refusal tells whether a guess of a private answer is right', async () => {
  await setQuestions([arrival, allergies])
  const guest = await storeGuest()
  await giveAnswers(guest, { [arrival.id]: 'Friday', [allergies.id]: 'Nuts' })
  const countActs = async () => (await sql()`select from private.acts`).length
  const count = await countActs()
  await giveAnswers(guest, { [arrival.id]: ' Friday ' })
  await giveAnswers(guest, {})
  await giveRsvp(guest, 'coming')
  expect(await countActs()).toBe(count)
  for (let change = 2; change < 20; change += 1) await giveAnswers(guest, { [arrival.id]: `Day ${change}` })
  for (const guess of ['Nuts', 'None']) {
    await expect(giveAnswers(guest, { [allergies.id]: guess })).rejects.toMatchObject({
      message: 'There were too many changes. Please try again in an hour.',
    })
  }
})

test('answers can be changed until the day that organisers set, or until the retreat begins', async () => {
  await setQuestions([arrival], { until: await dayIn(0) })
  const guest = await storeGuest()
  // The deadline of the RSVP is a separate day, and has passed.
  await sql()`update private.invitations set deadline = private.today() - 1`
  expect(await read(guest)).toMatchObject({
    state: 'over',
    questions: { is_open: true, until: await dayIn(0) },
  })
  await giveAnswers(guest, { [arrival.id]: 'Friday' })
  await setQuestions([arrival], { until: await dayIn(-1) }, 1)
  expect((await giveAnswers(guest, { [arrival.id]: 'Sunday' })).questions).toMatchObject({ is_open: false })
  await setRetreat(sql(), { starts_on: await dayIn(-2), ends_on: await dayIn(5) })
  await setQuestions([arrival], {}, 2)
  expect(await listQuestions()).toMatchObject({ closes_on: await dayIn(-2) })
  expect((await giveAnswers(guest, { [arrival.id]: 'Sunday' })).questions).toMatchObject({ is_open: false })
  expect(await stored(guest)).toEqual({ [arrival.text]: 'Friday' })
})

// break: link-shows-private-answer
// break: stamp-depends-on-private-answers
test('the link never shows a private answer, and blind readers, the exported table and the webhook do not get it', async () => {
  await setQuestions([arrival, allergies])
  const guest = await storeGuest()
  await giveAnswers(guest, { [arrival.id]: 'Friday', [allergies.id]: 'Peanuts' })
  const shown = (await read(guest)).questions?.list.at(-1)
  expect(shown).toMatchObject({ is_answered: true, answer: null })
  const call = (name: string, args: object, caller: SupabaseClient) =>
    ask<object>(name, args, caller).then((response) => JSON.stringify(response))
  const reads: [string, object][] = [
    ['application', { application: guest.id }],
    ['guests', {}],
    ['export', {}],
    ['places', {}],
    ['questions', {}],
    ['answer_questions', { act: crypto.randomUUID(), application: guest.id, answers: {} }],
  ]
  for (const caller of [blind, client]) {
    const revealed = await call('reveal', { act: crypto.randomUUID(), application: guest.id }, caller)
    expect(revealed.includes('Peanuts')).toBe(caller === client)
  }
  for (const [name, args] of reads) expect(await call(name, args, blind)).not.toContain('Peanuts')
  expect(await call('application', { application: guest.id }, client)).toContain('Peanuts')
  expect(await call('guests', {}, client)).toContain('Peanuts')
  expect(await call('export', {}, client)).not.toContain('Peanuts')
  expect(await call('export', {}, blind)).toContain('Friday')
  const overwrite = { act: crypto.randomUUID(), application: guest.id, answers: { [allergies.id]: 'None' } }
  await expect(call('answer_questions', overwrite, blind)).rejects.toMatchObject({ code: '42501' })
  const history = await sql()`select detail::text from private.history`
  expect(JSON.stringify(history)).not.toMatch(/Peanuts|Friday/)
  const deliveries = await sql()`select * from private.deliveries`
  expect(JSON.stringify(deliveries)).not.toMatch(/Peanuts|Friday/)
  // Nor does the stamp, a digest, depend on the answer: blind readers could compare it with digests of likely answers.
  const stampOf = () => ask<{ stamp: string }>('stamp', { application: guest.id }, blind)
  const stamp = await stampOf()
  await sql()`update private.question_answers set answer = 'Walnuts' where answer = 'Peanuts'`
  expect(await stampOf()).toEqual(stamp)
  await sql()`update private.question_answers set answered_at = now() where answer = 'Walnuts'`
  expect(await stampOf()).not.toEqual(stamp)
})

test('an organiser enters answers that came by email, even if required answers are missing', async () => {
  await setQuestions(all)
  const guest = await storeGuest()
  const args = { act: crypto.randomUUID(), application: guest.id, answers: { [allergies.id]: 'Nuts' } }
  const details = await ask<{ questions: Asked['list'] }>('answer_questions', args)
  expect(details.questions.at(-1)).toMatchObject({ text: allergies.text, answer: 'Nuts', is_answered: true })
  await ask('answer_questions', args)
  expect(await historyOf(guest)).toEqual([{ author: me, detail: { changes: 1 } }])
  await sql()`update private.statuses set status = 'declined' where application_id = ${guest.id}`
  await expect(ask('answer_questions', { ...args, act: crypto.randomUUID() })).rejects.toMatchObject({
    code: 'PT409',
  })
})

test('a list of questions is saved as a whole, and does not overwrite another organiser’s list', async () => {
  await setQuestions([arrival, diet])
  const guest = await storeGuest()
  await giveAnswers(guest, { [arrival.id]: 'Friday', [diet.id]: 'All' })
  expect((await listQuestions()).questions.map(({ answers }) => answers)).toEqual([1, 1])
  // The organiser saves again, because the response was lost.
  expect(await setQuestions([arrival, diet])).toMatchObject({ version: 1 })
  await expect(setQuestions([arrival])).rejects.toMatchObject({ code: 'PT409' })
  const renamed = { ...diet, text: 'What would you like to eat?' }
  await setQuestions([renamed, arrival], {}, 1)
  expect(await stored(guest)).toEqual({ [arrival.text]: 'Friday', [renamed.text]: 'All' })
  expect((await read(guest)).questions?.list.map(({ text }) => text)).toEqual([renamed.text, arrival.text])
  await setQuestions([renamed], {}, 2)
  expect(await stored(guest)).toEqual({ [renamed.text]: 'All' })
  const { happenings } = await ask<{ happenings: object[] }>('history', { after: null })
  expect(happenings).toMatchObject(
    [1, 2, 2].map((questions) => ({ kind: 'questions', author: me, detail: { questions } })),
  )
})

test('a list of questions that cannot be asked is refused with the reason', async () => {
  await setQuestions([allergies, arrival])
  const guest = await storeGuest()
  await giveAnswers(guest, { [arrival.id]: 'Friday', [allergies.id]: 'Nuts' })
  const refusals: [object[], object, RegExp][] = [
    [Array.from({ length: 11 }, (_, index) => question(`Question ${index}`)), {}, /at most 10/],
    [[question(' ')], {}, /one line of 1 to 200/],
    [[question('x'.repeat(201))], {}, /one line of 1 to 200/],
    [[question('a\nb')], {}, /one line of 1 to 200/],
    [[{ ...diet, choices: ['All'] }], {}, /2 to 20/],
    [[{ ...diet, choices: ['All', ' All'] }], {}, /2 to 20 different/],
    [[{ ...diet, choices: ['All', ''] }], {}, /2 to 20 different/],
    [[question('Which?', { kind: 'other' })], {}, /has a kind/],
    [[{ text: 'Which?' }], {}, /has a kind/],
    [[arrival, arrival], {}, /same id/],
    [[{ ...arrival, kind: 'long' }], {}, /keeps its kind/],
    [[{ ...allergies, is_private: false }], {}, /stays private/],
    [[allergies], { private_days: null }, /erased 1 to 365 days/],
    [[allergies], { private_days: 366 }, /erased 1 to 365 days/],
    [[arrival], { until: '3000-01-01' }, /between 2000 and 2999/],
  ]
  for (const [questions, changes, message] of refusals) {
    await expect(setQuestions(questions, changes, 1)).rejects.toMatchObject({
      message: expect.stringMatching(message) as string,
    })
  }
  expect((await listQuestions()).questions).toMatchObject([allergies, arrival])
})

test('a saved question stays private even without answers, since somebody may be answering it', async () => {
  await setQuestions([allergies, arrival])
  const open = [{ ...allergies, is_private: false }, arrival]
  await expect(setQuestions(open, {}, 1)).rejects.toMatchObject({
    message: expect.stringMatching(/stays private/) as string,
  })
  const hidden = [allergies, { ...arrival, is_private: true }]
  expect((await setQuestions(hidden, {}, 1)).questions).toMatchObject(hidden)
})

test('the table of guests has everybody who is coming, in pages', async () => {
  await setQuestions([diet])
  const guest = await storeGuest('Zoë')
  await giveAnswers(guest, { [diet.id]: 'Vegan' })
  await giveRsvp(await storeAcceptedApplicant(sql()), 'not coming')
  const page = await ask<{ guests: object[]; next: object | null }>('guests')
  expect(page).toMatchObject({
    guests: [{ id: guest.id, first_name: 'Zoë', answers: { [diet.id]: 'Vegan' } }],
    next: null,
  })
  expect(await ask('guests', {}, blind)).toEqual({
    guests: [{ id: guest.id, answers: { [diet.id]: 'Vegan' } }],
    next: null,
  })
  await sql()`
    with stored as (
      insert into public.retreat_applications (first_name, last_name, email, phone, linkedin, company, reason, consent)
        select 'A', 'B', number || '@example.com', '1', 'l', 'c', 'r', true from generate_series(1, 1000) as number
      returning id, created_at
    )
    insert into private.statuses (application_id, created_at, status, version) select id, created_at, 'accepted', 1 from stored`
  await sql()`update private.invitations set rsvp = 'coming', rsvp_at = now() where rsvp is null`
  const first = await ask<typeof page>('guests', { after: null })
  expect(first.guests).toHaveLength(1000)
  const second = await ask<typeof page>('guests', { after: first.next })
  expect(second).toMatchObject({ guests: [{}], next: null })
  const ids = [...first.guests, ...second.guests].map((each) => (each as { id: string }).id)
  expect(new Set(ids).size).toBe(1001)
})

test('guests who have not answered all required questions get a separate reminder, also after the deadline of the RSVP', async () => {
  await setQuestions([arrival, diet])
  const [unanswered, answered, invited] = [
    await storeGuest('Ada'),
    await storeGuest('Ben'),
    await storeAcceptedApplicant(sql()),
  ]
  await giveAnswers(answered, { [arrival.id]: 'Friday' })
  expect(await ask('places')).toMatchObject({ questions: { questions: 2, open: 1 } })
  await sql()`update private.invitations set deadline = private.today() - 1 where application_id = ${unanswered.id}`
  expect(await ask('remind', { act: crypto.randomUUID() })).toMatchObject({
    drafted: 2,
    questions: 1,
    waiting: 0,
  })
  expect(await ask('remind', { act: crypto.randomUUID() })).toMatchObject({
    drafted: 0,
    questions: 0,
    waiting: 2,
  })
  const letters = await ask<
    { id: string; seen: string; application: string; occasion: string; missing: object[] }[]
  >('letters_of', { applications: [unanswered.id, answered.id, invited.id] })
  const reminders = letters.filter(({ occasion }) => occasion !== 'accepted')
  expect(Object.fromEntries(reminders.map(({ application, occasion }) => [application, occasion]))).toEqual({
    [unanswered.id]: 'questions',
    [invited.id]: 'reminder',
  })
  const [letter] = letters.filter(({ occasion }) => occasion === 'questions')
  expect(letter?.missing).toEqual([])
  const released = [{ id: letter?.id, seen: letter?.seen }]
  await ask('release', { act: crypto.randomUUID(), letters: released, number: 1, again: false })
  expect(await claimLetter(sql())).toMatchObject({
    body: expect.stringContaining(`https://unplugged.example/answer/#${unanswered.token}`) as string,
  })
})

test('a reminder of questions is not sent once they are removed', async () => {
  await setQuestions([arrival])
  const guest = await storeGuest()
  await ask('remind', { act: crypto.randomUUID() })
  await setQuestions([], {}, 1)
  const drafts = await ask<{ id: string; seen: string; occasion: string }[]>('letters_of', {
    applications: [guest.id],
  })
  const letters = drafts.flatMap(({ id, seen, occasion }) => (occasion === 'questions' ? [{ id, seen }] : []))
  expect(letters).toHaveLength(1)
  expect(await ask('release', { act: crypto.randomUUID(), letters })).toMatchObject([{ outcome: 'gone' }])
})

test.each([
  ['after they have answered', (guest: AcceptedApplicant) => giveAnswers(guest, { [arrival.id]: 'Friday' })],
  ['after they have said that they cannot come', (guest: AcceptedApplicant) => giveRsvp(guest, 'not coming')],
])('a reminder of questions is dropped %s', async (_, change) => {
  await setQuestions([arrival])
  const guest = await storeGuest()
  await ask('remind', { act: crypto.randomUUID() })
  const states = () => sql()`select state from private.letters where template = 'questions'`
  expect(await states()).toEqual([{ state: 'draft' }])
  await change(guest)
  expect(await states()).toEqual([{ state: 'dropped' }])
})

/** Lets the server announce and erase due answers on this many days, of which today is the last. */
async function announceAndEraseOnDays(days: number) {
  for (let day = 1; day <= days; day += 1) {
    await sql()`update private.announcements set announced_on = announced_on - 1`
    await sql()`select private.announce_and_erase_answers()`
    // The second call on a day announces nothing.
    await sql()`select private.announce_and_erase_answers()`
  }
}

test('private answers are erased once they are due and were announced on seven days, and the history says so', async () => {
  await setQuestions([arrival, allergies])
  const guest = await storeGuest()
  const answers = { [arrival.id]: 'Friday', [allergies.id]: 'Nuts' }
  await giveAnswers(guest, answers)
  await announceAndEraseOnDays(8)
  expect(await stored(guest)).toHaveProperty(allergies.text)
  await setRetreat(sql(), { starts_on: await dayIn(-33), ends_on: await dayIn(-30) })
  expect(await listQuestions()).toMatchObject({ due: 1, erased_on: await dayIn(0) })
  await announceAndEraseOnDays(6)
  expect(await stored(guest)).toHaveProperty(allergies.text)
  await announceAndEraseOnDays(1)
  expect(await stored(guest)).toEqual({ [arrival.text]: 'Friday' })
  expect(await listQuestions()).toMatchObject({ due: 0 })
  const [erasing] =
    await sql()`select author, detail from private.history where application_id is null order by id desc`
  expect(erasing).toEqual({ author: 'server', detail: { erased: 1 } })
})

// break: clock-jump-erases-private-answers
test('a clock that jumps ahead, and back again, erases nothing', async () => {
  await setQuestions([arrival, allergies])
  const guest = await storeGuest()
  await giveAnswers(guest, { [arrival.id]: 'Friday', [allergies.id]: 'Nuts' })
  await setRetreat(sql(), { starts_on: await dayIn(-33), ends_on: await dayIn(-30) })
  await announceAndEraseOnDays(6)
  // Announcements that are a year ahead, or a year old, do not count.
  await sql()`update private.announcements set announced_on = private.today() + 365`
  await sql()`select private.announce_and_erase_answers()`
  await sql()`update private.announcements set announced_on = private.today() - 365`
  await announceAndEraseOnDays(6)
  expect(await stored(guest)).toHaveProperty(allergies.text)
})

test('an organiser erases by hand the private answers that are due, and nothing else', async () => {
  await setQuestions([arrival, allergies])
  const guest = await storeGuest()
  await giveAnswers(guest, { [arrival.id]: 'Friday', [allergies.id]: 'Nuts' })
  await setRetreat(sql(), { starts_on: await dayIn(-32), ends_on: await dayIn(-29) })
  expect(await ask('erase_answers')).toEqual({ erased: 0 })
  await setRetreat(sql(), { starts_on: await dayIn(-32), ends_on: await dayIn(-30) })
  expect(await ask('erase_answers')).toEqual({ erased: 1 })
  expect(await stored(guest)).toEqual({ [arrival.text]: 'Friday' })
})

test('erasing an application erases its answers', async () => {
  await setQuestions([arrival])
  const guest = await storeGuest()
  await giveAnswers(guest, { [arrival.id]: 'Friday' })
  await sql()`delete from public.retreat_applications where id = ${guest.id}`
  expect(await sql()`select from private.question_answers`).toEqual([])
})

test('a guest whose question is removed while they answer is asked to reload, without a deadlock', async () => {
  await setQuestions([diet, car])
  const guest = await storeGuest()
  await giveAnswers(guest, { [diet.id]: 'All', [car.id]: 'yes' })
  const { answering } = await sql().begin(async (removing) => {
    await removing`delete from private.questions where id = ${car.id}`
    const call = giveAnswers(guest, { [diet.id]: 'Vegan', [car.id]: 'no' }).catch((error: unknown) => error)
    await expect
      .poll(() => sql()`select from pg_stat_activity where wait_event_type = 'Lock'`)
      .toHaveLength(1)
    // The waiting guest has not locked an answer, which would be removed with its question.
    await removing`select from private.question_answers where application_id = ${guest.id} for update nowait`
    return { answering: call }
  })
  expect(await answering).toMatchObject({ code: 'PT409' })
  expect(await stored(guest)).toEqual({ [diet.text]: 'All' })
})
