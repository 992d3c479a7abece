import { once } from 'node:events'
import type { Page } from 'playwright-core'
import { afterEach, beforeAll, expect } from 'vitest'

import { setDoor } from '../../src/cli/queries/door.ts'
import type { Sql } from '../../src/server/database/connection/sql.ts'
import { anApplication, getForm } from '../support/form.ts'
import { readLinkPreview } from '../support/link-preview.ts'
import { startReceiver, type Receiver } from '../support/receiver.ts'
import { startServer, dataDirectory, type RunningServer } from '../support/server.ts'
import { connectToEmbedded } from '../support/sql.ts'
import { accessibilityProblems, waitForTakeOver, test } from '../support/visitor.ts'

// Without a slash at the end of its path.
const siteUrl = 'https://unplugged.example/retreat'
let receiver: Receiver
let server: RunningServer
let sql: Sql

beforeAll(async () => {
  const directory = await dataDirectory()
  receiver = await startReceiver()
  server = await startServer({
    DATA_DIR: directory.path,
    WEBHOOK_URL: `${receiver.origin}/hook`,
    VITE_SITE_URL: siteUrl,
  })
  sql = connectToEmbedded(directory.path)
})

const storedAs = (email: string) => sql`select * from public.retreat_applications where email = ${email}`

const received = (email: string) =>
  receiver.waitFor(1, ({ body }) => new URLSearchParams(body).get('email') === email)

test('a founder applies, and then sees the green box and an empty form, the row is stored, and the webhook is called', async ({
  visitor,
}) => {
  const application = anApplication({ paid_solution: 'custom', custom_solution: 'A cabin & a lake' })
  const page = await visitor.open(server.origin)
  await expect.poll(() => page.title()).toBe('Unplugged.')
  const form = getForm(page)
  await form.fill(application)
  await form.button.click()
  await form.success.waitFor()
  await page
    .getByText("Thank you for applying to Unplugged. We'll review your application and get back to you soon.")
    .waitFor()

  expect(await form.answers()).toEqual({
    first_name: '',
    last_name: '',
    email: '',
    phone: '',
    linkedin: '',
    company: '',
    custom_solution: '',
    reason: '',
  })
  expect(await form.consent.isChecked()).toBe(false)
  expect(await storedAs(application.email)).toMatchObject([application])
  const [call] = await received(application.email)
  expect(call).toMatchObject({ method: 'POST', url: '/hook' })
  expect(call?.headers['content-type']).toContain('application/x-www-form-urlencoded')
  expect(Object.fromEntries(new URLSearchParams(call?.body))).toEqual({
    firstName: application.first_name,
    lastName: application.last_name,
    email: application.email,
    phone: application.phone,
    linkedin: application.linkedin,
    company: application.company,
    paidSolution: 'custom',
    customSolution: 'A cabin & a lake',
    teamSize: '3-10',
    reason: application.reason,
    consent: 'true',
  })
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
  expect(await storedAs(application.email)).toHaveLength(1)
  expect(await form.button.isDisabled()).toBe(true)
})

test('the page contains its default texts in their order', async ({ visitor }) => {
  const page = await visitor.open(server.origin)
  const text = (await page.locator('body').innerText()).replaceAll(/\s+/g, ' ')
  const inOrder = [
    'Free For Founders, Apply Below',
    'Unplugged.',
    'Build deeper relationships and bigger ideas without distraction',
    'First name*',
    'Last name*',
    'Email*',
    'Phone*',
    'LinkedIn*',
    'Company*',
    'Have you ever paid for a solution to disconnect from social media or technology? If so, what?*',
    'I have not',
    'Yes, screen time related',
    'Yes, travel related',
    'Yes, work or team related',
    'How many full time team members are on your team?*',
    'Just me',
    '1-3',
    '3-10',
    '10+',
    'Why do you want to attend this retreat?*',
    'I consent to receiving communications from this team*',
    'Send Details!',
  ]
  let position = 0
  for (const words of inOrder) {
    const found = text.indexOf(words, position)
    expect(found, `"${words}" after the words before it`).toBeGreaterThanOrEqual(0)
    position = found + words.length
  }
  const form = getForm(page)
  expect(await form.reason.getAttribute('rows')).toBe('5')
  expect(await page.locator('input[type=radio]:checked').count()).toBe(0)
  const values = (name: string) =>
    page
      .locator(`input[name=${name}]`)
      .evaluateAll((inputs) => inputs.map((input) => (input as HTMLInputElement).value))
  expect(await values('paid_solution')).toEqual(['not', 'screen', 'travel', 'work', 'custom'])
  expect(await values('team_size')).toEqual(['just-me', '1-3', '3-10', '10+'])
  const types = await page
    .locator('.text-fields input')
    .evaluateAll((inputs) => inputs.map((input) => (input as HTMLInputElement).type))
  expect(types).toEqual(['text', 'text', 'email', 'tel', 'text', 'text'])
  const required = await page
    .locator(':required')
    .evaluateAll((fields) => fields.map((field) => (field as HTMLInputElement).name))
  expect(required).toEqual([
    'first_name',
    'last_name',
    'email',
    'phone',
    'linkedin',
    'company',
    'reason',
    'consent',
  ])
})

test("the browser's own validation stops a form with an invalid email address", async ({ visitor }) => {
  const page = await visitor.open(server.origin)
  await waitForTakeOver(page)
  const requests: string[] = []
  page.on('request', (request) => requests.push(request.url()))
  const form = getForm(page)
  await form.fill(anApplication({ email: 'not an address' }))
  await form.button.click()
  expect(await form.email.evaluate((field: HTMLInputElement) => field.validity.typeMismatch)).toBe(true)
  expect(await form.email.evaluate((field) => field === document.activeElement)).toBe(true)
  expect(requests).toEqual([])
})

test('repeated sends while one is pending make one insert', async ({ visitor }) => {
  const application = anApplication()
  let inserts = 0
  const release = new AbortController()
  const released = once(release.signal, 'abort')
  const page = await visitor.open(server.origin, {}, (opened) =>
    opened.route('**/rest/v1/**', async (route) => {
      inserts += 1
      await released
      await route.continue()
    }),
  )
  await waitForTakeOver(page)
  const form = getForm(page)
  await form.fill(application)
  await form.button.evaluate((button: HTMLButtonElement) => {
    button.form?.requestSubmit()
    button.form?.requestSubmit()
    button.click()
  })
  expect(await form.button.innerText()).toBe('Submitting...')
  expect(await form.button.isDisabled()).toBe(true)
  await form.company.press('Enter')
  await form.button.click({ force: true })
  release.abort()
  await form.success.waitFor()
  expect(await form.button.innerText()).toBe('Send Details!')
  expect(inserts).toBe(1)
})

test('without JavaScript a refused send returns the form with the red box and every answer', async ({
  visitor,
}) => {
  const application = anApplication({
    first_name: '"><script>alert(1)</script>',
    paid_solution: 'custom',
    custom_solution: "it's <b>",
  })
  const page = await visitor.open(server.origin, { javaScriptEnabled: false })
  visitor.allowConsoleError(/Failed to load resource/)
  const form = getForm(page)
  await form.fill(application)
  await form.consent.evaluate((checkbox) => checkbox.removeAttribute('required'))
  await form.consent.uncheck()
  const [response] = await Promise.all([page.waitForResponse(`${server.origin}/`), form.button.click()])
  expect(response.status()).toBe(400)
  await form.failure.waitFor()
  await page.getByText('retreat_applications_consent_given').waitFor()
  const { consent, ...answers } = application
  expect(consent).toBe(true)
  expect(await form.answers()).toEqual(answers)
})

test('a link to the page shows a preview', async () => {
  const { tags, image, icons } = await readLinkPreview(`${server.origin}/`, siteUrl)
  expect(tags).toMatchObject({ canonical: siteUrl, 'og:title': 'Unplugged.' })
  expect(image).toMatchObject({ type: 'image/png', size: '1200x630' })
  expect(icons.map(({ type }) => type)).toEqual(['image/png', 'image/svg+xml', 'image/png'])
})
