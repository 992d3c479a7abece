import { beforeAll, expect } from 'vitest'

import type { Sql } from '../../src/server/database/connection/sql.ts'
import { anApplication, getForm } from '../support/form.ts'
import { readLinkPreview } from '../support/link-preview.ts'
import { startReceiver, type Receiver } from '../support/receiver.ts'
import { startServer, dataDirectory, type RunningServer } from '../support/server.ts'
import { connectToEmbedded } from '../support/sql.ts'
import { waitForTakeOver, test } from '../support/browser-test.ts'

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
