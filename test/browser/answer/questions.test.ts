import type { Page, Route } from 'playwright-core'
import { beforeAll, beforeEach, expect } from 'vitest'

import { storeAcceptedApplicant, type AcceptedApplicant } from '../../support/accepted.ts'
import { storeQuestions } from '../../support/questions.ts'
import { dataDirectory, startServer, type RunningServer } from '../../support/server.ts'
import { connectToEmbedded } from '../../support/sql.ts'
import { test, type Visitor } from '../../support/browser-test.ts'
import type { Pool } from '../../../src/server/database/connection/pool.ts'
import { settle } from '../../support/refresh.ts'

const failedRequest = /Failed to load resource/

let server: RunningServer
let sql: Pool

beforeAll(async () => {
  const directory = await dataDirectory()
  server = await startServer({ DATA_DIR: directory.path })
  sql = connectToEmbedded(directory.path)
})

const arrival = { text: 'When do you arrive?', is_required: true }
const diet = { kind: 'choice', text: 'What do you eat?', choices: ['Everything', 'Vegan'], is_required: true }
const tent = { kind: 'yes-no', text: 'Do you bring a tent?' }
const more = { kind: 'long', text: 'What else?' }
const allergies = { kind: 'long', text: 'Any allergies?', is_private: true }
const emergency = { text: 'Whom do we call?', is_private: true, is_required: true }

type NewQuestion = Parameters<typeof storeQuestions>[1][number]
const setQuestions = (...questions: object[]) => storeQuestions(sql, questions as NewQuestion[])

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const field = (page: Page, label: string) => page.getByLabel(label, { exact: true })
const option = (page: Page, question: string, name: string) =>
  page.getByRole('group', { name: question, exact: true }).getByRole('radio', { name, exact: true })
const saved = (page: Page) => page.getByText('Saved. Thank you.', { exact: true })
const focused = (page: Page) =>
  page.evaluate(() => {
    const { activeElement: active } = document
    return active instanceof HTMLInputElement || active instanceof HTMLTextAreaElement
      ? `${active.closest('.choice')?.textContent ?? active.labels?.[0]?.textContent}`
      : active?.textContent
  })
/** Everything in the session storage of the tab, as JSON. */
const sessionStorageText = (page: Page) => page.evaluate(() => JSON.stringify(Object.entries(sessionStorage)))
/** Simulates the event that a window gets when it becomes active. */
const activateWindow = (page: Page) => page.evaluate(() => dispatchEvent(new Event('focus')))
/** Makes the window active, and waits until the page has re-read the invitation. */
async function refresh(page: Page) {
  const response = page.waitForResponse('**/rpc/place_by_token')
  await activateWindow(page)
  await (await response).finished()
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve)))
}

/** Stores a guest who is coming. */
async function storeGuest() {
  const guest = await storeAcceptedApplicant(sql)
  await sql`select public.answer_place(${guest.token}, 'coming', gen_random_uuid())`
  return guest
}

const open = (
  visitor: Visitor,
  { token }: AcceptedApplicant,
  prepare: (page: Page) => Promise<unknown> = async () => {},
  options = {},
) => visitor.open(`${server.origin}/answer/#${token}`, options, prepare)

/** The stored answers of a guest, by the text of the question. */
async function stored({ id }: AcceptedApplicant) {
  const rows = await sql<{ text: string; answer: string }[]>`
    select text, answer from private.question_answers join private.questions on questions.id = question_id
    where application_id = ${id} order by position`
  return Object.fromEntries(rows.map(({ text, answer }) => [text, answer]))
}

/** How many answers each act of a guest changed. */
async function changes({ id }: AcceptedApplicant) {
  const rows = await sql<{ changes: number }[]>`
    select (detail ->> 'changes')::integer as changes from private.history
    where application_id = ${id} and kind = 'questions' and author = 'applicant' order by id`
  return rows.map((row) => row.changes)
}

/** Records the calls of `answer_questions`. Returns the list that grows with each call. */
async function recordCalls(page: Page) {
  const calls: { act: string; answers: Record<string, string> }[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/answer_questions')) calls.push(request.postDataJSON())
  })
  return calls
}

beforeEach(async () => {
  await setQuestions(arrival)
})

test('a guest answers questions of each kind by keyboard alone, and later changes one', async ({
  visitor,
}) => {
  await setQuestions(arrival, diet, tent, more)
  const guest = await storeAcceptedApplicant(sql)
  const page = await open(visitor, guest)
  await button(page, 'I am coming').press('Enter')
  await expect.poll(() => focused(page)).toBe('See you at Unplugged.')
  const { keyboard } = page
  const tabTo = async (target: string) => {
    await keyboard.press('Tab')
    await expect.poll(() => focused(page)).toBe(target)
  }
  await tabTo('Change my answer')
  await tabTo('When do you arrive?')
  await keyboard.type(' Friday, 17:40 ')
  await tabTo('Everything')
  await keyboard.press('ArrowDown')
  await tabTo('No answer')
  await keyboard.press('ArrowUp')
  await tabTo('What else? (optional)')
  await keyboard.type('A cello.\nAnd its bow.')
  await tabTo('Send answers')
  await keyboard.press('Enter')
  await expect.poll(() => focused(page)).toBe('Saved. Thank you.')
  const first = {
    'When do you arrive?': 'Friday, 17:40',
    'What do you eat?': 'Vegan',
    'Do you bring a tent?': 'no',
    'What else?': 'A cello.\nAnd its bow.',
  }
  expect(await stored(guest)).toEqual(first)

  await page.reload()
  const calls = await recordCalls(page)
  await field(page, 'What else? (optional)').fill('')
  expect(await field(page, 'When do you arrive?').inputValue()).toBe('Friday, 17:40')
  expect(await option(page, 'What do you eat?', 'Vegan').isChecked()).toBe(true)
  await option(page, 'Do you bring a tent? (optional)', 'No answer').check()
  await field(page, 'When do you arrive?').fill('Saturday')
  // Enter in a field of one line sends, too.
  await field(page, 'When do you arrive?').press('Enter')
  await saved(page).waitFor()
  expect(await stored(guest)).toEqual({ 'When do you arrive?': 'Saturday', 'What do you eat?': 'Vegan' })
  expect(await changes(guest)).toEqual([4, 3])
  expect(calls.map(({ answers }) => Object.values(answers).toSorted())).toEqual([['', '', 'Saturday']])
  await button(page, 'Save answers').waitFor()
  // “Saved.” disappears once an answer differs from the saved one.
  await field(page, 'When do you arrive?').fill('Sunday')
  expect(await saved(page).count()).toBe(0)
})

test('an answer to a private question is not shown again, and the guest can keep, change and remove it', async ({
  visitor,
}) => {
  await setQuestions(emergency, allergies)
  const guest = await storeGuest()
  const responses: string[] = []
  const page = await open(visitor, guest, async (opened) => {
    opened.on('response', async (response) => {
      if (response.url().includes('/rpc/')) responses.push(await response.text())
    })
  })
  const emergencyField = field(page, 'Whom do we call?')
  const hint = 'Private: only the organisers read it. It is deleted 30 days after the retreat.'
  await emergencyField.fill('Mary, +44 20 7946 0100')
  await expect.poll(() => emergencyField.getAttribute('aria-describedby')).toBeTruthy()
  expect(
    await page.locator(`[id="${await emergencyField.getAttribute('aria-describedby')}"]`).textContent(),
  ).toBe(hint)
  await field(page, 'Any allergies? (optional)').fill('Nuts')
  await button(page, 'Send answers').click()
  await saved(page).waitFor()
  await page.reload()
  await expect.poll(() => page.getByText('Answered.', { exact: true }).count()).toBe(2)
  expect(await page.content()).not.toMatch(/Mary|Nuts/)
  expect(responses.join()).not.toMatch(/Mary|Nuts/)

  const calls = await recordCalls(page)
  await button(page, 'Change: Whom do we call?').press('Enter')
  await expect.poll(() => focused(page)).toBe('Whom do we call?')
  expect(await emergencyField.inputValue()).toBe('')
  await button(page, 'Keep it: Whom do we call?').press('Enter')
  await expect.poll(() => focused(page)).toBe('Change')
  await button(page, 'Save answers').click()
  await saved(page).waitFor()
  await button(page, 'Change: Whom do we call?').click()
  await emergencyField.fill('Paul')
  await button(page, 'Change: Any allergies?').click()
  // A press of “Change” at one private answer keeps the text that was typed for the other.
  expect(await emergencyField.inputValue()).toBe('Paul')
  await page.getByText('Leave it blank to remove your answer.').waitFor()
  await button(page, 'Save answers').click()
  await saved(page).waitFor()
  expect(await stored(guest)).toEqual({ 'Whom do we call?': 'Paul' })
  expect(calls.map(({ answers }) => Object.values(answers).toSorted())).toEqual([[], ['', 'Paul']])
})

test('the browser asks for missing or blank answers to required questions, and nothing is sent', async ({
  visitor,
}) => {
  await setQuestions(arrival, diet)
  const guest = await storeGuest()
  const page = await open(visitor, guest)
  const calls = await recordCalls(page)
  await button(page, 'Send answers').click()
  await expect.poll(() => focused(page)).toBe('When do you arrive?')
  await page.keyboard.type('   ')
  await button(page, 'Send answers').click()
  await expect.poll(() => focused(page)).toBe('When do you arrive?')
  await page.keyboard.type('Friday')
  await button(page, 'Send answers').click()
  await expect.poll(() => focused(page)).toBe('Everything')
  expect(calls).toEqual([])
  await option(page, 'What do you eat?', 'Everything').check()
  await button(page, 'Send answers').click()
  await saved(page).waitFor()
  expect(calls).toHaveLength(1)
})

test('after the last day a guest can still read their answers, and unsaved text stays until the page is reloaded', async ({
  visitor,
}) => {
  await setQuestions(arrival, tent, more, emergency)
  const guest = await storeGuest()
  const page = await open(visitor, guest)
  await field(page, 'When do you arrive?').fill('Friday')
  await option(page, 'Do you bring a tent? (optional)', 'Yes').check()
  await field(page, 'Whom do we call?').fill('Mary')
  await button(page, 'Send answers').click()
  await saved(page).waitFor()
  await field(page, 'When do you arrive?').fill('Saturday')
  await sql`update private.editions set questions_until = private.today() - 1`
  await button(page, 'Save answers').click()
  await expect.poll(() => focused(page)).toBe('The last day to change these answers has passed.')
  expect(await field(page, 'When do you arrive?').inputValue()).toBe('Saturday')
  expect(await saved(page).count()).toBe(0)
  await page.reload()
  await page.getByText('The last day to change these answers has passed.').waitFor()
  expect(await page.locator('dl').innerText()).toBe(
    'When do you arrive?\nFriday\nDo you bring a tent?\nYes\nWhat else?\nNo answer\nWhom do we call?\nAnswered.',
  )
  expect(await page.locator('form').count()).toBe(0)
  await button(page, 'Change my answer').waitFor()
})

test('repeated presses send the answers once', async ({ visitor }) => {
  const guest = await storeGuest()
  const heldRoutes: Route[] = []
  const page = await open(visitor, guest, (opened) =>
    opened.route('**/rpc/answer_questions', (route) => void heldRoutes.push(route)),
  )
  await field(page, 'When do you arrive?').fill('Friday')
  await button(page, 'Send answers').evaluate((pressed: HTMLButtonElement) => {
    for (let press = 0; press < 3; press += 1) pressed.click()
  })
  await expect.poll(() => heldRoutes.length).toBe(1)
  expect(await button(page, 'Sending...').isDisabled()).toBe(true)
  expect(await button(page, 'Change my answer').isDisabled()).toBe(true)
  // Text that is typed now would not be sent.
  expect(await field(page, 'When do you arrive?').isDisabled()).toBe(true)
  await activateWindow(page)
  for (const route of heldRoutes) await route.continue()
  await saved(page).waitFor()
  expect(heldRoutes).toHaveLength(1)
  expect(await changes(guest)).toEqual([1])
})

test('answers are sent again with the same id after a lost connection, and with a new id once they have changed', async ({
  visitor,
}) => {
  visitor.allowConsoleError(failedRequest)
  const guest = await storeGuest()
  const page = await open(visitor, guest)
  const calls = await recordCalls(page)
  await page.clock.install()
  const focusedLater = async () => {
    // A call that is still pending would time out.
    await settle(page)
    await page.clock.runFor(1_000)
    return focused(page)
  }
  await page.route('**/rpc/answer_questions', async (route) => {
    // The server saves the answers, and the response is lost.
    await route.fetch()
    await route.abort('connectionreset')
  })
  await field(page, 'When do you arrive?').fill('Friday')
  await button(page, 'Send answers').click()
  const failure = 'Your answers may not have arrived. Please check your connection.'
  await expect.poll(focusedLater).toBe(failure)
  expect(await field(page, 'When do you arrive?').inputValue()).toBe('Friday')
  expect(calls).toHaveLength(3)
  // A refresh must not remove the message.
  await refresh(page)
  await button(page, 'Try again').click()
  await expect.poll(() => calls.length).toBeGreaterThan(3)
  await expect.poll(focusedLater).toBe(failure)
  expect(new Set(calls.map(({ act }) => act)).size).toBe(1)
  expect(await changes(guest)).toEqual([1])
  await page.unroute('**/rpc/answer_questions')
  await field(page, 'When do you arrive?').fill('Saturday')
  await button(page, 'Try again').click()
  await expect.poll(focusedLater).toBe('Saved. Thank you.')
  expect(new Set(calls.map(({ act }) => act)).size).toBe(2)
  expect(await changes(guest)).toEqual([1, 1])
  expect(await stored(guest)).toEqual({ 'When do you arrive?': 'Saturday' })
})

test('if the questions have changed, the page shows the new ones, and everything that was typed stays', async ({
  visitor,
}) => {
  visitor.allowConsoleError(failedRequest)
  const guest = await storeGuest()
  const [id = ''] = await setQuestions(more, tent)
  const page = await open(visitor, guest)
  const changed = 'The questions have changed. Please check your answers, and send them again.'
  await field(page, 'What else? (optional)').fill('A cello')
  await option(page, 'Do you bring a tent? (optional)', 'Yes').check()
  await sql`delete from private.questions where id <> ${id}`
  await button(page, 'Send answers').click()
  await expect.poll(() => focused(page)).toBe(changed)
  expect(await page.getByText('Do you bring a tent?').count()).toBe(0)
  expect(await field(page, 'What else? (optional)').inputValue()).toBe('A cello')
  expect(await stored(guest)).toEqual({})
  // Organisers add a required question.
  await sql`
    insert into private.questions (edition, position, kind, text, is_required, is_private)
    select edition, 2, 'short', 'When do you arrive?', true, false from private.questions`
  await button(page, 'Try again').click()
  await expect.poll(() => focused(page)).toBe(changed)
  expect(await field(page, 'What else? (optional)').inputValue()).toBe('A cello')
  await field(page, 'When do you arrive?').fill('Friday')
  await button(page, 'Try again').click()
  await saved(page).waitFor()
  expect(await stored(guest)).toEqual({ 'What else?': 'A cello', 'When do you arrive?': 'Friday' })
})

test('a refusal with 400, 409 or 429 is shown in the server’s words, any other in general words, and everything that was typed stays', async ({
  visitor,
}) => {
  visitor.allowConsoleError(failedRequest)
  const guest = await storeGuest()
  const page = await open(visitor, guest)
  const answer = 'I arrive on Friday'
  await field(page, 'When do you arrive?').fill(answer)
  const general = 'Your answers may not have arrived. Please check your connection.'
  for (const [status, message, shown] of [
    [429, 'There were too many changes. Please try again in an hour.', undefined],
    [409, 'This id was used for another act: nothing was saved.', undefined],
    [400, 'This is no answer to "When do you arrive?".', undefined],
    [401, 'Invalid API key', general],
  ] as const) {
    await page.route('**/rpc/answer_questions', (route) => route.fulfill({ status, json: { message } }))
    await button(page, 'Send answers').click()
    await expect.poll(() => focused(page)).toBe(shown ?? message)
    expect(await field(page, 'When do you arrive?').inputValue()).toBe(answer)
    await page.unroute('**/rpc/answer_questions')
  }
  await button(page, 'Try again').click()
  await saved(page).waitFor()
})

test('a refresh does not disturb a guest who types, and another window shows the saved answer afterwards', async ({
  visitor,
}) => {
  visitor.allowConsoleError(failedRequest)
  await setQuestions(arrival, more)
  const guest = await storeGuest()
  const page = await open(visitor, guest)
  await field(page, 'When do you arrive?').waitFor()
  await page.route('**/rpc/place_by_token', (route) => route.fulfill({ status: 401, json: {} }))
  await refresh(page)
  const problem = page.getByText('could not be loaded')
  await problem.waitFor()
  await page.unroute('**/rpc/place_by_token')
  await field(page, 'When do you arrive?').focus()
  const other = await open(visitor, guest)
  await field(other, 'When do you arrive?').fill('Monday')
  await button(other, 'Send answers').click()
  await saved(other).waitFor()
  // The focus is in a field, and nothing is typed yet. A refresh that succeeds ends the problem of an earlier one.
  await refresh(page)
  await problem.waitFor({ state: 'detached' })
  await page.keyboard.type('Fri')
  await refresh(page)
  await page.keyboard.type('day')
  await field(page, 'When do you arrive?').evaluate((each: HTMLElement) => each.blur())
  await refresh(page)
  await page.route('**/rpc/place_by_token', (route) => route.fulfill({ status: 401, json: {} }))
  await refresh(page)
  await page.unroute('**/rpc/place_by_token')
  expect(await problem.count()).toBe(0)
  await button(page, 'Change my answer').click()
  await button(page, 'Keep it').click()
  expect(await field(page, 'When do you arrive?').inputValue()).toBe('Friday')
  await button(page, 'Send answers').click()
  await saved(page).waitFor()
  expect(await stored(guest)).toEqual({ 'When do you arrive?': 'Friday' })
  await activateWindow(other)
  await expect.poll(() => field(other, 'When do you arrive?').inputValue()).toBe('Friday')
})

// break: private-answer-stored-in-tab
test('typed text survives a reload in this tab and for this link, except private answers', async ({
  visitor,
}) => {
  await setQuestions(more, emergency)
  const [guest, another] = [await storeGuest(), await storeGuest()]
  const page = await open(visitor, guest)
  await field(page, 'What else? (optional)').fill('A cello')
  await field(page, 'Whom do we call?').fill('Mary')
  expect(await sessionStorageText(page)).not.toContain('Mary')
  // A page that returns from the browser's cache still has everything that was typed.
  await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })))
  await expect.poll(() => field(page, 'Whom do we call?').inputValue()).toBe('Mary')
  await page.evaluate((hash) => location.assign(`#${hash}`), another.token)
  await expect.poll(() => field(page, 'What else? (optional)').inputValue()).toBe('')
  await page.evaluate((hash) => location.assign(`#${hash}`), guest.token)
  await expect.poll(() => field(page, 'What else? (optional)').inputValue()).toBe('A cello')
  await page.reload()
  await expect.poll(() => field(page, 'What else? (optional)').inputValue()).toBe('A cello')
  expect(await field(page, 'Whom do we call?').inputValue()).toBe('')
  await field(page, 'Whom do we call?').fill('Mary')
  await button(page, 'Send answers').click()
  await saved(page).waitFor()
  expect(await sessionStorageText(page)).not.toContain('cello')
})

test('if the browser forbids storage, a guest can still send answers', async ({ visitor }) => {
  const guest = await storeGuest()
  const page = await open(visitor, guest, (opened) =>
    opened.addInitScript(() =>
      Object.defineProperty(window, 'sessionStorage', {
        get() {
          throw new DOMException('Denied', 'SecurityError')
        },
      }),
    ),
  )
  await field(page, 'When do you arrive?').fill('Friday')
  await button(page, 'Send answers').click()
  await saved(page).waitFor()
  expect(await stored(guest)).toEqual({ 'When do you arrive?': 'Friday' })
})

test('texts of organisers and guests are shown as text and not as HTML, each in its own direction', async ({
  visitor,
}) => {
  const arabic = 'ما الذي تأكله؟'
  await setQuestions(
    { text: '<b>Bold</b> <img src=x onerror=alert(1)>' },
    { kind: 'choice', text: arabic, choices: ['<i>All</i>', '" onclick="alert(1)'] },
    { kind: 'long', text: '</textarea><script>alert(1)</script>' },
  )
  const guest = await storeGuest()
  const page = await open(visitor, guest)
  await field(page, '<b>Bold</b> <img src=x onerror=alert(1)> (optional)').fill('line\tbreak')
  await option(page, `${arabic} (optional)`, '" onclick="alert(1)').check()
  const long = field(page, '</textarea><script>alert(1)</script> (optional)')
  await long.fill(`${arabic}\n</textarea>`)
  await button(page, 'Send answers').click()
  await saved(page).waitFor()
  expect(Object.values(await stored(guest))).toEqual([
    'line break',
    '" onclick="alert(1)',
    `${arabic}\n</textarea>`,
  ])
  expect(await long.inputValue()).toBe(`${arabic}\n</textarea>`)
  expect(await page.locator('#place :is(b, i, img, script, [onclick])').count()).toBe(0)
  await sql`update private.editions set questions_until = private.today() - 1`
  await page.reload()
  await page.locator('dl').waitFor()
  expect(await page.locator('#place :is(b, i, img, script, textarea, [onclick])').count()).toBe(0)
  const directions = await page
    .locator('dt bdi, dd')
    .evaluateAll((all) => all.map((each) => getComputedStyle(each).direction))
  expect(directions).toEqual(['ltr', 'ltr', 'rtl', 'ltr', 'ltr', 'rtl'])
})

test('the questions disappear with the RSVP "not coming", and their answers return with "coming"', async ({
  visitor,
}) => {
  await setQuestions(arrival, more)
  const guest = await storeGuest()
  const page = await open(visitor, guest)
  await field(page, 'When do you arrive?').fill('Friday')
  await button(page, 'Send answers').click()
  await saved(page).waitFor()
  await field(page, 'What else? (optional)').fill('A cello')
  await button(page, 'Change my answer').click()
  await button(page, 'I cannot come').click()
  await page.getByText('You are not coming.').waitFor()
  expect(await page.getByText('A few questions').count()).toBe(0)
  expect(await stored(guest)).toEqual({ 'When do you arrive?': 'Friday' })
  await button(page, 'Change my answer').click()
  await button(page, 'I am coming').click()
  await expect.poll(() => field(page, 'When do you arrive?').inputValue()).toBe('Friday')
  expect(await field(page, 'What else? (optional)').inputValue()).toBe('A cello')
})

test('answers from somebody who is no longer coming are not stored, and the page shows the RSVP', async ({
  visitor,
}) => {
  const guest = await storeGuest()
  const page = await open(visitor, guest)
  await field(page, 'When do you arrive?').fill('Friday')
  await sql`select public.answer_place(${guest.token}, 'not coming', gen_random_uuid())`
  await button(page, 'Send answers').click()
  await expect.poll(() => focused(page)).toBe('You are not coming. Thank you for telling us.')
  expect(await stored(guest)).toEqual({})
})

test('the questions have a last day of their own, after the deadline of the RSVP', async ({ visitor }) => {
  const guest = await storeGuest()
  await sql`update private.invitations set deadline = private.today() - 1 where application_id = ${guest.id}`
  await sql`update private.editions set questions_until = '2999-03-01'`
  const page = await open(visitor, guest)
  await page.getByText('You can change these answers until 1 March 2999.').waitFor()
  expect(await page.getByText('The deadline to answer has passed.').count()).toBe(0)
  expect(await button(page, 'Change my answer').count()).toBe(0)
  await page.getByText('Cannot come after all? Please reply to the letter by email.').waitFor()
  await field(page, 'When do you arrive?').fill('Friday')
  await button(page, 'Send answers').click()
  await saved(page).waitFor()
})
