import { expect } from 'vitest'

import { people } from '../../support/applicants.ts'
import { deskForTestFile, getDesk } from '../../support/desk-page.ts'
import { test } from '../../support/browser-test.ts'

const desk = deskForTestFile()

test('a browser that loses its connection makes the desk say so, and the desk refreshes when the browser reconnects', async ({
  visitor,
}) => {
  visitor.allowConsoleError(/Failed to load resource/)
  await desk.store(people(3))
  const page = await desk.open(visitor)
  const { link, heading } = getDesk(page)
  // Loads the script of the application screen. Person 1 is not a neighbour of Person 3, and is not prefetched.
  await link('Person 3').click()
  await heading('Person 3').waitFor()
  await link('Back').click()
  await link('Person 1').waitFor()
  await page.context().setOffline(true)
  const message = page.getByText('You are offline. What you see may be out of date')
  await message.waitFor()
  await link('Person 1').click()
  await page.getByRole('alert').getByText('Not loaded. You were offline.', { exact: true }).waitFor()
  await page.context().setOffline(false)
  await heading('Person 1').waitFor()
  await message.waitFor({ state: 'detached' })
})

test('six windows that open with an expired session refresh it once', async ({ visitor }) => {
  await desk.store(people(1))
  const page = await desk.open(visitor, '', { isNew: true })
  await getDesk(page).link('Person 1').waitFor()
  await page.evaluate(() => {
    const session = JSON.parse(localStorage.getItem('unplugged-desk') ?? '') as object
    localStorage.setItem('unplugged-desk', JSON.stringify({ ...session, expires_at: 1 }))
  })
  const address = page.url()
  const context = page.context()
  await page.close()
  let refreshes = 0
  context.on(
    'request',
    (request) => (refreshes += Number(request.url().includes('grant_type=refresh_token'))),
  )
  const windows = await Promise.all(Array.from({ length: 6 }, () => context.newPage()))
  await Promise.all(
    windows.map(async (window) => {
      await window.goto(address)
      await getDesk(window).link('Person 1').waitFor()
    }),
  )
  expect(refreshes).toBe(1)
})
