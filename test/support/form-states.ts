import type { Page } from 'playwright-core'

import { anApplication, getForm } from './form.ts'

/** The form's states, and how a visitor reaches each from the opened page. */
export const formStates: Record<string, (page: Page) => Promise<void>> = {
  async idle() {},
  async filled(page) {
    await getForm(page).fill(aWholeApplication())
  },
  async invalid(page) {
    const form = getForm(page)
    await form.firstName.fill('Ada')
    await form.email.fill('ada at example')
    await form.button.click()
    await form.problem('email').waitFor()
  },
  async 'in-progress'(page) {
    await page.route('**/rest/v1/**', () => {})
    await send(page)
    await page.getByRole('button', { name: 'Submitting...' }).waitFor()
  },
  async error(page) {
    await page.route('**/rest/v1/**', (route) => route.abort())
    await send(page)
    await getForm(page).failure.waitFor()
  },
  async closed(page) {
    const message = 'We are full. The dates of the next retreat are on https://example.org/next-year.'
    await page.route('**/rest/v1/**', (route) =>
      route.fulfill({ status: 403, json: { code: 'PT403', message } }),
    )
    await send(page)
    await page.getByRole('heading', { name: 'Applications are closed' }).waitFor()
  },
  async success(page) {
    await send(page)
    await getForm(page).success.waitFor()
  },
}

function aWholeApplication() {
  return anApplication({
    last_name: 'Lovelace',
    email: 'ada@example.com',
    paid_solution: 'custom',
    custom_solution: 'A cabin',
  })
}

async function send(page: Page) {
  const form = getForm(page)
  await form.fill(aWholeApplication())
  await form.button.click()
}
