import { buffer } from 'node:stream/consumers'
import type { Page } from 'playwright-core'
import { beforeEach, expect } from 'vitest'

import { questions } from '../../src/application/fields.ts'
import { deskForTestFile, focused, getDesk } from '../support/desk-page.ts'
import { storeLetter } from '../support/letters.ts'
import { overflow } from '../support/overflow.ts'
import { storeAnswers, storeQuestions } from '../support/questions.ts'
import { resize } from '../support/resize.ts'
import { test } from '../support/visitor.ts'

const desk = deskForTestFile()
const linkText = 'Everything about this person'
const title = 'Everything about a person'

beforeEach(async () => {
  await desk.sql`delete from private.questions`
})

/** Stores two applications of one guest, with a note, a letter and a private answer. Returns the id of the newer one. */
async function storeGuest(): Promise<string> {
  const answers = { first_name: 'Ada', last_name: 'Lovelace', email: 'ada@example.com' }
  const stored = await desk.store([
    answers,
    { ...answers, reason: 'To think again.' },
    { first_name: 'Alan' },
  ])
  const id = stored[0]?.id ?? ''
  await desk.setStatus(stored.slice(0, 1), 'accepted')
  await desk.sql`
    update private.invitations set told_at = now(), deadline = private.today() + 10, rsvp = 'coming', rsvp_at = now()`
  const [question = ''] = await storeQuestions(desk.sql, [{ text: 'Whom do we call?', is_private: true }])
  await storeAnswers(desk.sql, id, { [question]: 'Mary' })
  await storeLetter(desk.sql, id, {
    template: 'Travel',
    state: 'done',
    subject: 'How to get there',
    body: 'By train: {{answer_link}}',
    reply: '250 OK',
    attempts: 1,
  })
  await desk.ada.client
    .rpc('desk_note', { act: crypto.randomUUID(), application: id, note: 'Met in Lisbon.' })
    .throwOnError()
  return id
}

const linesOf = async (page: Page) =>
  (await page.locator('body').innerText()).split(/\s*\n\s*/).filter(Boolean)

test('an application leads to everything about its person, and Back leads to the application', async ({
  visitor,
}) => {
  const id = await storeGuest()
  const page = await desk.open(visitor, `/applications/${id}?status=all`)
  await getDesk(page).link(linkText).focus()
  await page.keyboard.press('Enter')
  await getDesk(page).heading(title).waitFor()
  expect(new URL(page.url()).hash).toBe(`#/applications/${id}/all?status=all`)
  await expect.poll(() => focused(page)).toBe(`H1: ${title}`)
  await page.getByRole('heading', { name: 'Deliveries' }).first().waitFor()
  expect(await page.getByRole('heading', { level: 2 }).count()).toBe(2)
  const text = (await linesOf(page)).join('\n')
  for (const words of [
    `“${questions.consent}”`,
    'To think again.',
    'Met in Lisbon.',
    'Whom do we call? (private)\nMary',
    'They have one. It is not shown: with it, others could answer.',
    'Letter to ada@example.com',
    'reply “250 OK”',
    'By train: [their link to answer]',
    'If your server makes backups (BACKUP_DIR), they have this too',
    "--all-about 'ada@example.com'",
  ])
    expect(text).toContain(words)
  expect(text).not.toContain('Alan')
  // The test begins at Back, because Tab reaches the skip link and the navigation first.
  await getDesk(page).link('Back').focus()
  await page.keyboard.press('Tab')
  expect(await focused(page)).toBe('BUTTON: Print')
  await page.keyboard.press('Tab')
  expect(await focused(page)).toBe('BUTTON: Download JSON')
  await getDesk(page).link('Back').click()
  await getDesk(page).heading('Ada Lovelace').waitFor()
  expect(new URL(page.url()).hash).toBe(`#/applications/${id}?status=all`)
})

test('the JSON has what the database returns, and the time at which it was read', async ({ visitor }) => {
  const id = await storeGuest()
  const page = await desk.open(visitor, `/applications/${id}/all`)
  const saved = page.waitForEvent('download')
  await getDesk(page).button('Download JSON').click()
  const file = await saved
  expect(file.suggestedFilename()).toMatch(/^person-\d{4}-\d\d-\d\d\.json$/)
  const { at, ...about } = JSON.parse((await buffer(await file.createReadStream())).toString()) as {
    at: string
  }
  const { data } = await desk.ada.client.rpc('desk_all_about', { application: id })
  expect(about).toEqual(data)
  expect(at).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/)
  await expect.poll(() => getDesk(page).status.textContent()).toBe('Downloaded everything about this person.')
})

test('the printed page has everything, nothing to press, and each application on its own sheet', async ({
  visitor,
}) => {
  const id = await storeGuest()
  const page = await desk.open(visitor, `/applications/${id}/all`)
  await page.evaluate(() => (window.print = () => (document.title = 'printed')))
  await getDesk(page).button('Print').click()
  await expect.poll(() => page.title()).toBe('printed')
  await page.emulateMedia({ media: 'print' })
  // A4 in portrait, without its margins.
  await resize(page, { width: 680, height: 1000 })
  const lines = await linesOf(page)
  expect(lines.slice(0, 2)).toEqual([
    title,
    expect.stringMatching(
      /^Ada Lovelace, ada@example\.com: 2 applications, as of \d+ \w+ 20\d\d, \d\d:\d\d\.$/,
    ) as string,
  ])
  expect(lines.filter((line) => /Print|Download|npm run|Back$|Unplugged\. \d/.test(line))).toEqual([])
  expect(lines.join('\n')).toContain('By train: [their link to answer]')
  expect(await overflow(page)).toEqual({ scroll: 0, wide: [] })
  const breaks = await page
    .locator('.person-screen > section')
    .evaluateAll((sections) => sections.map((section) => getComputedStyle(section).breakBefore))
  expect(breaks).toEqual(['auto', 'page'])
})

test('nothing is wider than a phone of 360 pixels', async ({ visitor }) => {
  const id = await storeGuest()
  await desk.sql`update public.retreat_applications set linkedin = ${'w'.repeat(300)}`
  const page = await desk.open(visitor, `/applications/${id}/all`, { viewport: { width: 360, height: 700 } })
  await page.getByText('w'.repeat(300)).first().waitFor()
  expect(await overflow(page)).toEqual({ scroll: 0, wide: [] })
})

test('marks of others are left out until the reader has marked too, and the page says so', async ({
  visitor,
}) => {
  const [application] = await desk.store([{ first_name: 'Ada' }])
  await desk.bob.client
    .rpc('desk_mark', { act: crypto.randomUUID(), application: application?.id, mark: 'no', why: 'Cold.' })
    .throwOnError()
  const page = await desk.open(visitor, `/applications/${application?.id}/all`)
  await page.getByText('Marks of other organisers are left out').waitFor()
  expect(await page.getByText('Cold.').count()).toBe(0)
  await desk.ada.client
    .rpc('desk_mark', { act: crypto.randomUUID(), application: application?.id, mark: 'yes', why: '' })
    .throwOnError()
  await page.reload()
  await page.getByText('No: Cold.').waitFor()
  expect(await page.getByText('are left out').count()).toBe(0)
})

test('an organiser who reads blind finds no link, and the address shows a sentence', async ({ visitor }) => {
  visitor.allowConsoleError(/Failed to load resource/)
  const id = await storeGuest()
  await desk.sql`update private.organisers set blind = true`
  const page = await desk.open(visitor, `/applications/${id}`)
  await getDesk(page).button('Erase').waitFor()
  expect(await getDesk(page).link(linkText).count()).toBe(0)
  await page.goto(`${desk.origin}/desk#/applications/${id}/all`)
  const alert = page.getByRole('alert')
  await alert.getByText('Not loaded. Everything about a person is hidden while you read blind.').waitFor()
  expect(await page.locator('body').innerText()).not.toMatch(/ada@example\.com|Lovelace/)
  // The page is still the desk of a signed-in organiser.
  await getDesk(page).link('Places').waitFor()
})

test('the page of an application that was erased says so', async ({ visitor }) => {
  visitor.allowConsoleError(/Failed to load resource/)
  const page = await desk.open(visitor, `/applications/${crypto.randomUUID()}/all`)
  await page.getByText('There is no such application: it may have been erased.').waitFor()
})
