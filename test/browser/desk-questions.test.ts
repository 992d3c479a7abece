import { buffer } from 'node:stream/consumers'
import type { Page } from 'playwright-core'
import { beforeEach, expect } from 'vitest'

import { readCsv } from '../support/csv.ts'
import { hiddenName } from '../support/applicants.ts'
import { deskForTestFile, focused, getDesk } from '../support/desk-page.ts'
import { storeAnswers, storeQuestions } from '../support/questions.ts'
import { resize } from '../support/resize.ts'
import { test } from '../support/visitor.ts'

const desk = deskForTestFile()

beforeEach(async () => {
  await desk.sql`delete from private.questions`
  await desk.sql`
    update private.editions set starts_on = '2027-03-12', ends_on = '2027-03-15', venue = 'Hof Sonnenau',
      questions_version = 0, questions_until = null, private_days = null`
  await desk.sql`delete from private.announcements`
  await desk.sql`delete from private.places`
  await desk.sql`insert into private.places (zone) values ('UTC')`
})

/** Stores people who are coming, and returns their ids. */
async function storeGuests(...names: [first: string, last: string][]) {
  const stored = await desk.store(
    names.map(([first_name, last_name]) => ({
      first_name,
      last_name,
      email: `${first_name.toLowerCase()}@example.com`,
    })),
  )
  await desk.setStatus(stored, 'accepted')
  await desk.sql`
    update private.invitations set told_at = now(), deadline = private.today() + 10, rsvp = 'coming', rsvp_at = now()`
  return stored.map(({ id }) => id)
}

/** Answers questions by the link of a guest's letter. */
async function answerByLink(application: string, answers: Record<string, string>) {
  const [row] = await desk.sql<[{ token: string }]>`
    select token from private.invitations where application_id = ${application}`
  await desk.ada.client
    .rpc('answer_questions', { token: row.token, answers, act: crypto.randomUUID() })
    .throwOnError()
}

const storedQuestions = () => desk.sql`
  select kind, text, choices, is_required, is_private from private.questions order by position`
const storedAnswers = async () => {
  const rows = await desk.sql<
    { answer: string }[]
  >`select answer from private.question_answers order by answer`
  return rows.map(({ answer }) => answer)
}

const questionNumber = (page: Page, number: number) =>
  page.getByRole('group', { name: new RegExp(`^Question ${number}\\b`) })
const questionText = (page: Page, number: number) =>
  questionNumber(page, number).getByLabel('Question', { exact: true })
const questionTexts = (page: Page) =>
  page
    .locator('.questions-item')
    .getByLabel('Question', { exact: true })
    .evaluateAll((fields) => fields.map((field) => (field as HTMLInputElement).value))

/** The texts of a table's cells, row by row. */
const tableTexts = (page: Page) =>
  page
    .getByRole('table')
    .getByRole('row')
    .evaluateAll((rows) =>
      rows.map((row) =>
        [...row.children].map((cell) => (cell.querySelector('bdi') ?? cell).textContent?.trim() ?? ''),
      ),
    )

async function download(page: Page) {
  const saved = page.waitForEvent('download')
  await getDesk(page).button('Download CSV').click()
  const file = await saved
  const text = (await buffer(await file.createReadStream())).toString()
  return { name: file.suggestedFilename(), text, ...readCsv(text) }
}

test('questions are written at the desk, answered by a guest, and read at the application, in the table and in the history', async ({
  visitor,
}) => {
  const [id = ''] = await storeGuests(['Ada', 'Lovelace'], ['Alan', 'Turing'])
  const page = await desk.open(visitor, '/places')
  const { button, link, heading, status, timeline } = getDesk(page)
  await page.getByText('People who are coming are asked nothing yet').waitFor()
  await link('Ask questions').click()
  await heading('Questions').waitFor()
  await button('Add question').click()
  await questionText(page, 1).fill('What do you not eat?')
  await button('Add question').click()
  await questionText(page, 2).fill(' When do you arrive? ')
  await questionNumber(page, 2).getByLabel('Kind').selectOption('One of several')
  await questionNumber(page, 2).getByLabel('Options').fill('Thursday\n\n Friday ')
  await questionNumber(page, 2).getByLabel('Required').check()
  await button('Up: question 2').click()
  await status.getByText('Question 1 of 2').waitFor()
  await page.getByLabel('Last day for answers').fill('2027-03-01')
  await button('Save').click()
  await status.getByText('Saved. 2 questions.').waitFor()
  const arrival = { kind: 'choice', choices: ['Thursday', 'Friday'], is_required: true, is_private: false }
  const diet = { kind: 'short', choices: [], is_required: false, is_private: false }
  expect(await storedQuestions()).toEqual([
    { ...arrival, text: 'When do you arrive?' },
    { ...diet, text: 'What do you not eat?' },
  ])
  // A saved question keeps its kind.
  await questionNumber(page, 1).getByText('One of several').waitFor()
  expect(await page.getByLabel('Kind').count()).toBe(0)

  const [first, second] = await desk.sql<{ id: string }[]>`select id from private.questions order by position`
  await answerByLink(id, { [first?.id ?? '']: 'Friday', [second?.id ?? '']: '=Nuts' })
  await link('Back').click()
  await page
    .getByText(
      '2 questions, asked on the page of people who are coming. Answers can be changed until 1 March 2027.',
    )
    .waitFor()
  await page.getByText('1 person has not answered all required questions.').waitFor()

  await link('Guests and their answers').click()
  await heading('Guests').waitFor()
  await expect
    .poll(() => tableTexts(page))
    .toEqual([
      ['Name', 'When do you arrive?', 'What do you not eat?'],
      ['Ada Lovelace', 'Friday', '=Nuts'],
      ['Alan Turing', 'no answer', 'no answer'],
    ])
  await page.getByText('2 guests. 1 has not answered all required questions').waitFor()
  const unanswered = page.getByRole('row', { name: /Alan Turing/ })
  expect(await unanswered.textContent()).toContain('1 answer missing')
  // After the last day for answers, nobody is reminded.
  await desk.sql`update private.editions set questions_until = '2024-01-01'`
  await page.reload()
  expect(await unanswered.textContent()).not.toContain('missing')
  expect(await page.getByText('2 guests.').textContent()).not.toContain('answered')
  await link('Ada Lovelace').click()
  const answersRegion = page.getByRole('region', { name: 'Questions to guests' })
  await answersRegion.getByText('Friday').waitFor()
  await timeline.getByText('2 answers to questions changed').waitFor()
  expect(await timeline.last().textContent()).toContain('the applicant')
  await page.evaluate(() => (location.hash = '#/history'))
  await page.getByText('Questions to guests changed: 2 questions').waitFor()
})

test('a save in one window does not overwrite a change from another window that the organiser has not seen', async ({
  visitor,
}) => {
  visitor.allowConsoleError(/Failed to load resource/)
  await storeQuestions(desk.sql, [{ text: 'What do you not eat?' }])
  const [one, other] = [
    await desk.open(visitor, '/questions'),
    await desk.open(visitor, '/questions', { as: desk.bob, isNew: true }),
  ]
  await questionText(one, 1).fill('What do you eat?')
  await getDesk(other).button('Add question').click()
  await questionText(other, 2).fill('When do you arrive?')
  await getDesk(other).button('Save').click()
  await getDesk(other).status.getByText('Saved. 2 questions.').waitFor()
  await getDesk(one).button('Save').click()
  await one
    .getByRole('alert')
    .getByText('Somebody else changed the questions meanwhile. There are 2 questions now.')
    .waitFor()
  expect(await questionTexts(one)).toEqual(['What do you eat?'])
  expect(await storedQuestions()).toHaveLength(2)
  await getDesk(one).button('Save anyway').click()
  await getDesk(one).status.getByText('Saved. 1 question.').waitFor()
  expect(await storedQuestions()).toMatchObject([{ text: 'What do you eat?' }])
})

test('questions are written, moved and removed by keyboard alone, and the focus is never lost', async ({
  visitor,
}) => {
  const page = await desk.open(visitor, '/questions')
  const { keyboard } = page
  const tabTo = async (name: string) => {
    for (let presses = 0; !(await focused(page)).endsWith(`: ${name}`); presses += 1) {
      expect(presses, `Tab does not reach ${name}`).toBeLessThan(40)
      await keyboard.press('Tab')
    }
  }
  await getDesk(page).heading('Questions').waitFor()
  await tabTo('Add question')
  await keyboard.press('Enter')
  expect(await focused(page)).toBe('INPUT: Question')
  await keyboard.type('Whom do we call?')
  await tabTo('Private')
  await keyboard.press('Space')
  const days = page.getByLabel('Erase private answers this many days after the retreat')
  expect(await days.inputValue()).toBe('30')
  await page.getByText('Private answers are erased on 14 April 2027.').waitFor()
  await tabTo('Add question')
  await keyboard.press('Enter')
  await keyboard.type('By car?')
  await keyboard.press('Tab')
  await keyboard.type('Yes or no')
  await keyboard.press('Shift+Tab')
  for (const [label, position] of [
    ['Up: question 2', 1],
    ['Down: question 1', 2],
  ] as const) {
    await tabTo(label)
    await keyboard.press('Enter')
    // The same button has the focus, beside the question in its new position.
    expect(await focused(page)).toMatch(new RegExp(`: ${label.split(':')[0]}: question ${position}$`))
    await getDesk(page).status.getByText(`Question ${position} of 2`).waitFor()
  }
  expect(await questionTexts(page)).toEqual(['Whom do we call?', 'By car?'])
  await keyboard.press('Shift+Tab')
  await keyboard.press('Enter')
  await tabTo('Remove: question 2')
  await keyboard.press('Enter')
  expect(await questionTexts(page)).toEqual(['By car?'])
  expect(await focused(page)).toBe('INPUT: Question')
  await keyboard.press('Enter')
  await getDesk(page).status.getByText('Saved. 1 question.').waitFor()
  expect(await storedQuestions()).toMatchObject([{ kind: 'yes-no', text: 'By car?' }])
})

test('removing a question says how many answers it erases, and saving erases them', async ({ visitor }) => {
  const ids = await storeGuests(['Ada', 'Lovelace'], ['Alan', 'Turing'])
  const [diet = '', car = ''] = await storeQuestions(desk.sql, [
    { text: 'What do you not eat?' },
    { text: 'By car?', kind: 'yes-no' },
  ])
  for (const id of ids) await storeAnswers(desk.sql, id, { [diet]: 'Nuts', [car]: 'no' })
  const page = await desk.open(visitor, '/questions')
  const { button, status } = getDesk(page)
  const remove = questionNumber(page, 1).getByRole('button', { name: 'Remove: question 1' })
  await remove.click()
  await page.getByText('Remove question 1? Saving then erases 2 answers.').waitFor()
  expect(await focused(page)).toBe('BUTTON: Keep')
  await page.keyboard.press('Enter')
  expect(await questionTexts(page)).toHaveLength(2)
  await remove.click()
  await button('Remove question').click()
  await page.getByText('Saving erases 2 answers to 1 removed question.').waitFor()
  expect(await focused(page)).toBe('INPUT: Question')
  expect(await storedAnswers()).toEqual(['Nuts', 'Nuts', 'no', 'no'])
  await button('Save').click()
  await status.getByText('Saved. 1 question.').waitFor()
  expect(await storedAnswers()).toEqual(['no', 'no'])
})

test('private answers are erased by hand once they are due, and the screen asks for missing days of the retreat', async ({
  visitor,
}) => {
  const [id = ''] = await storeGuests(['Ada', 'Lovelace'])
  const [emergency = '', diet = ''] = await storeQuestions(desk.sql, [
    { text: 'Whom do we call?', is_private: true },
    { text: 'What do you not eat?' },
  ])
  await storeAnswers(desk.sql, id, { [emergency]: 'Mary', [diet]: 'Nuts' })
  await desk.sql`update private.editions set starts_on = null, ends_on = null`
  const page = await desk.open(visitor, '/questions')
  const { button, status } = getDesk(page)
  await page.getByText('Set the days of the retreat under Places: until then nothing is erased.').waitFor()
  expect(await questionNumber(page, 1).getByLabel('Private').count()).toBe(0)
  await questionNumber(page, 1).getByText('It stays private, since guests may have been told so.').waitFor()
  await desk.sql`update private.editions set starts_on = '2026-01-01', ends_on = '2026-01-03'`
  await page.reload()
  await page.getByText('1 private answer is due to be erased.').waitFor()
  await button('Erase them now').click()
  await button('Erase for good').click()
  await status.getByText('1 private answer erased.').waitFor()
  await page.getByText('due to be erased').waitFor({ state: 'detached' })
  expect(await focused(page)).toBe('H1: Questions')
  expect(await storedAnswers()).toEqual(['Nuts'])
  await page.evaluate(() => (location.hash = '#/history'))
  // The message of the other screen may still be in `main`, with the same words.
  await page.getByRole('listitem').getByText('1 private answer erased').waitFor()
  await desk.sql`
    insert into private.history (author, kind, detail) values ('server', 'questions', '{"erased": 2}')`
  await page.reload()
  await page.getByRole('listitem').getByText('2 private answers erased').waitFor()
  expect(await page.getByRole('listitem').first().textContent()).toContain('automatically,')
})

test('the table is downloaded with the ticked columns, which this browser remembers unless they are private', async ({
  visitor,
}) => {
  const ids = await storeGuests(['Zoë', 'Adams'], ['Ada', 'Lovelace'])
  const [diet = '', emergency = ''] = await storeQuestions(desk.sql, [
    { text: 'What do you not eat?' },
    { text: 'Whom do we call?', is_private: true },
  ])
  await storeAnswers(desk.sql, ids[1] ?? '', { [diet]: '=Nuts', [emergency]: '+44 20 7946 0100' })
  const page = await desk.open(visitor, '/guests')
  const tick = (name: string) => page.getByRole('checkbox', { name })
  await page.getByRole('table').waitFor()
  const file = await download(page)
  expect(file.name).toMatch(/^guests-\d{4}-\d\d-\d\d\.csv$/)
  expect(file.text.startsWith('\ufeffName,What do you not eat?\r\nZoë Adams,')).toBe(true)
  expect(file.rows).toEqual([
    { Name: 'Zoë Adams', 'What do you not eat?': '' },
    { Name: 'Ada Lovelace', 'What do you not eat?': "'=Nuts" },
  ])
  await expect.poll(() => getDesk(page).status.textContent()).toBe('Downloaded 2 guests.')

  await tick('What do you not eat?').uncheck()
  await tick('Email').check()
  await tick('Whom do we call? (private)').check()
  const chosen = await download(page)
  expect(chosen.header).toEqual(['Name', 'Email', 'Whom do we call?'])
  expect(chosen.rows[1]).toEqual({
    Name: 'Ada Lovelace',
    Email: 'ada@example.com',
    'Whom do we call?': '+44 20 7946 0100',
  })
  await page.reload()
  await page.getByRole('table').waitFor()
  await expect
    .poll(() => tableTexts(page))
    .toEqual([
      ['Name', 'Email'],
      ['Zoë Adams', 'zoë@example.com'],
      ['Ada Lovelace', 'ada@example.com'],
    ])
})

test('the printed list has the days of the retreat under its heading, the ticked columns, and nothing to press', async ({
  visitor,
}) => {
  const [id = ''] = await storeGuests(['Ada', 'Lovelace'], ['Alan', 'Turing'])
  const [diet = ''] = await storeQuestions(desk.sql, [{ text: 'What do you not eat?', is_required: true }])
  await storeAnswers(desk.sql, id, { [diet]: 'Nuts' })
  const page = await desk.open(visitor, '/guests')
  await page.evaluate(() => (window.print = () => (document.title = 'printed')))
  await getDesk(page).button('Print').click()
  await expect.poll(() => page.title()).toBe('printed')
  await page.locator('.guests-paper', { hasText: 'Hof Sonnenau' }).waitFor({ state: 'attached' })
  const paper = await page.pdf({ format: 'A4' })
  expect(paper.toString('latin1').match(/\/Type ?\/Page\b/g)).toHaveLength(1)
  await page.emulateMedia({ media: 'print' })
  // A4 in portrait, without its margins.
  await resize(page, { width: 680, height: 1000 })
  const lines = (await page.locator('body').innerText()).split(/\s*\n\s*/).filter(Boolean)
  expect(lines[0]).toBe('Guests')
  expect(lines[1]).toMatch(
    /^Unplugged\. · 12\s?–\s?15 March 2027 · Hof Sonnenau · 2 guests, as of \d+ \w+ 20\d\d$/,
  )
  expect(lines.slice(2).join('|').replaceAll('\t', '|').replaceAll(/\|+/g, '|').replace(/\|$/, '')).toBe(
    'Name|What do you not eat?|Ada Lovelace|Nuts|Alan Turing|no answer',
  )
  const head = page.locator('thead')
  expect(await head.evaluate((element) => getComputedStyle(element).display)).toBe('table-header-group')
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(680)
})

test('many columns scroll within the table by keyboard, and on a phone each guest is a card', async ({
  visitor,
}) => {
  const [id = ''] = await storeGuests(['Ada', 'Lovelace'])
  const ids = await storeQuestions(
    desk.sql,
    Array.from({ length: 10 }, (_, index) => ({ text: `A question with the number ${index + 1}` })),
  )
  await storeAnswers(desk.sql, id, Object.fromEntries(ids.map((each) => [each, 'An answer '.repeat(8)])))
  const page = await desk.open(visitor, '/guests', { viewport: { width: 900, height: 700 } })
  const region = page.getByRole('region', { name: 'Table of guests' })
  await region.focus()
  await page.keyboard.press('ArrowRight')
  await expect.poll(() => region.evaluate(({ scrollLeft }) => scrollLeft)).toBeGreaterThan(0)
  const overflow = () =>
    page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
  expect(await overflow()).toBe(0)
  await resize(page, { width: 360, height: 700 })
  expect(await overflow()).toBe(0)
  expect(await region.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0)
  await page.getByText('A question with the number 10', { exact: true }).last().scrollIntoViewIfNeeded()
})

test('a blind reader sees neither names nor private answers, in the table, the file or the application', async ({
  visitor,
}) => {
  const [id = ''] = await storeGuests(['Ada', 'Lovelace'])
  const [diet = '', emergency = ''] = await storeQuestions(desk.sql, [
    { text: 'What do you not eat?' },
    { text: 'Whom do we call?', is_private: true, is_required: true },
  ])
  await storeAnswers(desk.sql, id, { [diet]: 'Nuts', [emergency]: 'Mary' })
  await desk.ada.client.rpc('desk_set_blind', { blind: true }).throwOnError()
  const page = await desk.open(visitor, '/guests')
  await page.getByText('Names, contact details and private answers are hidden: you read blind.').waitFor()
  await expect
    .poll(() => tableTexts(page))
    .toEqual([
      ['Name', 'What do you not eat?'],
      [expect.stringMatching(hiddenName), 'Nuts'],
    ])
  expect(await page.getByRole('checkbox').count()).toBe(1)
  const file = await download(page)
  expect(file.header).toEqual(['Name', 'What do you not eat?'])
  expect(file.text).not.toMatch(/Ada|Lovelace|@|Mary/)
  await page.getByRole('table').getByRole('link').click()
  const answersRegion = page.getByRole('region', { name: 'Questions to guests' })
  await answersRegion.getByText('Hidden while you read blind').waitFor()
  await getDesk(page).button('Enter answers').click()
  const { dialog } = getDesk(page)
  await dialog.getByText('Private questions are hidden while you read blind.').waitFor()
  await dialog.getByLabel('What do you not eat?').fill('Everything')
  expect(await dialog.getByRole('textbox').count()).toBe(1)
  await getDesk(page).button('Save answers').click()
  await answersRegion.getByText('Everything').waitFor()
  expect(await page.locator('body').textContent()).not.toMatch(/Mary/)
  expect(await storedAnswers()).toEqual(['Everything', 'Mary'])
})

test('answers that came by email are entered at the application, and only changed answers are saved', async ({
  visitor,
}) => {
  const [id = ''] = await storeGuests(['Ada', 'Lovelace'])
  const [diet = '', , car = ''] = await storeQuestions(desk.sql, [
    { text: 'What do you not eat?', is_required: true },
    { text: 'When do you arrive?', kind: 'choice', choices: ['Thursday', 'Friday'], is_required: true },
    { text: 'By car?', kind: 'yes-no', is_private: true },
    { text: 'What else?', kind: 'long' },
  ])
  await storeAnswers(desk.sql, id, { [diet]: 'Nuts', [car]: 'no' })
  const page = await desk.open(visitor, `/applications/${id}`)
  const { button, dialog, status } = getDesk(page)
  await button('Enter answers').click()
  // The guest changes an answer meanwhile.
  await desk.sql`update private.question_answers set answer = 'Fish' where question_id = ${diet}`
  await dialog.getByLabel('When do you arrive?').selectOption('Friday')
  await dialog.getByLabel('By car? (private)').selectOption('No answer')
  await dialog.getByLabel('What else?').fill('A cello.\nIt is old.')
  // Closing the dialog keeps what was entered.
  await page.keyboard.press('Escape')
  await button('Enter answers').click()
  await button('Save answers').click()
  await status.getByText('Ada Lovelace: answers saved').waitFor()
  await dialog.waitFor({ state: 'hidden' })
  expect(await storedAnswers()).toEqual(['A cello.\nIt is old.', 'Fish', 'Friday'])
  const answersRegion = page.getByRole('region', { name: 'Questions to guests' })
  await expect
    .poll(() => answersRegion.locator('dd').allTextContents())
    .toEqual(['Fish', 'Friday', 'No answer', 'A cello.\nIt is old.'])
  await getDesk(page).timeline.getByText('3 answers to questions changed').waitFor()

  // The answers of somebody who is no longer coming stay, and organisers cannot enter others.
  await button('Not coming').click()
  await button('Enter answers').waitFor({ state: 'detached' })
  expect(await answersRegion.getByText('Friday').count()).toBe(1)
})

test('reminders of unanswered questions are drafted with reminders of RSVPs, and have their own drafts and template', async ({
  visitor,
}) => {
  const [, alan = ''] = await storeGuests(['Ada', 'Lovelace'], ['Alan', 'Turing'])
  await storeQuestions(desk.sql, [{ text: 'What do you not eat?', is_required: true }])
  await desk.sql`update private.invitations set rsvp = null, rsvp_at = null where application_id = ${alan}`
  const page = await desk.open(visitor, '/places')
  const { button, heading, link } = getDesk(page)
  await button('Draft 2 reminders').click()
  const result = page.locator('.places-reminded')
  await result.getByText('2 reminders drafted. Nothing has been sent. 1 is about questions.').waitFor()
  expect(await link('Review drafts').getAttribute('href')).toBe('#/letters/drafts/reminder')
  await link('Review drafts about questions').click()
  await heading('Drafts: Reminder of questions').waitFor()
  await page.locator('.drafts-draft', { has: link('Ada Lovelace') }).waitFor()
  expect(await page.locator('.drafts-draft').count()).toBe(1)
  await page.evaluate(() => (location.hash = '#/letters/templates/questions'))
  await heading('Template: Reminder of questions').waitFor()
  await button('{{answer_link}}').waitFor()
  expect(await button('Remove').count()).toBe(0)
})

test('without guests or questions, the screens say so', async ({ visitor }) => {
  const page = await desk.open(visitor, '/guests')
  await page.getByText('Nobody is coming yet.').waitFor()
  await getDesk(page).link('Questions').click()
  await page.getByText('There are no questions yet.').waitFor()
  for (let added = 0; added < 10; added += 1) await getDesk(page).button('Add question').click()
  await page.getByText('There are at most 10 questions.').waitFor()
  await getDesk(page).button('Add question').press('Enter')
  expect(await questionTexts(page)).toHaveLength(10)
})
