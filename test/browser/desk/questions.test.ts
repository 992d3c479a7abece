import { buffer } from 'node:stream/consumers'
import type { Page } from 'playwright-core'
import { beforeEach, expect } from 'vitest'

import { readCsv } from '../../support/csv.ts'
import { deskForTestFile, focused, getDesk } from '../../support/desk-page.ts'
import { storeAnswers, storeGuests, storeQuestions } from '../../support/questions.ts'
import { resize } from '../../support/resize.ts'
import { test } from '../../support/browser-test.ts'

const desk = deskForTestFile()

beforeEach(async () => {
  await desk.sql`
    update private.editions set starts_on = '2027-03-12', ends_on = '2027-03-15', venue = 'Hof Sonnenau'`
  await desk.sql`update private.places set zone = 'UTC'`
})

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
  await expect.poll(() => focused(page)).toBe('INPUT: Question')
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
    await expect
      .poll(() => focused(page))
      .toMatch(new RegExp(`: ${label.split(':')[0]}: question ${position}$`))
    await getDesk(page).status.getByText(`Question ${position} of 2`).waitFor()
  }
  expect(await questionTexts(page)).toEqual(['Whom do we call?', 'By car?'])
  await keyboard.press('Shift+Tab')
  await keyboard.press('Enter')
  await tabTo('Remove: question 2')
  await keyboard.press('Enter')
  expect(await questionTexts(page)).toEqual(['By car?'])
  await expect.poll(() => focused(page)).toBe('INPUT: Question')
  await keyboard.press('Enter')
  await getDesk(page).status.getByText('Saved. 1 question.').waitFor()
  expect(await desk.sql`select kind, text from private.questions`).toEqual([
    { kind: 'yes-no', text: 'By car?' },
  ])

  // A question with answers asks before it is removed. Enter pressed twice removes nothing.
  const [guest = ''] = await storeGuests(desk, ['Ada', 'Lovelace'])
  const [{ id } = { id: '' }] = await desk.sql<{ id: string }[]>`select id from private.questions`
  await storeAnswers(desk.sql, guest, { [id]: 'no' })
  await page.reload()
  await getDesk(page).heading('Questions').waitFor()
  await tabTo('Remove: question 1')
  await keyboard.press('Enter')
  await expect.poll(() => focused(page)).toBe('BUTTON: Keep')
  await keyboard.press('Enter')
  await expect.poll(() => focused(page)).toBe('BUTTON: Remove: question 1')
  expect(await questionTexts(page)).toEqual(['By car?'])
})

test('the table is downloaded with the ticked columns, which this browser remembers unless they are private', async ({
  visitor,
}) => {
  const ids = await storeGuests(desk, ['Zoë', 'Adams'], ['Ada', 'Lovelace'])
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
    // The apostrophe keeps a spreadsheet from reading a number.
    'Whom do we call?': "'+44 20 7946 0100",
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
  const [id = ''] = await storeGuests(desk, ['Ada', 'Lovelace'], ['Alan', 'Turing'])
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
  expect(lines[0]).toBe('Guest list')
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
  const [id = ''] = await storeGuests(desk, ['Ada', 'Lovelace'])
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
