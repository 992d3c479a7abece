import type { Page } from 'playwright-core'
import { afterEach, beforeAll, expect } from 'vitest'

import { setDoor } from '../../../src/cli/queries/door.ts'
import type { Sql } from '../../../src/server/database/connection/sql.ts'
import { anApplication, getForm } from '../../support/form.ts'
import { startServer, dataDirectory, type RunningServer } from '../../support/server.ts'
import { connectToEmbedded } from '../../support/sql.ts'
import { accessibilityProblems, test } from '../../support/browser-test.ts'

let server: RunningServer
let sql: Sql

beforeAll(async () => {
  const directory = await dataDirectory()
  server = await startServer({ DATA_DIR: directory.path })
  sql = connectToEmbedded(directory.path)
})

const setClosed = (closed: boolean, words?: string) =>
  setDoor(sql, { closed, sentence: words, closesAt: undefined, closesAfter: undefined })

/** Opens the door for the next test. */
afterEach(async () => {
  await setClosed(false)
  await documentSays(false)
})

/** Waits until the server sends the document of an open or a closed door. A change appears within a second. */
const documentSays = (closed: boolean) =>
  expect
    .poll(async () => (await (await fetch(server.origin)).text()).includes('Applications are closed'))
    .toBe(closed)

const closedHeading = (page: Page) => page.getByRole('heading', { name: 'Applications are closed' })

/** The names of the controls that cannot be changed. */
const locked = (page: Page, how: 'disabled' | 'readOnly') =>
  page.locator('form').evaluate((form: HTMLFormElement, property) => {
    const controls = [...form.elements].filter((control) => Reflect.get(control, property) === true)
    return [...new Set(controls.map((control) => Reflect.get(control, 'name') as string))]
  }, how)

const textFields = ['first_name', 'last_name', 'email', 'phone', 'linkedin', 'company']

test('the document says from the start that the door is closed, and says nothing about the door while it is open', async ({
  visitor,
}) => {
  const read = async (etag = '') => {
    const response = await fetch(server.origin, { headers: { 'if-none-match': etag } })
    return { status: response.status, etag: response.headers.get('etag') ?? '', html: await response.text() }
  }
  const whenOpen = await read()
  expect(whenOpen.html).not.toMatch(/door|closed/)
  // Nor has it data or styles that only an operator's own words need.
  expect(whenOpen.html).not.toMatch(/privacy|success"|--word|dir="auto"/i)
  await setClosed(true, 'We are full. <b>Write</b> to hello@example.org.')
  await documentSays(true)
  const whenClosed = await read()
  expect((await read(whenClosed.etag)).status).toBe(304)

  const pages = []
  for (const javaScriptEnabled of [true, false]) {
    const page = await visitor.open(server.origin, { javaScriptEnabled })
    expect(await page.locator('.door p').innerText()).toBe('We are full. <b>Write</b> to hello@example.org.')
    expect(await page.getByRole('link').getAttribute('href')).toBe('mailto:hello@example.org')
    expect(await page.locator('.badge').isVisible()).toBe(false)
    expect(await locked(page, 'readOnly')).toEqual([])
    // The button has no name.
    expect(await locked(page, 'disabled')).toEqual([
      ...textFields,
      'paid_solution',
      'custom_solution',
      'team_size',
      'reason',
      'consent',
      '',
    ])
    pages.push(page)
  }
  const [page] = pages
  if (!page) throw new Error('There is no page.')
  await expect.poll(() => page.evaluate(() => window.isReady)).toBe(true)
  expect(await page.locator('.door').count()).toBe(1)
  expect(await accessibilityProblems(page)).toEqual([])

  await setClosed(false)
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
  await page.locator('.badge').waitFor()
  expect(await page.locator('#progress').textContent()).toBe('Applications are open.')
  const form = getForm(page)
  await form.fill(anApplication())
  await form.button.click()
  await form.success.waitFor()
  await documentSays(false)
  expect(await read()).toEqual(whenOpen)
})

test('if the door closes while somebody fills in the form, a send says so, and every text stays readable', async ({
  visitor,
}) => {
  visitor.allowConsoleError(/Failed to load resource/)
  for (const javaScriptEnabled of [true, false]) {
    const page = await visitor.open(server.origin, { javaScriptEnabled })
    const form = getForm(page)
    const application = anApplication()
    await form.fill(application)
    const before = await form.answers()
    await setClosed(true, 'We are full.')
    await form.button.click()
    await form.failure.waitFor()
    await closedHeading(page).waitFor()
    expect(await page.locator('.badge').isVisible()).toBe(false)
    expect(await locked(page, 'readOnly')).toEqual([...textFields, 'reason'])
    expect(await locked(page, 'disabled')).toEqual([
      'paid_solution',
      'custom_solution',
      'team_size',
      'consent',
      '',
    ])
    // What is disabled would not be sent.
    expect(before).toMatchObject(await form.answers())
    expect(await form.reason.inputValue()).toBe(application.reason)
    expect(await form.paidSolution.locator('[value=travel]').isChecked()).toBe(true)
    await form.company.selectText()
    expect(await page.evaluate(() => getSelection()?.toString())).toBe(application.company)
    // axe needs JavaScript in the page.
    if (javaScriptEnabled) expect(await accessibilityProblems(page)).toEqual([])
    await setClosed(false)
    await documentSays(false)
  }
})

test('if the response to a stored application was lost, it can be sent again although the door has closed, also after a reload', async ({
  visitor,
}) => {
  visitor.allowConsoleError(/Failed to load resource|ERR_FAILED/)
  const page = await visitor.open(server.origin)
  const form = getForm(page)
  const application = anApplication()
  await form.fill(application)
  await page.route('**/rest/v1/retreat_applications', async (route) => {
    await route.fetch()
    await route.abort()
  })
  await form.button.click()
  await form.failure.waitFor()
  await setClosed(true)
  await documentSays(true)
  await page.unroute('**/rest/v1/retreat_applications')
  await page.reload()
  await page.getByText('Your application may have arrived before. Send it again to find out.').waitFor()
  expect(await closedHeading(page).isVisible()).toBe(true)
  await form.consent.check()
  await form.button.click()
  await form.success.waitFor()
  expect(await sql`select from public.retreat_applications where email = ${application.email}`).toHaveLength(
    1,
  )
  expect(await form.button.isDisabled()).toBe(true)
})
