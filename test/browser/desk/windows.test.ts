import type { Page } from 'playwright-core'
import { expect } from 'vitest'

import { addOrganiser, operatorSecret } from '../../../src/server/auth/manage-organisers.ts'
import { people } from '../../support/applicants.ts'
import { deskForTestFile, getDesk } from '../../support/desk-page.ts'
import { test } from '../../support/browser-test.ts'

const desk = deskForTestFile()
// The first steps below the list have the same link.
const account = (page: Page) =>
  page.getByRole('navigation', { name: 'Desk' }).getByRole('link', { name: 'Account' })
const email = (page: Page) => page.getByLabel('Email', { exact: true })

test('ending all sessions signs out other tabs at once', async ({ visitor }) => {
  const address = 'eve@example.org'
  const page = await desk.open(visitor, '', {
    as: { email: address, client: await desk.signedIn(address) },
  })
  const tab = await page.context().newPage()
  await tab.goto(`${desk.origin}/desk`)
  await getDesk(tab).heading('Applications').waitFor()
  await account(page).click()
  await getDesk(page).button('End all sessions').click()
  await email(page).waitFor()
  await email(tab).waitFor()
})

test('when one window signs somebody else in, the others show the new organiser, even without BroadcastChannel', async ({
  visitor,
}) => {
  visitor.allowConsoleError(/Failed to load resource/)
  await desk.store(people(1))
  const page = await desk.open(visitor)
  const windows = [await page.context().newPage(), await page.context().newPage()]
  const [informed, uninformed] = windows
  if (!informed || !uninformed) throw new Error('the two windows were not opened')
  await uninformed.addInitScript(() => Object.assign(window, { BroadcastChannel: undefined }))
  for (const each of windows) {
    await each.goto(`${desk.origin}/desk`)
    await getDesk(each).link('Person 1').waitFor()
  }
  const next = 'grace@example.org'
  await addOrganiser(desk.sql, next)
  await page.goto(`${desk.origin}/desk#token_hash=${await operatorSecret(desk.sql, next)}&type=magiclink`)
  await getDesk(page).button('Sign in').click()
  await page.getByText(next).waitFor()
  await informed.getByText(next).waitFor()
  // Without BroadcastChannel the window notices at its next request with the old session.
  await account(uninformed).click()
  await uninformed.getByText(`You are signed in as ${next}.`).waitFor()
  await uninformed.getByText(`Emails to ${next}`).waitFor()
  expect(await informed.locator('body').innerText()).not.toContain(desk.ada.email)
})

test('if a hosted project has the accounts, the page says that the desk is elsewhere', async ({
  visitor,
}) => {
  const page = await visitor.open(`${desk.origin}/desk`, {}, (opened) =>
    opened.route('**/desk', async (route) => {
      const response = await route.fetch()
      // The document of a server on a hosted project's database (`test/system/commands/organisers.test.ts`).
      const document = (await response.text()).replace(
        '"isSignInElsewhere":false',
        '"isSignInElsewhere":true',
      )
      await route.fulfill({ response, body: document })
    }),
  )
  await getDesk(page).heading('The desk is elsewhere').waitFor()
  expect(await page.locator('main').innerText()).toContain('Your operator knows it.')
  expect(await page.getByRole('textbox').count()).toBe(0)
})
