import { releaseDrafts, storeLetter } from '../support/letters.ts'
import { text } from 'node:stream/consumers'

import type { Route } from 'playwright-core'
import { expect } from 'vitest'

import { people } from '../support/applicants.ts'
import { deskForTestFile, focused, getDesk } from '../support/desk-page.ts'
import { test } from '../support/visitor.ts'
import { resize } from '../support/resize.ts'
import { activateWindow, refresh, settle } from '../support/refresh.ts'

const desk = deskForTestFile()

test('a list refreshes whenever it is opened, and matches the number on its tab', async ({ visitor }) => {
  const stored = await desk.store(people(5))
  await desk.setStatus(stored.slice(0, 2), 'accepted')
  const page = await desk.open(visitor, '/?status=accepted')
  const { names, tab, tabs, select, button, link, heading, status } = getDesk(page)
  await expect.poll(names).toEqual(['Person 1', 'Person 2'])
  await tab('New').click()
  await select('Person 3').check()
  await button('Accept').click()
  await expect.poll(() => status.textContent()).toBe('Person 3: Accepted')

  await tab('Accepted').click()
  await expect.poll(names).toEqual(['Person 1', 'Person 2', 'Person 3'])
  await expect.poll(async () => (await tabs())[2]).toBe('Accepted 3')

  // The list also refreshes after Back from an application, and from another screen.
  await link('Person 1').click()
  await heading('Person 1').waitFor()
  await desk.setStatus(stored.slice(3, 4), 'accepted')
  await link('Back').click()
  await expect.poll(names).toEqual(['Person 1', 'Person 2', 'Person 3', 'Person 4'])
  await link('Letters').click()
  await heading('Letters').waitFor()
  await desk.setStatus(stored.slice(0, 1), 'declined')
  await page.goBack()
  await expect.poll(names).toEqual(['Person 2', 'Person 3', 'Person 4'])

  // The list also refreshes when the window becomes active.
  await desk.setStatus(stored.slice(4), 'accepted')
  await activateWindow(page)
  await expect.poll(names).toEqual(['Person 2', 'Person 3', 'Person 4', 'Person 5'])
  await expect.poll(async () => (await tabs())[2]).toBe('Accepted 4')
})

test('the counts and changes of the list arrive in one later call, then letters and junk, and no new rows are offered', async ({
  visitor,
}) => {
  await desk.store(people(120))
  const requests: string[] = []
  const page = await desk.open(visitor, '/?status=all', {
    prepare: async (opened) => {
      opened.on('request', (request) => {
        const [, name] = /\/rpc\/(desk_(?!me$)\w+)$/.exec(request.url()) ?? []
        if (name !== undefined) requests.push(name)
      })
    },
  })
  const { names, tabs, tab } = getDesk(page)
  await expect.poll(async () => (await tabs()).at(-1)).toBe('All 120')
  expect(await names()).toHaveLength(50)
  expect(await page.locator('.list-news').count()).toBe(0)
  await expect.poll(() => requests).toContain('desk_junk')
  await settle(page)
  expect(requests).toEqual(['desk_list', 'desk_refresh', 'desk_letters', 'desk_junk'])
  await tab('New').click()
  await expect.poll(() => requests.length).toBeGreaterThan(5)
  await settle(page)
  expect(requests.slice(4)).toEqual(['desk_list', 'desk_refresh'])
})

test('an empty list shows the first application when it arrives', async ({ visitor }) => {
  const page = await desk.open(visitor, '', { prepare: (opened) => opened.clock.install() })
  await page.getByText('Nobody has applied yet.').waitFor()
  await desk.store(people(1))
  await refresh(page)
  await getDesk(page).link('Person 1').waitFor()
})

test('visible rows stay and show their current status, and new rows are offered', async ({ visitor }) => {
  visitor.allowConsoleError(/Failed to load resource/)
  const stored = await desk.store(people(6))
  await desk.setStatus(stored.slice(0, 3), 'accepted')
  const page = await desk.open(visitor, '/?status=accepted', { prepare: (opened) => opened.clock.install() })
  const { names, tabs, row, select, rowStatus, button } = getDesk(page)
  await expect.poll(names).toEqual(['Person 1', 'Person 2', 'Person 3'])
  await expect.poll(async () => (await tabs())[2]).toBe('Accepted 3')
  await desk.setStatus(stored.slice(0, 1), 'waitlisted')
  await desk.bob.client
    .rpc('desk_erase', { applications: [stored[1]?.id], email: stored[1]?.email })
    .throwOnError()
  await desk.setStatus(stored.slice(3, 5), 'accepted')
  await refresh(page)
  await button('2 more').waitFor()
  expect(await names()).toEqual(['Person 1', 'Person 2', 'Person 3'])
  expect(await rowStatus('Person 1')).toBe('Waitlisted')
  expect(await row('Person 2').locator('.decisions-pill').textContent()).toBe('Erased')
  expect(await select('Person 2').isDisabled()).toBe(true)
  await select('Person 3').check()
  // If they cannot be read, the rows and the ticks stay.
  await page.route(
    '**/rpc/desk_list',
    (route) => route.fulfill({ status: 400, json: { code: '22023', message: 'Not now.' } }),
    { times: 1 },
  )
  await button('2 more').click()
  await page.getByText('Not now.').waitFor()
  expect(await names()).toEqual(['Person 1', 'Person 2', 'Person 3'])
  await button('2 more').click()
  await expect.poll(names).toEqual(['Person 3', 'Person 4', 'Person 5'])
  expect(await select('Person 3').isChecked()).toBe(true)
  await expect.poll(async () => (await tabs())[2]).toBe('Accepted 3')
  await expect.poll(() => button('2 more').count()).toBe(0)
})

test('the order "oldest first" applies to the list, the next application, the table and the address', async ({
  visitor,
}) => {
  await desk.store(people(4))
  let refreshed: Promise<unknown> | undefined
  const page = await desk.open(visitor, '', {
    prepare: async (opened) => {
      await opened.clock.install()
      refreshed = opened.waitForResponse('**/rpc/desk_refresh')
    },
  })
  const { names, button, heading, link, position } = getDesk(page)
  const newestFirst = ['Person 1', 'Person 2', 'Person 3', 'Person 4']
  const oldestFirst = newestFirst.toReversed()
  const order = page.getByLabel('Order')
  await page.getByRole('table', { name: 'Applications, newest first' }).waitFor()
  await expect.poll(names).toEqual(newestFirst)
  // The requests with a filter that open the list end with this one.
  await refreshed
  const requests: unknown[] = []
  page.on('request', (request) => {
    const { filter } = (request.url().includes('/rpc/') ? request.postDataJSON() : {}) as { filter?: object }
    if (filter !== undefined)
      requests.push([request.url().split('/').at(-1), 'order' in filter && filter.order])
  })
  await button('Filters').click()
  await order.selectOption('Oldest first')
  await expect.poll(names).toEqual(oldestFirst)
  await page.getByRole('table', { name: 'Applications, oldest first' }).waitFor()
  expect(new URL(page.url()).hash).toBe('#/?order=oldest')
  // The button does not count the order as a filter.
  await button('Filters').waitFor()

  await link('Person 4').click()
  await heading('Person 4').waitFor()
  await expect.poll(() => position.textContent()).toBe('1 of 4, 4 to read')
  await page.keyboard.press('j')
  await heading('Person 3').waitFor()
  await expect.poll(() => position.textContent()).toBe('2 of 4, 4 to read')
  expect(new URL(page.url()).hash).toMatch(/\?order=oldest$/)
  await link('Back').click()
  await expect.poll(names).toEqual(oldestFirst)
  await refresh(page)
  await expect.poll(() => requests).toContainEqual(['desk_refresh', 'oldest'])
  const downloading = page.waitForEvent('download')
  await button('Download CSV').click()
  const table = await text(await (await downloading).createReadStream())
  expect(table.match(/Person,\d/g)).toEqual(oldestFirst.map((name) => name.replace(' ', ',')))
  // All requests since the choice use the order “oldest first”.
  expect(requests.filter((each) => !String(each).endsWith('oldest'))).toEqual([])

  await order.selectOption('Newest first')
  await expect.poll(names).toEqual(newestFirst)
  expect(new URL(page.url()).hash).toBe('#/')
})

test('a decision on several applications clears the selection, and leaves out rows whose status changed', async ({
  visitor,
}) => {
  const stored = await desk.store(people(6))
  const page = await desk.open(visitor, '', { prepare: (opened) => opened.clock.install() })
  const { names, select, button, bar, status, rowStatus } = getDesk(page)
  const selectAll = page.getByRole('checkbox', { name: 'Select all shown' })
  await expect.poll(names).toHaveLength(6)
  for (const name of ['Person 1', 'Person 2']) await select(name).check()
  await button('Waitlist').click()
  await expect.poll(() => status.textContent()).toBe('2 applications: Waitlisted')
  await expect.poll(() => page.getByRole('checkbox', { checked: true }).count()).toBe(0)

  await selectAll.check()
  await bar.getByText('4 selected', { exact: true }).waitFor()
  expect(await select('Person 1').isChecked()).toBe(false)
  // A tick on a decided row is announced with its status.
  await select('Person 1').check()
  await bar.getByText('5 selected, 1 Waitlisted', { exact: true }).waitFor()
  await select('Person 1').uncheck()
  // Another organiser decides on a ticked application.
  await desk.setStatus(stored.slice(5), 'accepted')
  await refresh(page)
  await bar.getByText('3 selected, 1 changed meanwhile and left out', { exact: true }).waitFor()
  expect(await rowStatus('Person 6')).toBe('Accepted')
  await button('Decline').click()
  await expect.poll(() => status.textContent()).toBe('3 applications: Declined')
  expect(await Promise.all(stored.map(({ id }) => desk.statusOf(id)))).toEqual([
    'waitlisted',
    'waitlisted',
    'declined',
    'declined',
    'declined',
    'accepted',
  ])
})

test('during a search the list, the bar and Undo stay, and then the number of results is announced', async ({
  visitor,
}) => {
  await desk.store(people(60))
  const page = await desk.open(visitor)
  const { names, select, button, bar, search, undo, status } = getDesk(page)
  const liveRegion = page.locator('#list > [aria-live]')
  await liveRegion.getByText('50 applications or more').waitFor({ state: 'attached' })
  await select('Person 2').check()
  await button('Decline').click()
  await expect.poll(() => status.textContent()).toBe('Person 2: Declined')
  await select('Person 3').check()
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  await page.route('**/rpc/desk_list', async (route) => {
    await released
    await route.continue()
  })
  const requests = page.waitForRequest('**/rpc/desk_list')
  await search.fill('60')
  await requests
  await expect.poll(() => liveRegion.textContent()).toBe('')
  expect(await names()).toHaveLength(50)
  await bar.getByText('Person 3', { exact: true }).waitFor()
  expect(await undo.textContent()).toBe('Undo: Person 2, declined')
  expect(await page.getByText('Loading…').count()).toBe(0)
  release()
  await liveRegion.getByText('1 application', { exact: true }).waitFor({ state: 'attached' })
  expect(await names()).toEqual(['Person 60'])
  expect(await undo.textContent()).toBe('Undo: Person 2, declined')
})

test('a search without results in its tab shows the number of results in other tabs, and links to them', async ({
  visitor,
}) => {
  const stored = await desk.store(people(12))
  await desk.setStatus(stored.slice(0, 10), 'declined')
  const page = await desk.open(visitor, '/?search=person&status=shortlisted')
  const { names, link, search, tab } = getDesk(page)
  const liveRegion = page.locator('#list > [aria-live]')
  await liveRegion.getByText('Nothing in Shortlisted. 12 elsewhere.').waitFor()
  await link('Show all 12').click()
  await expect.poll(names).toHaveLength(12)
  expect(new URL(page.url()).hash).toBe('#/?status=all&search=person')
  await expect.poll(() => focused(page)).toBe('H1: Applications')
  await search.fill('nobody')
  await page.getByText('No application matches.').waitFor()
  await tab('New').click()
  await page.getByText('No application matches.').waitFor()
  await search.fill('')
  await tab('Waitlisted').click()
  await page.getByText('No applications here.').waitFor()
})

test('Back reloads a long list in one call, and focuses the row whose application was open', async ({
  visitor,
}) => {
  await desk.store(people(220))
  const page = await desk.open(visitor)
  const { names, button, link, heading } = getDesk(page)
  for (const count of [100, 150, 200]) {
    await button('More').click()
    await expect.poll(names).toHaveLength(count)
    // The first new row gets the focus.
    await expect.poll(() => focused(page)).toBe(`A: Person ${count - 49}`)
  }
  await link('Person 180').click()
  await heading('Person 180').waitFor()
  await desk.store([{ first_name: 'Late', last_name: 'One', created_at: new Date() }])
  const requests: unknown[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/rpc/desk_list')) requests.push(request.postDataJSON())
  })
  await page.goBack()
  await expect.poll(async () => (await names())[0]).toBe('Late One')
  expect(await names()).toHaveLength(200)
  expect(requests).toEqual([{ filter: { status: 'new' }, after: null, most: 200 }])
  expect(await focused(page)).toBe('A: Person 180')
})

test('a click with Shift ticks or unticks all boxes since the last clicked one', async ({ visitor }) => {
  await desk.store(people(6))
  const page = await desk.open(visitor)
  const { names, row, select, bar } = getDesk(page)
  const shift = { modifiers: ['Shift' as const] }
  const checked = () =>
    page.locator('tbody tr', { has: page.getByRole('checkbox', { checked: true }) }).locator('.rows-name a')
  await expect.poll(names).toHaveLength(6)
  await select('Person 2').click()
  // Click beside the box, as a finger may.
  await row('Person 5')
    .locator('.rows-select label')
    .click({ ...shift, position: { x: 3, y: 3 } })
  await bar.getByText('4 selected', { exact: true }).waitFor()
  expect(await checked().allTextContents()).toEqual(['Person 2', 'Person 3', 'Person 4', 'Person 5'])
  await select('Person 4').click(shift)
  await bar.getByText('2 selected', { exact: true }).waitFor()
  await select('Person 1').click(shift)
  await expect
    .poll(() => checked().allTextContents())
    .toEqual(['Person 1', 'Person 2', 'Person 3', 'Person 4'])
})

test('a button or a key without an effect keeps the ticks', async ({ visitor }) => {
  await desk.store(people(3))
  const page = await desk.open(visitor)
  const { select, button, bar, status } = getDesk(page)
  for (const name of ['Person 1', 'Person 2']) await select(name).check()
  // The button is disabled, so Playwright would wait without `force`.
  await button('Back to new').click({ force: true })
  await page.keyboard.press('r')
  await bar.getByText('2 selected', { exact: true }).waitFor()
  await button('Accept').click()
  await expect.poll(() => status.textContent()).toBe('2 applications: Accepted')
})

test('a filter for accepted people does not carry over to another tab', async ({ visitor }) => {
  const stored = await desk.store(people(3))
  await desk.setStatus(stored.slice(0, 1), 'accepted')
  const page = await desk.open(visitor, '/?status=accepted&answer=not told&search=person')
  const { names, tab, button } = getDesk(page)
  await expect.poll(names).toEqual(['Person 1'])
  await button('Filters (1)').waitFor()
  await tab('New').click()
  await expect.poll(names).toEqual(['Person 2', 'Person 3'])
  expect(new URL(page.url()).hash).toBe('#/?search=person')
})

test('a keydown without a key, as autofill in a browser sends it, does nothing', async ({ visitor }) => {
  await desk.store(people(1))
  const page = await desk.open(visitor)
  const { link, search } = getDesk(page)
  await link('Person 1').waitFor()
  // An error of the page fails this test.
  await search.evaluate((field) => field.dispatchEvent(new Event('keydown', { bubbles: true })))
  await page.keyboard.press('j')
  await expect.poll(() => focused(page)).toBe('A: Person 1')
})

test('matches beyond the visible rows can be selected, decided in steps with progress and a stop, and undone', async ({
  visitor,
}) => {
  const stored = await desk.store(people(260))
  await desk.setStatus(stored.slice(255), 'declined')
  const page = await desk.open(visitor)
  const { names, select, button, bar, status, undo, tabs } = getDesk(page)
  const statusCounts = async () =>
    Object.fromEntries(
      (
        await desk.sql<{ status: string; count: number }[]>`
          select status, count(*)::int from private.statuses group by 1`
      ).map(({ status: each, count }) => [each, count]),
    )
  const selectMatchesButton = page.getByRole('button', { name: /that match$/ })
  const selectAll = page.getByRole('checkbox', { name: 'Select all shown' })
  await expect.poll(names).toHaveLength(50)
  await expect.poll(async () => (await tabs())[0]).toBe('New 255')
  expect(await selectMatchesButton.count()).toBe(0)
  await selectAll.check()
  await button('Select all 255 that match').click()
  await bar.getByText('255 selected', { exact: true }).waitFor()
  await expect.poll(() => focused(page)).toBe('INPUT: Select all shown')
  expect(await selectMatchesButton.count()).toBe(0)
  // A row that was unticked by hand is left out.
  await select('Person 1').uncheck()
  await bar.getByText('254 selected', { exact: true }).waitFor()

  const heldRoutes: Route[] = []
  await page.route('**/rpc/desk_decide', (route) => void heldRoutes.push(route))
  const continueStep = async (step: number) => {
    await expect.poll(() => heldRoutes.length).toBe(step)
    await heldRoutes.at(-1)?.continue()
  }
  const progressRegion = bar.locator('[aria-live]')
  await button('Accept').click()
  await bar.getByText('0 of 254').waitFor()
  expect(await progressRegion.textContent()).toBe('')
  await continueStep(1)
  await bar.getByText('100 of 254', { exact: true }).waitFor()
  expect(await progressRegion.textContent()).toBe('100 of 254 saved')
  await expect.poll(() => heldRoutes.length).toBe(2)
  await button('Stop').click()
  await continueStep(2)
  await expect.poll(() => status.textContent()).toBe('200 applications: Accepted; stopped, 54 not changed')
  expect(await statusCounts()).toEqual({ accepted: 200, declined: 5 })
  await expect.poll(() => button('Stop').count()).toBe(0)
  expect(await focused(page)).toBe('H1: Applications')
  expect(heldRoutes).toHaveLength(2)

  expect(await undo.textContent()).toBe('Undo: 200 accepted')
  await undo.click()
  await bar.getByText('0 of 200').waitFor()
  await continueStep(3)
  await bar.getByText('100 of 200', { exact: true }).waitFor()
  await continueStep(4)
  await expect.poll(() => status.textContent()).toBe('Undone: 200 applications are New again')
  expect(await statusCounts()).toEqual({ new: 200, declined: 5 })
})

test('all matches of a search can be selected up to the first thousand, and conflicts are reported', async ({
  visitor,
}) => {
  const bulk = people(1_060).map((person, index) => ({ ...person, company: index < 60 ? 'Acme' : 'Other' }))
  const stored = await desk.store(bulk)
  const page = await desk.open(visitor, '/?search=acme')
  const { names, button, bar, tab, search, status } = getDesk(page)
  const selectAll = page.getByRole('checkbox', { name: 'Select all shown' })
  await expect.poll(names).toHaveLength(50)
  await selectAll.check()
  // Another organiser decides on a match that is not shown.
  await desk.setStatus(stored.slice(58, 59), 'declined')
  await button('Select all 60 that match').click()
  await bar.getByText('59 selected', { exact: true }).waitFor()
  // Another organiser also decides on a selected match.
  await desk.setStatus(stored.slice(57, 58), 'declined')
  await button('Waitlist').click()
  await expect.poll(() => status.textContent()).toBe('58 applications: Waitlisted; 1 not saved')
  await page.getByText('Person 58: “Waitlisted” was not saved. bob@example.org set it to Declined').waitFor()
  expect(await desk.statusOf(stored[57]?.id ?? '')).toBe('declined')

  await search.fill('')
  const hash = () => new URL(page.url()).hash
  await expect.poll(hash).toBe('#/')
  await tab('All').click()
  await expect.poll(hash).toBe('#/?status=all')
  await selectAll.check()
  await button('Select the first 1,000 that match').click()
  await bar.getByText(/^1,000 selected/).waitFor()
})

test('if all selected applications have changed, the desk says so, and the next key acts on the focused row', async ({
  visitor,
}) => {
  const stored = await desk.store(people(3))
  const page = await desk.open(visitor, '/?status=all', { prepare: (opened) => opened.clock.install() })
  const { bar, names, select, rowStatus, status } = getDesk(page)
  await expect.poll(names).toHaveLength(3)
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  await bar.getByText('Person 1').waitFor()
  await desk.setStatus(stored.slice(0, 1), 'declined')
  await refresh(page)
  await expect.poll(() => status.textContent()).toBe('1 changed meanwhile and left out')
  expect(await select('Person 1').isChecked()).toBe(false)
  await page.keyboard.press('j')
  await page.keyboard.press('a')
  await expect.poll(() => status.textContent()).toBe('Person 2: Accepted')
  expect(await rowStatus('Person 2')).toBe('Accepted')
  expect(await desk.statusOf(stored[0]?.id ?? '')).toBe('declined')
})

test('drafting letters continues when the list behind the dialog changes', async ({ visitor }) => {
  const stored = await desk.store(people(2))
  const page = await desk.open(visitor, '/?status=new')
  const { button, dialog, names, select, status } = getDesk(page)
  await select('Person 1').check()
  await button('Draft letters…').click()
  await dialog.getByRole('heading', { name: 'Draft a letter to Person 1' }).waitFor()
  await desk.setStatus(stored.slice(0, 1), 'accepted')
  await activateWindow(page)
  await expect.poll(names).toEqual(['Person 2'])
  await dialog.getByLabel('Template').selectOption('Accepted')
  await dialog.getByRole('button', { name: 'Draft 1 letter' }).click()
  await dialog.getByText('already had one').waitFor()
  await dialog.getByRole('button', { name: 'Close' }).click()
  await expect.poll(() => dialog.count()).toBe(0)
  await expect.poll(() => focused(page)).toContain('Person 2')
  await expect.poll(() => status.textContent()).toContain('already had one')
})

test('Undo names the decision, and asks first if a letter about the decision was sent', async ({
  visitor,
}) => {
  const stored = await desk.store(people(2))
  const page = await desk.open(visitor, '/?status=all')
  const { select, button, undo, status, alert, rowStatus } = getDesk(page)
  for (const name of ['Person 1', 'Person 2']) await select(name).check()
  await button('Accept').click()
  await expect.poll(() => status.textContent()).toBe('2 applications: Accepted')
  expect(await undo.textContent()).toBe('Undo: 2 accepted')
  await releaseDrafts(desk.sql, { state: 'done' }, stored[0]?.id)
  await undo.click()
  await expect.poll(() => status.textContent()).toBe('Undone: Person 2 is New again; 1 not saved')
  await alert
    .getByText('Not undone for Person 1: a letter saying “Accepted” has already been sent.')
    .waitFor()
  expect(await rowStatus('Person 1')).toBe('Accepted')
  expect(await desk.statusOf(stored[0]?.id ?? '')).toBe('accepted')
  expect(await desk.statusOf(stored[1]?.id ?? '')).toBe('new')
  await button('Back to new anyway').click()
  await expect.poll(() => status.textContent()).toBe('Person 1: New')
  expect(await desk.statusOf(stored[0]?.id ?? '')).toBe('new')
})

test('closing the page asks for confirmation while decisions are pending, and not afterwards', async ({
  visitor,
}) => {
  await desk.store(people(1))
  const page = await desk.open(visitor)
  const { select, button, status } = getDesk(page)
  const asksBeforeClosing = () =>
    page.evaluate(() => !dispatchEvent(new Event('beforeunload', { cancelable: true })))
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  await page.route('**/rpc/desk_decide', async (route) => {
    await released
    await route.continue()
  })
  await select('Person 1').check()
  expect(await asksBeforeClosing()).toBe(false)
  await button('Accept').click()
  expect(await asksBeforeClosing()).toBe(true)
  release()
  await expect.poll(() => status.textContent()).toBe('Person 1: Accepted')
  expect(await asksBeforeClosing()).toBe(false)
})

test.for([
  [1280, 720],
  [390, 844],
])(
  'changes to visible rows never make them taller: %i px wide',
  async ([width = 0, height = 0], { visitor }) => {
    // Each name wraps to a second line at a different width.
    const names = Array.from({ length: 12 }, (_, index) => ({
      first_name: 'Ada',
      last_name: Array.from({ length: 3 + index }, () => 'Lie').join(' '),
    }))
    const stored = await desk.store(names)
    const page = await desk.open(visitor, '/?status=all')
    await resize(page, { width, height })
    const heights = () =>
      page.locator('tbody tr').evaluateAll((rows) => rows.map((each) => each.getBoundingClientRect().height))
    await expect.poll(heights).toHaveLength(12)
    const before = await heights()
    await desk.setStatus(stored, 'shortlisted')
    await activateWindow(page)
    await expect.poll(() => page.locator('.decisions-pill[data-status=shortlisted]').count()).toBe(12)
    expect(await heights()).toEqual(before)
    await desk.setStatus(stored, 'accepted')
    for (const { id } of stored) {
      await storeLetter(desk.sql, id, { template: 'accepted', kind: 'decision', state: 'failed' })
    }
    await activateWindow(page)
    await expect.poll(() => page.getByText('automation undelivered').count()).toBe(12)
    expect(await heights()).toEqual(before)
  },
)

test('waiting decisions are not sent after a sign-out', async ({ visitor }) => {
  const stored = await desk.store(people(2))
  const email = 'eve@example.org'
  const page = await desk.open(visitor, '', {
    as: { email, client: await desk.signedIn(email) },
    prepare: (opened) => opened.clock.install(),
  })
  const { select, button, heading } = getDesk(page)
  const sent: string[] = []
  // The first decision never gets a response, so the second one waits.
  await page.route('**/rpc/desk_decide', (route) => void sent.push(route.request().postData() ?? ''))
  await select('Person 1').check()
  await button('Accept').click()
  await select('Person 2').check()
  await button('Decline').click()
  await expect.poll(() => sent).toHaveLength(1)
  page.once('dialog', (dialog) => void dialog.accept())
  await button('Sign out').click()
  await heading('Sign in').waitFor()
  await page.clock.runFor(60_000)
  expect(sent).toHaveLength(1)
  expect(sent[0]).toContain(stored[0]?.id)
})

test('More loads the next rows even if the list refreshes meanwhile', async ({ visitor }) => {
  await desk.store(people(60))
  const page = await desk.open(visitor)
  const { names, button } = getDesk(page)
  await button('More').waitFor()
  let release = () => {}
  const refreshed = new Promise<void>((resolve) => (release = resolve))
  let calls = 0
  await page.route('**/rpc/desk_list', async (route) => {
    calls += 1
    if (calls === 1) await refreshed
    await route.continue()
  })
  await button('More').click()
  const reread = page.waitForResponse('**/rpc/desk_list')
  await page.evaluate(() => dispatchEvent(new Event('focus')))
  await reread
  release()
  await expect.poll(names).toHaveLength(60)
})

test('rows that stay visible overnight change from the time of day to the date', async ({ visitor }) => {
  await desk.store(people(2).map((each) => ({ ...each, created_at: new Date() })))
  const page = await desk.open(visitor, '', { prepare: (opened) => opened.clock.install() })
  const { link } = getDesk(page)
  await link('Person 1').waitFor()
  const times = () => page.locator('tbody time').allTextContents()
  expect(await times()).toEqual([expect.stringMatching(/^\d\d:\d\d$/), expect.stringMatching(/^\d\d:\d\d$/)])
  // On the server's clock the day has not changed, so the test blocks its responses.
  await page.route(/\/(rest|auth)\/v1\//, () => {})
  await page.clock.setSystemTime(Date.now() + 24 * 3_600_000)
  await page.keyboard.press('j')
  await expect.poll(times).toEqual([expect.stringMatching(/^\d+ [A-Z]/), expect.stringMatching(/^\d+ [A-Z]/)])
})

test('if a colleague decided on the focused row, the next key acts on nobody, and after an own decision on the next row', async ({
  visitor,
}) => {
  const stored = await desk.store(people(4))
  const page = await desk.open(visitor)
  const { names, status } = getDesk(page)
  const { keyboard } = page
  await expect.poll(names).toHaveLength(4)
  await keyboard.press('j')
  await keyboard.press('j')
  await expect.poll(() => focused(page)).toBe('A: Person 2')
  await desk.setStatus(stored.slice(1, 2), 'declined')
  await activateWindow(page)
  await expect.poll(names).toEqual(['Person 1', 'Person 3', 'Person 4'])
  await expect.poll(() => focused(page)).toBe('H1: Applications')
  await keyboard.press('a')

  await keyboard.press('j')
  await expect.poll(() => focused(page)).toBe('A: Person 1')
  await keyboard.press('w')
  await expect.poll(() => status.textContent()).toBe('Person 1: Waitlisted')
  await activateWindow(page)
  await expect.poll(names).toEqual(['Person 3', 'Person 4'])
  await expect.poll(() => focused(page)).toBe('A: Person 3')
  expect(await Promise.all(stored.map(({ id }) => desk.statusOf(id)))).toEqual([
    'waitlisted',
    'declined',
    'new',
    'new',
  ])
})
