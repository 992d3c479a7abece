import type { Page, Route } from 'playwright-core'
import { expect } from 'vitest'

import { people } from '../support/applicants.ts'
import { deskForTestFile, getDesk } from '../support/desk-page.ts'
import { disableBackOff } from '../support/back-off.ts'
import { test } from '../support/visitor.ts'
import { activateWindow, settle } from '../support/refresh.ts'

const desk = deskForTestFile()
const failedRequest = /Failed to load resource/

test('an erasure fails without a connection, and does not happen after reconnecting', async ({ visitor }) => {
  visitor.allowConsoleError(failedRequest)
  const [{ id, email } = { id: '', email: '' }] = await desk.store(people(1))
  const page = await desk.open(visitor, `/applications/${id}`)
  await disableBackOff(page)
  const { button, dialog } = getDesk(page)
  await button('Erase').click()
  await page.context().setOffline(true)
  await page.getByLabel(`Type the email, ${email}`).fill(email)
  await button('Erase for good').click()
  await dialog.getByText('Not erased. You were offline.').waitFor()
  await button('Cancel').click()
  await page.context().setOffline(false)
  // Calls are sent in order: a paused erasure would be sent before this note.
  await page.getByLabel('Note', { exact: true }).fill('Still here')
  await button('Add note').click()
  await page.locator('.application-note', { hasText: 'Still here' }).waitFor()
  expect(await desk.sql`select from public.retreat_applications`).toHaveLength(1)
})

test('an erasure that is cancelled before a retry is not retried', async ({ visitor }) => {
  visitor.allowConsoleError(failedRequest)
  const [{ id, email } = { id: '', email: '' }] = await desk.store(people(1))
  const page = await desk.open(visitor, `/applications/${id}`, {
    prepare: (opened) => opened.clock.install(),
  })
  const { button, heading } = getDesk(page)
  let tries = 0
  await page.route('**/rpc/desk_erase', (route) => {
    tries += 1
    return route.abort()
  })
  await button('Erase').click()
  await page.getByLabel(`Type the email, ${email}`).fill(email)
  // A pending call would time out when the clock moves.
  await settle(page)
  // The clock stops, so that the retry waits for the test.
  await page.clock.pauseAt(Date.now() + 10_000)
  await button('Erase for good').click()
  await expect.poll(() => tries).toBe(1)
  await button('Cancel').click()
  await page.clock.runFor(60_000)
  expect(tries).toBe(1)
  await heading('Person 1').waitFor()
})

test('without a connection the desk says that data may be out of date, and then refreshes automatically', async ({
  visitor,
}) => {
  visitor.allowConsoleError(failedRequest)
  const [{ id } = { id: '' }] = await desk.store(people(3))
  const page = await desk.open(visitor)
  const { link, heading, note } = getDesk(page)
  // Loads the script of the application screen. Person 1 is not a neighbour of Person 3, and is not prefetched.
  await link('Person 3').click()
  await heading('Person 3').waitFor()
  await link('Back').click()
  await link('Person 1').waitFor()
  await page.context().setOffline(true)
  await page.getByText('You are offline. What you see may be out of date').waitFor()
  await link('Person 1').click()
  await page.getByRole('alert').getByText('Not loaded. You were offline.', { exact: true }).waitFor()
  await page.context().setOffline(false)
  await heading('Person 1').waitFor()
  await expect.poll(() => page.getByText('What you see may be out of date').count()).toBe(0)
  expect(page.url()).toContain(id)

  await page.context().setOffline(true)
  await note.fill('Heard of')
  await page.getByRole('button', { name: 'Add note' }).click()
  await page.getByText('Note not added. You were offline.').waitFor()
  expect(await note.inputValue()).toBe('Heard of')
})

test('a note is added once if its screen is left before the response, and its text is not restored', async ({
  visitor,
}) => {
  const [{ id } = { id: '' }] = await desk.store(people(1))
  const page = await desk.open(visitor, `/applications/${id}`)
  const { note, button, link, names, timeline } = getDesk(page)
  let confirmAdded = () => {}
  const added = new Promise<void>((resolve) => (confirmAdded = resolve))
  await page.route('**/rpc/desk_note', async (route) => {
    await route.fetch()
    confirmAdded()
    // The page never gets a response.
  })
  await note.fill('Ask her.')
  await button('Add note').click()
  await added
  await link('Back').click()
  await expect.poll(names).toEqual(['Person 1'])
  await link('Person 1').click()
  await timeline.getByText('Ask her.').waitFor()
  expect(await note.inputValue()).toBe('')
  expect(await desk.sql`select from private.history where kind = 'note'`).toHaveLength(1)
})

test('with an expired token an act without a connection is reported as not sent, and works as soon as the connection is back', async ({
  visitor,
}) => {
  visitor.allowConsoleError(failedRequest)
  const [{ id } = { id: '' }] = await desk.store(people(1))
  const expireToken = () => {
    const session = JSON.parse(localStorage.getItem('unplugged-desk') ?? '') as object
    localStorage.setItem('unplugged-desk', JSON.stringify({ ...session, expires_at: 1 }))
  }
  const email = 'grace@example.org'
  const page = await desk.open(visitor, `/applications/${id}`, {
    // A separate session, since a refresh token works once.
    as: { email, client: await desk.signedIn(email) },
    // The desk needs its script for a refresh, which it could not load without a connection.
    prepare: (opened) => opened.addInitScript(expireToken),
  })
  const { note, button, heading, status } = getDesk(page)
  await heading('Person 1').waitFor()
  // A token that expired earlier would still be refreshed.
  await page.context().setOffline(true)
  await page.evaluate(expireToken)
  await note.fill('Ask her.')
  await button('Add note').click()
  await page.getByText('Note not added. You were offline.').waitFor()
  await offlineMessageOn(page).waitFor()
  await page.context().setOffline(false)
  await button('Add note').click()
  await expect.poll(() => status.textContent()).toBe('Note added')
  await expect.poll(() => offlineMessageOn(page).count()).toBe(0)
  expect(await desk.sql`select from private.history where kind = 'note'`).toHaveLength(1)
})

/** Makes the browser report that it is offline from now on. */
const reportOffline = (page: Page) =>
  page.evaluate(() => {
    Object.defineProperty(navigator, 'onLine', { get: () => false })
    dispatchEvent(new Event('offline'))
  })
const offlineMessageOn = (page: Page) => page.getByText(/^You are offline\. What you see may be out of date/)

test('the desk works with a server on the same machine while the browser reports that it is offline', async ({
  visitor,
}) => {
  const [{ id } = { id: '' }] = await desk.store(people(1))
  const page = await desk.open(visitor, `/applications/${id}`)
  await getDesk(page).heading('Person 1').waitFor()
  const response = page.waitForResponse('**/rpc/desk_me')
  await reportOffline(page)
  await response
  const { note, button, status } = getDesk(page)
  await note.fill('Ask her.')
  await button('Add note').click()
  await expect.poll(() => status.textContent()).toBe('Note added')
  expect(await desk.sql`select from private.history where kind = 'note'`).toHaveLength(1)
  expect(await offlineMessageOn(page).count()).toBe(0)
})

test('a failed refresh is reported at once, in a single alert, until a refresh succeeds', async ({
  visitor,
}) => {
  visitor.allowConsoleError(failedRequest)
  const page = await desk.open(visitor, '/places', { prepare: (opened) => opened.clock.install() })
  await disableBackOff(page)
  // A read that is still pending would not be sent again, so no read would fail.
  await page.getByRole('heading', { name: 'Waitlist' }).waitFor()
  const alerts = page.getByRole('alert').filter({ hasText: /\S/ })
  await page.route('**/rpc/*', (route) => route.abort())
  await activateWindow(page)
  await alerts.getByText('This may be out of date. The server could not be reached.').waitFor()
  await settle(page)
  // The clock stops, so that nothing is read regularly: the browser's report alone causes the check.
  await page.clock.pauseAt(Date.now() + 10_000)
  await reportOffline(page)
  await offlineMessageOn(page).waitFor()
  expect(await alerts.count()).toBe(1)
  await page.clock.resume()
  await page.unroute('**/rpc/*')
  // The browser still reports that it is offline.
  await activateWindow(page)
  await expect.poll(() => alerts.count()).toBe(0)
})

test('a note is saved after its screen is left, and its result is announced', async ({ visitor }) => {
  visitor.allowConsoleError(failedRequest)
  const [{ id } = { id: '' }] = await desk.store(people(1))
  const page = await desk.open(visitor, `/applications/${id}`)
  const { note, button, link, heading, status } = getDesk(page)
  const heldRoutes: Route[] = []
  await page.route('**/rpc/desk_note', (route) => void heldRoutes.push(route))
  const addAndLeave = async () => {
    await button('Add note').click()
    await expect.poll(() => heldRoutes.length).toBe(1)
    await link('Back').click()
    await heading('Applications').waitFor()
    return heldRoutes.pop()
  }
  await note.fill('Ask her.')
  const refuse = { code: 'XX000', message: 'boom', details: null, hint: null }
  await (await addAndLeave())?.fulfill({ status: 500, json: refuse })
  await expect.poll(() => status.textContent()).toBe('Note not added. boom')
  await link('Person 1').click()
  expect(await note.inputValue()).toBe('Ask her.')
  await (await addAndLeave())?.continue()
  await expect.poll(() => status.textContent()).toBe('Note added')
  expect(await desk.sql`select from private.history where kind = 'note'`).toHaveLength(1)
})

test('a desk that cannot open without a connection opens automatically after reconnecting', async ({
  visitor,
}) => {
  visitor.allowConsoleError(failedRequest)
  const page = await desk.open(visitor, '', {
    skipsWait: true,
    // Unlike other tests, this one keeps the back-off of reads: a browser may report that it is online before requests
    // succeed.
    prepare: (opened) => opened.route('**/rest/v1/**', (route) => route.abort()),
  })
  await page.getByRole('heading', { name: 'The desk cannot be opened now' }).waitFor()
  await page.context().setOffline(true)
  await page.unroute('**/rest/v1/**')
  await page.context().setOffline(false)
  await getDesk(page).tab('New').waitFor()
})
