import type { Page } from 'playwright-core'
import { expect } from 'vitest'

import { serverForTestFile } from '../../support/server-for-test-file.ts'
import { getForm } from '../../support/form.ts'
import { test } from '../../support/visitor.ts'

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
