import type { Page } from 'playwright-core'
import { expect } from 'vitest'

import { actCases, controlOf, prepareAct, type ActCase, type Step } from '../../support/act-cases.ts'
import { deskForTestFile, getDesk } from '../../support/desk-page.ts'
import { resetDatabase } from '../../support/reset.ts'
import { test } from '../../support/browser-test.ts'

const desk = deskForTestFile()

async function take(page: Page, step: Step) {
  if ('press' in step) return getDesk(page).button(step.press).click()
  const field = page.getByLabel(step.field, { exact: true })
  return 'text' in step ? field.fill(step.text) : field.selectOption(step.option)
}

async function doAct(page: Page, actCase: ActCase) {
  const id = await prepareAct(desk, actCase)
  await page.evaluate((hash) => (location.hash = hash), actCase.path.replace(':id', id))
  // The desk keeps what it has read of the former act's data.
  await page.reload()
  for (const step of actCase.before ?? []) await take(page, step)
  if (actCase.input) await take(page, { field: actCase.input[0], text: actCase.input[1] })
  const { role, name, within } = controlOf(actCase)
  const part = within ? page.getByRole(within.role, { name: within.name, exact: true }) : page
  await part.getByRole(role, { name, exact: true }).click()
  if (actCase.announcement !== '') await getDesk(page).status.getByText(actCase.announcement).waitFor()
  await expect.poll(() => desk.sql.unsafe(actCase.query)).toHaveLength(1)
}

// test/screens/acts.test.ts tries how each act fails.
test('each act is done in a browser, and is announced', async ({ visitor }) => {
  // The screen of the former act may still read what was reset.
  visitor.allowConsoleError(/Failed to load resource/)
  const page = await desk.open(visitor, '', {
    prepare: (opened) =>
      // There is no mail program to open.
      opened.addInitScript(() => (HTMLAnchorElement.prototype.click = () => {})),
  })
  for (const [name, actCase] of Object.entries(actCases)) {
    await resetDatabase(desk.sql)
    await doAct(page, actCase).catch((cause: unknown) => {
      throw new Error(name, { cause })
    })
  }
})
