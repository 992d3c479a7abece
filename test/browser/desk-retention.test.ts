import { beforeEach, expect } from 'vitest'

import { removeEditions } from '../support/editions.ts'
import { deskForTestFile, focused, getDesk } from '../support/desk-page.ts'
import { resetRetention } from '../support/retention.ts'
import { resize } from '../support/resize.ts'
import { test } from '../support/visitor.ts'

const desk = deskForTestFile()

beforeEach(async () => {
  await removeEditions(desk.sql)
  await desk.sql`update private.editions set name = '', starts_on = '2024-03-12', ends_on = '2024-03-15'`
  await resetRetention(desk.sql)
  await desk.sql`delete from private.places`
  await desk.sql`insert into private.places (zone) values ('UTC')`
})

const store = async (...names: string[]) =>
  desk.store(
    names.map((first_name) => ({
      first_name,
      last_name: 'N',
      email: `${first_name.toLowerCase()}@example.com`,
      created_at: new Date('2024-01-10'),
    })),
  )
const [everybodyLabel, guestsLabel] = [
  'Erase applications this many months after the retreat',
  'The same for people who came',
]

test('an organiser sets months by keyboard, and reads on which days applications are erased', async ({
  visitor,
}) => {
  const page = await desk.open(visitor, '/places')
  const { heading, link, status } = getDesk(page)
  await link('How long applications are kept').press('Enter')
  await heading('How long applications are kept').waitFor()
  expect(await page.getByRole('heading', { name: 'Days', exact: true }).count()).toBe(0)
  expect(await link('Places').getAttribute('aria-current')).toBe('page')
  await page.getByLabel(everybodyLabel).focus()
  await page.keyboard.type('12')
  await page.keyboard.press('Tab')
  expect(await focused(page)).toMatch(/^INPUT/)
  await page.keyboard.type('24')
  await page.keyboard.press('Enter')
  await status
    .getByText(
      'Saved. Applications are kept for 12 months after the retreat, those of people who came for 24 months',
    )
    .waitFor()
  await page
    .getByText('First retreat: from 15 March 2025 on, from 15 March 2026 on for people who came.')
    .waitFor()
  await page.getByLabel(everybodyLabel).fill('121')
  await page.keyboard.press('Enter')
  expect(
    await page.getByLabel(everybodyLabel).evaluate((field: HTMLInputElement) => field.validity.rangeOverflow),
  ).toBe(true)
  await page.evaluate(() => (location.hash = '#/history'))
  // The announcement may still say the same.
  await page
    .getByRole('listitem')
    .filter({
      hasText:
        'Applications are kept for 12 months after the retreat, those of people who came for 24 months',
    })
    .waitFor()
})

test('an application says on which day it is erased, and can be kept with a reason, which other organisers see', async ({
  visitor,
}) => {
  const [ada] = await store('Ada')
  await desk.sql`update private.retention set months = 120, months_for_guests = 120`
  const page = await desk.open(visitor, `/applications/${ada?.id}`)
  const { button, status, link, heading } = getDesk(page)
  await page
    .getByText('It is due to be erased on 15 March 2034, as organisers set for all applications.')
    .waitFor()
  await button('Keep').press('Enter')
  await page.keyboard.type('Comes again')
  await page.keyboard.press('Escape')
  await button('Keep').press('Enter')
  // The reason is still there.
  await page.keyboard.press('End')
  await page.keyboard.type(' next year')
  await page.keyboard.press('Enter')
  await status.getByText('Ada N: kept').waitFor()
  await page.getByText(`Kept until you erase it: Comes again next year ${desk.ada.email}`).waitFor()
  expect(await focused(page)).toBe('H1: Ada N')

  const other = await desk.open(visitor, '/retention', { as: desk.bob, isNew: true })
  await getDesk(other).link('Ada N').waitFor()
  await other.getByText('Comes again next year').waitFor()

  await button('Stop keeping').press('Enter')
  await status.getByText('Ada N: kept no longer').waitFor()
  await button('Keep').waitFor()
  await page.getByText('Kept: Comes again next year').waitFor()
  await page.getByText('No longer kept', { exact: true }).waitFor()
  await link('Back').click()
  await heading('Applications').waitFor()
})

test('an announced erasure is shown under Places, and due applications are erased by hand', async ({
  visitor,
}) => {
  const [ada] = await store('Ada', 'Bea')
  await desk.setStatus([{ id: ada?.id ?? '' }], 'shortlisted')
  await desk.sql`update private.retention set months = 12`
  await desk.sql`select private.keep_applications(100)`
  const page = await desk.open(visitor, '/places')
  const { heading, link, button, status } = getDesk(page)
  await page.getByText('2 applications will be erased from').waitFor()
  // After the erasing, the announcement of a later one is still shown.
  let announced: unknown = null
  await page.route('**/rpc/desk_retention', async (route) => {
    const response = await route.fetch()
    const retention = (await response.json()) as { due: number; announced: unknown }
    announced ??= retention.announced
    await route.fulfill({ response, json: { ...retention, announced } })
  })
  await link('How long applications are kept').first().click()
  await page.getByText('this is day 1.').waitFor()
  await button('Erase the 2 due').press('Enter')
  // A second Enter would press “Not yet”, so it erases nothing.
  expect(await focused(page)).toBe('BUTTON: Not yet')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await status.getByText('2 applications erased.').waitFor()
  await expect.poll(() => focused(page)).toBe('H1: How long applications are kept')
  await link('Applications').click()
  await heading('Applications').waitFor()
  await expect.poll(() => getDesk(page).names()).toEqual([])
  await page.evaluate(() => (location.hash = '#/history'))
  await page.getByText('2 applications erased after the retreat').waitFor()
})

test('the changes of a colleague who saves first are not overwritten, and long reasons fit a phone', async ({
  visitor,
}) => {
  visitor.allowConsoleError(/status of 409/)
  const page = await desk.open(visitor, '/retention')
  const { button } = getDesk(page)
  await page.getByLabel(guestsLabel).fill('36')
  const { version } = (await desk.bob.client.rpc('desk_retention').throwOnError()).data as { version: number }
  await desk.bob.client.rpc('desk_set_retention', { version, months: 6, months_for_guests: 6 }).throwOnError()
  await button('Save').click()
  await page
    .getByText('Somebody else changed this meanwhile: Applications are kept for 6 months after the retreat.')
    .waitFor()
  await button('Discard').click()
  expect(await page.getByLabel(guestsLabel).inputValue()).toBe('6')
  const [ada] = await store('Ada')
  await desk.ada.client
    .rpc('desk_hold', { act: crypto.randomUUID(), application: ada?.id, reason: 'w'.repeat(500) })
    .throwOnError()
  await resize(page, { width: 360, height: 640 })
  await page.reload()
  await page.getByText('w'.repeat(500)).waitFor()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
})
