import type { Page } from 'playwright-core'
import { expect } from 'vitest'

import { serverForTestFile } from '../../support/server-for-test-file.ts'
import { anApplication, getForm } from '../../support/form.ts'
import { holdRequests } from '../../support/held-requests.ts'
import { changeAsOthersDo } from '../../support/translation.ts'
import { waitForTakeOver, test } from '../../support/browser-test.ts'

const server = serverForTestFile()

/** Resolves when the page's script has taken over the form. */
const waitForEffects = (page: Page) => page.waitForFunction(() => window.isReady)

/** Simulates the event of a page restored from the back/forward cache, which Playwright's Chromium does not use. */
const restorePage = (page: Page) =>
  page.evaluate(() => window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })))

test('a stored draft does not overwrite text that was typed before the script loaded', async ({
  visitor,
}) => {
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
  // The browser's storage may have had no room for a newer draft.
  await page.evaluate((json) => sessionStorage.setItem('unplugged-draft', json), draft)
  release()
  await waitForEffects(page)
  const { consent, ...answers } = application
  expect(consent).toBe(true)
  expect(await form.answers()).toEqual({
    ...answers,
    first_name: 'Grace',
    reason: 'To think.',
    team_size: '10+',
  })
})

test('a translation and an extension that change the form before its script runs disturb nobody who types', async ({
  visitor,
}) => {
  const application = anApplication()
  let release = () => {}
  const page = await visitor.open(server.origin, {}, async (opened) => {
    release = await holdRequests(opened, '**/assets/**')
  })
  const form = getForm(page)
  await page.evaluate(changeAsOthersDo)
  await form.fill(application)
  await form.reason.clear()
  await form.reason.pressSequentially('To ')
  release()
  await page.keyboard.type('think.')
  await waitForEffects(page)
  await page.keyboard.type(' And to write.')
  const { consent, ...answers } = application
  expect(await form.consent.isChecked()).toBe(consent)
  expect(await form.answers()).toMatchObject({ ...answers, reason: 'To think. And to write.' })
  await form.button.click()
  await form.success.waitFor()
})

test('a page that is restored after a native post can send again', async ({ visitor }) => {
  visitor.allowConsoleError(/Failed to load resource|ERR_FAILED/)
  const page = await visitor.open(server.origin, {}, (opened) =>
    opened.route('**/assets/**', (route) => route.abort()),
  )
  const form = getForm(page)
  await form.fill(anApplication())
  // After this response the page stays unchanged, like a page that the browser restores.
  await page.route(`${server.origin}/`, (route) => route.fulfill({ status: 204 }), { times: 1 })
  const posted = page.waitForResponse((response) => response.request().method() === 'POST')
  // The navigation has no new document, for which Playwright may wait.
  await form.button.click({ noWaitAfter: true })
  await posted
  expect(await form.button.innerText()).toBe('Submitting...')
  expect(await form.button.isDisabled()).toBe(true)

  await restorePage(page)
  expect(await form.button.innerText()).toBe('Send Details!')
  expect(await form.button.isDisabled()).toBe(false)
  // Playwright still waits for that navigation.
  await page.evaluate(() => document.querySelector<HTMLElement>('button[type=submit]')?.click())
  await form.success.waitFor()
})

test('a page that is restored during a send still shows the send as pending, and then the green box', async ({
  visitor,
}) => {
  let release = () => {}
  const page = await visitor.open(server.origin, {}, async (opened) => {
    release = await holdRequests(opened, '**/rest/v1/**')
  })
  await waitForTakeOver(page)
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
