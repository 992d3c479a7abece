import { expect } from 'vitest'

import { people } from '../../support/applicants.ts'
import { deskForTestFile, getDesk } from '../../support/desk-page.ts'
import { test } from '../../support/browser-test.ts'

const desk = deskForTestFile()

test('if an update removed the script of a screen, the screen says so, and works after a reload', async ({
  visitor,
}) => {
  visitor.allowConsoleError(/Failed to load resource|dynamically imported module/)
  const page = await desk.open(visitor, '', {
    prepare: (opened) => opened.route('**/assets/other-screens-*', (route) => route.fulfill({ status: 404 })),
  })
  const { link, heading, button } = getDesk(page)
  await link('Account').click()
  await heading('This could not be shown').waitFor()
  await page.unroute('**/assets/other-screens-*')
  await button('Reload').click()
  await heading('Account').waitFor()
})

test('if an update removed the script for a dialog, the dialog says so, and the rest of the screen stays', async ({
  visitor,
}) => {
  visitor.allowConsoleError(/Failed to load resource|dynamically imported module/)
  const page = await desk.open(visitor, '', {
    prepare: (opened) => opened.route('**/assets/other-screens-*', (route) => route.fulfill({ status: 404 })),
  })
  const { button, dialog } = getDesk(page)
  await button('Keys').click()
  await dialog.getByText('the desk was updated meanwhile').waitFor()
  expect(await page.getByRole('heading', { level: 1 }).allTextContents()).toEqual(['Applications'])
  await page.unroute('**/assets/other-screens-*')
  await button('Reload').click()
  await button('Keys').click()
  await dialog.getByText('shortlist').waitFor()
})

test('if an update removed the script that follows the list, the list is shown, and the page asks for a reload', async ({
  visitor,
}) => {
  visitor.allowConsoleError(/Failed to load resource|dynamically imported module/)
  await desk.store(people(1))
  const page = await desk.open(visitor, '', {
    prepare: (opened) => opened.route('**/assets/deferred-*', (route) => route.fulfill({ status: 404 })),
  })
  const { button, link } = getDesk(page)
  await page.getByText(/the desk was updated meanwhile/).waitFor()
  await link('Person 1').waitFor()
  await page.unroute('**/assets/deferred-*')
  await button('Reload').click()
  const download = page.waitForEvent('download')
  await button('Download CSV').click()
  expect((await download).suggestedFilename()).toMatch(/^applications-.*[.]csv$/)
})

test('a sign-in page that was open during an update asks for a reload', async ({ visitor }) => {
  visitor.allowConsoleError(
    /Failed to load resource|dynamically imported module|the desk was updated meanwhile/,
  )
  const page = await visitor.open(`${desk.origin}/desk`, {}, (opened) =>
    opened.route('**/assets/auth-*', (route) => route.fulfill({ status: 404 })),
  )
  await page.getByLabel('Email').fill('ada@example.org')
  await getDesk(page).button('Send code').click()
  await page.getByText('the desk was updated meanwhile. Please reload this page.').waitFor()
})
