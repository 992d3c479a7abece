import { expect } from 'vitest'

import { people } from '../../support/applicants.ts'
import { deskForTestFile, getDesk } from '../../support/desk-page.ts'
import { test } from '../../support/visitor.ts'

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

test('if an update removed the script for drafting letters, the dialog says so, and the rest of the screen stays', async ({
  visitor,
}) => {
  visitor.allowConsoleError(/Failed to load resource|dynamically imported module/)
  await desk.store(people(1))
  const page = await desk.open(visitor, '', {
    prepare: (opened) => opened.route('**/assets/LetterWrite-*', (route) => route.fulfill({ status: 404 })),
  })
  const { select, button, bar, dialog } = getDesk(page)
  await select('Person 1').check()
  await bar.waitFor()
  await button('Draft letters…').click()
  await dialog.getByText('the desk was updated meanwhile').waitFor()
  expect(await page.getByRole('heading', { level: 1 }).allTextContents()).toEqual(['Applications'])
  await page.unroute('**/assets/LetterWrite-*')
  await button('Reload').click()
  await select('Person 1').check()
  await button('Draft letters…').click()
  await button('Draft 1 letter').waitFor()
})

test('if an update removed the script for CSV files, nothing is downloaded, and the page asks for a reload', async ({
  visitor,
}) => {
  visitor.allowConsoleError(/Failed to load resource|dynamically imported module/)
  await desk.store(people(1))
  const page = await desk.open(visitor, '', {
    prepare: (opened) => opened.route('**/assets/deferred-*', (route) => route.fulfill({ status: 404 })),
  })
  const { button } = getDesk(page)
  await button('Download CSV').click()
  await page.getByText(/^Nothing was downloaded\..* the desk was updated meanwhile/).waitFor()
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
