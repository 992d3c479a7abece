import { buffer } from 'node:stream/consumers'
import type { Page } from 'playwright-core'
import { beforeEach, expect } from 'vitest'

import { readCsv } from '../support/csv.ts'
import { deskForTestFile, focused, getDesk } from '../support/desk-page.ts'
import { beginEdition, removeEditions } from '../support/editions.ts'
import { test } from '../support/visitor.ts'
import { refresh } from '../support/refresh.ts'

const desk = deskForTestFile()

beforeEach(async () => {
  await removeEditions(desk.sql)
  await desk.sql`update private.editions set name = '', starts_on = null, ends_on = null, venue = ''`
  await desk.sql`delete from private.places`
  await desk.sql`insert into private.places (zone) values ('UTC')`
})

const apply = async (first_name: string, email = `${first_name.toLowerCase()}@example.com`) => {
  const [stored] = await desk.store([{ first_name, last_name: 'N', email, created_at: new Date() }])
  return stored?.id ?? ''
}
const retreatSelect = (page: Page) => page.getByLabel('Retreat', { exact: true })
const expectListed = (page: Page, ...names: string[]) =>
  expect.poll(() => getDesk(page).names()).toEqual(names.map((name) => `${name} N`))

test('a retreat is begun by keyboard, and applications from then on are in a list of their own', async ({
  visitor,
}) => {
  await desk.sql`update private.places set places = 40, days = 7`
  const first = await apply('Ada')
  const page = await desk.open(visitor, `/applications/${first}`)
  const { heading, status, link, keyboard } = { ...getDesk(page), keyboard: page.keyboard }
  await heading('Ada N').waitFor()
  await keyboard.press('a')
  await link('Places').click()
  await getDesk(page).button('Undo: Ada N, accepted').waitFor()
  await link('Name retreats, or begin the next one').press('Enter')
  await heading('Retreats').waitFor()
  await page.getByLabel('Name', { exact: true }).focus()
  await keyboard.type('Spring 2028')
  await page.getByLabel('First day').fill('2028-04-07')
  await page.getByLabel('Last day').fill('2028-04-10')
  await page.getByLabel('Copy the questions').focus()
  await keyboard.press('Space')
  await getDesk(page).button('Begin retreat').focus()
  await keyboard.press('Enter')
  // A second Enter would press “Not yet”, so it begins nothing.
  expect(await focused(page)).toBe('BUTTON: Not yet')
  await page.getByText('Begin Spring 2028?').waitFor()
  await keyboard.press('Tab')
  await keyboard.press('Enter')
  await status.getByText('Spring 2028 has begun. Applications from now on belong to it.').waitFor()
  await heading('Places').waitFor()
  expect(await focused(page)).toBe('H1: Places')
  expect(await page.getByRole('button', { name: /^Undo/ }).count()).toBe(0)
  await page.getByText('40 Free of 40').waitFor()
  expect(await page.getByLabel('First day').inputValue()).toBe('2028-04-07')
  await apply('Bea')
  await link('Applications').click()
  await expectListed(page, 'Bea')
  await expect.poll(() => getDesk(page).tabs()).toContain('All 1')
  expect(await page.getByText('This is').count()).toBe(0)
  await page.evaluate(() => (location.hash = '#/history'))
  await page.getByText('Began the retreat Spring 2028').waitFor()
})

test('an earlier retreat is read, searched, exported and opened, and a link leads back to the newest', async ({
  visitor,
}) => {
  await apply('Ada')
  const alan = await apply('Alan')
  await desk.setStatus([{ id: alan }], 'shortlisted')
  await beginEdition(desk.sql, 'Spring 2028')
  await apply('Bea')
  const page = await desk.open(visitor)
  const { heading, link, search, button, tabs } = getDesk(page)
  await expectListed(page, 'Bea')
  // The list of an earlier retreat shows applications of every status.
  await retreatSelect(page).focus()
  await page.keyboard.press('ArrowDown')
  await page.getByText('This is First retreat.').waitFor()
  await expectListed(page, 'Alan', 'Ada')
  await expect.poll(tabs).toEqual(expect.arrayContaining(['New 1', 'Shortlisted 1', 'All 2']))
  expect(await focused(page)).toMatch(/^SELECT/)
  await search.fill('Alan')
  await expectListed(page, 'Alan')

  const saved = page.waitForEvent('download')
  await button('Download CSV').click()
  const file = await saved
  expect(file.suggestedFilename()).toMatch(/^applications-of-retreat-1-.*[.]csv$/)
  const { rows } = readCsv((await buffer(await file.createReadStream())).toString())
  expect(rows.map((row) => row['first_name'])).toEqual(['Alan'])

  await link('Alan N').click()
  await heading('Alan N').waitFor()
  expect(page.url()).toContain(`/applications/${alan}?edition=1&status=all&search=Alan`)
  await page.keyboard.press('Escape')
  await expectListed(page, 'Alan')
  expect(await retreatSelect(page).inputValue()).toBe('1')
  // The links of the navigation lead to screens of the same retreat.
  await link('Places').click()
  await page.getByText('This is First retreat.').waitFor()
  await link('Applications').click()
  await expectListed(page, 'Alan', 'Ada')
  await search.fill('Alan')
  await expectListed(page, 'Alan')
  // Clear keeps the retreat, too.
  await button('Clear').click()
  await expectListed(page, 'Alan', 'Ada')
  await link('Back to Spring 2028').click()
  await expectListed(page, 'Bea')
  expect(await focused(page)).toBe('H1: Applications')
  expect(page.url()).not.toContain('edition')
})

test('when a retreat begins, the list in another window switches to it, and a list of an earlier retreat stays', async ({
  visitor,
}) => {
  await apply('Ada')
  const prepare = (opened: Page) => opened.clock.install()
  const [newest, earlier] = [
    await desk.open(visitor, '', { prepare }),
    await desk.open(visitor, '/?edition=1', { prepare, as: desk.bob, isNew: true }),
  ]
  await expectListed(newest, 'Ada')
  await expectListed(earlier, 'Ada')
  await expect.poll(() => getDesk(newest).tabs()).toContain('All 1')
  expect(await retreatSelect(newest).count()).toBe(0)
  await desk.ada.client
    .rpc('desk_begin_edition', {
      act: crypto.randomUUID(),
      newest: 1,
      name: 'Spring 2028',
      starts_on: null,
      ends_on: null,
      copied: {},
    })
    .throwOnError()
  await apply('Bea')
  await refresh(newest)
  await expectListed(newest, 'Bea')
  await refresh(earlier)
  await earlier.getByText('This is First retreat.').waitFor()
  await expectListed(earlier, 'Ada')
})

test('if two organisers begin the next retreat, the second one reads that somebody else has begun it', async ({
  visitor,
}) => {
  visitor.allowConsoleError(/Failed to load resource/)
  const page = await desk.open(visitor, '/retreats')
  const { button } = getDesk(page)
  const name = page.getByLabel('Name', { exact: true })
  // Without a name, the screen does not ask for confirmation.
  await button('Begin retreat').click()
  expect(await button('Begin now').count()).toBe(0)
  await name.fill('Autumn 2027')
  await button('Begin retreat').click()
  await beginEdition(desk.sql, 'Spring 2028')
  await button('Begin now').click()
  await page.getByRole('alert').getByText('Not begun. Somebody else has begun a retreat meanwhile.').waitFor()
  // The typed name stays, and the screen shows the other retreat.
  expect(await name.inputValue()).toBe('Autumn 2027')
  await page.getByText('You can still read, search and download Spring 2028.').waitFor()
  expect(await desk.sql`select name from private.editions order by id`).toEqual([
    { name: '' },
    { name: 'Spring 2028' },
  ])
})

test('an earlier retreat has its own places, days, questions and guests, and its name can be changed', async ({
  visitor,
}) => {
  const first = await apply('Ada')
  await desk.setStatus([{ id: first }], 'accepted')
  await desk.sql`update private.invitations set told_at = now(), deadline = private.today() + 9, rsvp = 'coming', rsvp_at = now()`
  await beginEdition(desk.sql, 'Spring 2028')
  const page = await desk.open(visitor, '/places')
  const { button, heading, link, status } = getDesk(page)
  await page.getByText('0 Coming').waitFor()
  await page.getByRole('heading', { name: 'Settings' }).waitFor()
  await retreatSelect(page).focus()
  await page.keyboard.press('ArrowDown')
  await page.getByText('1 Coming').waitFor()
  expect(await focused(page)).toMatch(/^SELECT/)
  expect(await page.getByRole('heading', { name: 'Settings' }).count()).toBe(0)
  await page.getByLabel('Venue').fill('Hof Sonnenau')
  await button('Save retreat').click()
  await status.getByText('Saved. The retreat: days not set, Hof Sonnenau.').waitFor()
  expect(await desk.sql`select venue from private.editions order by id`).toEqual([
    { venue: 'Hof Sonnenau' },
    { venue: '' },
  ])

  await link('Ask questions').click()
  await heading('Questions').waitFor()
  await page.getByText('This is First retreat.').waitFor()
  await button('Add question').click()
  await page.getByLabel('Question', { exact: true }).fill('What do you not eat?')
  await button('Save').click()
  await status.getByText('Saved. 1 question.').waitFor()
  expect(await desk.sql`select edition from private.questions`).toEqual([{ edition: 1 }])
  await page.reload()
  await expect
    .poll(() => page.getByLabel('Question', { exact: true }).inputValue())
    .toBe('What do you not eat?')
  await link('Guests').click()
  await page.getByText('1 guest.').waitFor()
  await link('Ada N').click()
  await heading('Ada N').waitFor()
  expect(page.url()).toContain('edition=1')

  await page.evaluate(() => (location.hash = '#/retreats'))
  const field = page.getByLabel('Name of first retreat')
  await field.fill(' Autumn 2027 ')
  await button('Save').last().click()
  await status.getByText('Name saved.').waitFor()
  await page.evaluate(() => (location.hash = '#/?edition=1'))
  await page.getByText('This is Autumn 2027.').waitFor()
  await page.evaluate(() => (location.hash = '#/history'))
  await page.getByText('Retreat 1 is named Autumn 2027').waitFor()
})

test('somebody who applied to an earlier retreat is shown as such, with a link to that application', async ({
  visitor,
}) => {
  await apply('Ada')
  await beginEdition(desk.sql, 'Spring 2028')
  await apply('Ada')
  const page = await desk.open(visitor)
  const { heading, link, row, pill } = getDesk(page)
  await row('Ada N').getByText('applied before').waitFor()
  await link('Ada N').click()
  await heading('Ada N').waitFor()
  await page.locator('.application-head').getByText('Applied before').waitFor()
  const others = page.getByRole('region', { name: 'Other applications with this email' })
  await others.getByText('First retreat').waitFor()
  await others.getByRole('link').click()
  await pill.waitFor()
  await others.getByText('Spring 2028').waitFor()
  expect(page.url()).toContain('edition=1')
  await page.keyboard.press('Escape')
  await page.getByText('This is First retreat.').waitFor()
})

test('while another retreat cannot be read, the tabs show no numbers of the former one, and it can be left', async ({
  visitor,
}) => {
  visitor.allowConsoleError(/Failed to load resource/)
  await apply('Ada')
  await beginEdition(desk.sql, 'Spring 2028')
  await apply('Bea')
  const page = await desk.open(visitor)
  const { tabs, tab } = getDesk(page)
  await expect.poll(tabs).toContain('All 1')
  await page.route('**/rpc/desk_list', (route) =>
    route.fulfill({ status: 400, json: { code: '22023', message: 'Not now.' } }),
  )
  await retreatSelect(page).selectOption('First retreat')
  await page.getByText('Not now.').waitFor()
  expect(await tab('All').locator('.list-count').count()).toBe(0)
  await page.unroute('**/rpc/desk_list')
  await retreatSelect(page).selectOption('Spring 2028')
  await expectListed(page, 'Bea')
  await expect.poll(tabs).toContain('All 1')
})
