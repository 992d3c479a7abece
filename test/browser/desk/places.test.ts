import { beforeEach, expect } from 'vitest'

import { people } from '../../support/applicants.ts'
import { deskForTestFile, focused, getDesk } from '../../support/desk-page.ts'
import { resize } from '../../support/resize.ts'
import { test } from '../../support/browser-test.ts'

const desk = deskForTestFile()

beforeEach(async () => {
  await desk.sql`update private.places set zone = 'UTC'`
})

test('an RSVP in a row does not change the height of the row', async ({ visitor }) => {
  const stored = await desk.store(people(3))
  await desk.setStatus(stored.slice(0, 2), 'accepted')
  await desk.sql`
    update private.invitations set told_at = now(), deadline = private.today() + 3
    where application_id = ${stored[0]?.id ?? ''}`
  const page = await desk.open(visitor, '/?status=all')
  const { button, row, select } = getDesk(page)
  const statusAndRsvp = (name: string) => row(name).locator('.rows-status').textContent()
  const heights = () =>
    page.locator('tbody tr').evaluateAll((rows) => rows.map((each) => each.getBoundingClientRect().height))
  await expect.poll(() => statusAndRsvp('Person 1')).toBe('AcceptedNo answer yet')
  const wide = await heights()
  expect(new Set(wide).size).toBe(1)
  await resize(page, { width: 390, height: 844 })
  const narrow = await heights()
  expect(new Set(narrow).size).toBe(1)

  await select('Person 3').check()
  await button('Accept').click()
  await expect.poll(() => statusAndRsvp('Person 3')).toBe('AcceptedDraft waits')
  expect(await heights()).toEqual(narrow)
  await resize(page, { width: 1280, height: 720 })
  expect(await heights()).toEqual(wide)
})

test('the printed application shows the RSVP in words, without the buttons that change it', async ({
  visitor,
}) => {
  const stored = await desk.store(people(1))
  await desk.setStatus(stored, 'accepted')
  const page = await desk.open(visitor, `/applications/${stored[0]?.id}`)
  const edit = page.getByRole('heading', { name: 'Are they coming?' })
  await edit.waitFor()
  await page.emulateMedia({ media: 'print' })
  expect(await page.locator('.application-head').getByText('Draft waits').isVisible()).toBe(true)
  expect(await edit.isVisible()).toBe(false)
})

test('an organiser sets by keyboard how long applications are kept, and the browser refuses too many months', async ({
  visitor,
}) => {
  await desk.sql`update private.editions set starts_on = '2024-03-12', ends_on = '2024-03-15'`
  const page = await desk.open(visitor, '/retreat')
  const { heading, link, status } = getDesk(page)
  await link('Erasing').press('Enter')
  await heading('How long applications are kept').waitFor()
  expect(await page.getByRole('heading', { name: 'Days', exact: true }).count()).toBe(0)
  expect(await link('Retreat').getAttribute('aria-current')).toBe('page')
  const field = page.getByLabel('Erase applications this many months after the retreat')
  await field.focus()
  await page.keyboard.type('12')
  await page.keyboard.press('Tab')
  await expect.poll(() => focused(page)).toMatch(/^INPUT/)
  await page.keyboard.type('24')
  await page.keyboard.press('Enter')
  const saved =
    'Applications are kept for 12 months after the retreat, those of people who came for 24 months'
  await status.getByText(`Saved. ${saved}`).waitFor()
  await page
    .getByText('First retreat: from 15 March 2025 on, from 15 March 2026 on for people who came.')
    .waitFor()
  await field.fill('121')
  await page.keyboard.press('Enter')
  expect(await field.evaluate((input: HTMLInputElement) => input.validity.rangeOverflow)).toBe(true)
  await page.evaluate(() => (location.hash = '#/history'))
  // The announcement may still say the same.
  await page.getByRole('listitem').filter({ hasText: saved }).waitFor()
})

test('a long reason to keep an application fits a phone', async ({ visitor }) => {
  const [stored] = await desk.store(people(1))
  const reason = 'w'.repeat(500)
  await desk.ada.client
    .rpc('desk_hold', { act: crypto.randomUUID(), application: stored?.id, reason })
    .throwOnError()
  const page = await desk.open(visitor, '/retention', { viewport: { width: 360, height: 640 } })
  await page.getByText(reason).waitFor()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
})
