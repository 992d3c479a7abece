import type { Page } from 'playwright-core'
import { expect } from 'vitest'

import { people } from '../support/applicants.ts'
import { deskForTestFile, getDesk } from '../support/desk-page.ts'
import { test } from '../support/visitor.ts'
import { holdRequests } from '../support/held-requests.ts'
import { activateWindow, refresh, settle } from '../support/refresh.ts'

const failedRequest = /Failed to load resource/

const desk = deskForTestFile()

/** Stops the refreshes of a page, so that it does not see the changes of other organisers. */
const withoutRefresh = { prepare: (page: Page) => page.route('**/rpc/desk_refresh', () => {}) }

/** Presses buttons of the bar at once, so that each decision is made before the response to the previous one. */
function pressQuickly(page: Page, ...labels: string[]) {
  return page.evaluate((wanted) => {
    for (const label of wanted) {
      const found = [...document.querySelectorAll('.decisions-bar button')].find(
        (each) => each.textContent === label,
      )
      if (found instanceof HTMLElement) found.click()
    }
  }, labels)
}

test('of two organisers the later sees who decided what, and overwrites the decision or leaves it', async ({
  visitor,
}) => {
  const [{ id } = { id: '' }] = await desk.store(people(2))
  const adasPage = await desk.open(visitor, '', withoutRefresh)
  const bobsPage = await desk.open(visitor, `/applications/${id}`, { as: desk.bob })
  const [adasDesk, bobsDesk] = [getDesk(adasPage), getDesk(bobsPage)]
  await adasDesk.select('Person 1').check()
  await bobsDesk.button('Decline').click()
  await expect.poll(() => bobsDesk.status.textContent()).toBe('Person 1: Declined')

  await adasDesk.button('Accept').click()
  await expect.poll(() => adasDesk.status.textContent()).toBe('Person 1: not saved')
  expect(await adasDesk.alert.locator('p').first().textContent()).toMatch(
    /^Person 1: “Accepted” was not saved\. bob@example\.org set it to Declined meanwhile \(\d.* 20\d\d, \d\d:\d\d\)\.$/,
  )
  expect(await adasDesk.rowStatus('Person 1')).toBe('Declined')
  expect(await desk.statusOf(id)).toBe('declined')
  await adasDesk.button('Accept anyway').click()
  await expect.poll(() => adasDesk.status.textContent()).toBe('Person 1: Accepted')
  await expect.poll(() => adasDesk.alert.count()).toBe(0)
  expect(await desk.statusOf(id)).toBe('accepted')

  await bobsDesk.button('Waitlist').click()
  await expect.poll(() => bobsDesk.status.textContent()).toBe('Person 1: not saved')
  expect(await bobsDesk.alert.textContent()).toContain('ada@example.org set it to Accepted meanwhile')
  await bobsDesk.button('Leave it Accepted').click()
  await expect.poll(() => bobsDesk.alert.count()).toBe(0)
  expect(await bobsDesk.pill.textContent()).toBe('Accepted')
  expect(await desk.statusOf(id)).toBe('accepted')
  expect(
    await desk.sql`select author, detail ->> 'status' as status from private.history order by id`,
  ).toEqual([
    { author: 'bob@example.org', status: 'declined' },
    { author: 'ada@example.org', status: 'accepted' },
  ])
})

test('of several decisions, one that conflicts is reported, and the others are saved', async ({
  visitor,
}) => {
  const stored = await desk.store(people(5))
  const page = await desk.open(visitor, '', withoutRefresh)
  const { select, button, status, rowStatus, alert } = getDesk(page)
  await page.getByLabel('Select all shown').check()
  await desk.setStatus(stored.slice(2, 3), 'declined', desk.bob)
  await button('Shortlist').click()
  await expect.poll(() => status.textContent()).toBe('4 applications: Shortlisted; 1 not saved')
  expect(await Promise.all([1, 2, 3, 4, 5].map((number) => rowStatus(`Person ${number}`)))).toEqual([
    'Shortlisted',
    'Shortlisted',
    'Declined',
    'Shortlisted',
    'Shortlisted',
  ])
  expect(await alert.locator('p').first().textContent()).toContain(
    'Person 3: “Shortlisted” was not saved. bob@example.org set it to Declined',
  )
  expect(await desk.statusOf(stored[2]?.id ?? '')).toBe('declined')
  await button('Shortlist anyway').click()
  await expect.poll(() => status.textContent()).toBe('Person 3: Shortlisted')
  expect(await select('Person 3').isChecked()).toBe(false)
  expect(await desk.statusOf(stored[2]?.id ?? '')).toBe('shortlisted')
})

test('of quick decisions on one application the last one is the result, and each is in the history', async ({
  visitor,
}) => {
  const [{ id } = { id: '' }] = await desk.store(people(1))
  const page = await desk.open(visitor, `/applications/${id}`)
  const { pill, timeline } = getDesk(page)
  await pill.waitFor()
  await pressQuickly(page, 'Accept', 'Decline', 'Waitlist', 'Shortlist')
  await expect.poll(() => pill.textContent()).toBe('Shortlisted')
  expect(await desk.statusOf(id)).toBe('shortlisted')
  expect(await desk.sql`select detail ->> 'status' as status from private.history order by id`).toEqual(
    ['accepted', 'declined', 'waitlisted', 'shortlisted'].map((status) => ({ status })),
  )
  await expect
    .poll(() => timeline.last().textContent())
    .toMatch(/ada@example\.orgShortlisted \(was Waitlisted\)$/)
})

test("no quick decision overwrites another organiser's decision", async ({ visitor }) => {
  const [first] = await desk.store(people(1))
  const page = await desk.open(visitor, '', withoutRefresh)
  const { select, status, rowStatus, alert } = getDesk(page)
  await select('Person 1').check()
  await desk.setStatus(first ? [first] : [], 'declined', desk.bob)
  await pressQuickly(page, 'Accept', 'Waitlist')
  await expect.poll(() => alert.count()).toBe(1)
  await expect.poll(() => alert.textContent()).toContain('“Waitlisted” was not saved. bob@example.org set it')
  expect(await rowStatus('Person 1')).toBe('Declined')
  expect(await status.textContent()).toBe('Person 1: not saved')
  expect(await desk.statusOf(first?.id ?? '')).toBe('declined')
})

test('if another organiser has already made the same decision, no conflict is reported', async ({
  visitor,
}) => {
  const stored = await desk.store(people(1))
  const page = await desk.open(visitor, '', withoutRefresh)
  const { select, button, status, rowStatus, alert, undo } = getDesk(page)
  await select('Person 1').check()
  await desk.setStatus(stored, 'accepted', desk.bob)
  await button('Accept').click()
  await expect.poll(() => status.textContent()).toBe('Person 1: Accepted already')
  expect(await rowStatus('Person 1')).toBe('Accepted')
  await expect.poll(() => alert.count()).toBe(0)
  // Bob made the decision, so Ada cannot undo it.
  expect(await undo.getAttribute('aria-disabled')).toBe('true')
  expect(await desk.sql`select author from private.history`).toEqual([{ author: 'bob@example.org' }])
})

test("Undo does not undo another organiser's later decision, even if the page shows that decision", async ({
  visitor,
}) => {
  const [{ id } = { id: '' }] = await desk.store(people(1))
  const page = await desk.open(visitor, `/applications/${id}`)
  const { button, status, pill, alert, note, undo } = getDesk(page)
  await button('Accept').click()
  await expect.poll(() => status.textContent()).toBe('Person 1: Accepted')
  await desk.setStatus([{ id }], 'declined', desk.bob)
  await page.getByRole('link', { name: 'Applications', exact: true }).click()
  await getDesk(page).tab('Declined').click()
  await getDesk(page).link('Person 1').click()
  await note.waitFor()
  await expect.poll(() => pill.textContent()).toBe('Declined')
  await undo.click()
  await expect.poll(() => alert.textContent()).toContain('bob@example.org set it to Declined meanwhile')
  expect(await pill.textContent()).toBe('Declined')
  expect(await desk.statusOf(id)).toBe('declined')
  await button('Back to new anyway').click()
  await expect.poll(() => status.textContent()).toBe('Person 1: New')
  expect(await desk.statusOf(id)).toBe('new')
})

test('another organiser’s acts on an open application appear, highlighted and announced, and cause no conflict later', async ({
  visitor,
}) => {
  const stored = await desk.store(people(1))
  const [{ id } = { id: '' }] = stored
  const page = await desk.open(visitor, `/applications/${id}`, {
    prepare: (opened) => opened.clock.install(),
  })
  const { button, status, pill, timeline, note, alert } = getDesk(page)
  const highlighted = page.locator('.application-timeline .application-fresh')
  await expect.poll(() => timeline.count()).toBe(1)
  await note.fill('Half a thought')
  await desk.setStatus(stored, 'declined')
  await refresh(page)
  await expect.poll(() => pill.textContent()).toBe('Declined')
  await expect.poll(() => status.textContent()).toBe('bob@example.org changed this just now')
  await page.getByText('Set by bob@example.org since you looked').waitFor()
  expect(await highlighted.allTextContents()).toEqual([
    expect.stringMatching(/, bob@example\.org, new since you lookedDeclined/),
  ])
  expect(await note.inputValue()).toBe('Half a thought')

  // Bob adds a note, and Ada's window becomes active.
  await desk.bob.client
    .rpc('desk_note', { act: crypto.randomUUID(), application: id, note: 'Too early.' })
    .throwOnError()
  await activateWindow(page)
  await expect.poll(() => highlighted.count()).toBe(2)

  await button('Accept').click()
  await expect.poll(() => status.textContent()).toBe('Person 1: Accepted')
  await expect.poll(() => timeline.count()).toBe(4)
  expect(await highlighted.count()).toBe(2)
  expect(await page.getByText('since you looked', { exact: false }).count()).toBe(2)
  await expect.poll(() => alert.count()).toBe(0)
  expect(await desk.statusOf(id)).toBe('accepted')

  visitor.allowConsoleError(failedRequest)
  await desk.bob.client.rpc('desk_erase', { applications: [id], email: stored[0]?.email }).throwOnError()
  await refresh(page)
  await page.getByText('There is no such application: it may have been erased.').waitFor()
})

test("another organiser's decision is highlighted in a visible list and announced, and a refresh removes the highlight", async ({
  visitor,
}) => {
  const stored = await desk.store(people(4))
  const page = await desk.open(visitor, '/?status=all', { prepare: (opened) => opened.clock.install() })
  const { names, rowStatus, status, row, button } = getDesk(page)
  await expect.poll(names).toHaveLength(4)
  await desk.setStatus(stored.slice(1, 2), 'declined')
  await refresh(page)
  await expect.poll(() => status.textContent()).toBe('Person 2: Declined now, changed meanwhile')
  expect(await row('Person 2').locator('.rows-status').textContent()).toBe('Declined (changed meanwhile)')
  await desk.setStatus(stored.slice(2, 4), 'waitlisted')
  await refresh(page)
  await expect.poll(() => status.textContent()).toBe('3 changed meanwhile')
  // An organiser's own decision is not highlighted.
  await row('Person 1').getByRole('link').focus()
  await page.keyboard.press('s')
  await expect.poll(() => rowStatus('Person 1')).toBe('Shortlisted')
  await getDesk(page).tab('Declined').click()
  await expect.poll(() => rowStatus('Person 2')).toBe('Declined')
  expect(await button('Undo: Person 1, shortlisted').count()).toBe(1)
})

test("a decision made before the screen shows another organiser's act is refused and explained", async ({
  visitor,
}) => {
  const stored = await desk.store(people(1))
  const [{ id } = { id: '' }] = stored
  const page = await desk.open(visitor, `/applications/${id}`, {
    prepare: (opened) => opened.clock.install(),
  })
  const { button, status, pill, timeline, alert } = getDesk(page)
  await expect.poll(() => timeline.count()).toBe(1)
  // A pending read would show the decision, too.
  await settle(page)
  // The list beside the application would show the decision, too.
  const release = await holdRequests(page, /desk_(application|refresh)$/)
  await desk.setStatus(stored, 'declined')
  // The screen has requested the change, but not received it.
  const readRequest = page.waitForRequest('**/rpc/desk_application')
  await page.clock.fastForward(15_000)
  await readRequest
  expect(await pill.textContent()).toBe('New')
  await button('Accept').click()
  await expect.poll(() => status.textContent()).toBe('Person 1: not saved')
  expect(await alert.textContent()).toContain('bob@example.org set it to Declined meanwhile')
  release()
  await expect.poll(() => timeline.count()).toBe(2)
  expect(await pill.textContent()).toBe('Declined')
  expect(await desk.statusOf(id)).toBe('declined')
})

test('an application that another organiser erased is reported as erased, on a decision and when it is opened', async ({
  visitor,
}) => {
  visitor.allowConsoleError(failedRequest)
  const [first] = await desk.store(people(2))
  const page = await desk.open(visitor, '', withoutRefresh)
  const { select, button, status, alert, link, names } = getDesk(page)
  await select('Person 1').check()
  await desk.bob.client.rpc('desk_erase', { applications: [first?.id], email: first?.email }).throwOnError()
  await button('Accept').click()
  await expect.poll(() => status.textContent()).toBe('Person 1: not saved')
  expect(await alert.locator('p').first().textContent()).toBe(
    'Person 1: “Accepted” was not saved. The application was erased meanwhile.',
  )
  expect(await alert.getByRole('button').allTextContents()).toEqual(['Close'])
  await button('Close').click()
  await expect.poll(() => alert.count()).toBe(0)
  await link('Person 1').click()
  await page.getByText('There is no such application: it may have been erased.').waitFor()
  await link('Back').click()
  await expect.poll(names).toContain('Person 2')
  expect(await desk.sql`select from public.retreat_applications`).toHaveLength(1)
})
