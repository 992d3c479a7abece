import type { Page } from 'playwright-core'
import { expect } from 'vitest'

import { serverForTestFile } from '../../testing/server-for-test-file.ts'
import { anApplication, getForm } from '../../testing/form.ts'
import { holdRequests } from '../../testing/held-requests.ts'
import { waitForHydration, test } from '../../testing/visitor.ts'

const server = serverForTestFile()

/** Resolves when the page's script has also done its first work on the form that it took over. */
const waitForTakeover = (page: Page) => page.waitForFunction(() => window.isHydrated)

/** The event of a page that the browser restores unchanged. Playwright's Chromium restores none this way. */
const restorePage = (page: Page) =>
  page.evaluate(() => window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })))

test('a draft does not overwrite text from before the script', async ({ visitor }) => {
  const application = anApplication({ paid_solution: 'custom', custom_solution: 'A cabin' })
  const page = await visitor.open(server.origin)
  const form = getForm(page)
  await form.fill(application)
  const draft = await page.evaluate(() => sessionStorage.getItem('unplugged-draft') ?? '')
  expect(draft).toContain('Ada')
  const release = await holdRequests(page, '**/assets/**')
  await page.reload({ waitUntil: 'domcontentloaded' })
  await form.firstName.fill('Grace')
  await form.reason.fill('To think.')
  await form.teamSize.locator('[value="10+"]').check()
  // As in a browser without room for a newer draft.
  await page.evaluate((older) => sessionStorage.setItem('unplugged-draft', older), draft)
  release()
  await waitForTakeover(page)
  const { consent, ...answers } = application
  expect(consent).toBe(true)
  expect(await form.answers()).toEqual({
    ...answers,
    first_name: 'Grace',
    reason: 'To think.',
    team_size: '10+',
  })
})

test('typed text remains even if the script had to rebuild the form', async ({ visitor }) => {
  visitor.allowConsoleError(/^Hydration failed because/)
  const application = anApplication({ paid_solution: 'custom', custom_solution: 'A cabin' })
  let release = () => {}
  const page = await visitor.open(server.origin, {}, async (opened) => {
    release = await holdRequests(opened, '**/assets/**')
  })
  const form = getForm(page)
  await form.fill(application)
  // As a browser's extension does, which finds the field before React does.
  await form.email.evaluate((field) => field.before(document.createElement('extension-button')))
  release()
  await waitForTakeover(page)
  expect(await page.locator('extension-button').count()).toBe(0)
  const { consent, ...answers } = application
  expect(consent).toBe(true)
  expect(await form.answers()).toEqual(answers)
})

test('a restored page whose form was posted natively can send again', async ({ visitor }) => {
  visitor.allowConsoleError(/Failed to load resource|ERR_FAILED/)
  const page = await visitor.open(server.origin, {}, (opened) =>
    opened.route('**/assets/**', (route) => route.abort()),
  )
  const form = getForm(page)
  await form.fill(anApplication())
  // After this response the page stays unchanged, like one that the browser restores.
  await page.route(`${server.origin}/`, (route) => route.fulfill({ status: 204 }), { times: 1 })
  const posted = page.waitForResponse((response) => response.request().method() === 'POST')
  await form.button.click()
  await posted
  expect(await form.button.innerText()).toBe('Submitting...')
  expect(await form.button.isDisabled()).toBe(true)

  await restorePage(page)
  expect(await form.button.innerText()).toBe('Send Details!')
  expect(await form.button.isDisabled()).toBe(false)
  await form.button.click()
  await form.success.waitFor()
})

test('a page restored during its send continues to show it, and then the green box', async ({ visitor }) => {
  let release = () => {}
  const page = await visitor.open(server.origin, {}, async (opened) => {
    release = await holdRequests(opened, '**/rest/v1/**')
  })
  await waitForHydration(page)
  const form = getForm(page)
  await form.fill(anApplication())
  const request = page.waitForRequest('**/rest/v1/**')
  await form.button.click()
  await request
  await restorePage(page)
  expect(await form.button.innerText()).toBe('Submitting...')
  expect(await form.button.isDisabled()).toBe(true)
  release()
  await form.success.waitFor()
  expect(await form.button.innerText()).toBe('Send Details!')
})
