import type { Page } from 'playwright-core'
import { expect } from 'vitest'

import { serverForTestFile } from '../../support/server-for-test-file.ts'
import { anApplication, getForm, style } from '../../support/form.ts'
import { holdRequests } from '../../support/held-requests.ts'
import { test, waitForTakeOver } from '../../support/browser-test.ts'

const server = serverForTestFile()

test.for([
  ['a pointer down in the form', (page: Page) => page.locator('legend').first().dispatchEvent('pointerdown')],
  ['focus in the form', (page: Page) => getForm(page).company.focus()],
  ['a key', (page: Page) => page.keyboard.press('ArrowDown')],
  ['an input event alone', (page: Page) => getForm(page).email.dispatchEvent('input')],
  ['a change event alone', (page: Page) => getForm(page).consent.dispatchEvent('change')],
  ['a submit event alone', (page: Page) => page.locator('form').dispatchEvent('submit')],
] as const)(
  'the script is requested at the first sign that a visitor will fill in the form: %s',
  async ([, sign], { visitor }) => {
    const scripts: string[] = []
    const page = await visitor.open(server.origin, { isNew: true }, async (opened) => {
      opened.on('request', (request) => {
        if (request.resourceType() === 'script') scripts.push(request.url())
      })
      // Without its script the page sends nothing after a submit event.
      await opened.route('**/assets/**', () => {})
    })
    await page.mouse.click(5, 5)
    await page.waitForLoadState('networkidle')
    expect(scripts).toEqual([])
    await Promise.all([page.waitForRequest('**/assets/**'), sign(page)])
    expect(scripts).toHaveLength(1)
  },
)

test('an input event before the typed text is restored does not lose any of the text', async ({
  visitor,
}) => {
  const page = await visitor.open(server.origin)
  const form = getForm(page)
  await form.firstName.fill('Ada')
  await form.reason.fill('To think.')
  // A password manager dispatches such an event.
  await page.addInitScript(() => {
    document.addEventListener('DOMContentLoaded', () => {
      const field = document.querySelector<HTMLInputElement>('#email')
      if (!field) return
      field.value = 'ada@example.com'
      field.dispatchEvent(new Event('input', { bubbles: true }))
    })
  })
  await page.reload()
  const expected = { first_name: 'Ada', email: 'ada@example.com', reason: 'To think.' }
  expect(await form.answers()).toMatchObject(expected)
  await page.reload()
  expect(await form.answers()).toMatchObject(expected)
})

test('a send that the browser refuses before the script has loaded shows its messages afterwards', async ({
  visitor,
}) => {
  let release = () => {}
  const page = await visitor.open(server.origin, {}, async (opened) => {
    release = await holdRequests(opened, '**/assets/**')
  })
  const form = getForm(page)
  await form.firstName.fill('Ada')
  await form.button.click()
  expect(await form.lastName.evaluate(style, 'box-shadow')).toContain('inset')
  expect(await page.locator('[aria-invalid=true]').count()).toBe(7)
  // A field that is corrected meanwhile is no longer invalid.
  await form.firstName.press('Tab')
  await form.lastName.fill('Lovelace')
  release()
  await form.problem('email').waitFor()
  expect(await page.locator('.problem').count()).toBe(6)
  expect(await form.lastName.getAttribute('aria-invalid')).toBe('false')
})

test('a long answer that is edited after a refused native send stays as it is when the script loads', async ({
  visitor,
}) => {
  visitor.allowConsoleError(/Failed to load resource|ERR_FAILED/)
  const page = await visitor.open(server.origin, {}, (opened) =>
    opened.route('**/assets/**', (route) => route.abort()),
  )
  const form = getForm(page)
  await form.fill(anApplication({ reason: 'To think.' }))
  // The server refuses an application without consent.
  await form.consent.evaluate((checkbox) => checkbox.removeAttribute('required'))
  await form.consent.uncheck()
  await form.button.click()
  await form.failure.waitFor()
  await page.unroute('**/assets/**')
  const release = await holdRequests(page, '**/assets/**')
  await form.reason.fill('To think. Without a screen.')
  release()
  await waitForTakeOver(page)
  expect(await form.reason.inputValue()).toBe('To think. Without a screen.')
})

test('the script and the result boxes keep the typed text, log no warning and shift nothing', async ({
  visitor,
}) => {
  visitor.allowConsoleError(/Failed to load resource/)
  const page = await visitor.open(server.origin, { viewport: { width: 360, height: 640 } }, (opened) =>
    opened.addInitScript(() => {
      Object.assign(window, { shifts: [] })
      new PerformanceObserver((list) => {
        Reflect.get(window, 'shifts').push(...list.getEntries().map((entry) => Reflect.get(entry, 'value')))
      }).observe({ type: 'layout-shift', buffered: true })
    }),
  )
  const form = getForm(page)
  await form.firstName.fill('Ada')
  await waitForTakeOver(page)
  expect(await form.firstName.inputValue()).toBe('Ada')
  await page.route('**/rest/v1/**', (route) =>
    route.fulfill({ status: 400, json: { message: 'No. '.repeat(200) } }),
  )
  await form.fill(anApplication())
  await form.button.click()
  await form.failure.waitFor()
  await page.unroute('**/rest/v1/**')
  await form.button.click()
  await form.success.waitFor()
  expect(await page.evaluate(() => Reflect.get(window, 'shifts') as number[])).toEqual([])
})
