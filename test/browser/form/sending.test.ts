import { once } from 'node:events'
import { beforeAll, expect } from 'vitest'

import type { Sql } from '../../../src/server/database/connection/sql.ts'
import { send } from '../../support/send-application.ts'
import { anApplication, getForm } from '../../support/form.ts'
import { holdRequests } from '../../support/held-requests.ts'
import { startReceiver, type Receiver } from '../../support/receiver.ts'
import { startServer, dataDirectory, type RunningServer } from '../../support/server.ts'
import { connectToEmbedded } from '../../support/sql.ts'
import { reconnect, test, waitForTakeOver } from '../../support/browser-test.ts'

let receiver: Receiver
let server: RunningServer
let sql: Sql

beforeAll(async () => {
  const directory = await dataDirectory()
  receiver = await startReceiver()
  server = await startServer({ DATA_DIR: directory.path, WEBHOOK_URL: receiver.origin })
  sql = connectToEmbedded(directory.path)
})

const stored = (email: string) => sql`select from public.retreat_applications where email = ${email}`
const undelivered = () => sql`select from private.deliveries where state <> 'done'`
const isAbout = (email: string) => (request: { body: string }) =>
  request.body.includes(encodeURIComponent(email))

test('fifty identical sends at once store one row and make one delivery', async () => {
  const application = anApplication()
  const statuses = await Promise.all(Array.from({ length: 50 }, () => send(server.origin, application)))
  expect(statuses.filter((status) => status === 201)).toHaveLength(1)
  expect(statuses.filter((status) => status === 409)).toHaveLength(49)
  expect(await stored(application.email)).toHaveLength(1)
  await receiver.waitFor(1, isAbout(application.email))
  // No delivery is still pending.
  await expect.poll(undelivered).toEqual([])
  expect(receiver.received.filter(isAbout(application.email))).toHaveLength(1)
})

test('an application with a changed form answer is a new application', async () => {
  const application = anApplication()
  // The same letters in a row, but one of them is in the first name instead of the last.
  const moved = {
    ...application,
    first_name: `Ada${application.last_name[0]}`,
    last_name: application.last_name.slice(1),
  }
  expect(await send(server.origin, application)).toBe(201)
  expect(await send(server.origin, { ...application, reason: `${application.reason} ` })).toBe(201)
  expect(await send(server.origin, { ...application, company: application.company.toUpperCase() })).toBe(201)
  expect(await send(server.origin, moved)).toBe(201)
  expect(await send(server.origin, moved)).toBe(409)
})

test('typed text survives a reload and a failed send; consent has to be given again', async ({ visitor }) => {
  visitor.allowConsoleError(/Failed to load resource/)
  const application = anApplication({ paid_solution: 'custom', custom_solution: 'A cabin' })
  const page = await visitor.open(server.origin)
  const form = getForm(page)
  await form.fill(application)
  const { consent, ...answers } = application
  expect(consent).toBe(true)
  await page.reload()
  expect(await form.answers()).toEqual(answers)
  await waitForTakeOver(page)
  expect(await form.answers()).toEqual(answers)

  await page.route('**/rest/v1/**', (route) => route.fulfill({ status: 500, json: { message: 'No.' } }))
  await form.consent.check()
  await form.button.click()
  await form.failure.waitFor()
  await page.reload()
  expect(await form.answers()).toEqual(answers)
  await page.unroute('**/rest/v1/**')
  await form.consent.check()
  await form.button.click()
  await form.success.waitFor()
  await page.reload()
  expect(await form.firstName.inputValue()).toBe('')
  expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain(application.email)
})

test('a send before the script has loaded is shown as in progress, and sent once the script has loaded', async ({
  visitor,
}) => {
  const application = anApplication({ paid_solution: 'custom', custom_solution: 'A cabin' })
  let release = () => {}
  const page = await visitor.open(server.origin, {}, async (opened) => {
    release = await holdRequests(opened, '**/assets/**')
  })
  const form = getForm(page)
  await form.fill(application)
  await form.button.click()
  expect(await form.button.innerText()).toBe('Submitting...')
  expect(await form.button.isDisabled()).toBe(true)
  expect(page.url()).toBe(`${server.origin}/`)
  release()
  await form.success.waitFor()
  expect(await stored(application.email)).toHaveLength(1)
  expect(page.url()).toBe(`${server.origin}/`)
})

test.for(['fails', 'has not loaded after 10 seconds'])(
  'if the script %s, the form is posted natively',
  async (failure, { visitor }) => {
    visitor.allowConsoleError(/Failed to load resource|ERR_FAILED/)
    const application = anApplication()
    const page = await visitor.open(server.origin, {}, async (opened) => {
      await opened.clock.install()
      await opened.route('**/assets/**', (route) => (failure === 'fails' ? route.abort() : undefined))
    })
    const form = getForm(page)
    await form.fill(application)
    await form.button.click()
    await page.clock.runFor(10_001)
    await form.success.waitFor()
    expect(await stored(application.email)).toHaveLength(1)
  },
)

test('a visitor who stops the browser while it posts the form can send again after a while', async ({
  visitor,
}) => {
  visitor.allowConsoleError(/409/)
  const application = anApplication()
  const page = await visitor.open(server.origin, {}, async (opened) => {
    await opened.clock.install()
    await opened.route('**/assets/**', () => {})
    await opened.route(`${server.origin}/`, (route) =>
      route.request().method() === 'POST' ? undefined : route.continue(),
    )
  })
  const form = getForm(page)
  await form.fill(application)
  await form.button.click()
  await Promise.all([
    page.waitForRequest((request) => request.method() === 'POST'),
    page.clock.runFor(10_001),
  ])
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Page.stopLoading')
  expect(await form.button.isDisabled()).toBe(true)
  // The browser also stopped loading the script. The next key loads it again, or one later if the browser was still stopping.
  await page.unroute('**/assets/**')
  const isEnabled = async () => {
    await page.keyboard.press('Tab')
    await page.clock.runFor(20_000)
    return form.button.isEnabled()
  }
  await expect.poll(isEnabled).toBe(true)
  expect(await form.answers()).toMatchObject({ reason: application.reason })
  await form.button.click()
  await form.success.waitFor()
  expect(await stored(application.email)).toHaveLength(1)
})

test('offline before the script has loaded, a send shows the error on the same page, and the next press succeeds', async ({
  visitor,
}) => {
  visitor.allowConsoleError(/Failed to load resource/)
  const application = anApplication()
  const page = await visitor.open(server.origin, { isNew: true })
  const form = getForm(page)
  await page.context().setOffline(true)
  await form.fill(application)
  await form.button.click()
  await form.failure.waitFor()
  const failure = await form.failure.elementHandle()
  await reconnect(page)
  // The press loads the script, which takes over before the press ends. If anything moved then, the press would be lost.
  await form.button.hover()
  await page.mouse.down()
  await page.waitForFunction(() => window.isReady)
  expect(await failure?.isVisible()).toBe(true)
  await page.mouse.up()
  await form.success.waitFor()
  expect(await stored(application.email)).toHaveLength(1)
})

test('without JavaScript a send returns the same page with the green box, and is not stored again by the script', async ({
  visitor,
}) => {
  visitor.allowConsoleError(/409/)
  const application = anApplication({ reason: 'one\ntwo' })
  const page = await visitor.open(server.origin, { javaScriptEnabled: false })
  const form = getForm(page)
  await form.fill(application)
  await form.button.click()
  await form.success.waitFor()
  expect(page.url()).toBe(`${server.origin}/`)
  expect(await form.firstName.inputValue()).toBe('')
  const secondPage = await visitor.open(server.origin)
  await getForm(secondPage).fill(application)
  await getForm(secondPage).button.click()
  await getForm(secondPage).success.waitFor()
  expect(await stored(application.email)).toHaveLength(1)
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

test.for([
  ['with its script', '**/rest/v1/**'],
  ['before its script has loaded', '**/assets/**'],
] as const)(
  'during a send nothing can be edited, and the button is visible (%s)',
  async ([, heldRequests], { visitor }) => {
    visitor.allowConsoleError(/Failed to load resource/)
    let release = () => {}
    const page = await visitor.open(
      server.origin,
      { viewport: { width: 390, height: 500 } },
      async (opened) => {
        await opened.route('**/rest/v1/**', (route) =>
          route.fulfill({ status: 400, json: { message: 'Not now.' } }),
        )
        release = await holdRequests(opened, heldRequests, (route) => route.fallback())
      },
    )
    const form = getForm(page)
    const application = anApplication()
    await form.fill(application)
    await form.company.press('Enter')
    const isInSight = await page.getByRole('button', { name: 'Submitting...' }).evaluate(async (button) => {
      // The browser first scrolls again to the field in which Enter was pressed.
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
      const { top, bottom } = button.getBoundingClientRect()
      return top >= 0 && bottom <= window.innerHeight
    })
    expect(isInSight).toBe(true)
    await page.keyboard.type('lost')
    release()
    await form.failure.waitFor()
    expect(await form.answers()).toMatchObject({
      first_name: application.first_name,
      company: application.company,
    })
    await form.firstName.fill('Augusta')
    expect(await form.firstName.inputValue()).toBe('Augusta')
  },
)
