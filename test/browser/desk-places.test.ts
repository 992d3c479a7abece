import type { Page } from 'playwright-core'
import { beforeEach, expect } from 'vitest'

import { people } from '../support/applicants.ts'
import { deskForTestFile, getDesk } from '../support/desk-page.ts'
import { test } from '../support/visitor.ts'
import { resize } from '../support/resize.ts'
import { activateWindow } from '../support/refresh.ts'

const desk = deskForTestFile()
const failedRequest = /Failed to load resource/

beforeEach(async () => {
  await desk.sql`delete from private.places`
  await desk.sql`insert into private.places (zone) values ('UTC')`
  await setMailSender(false)
})

/** Makes the database record that a server sends letters, or that no server does. */
const setMailSender = (sendsLetters: boolean) =>
  desk.sql`update private.postman set seen_at = now() + ${sendsLetters ? '1 hour' : '-1 hour'}::interval`

/** Accepts somebody. With `invitation`, they have also received the letter. */
async function accept(id: string, invitation?: { answer?: 'coming' | 'not coming'; days?: number }) {
  await desk.setStatus([{ id }], 'accepted')
  if (invitation === undefined) return
  const { answer = null, days = 3 } = invitation
  await desk.sql`
    update private.invitations set told_at = now(), deadline = private.today() + ${days}::integer,
      rsvp = ${answer}, rsvp_at = ${answer && new Date()}
    where application_id = ${id}`
}

/** Stores this many people, from Person 1 on, and returns their ids. */
async function storePeople(count: number) {
  const stored = await desk.store(people(count))
  return stored.map(({ id }) => id)
}

/** The texts of the tiles, such as `2 Coming`. */
const tileTexts = (page: Page) => page.locator('.places-numbers li').allTextContents()
const storedRsvps = () => desk.sql`select rsvp, deadline::text from private.invitations`
/** The date in this many days, in the format of a date field. */
async function dayIn(days: number) {
  const [row] = await desk.sql<[{ day: string }]>`select (private.today() + ${days}::integer)::text as day`
  return row.day
}

test('RSVPs are counted, each number links to its list, and saving the places does not overwrite another organiser’s change', async ({
  visitor,
}) => {
  visitor.allowConsoleError(failedRequest)
  const ids = await storePeople(7)
  await accept(ids[0] ?? '', { answer: 'coming' })
  await accept(ids[1] ?? '', { answer: 'not coming' })
  await accept(ids[2] ?? '', {})
  // The deadline has passed in every time zone.
  await accept(ids[3] ?? '', { days: -2 })
  await accept(ids[4] ?? '')
  const page = await desk.open(visitor, '/places')
  const { button, heading, link, names, row, status } = getDesk(page)
  await heading('Places').waitFor()
  const rsvpTiles = [
    '1 Coming Guest list',
    '1 Not coming',
    '2 No answer yet 1 of them late',
    '1 Not told yet',
  ]
  await expect.poll(() => tileTexts(page)).toEqual(rsvpTiles)
  await page.getByText('The number of places is not set.').waitFor()
  const zone = page.getByLabel('Time zone')
  expect(await zone.inputValue()).toBe('UTC')
  const field = page.getByLabel('Places', { exact: true })
  await field.fill('2')
  await desk.bob.client.rpc('desk_set_places', { version: 0, places: 9, days: 5 }).throwOnError()
  await button('Save').click()
  await page
    .getByRole('alert')
    .getByText('Somebody else changed this meanwhile: 9 places, 5 days to answer, time zone UTC.')
    .waitFor()
  expect(await field.inputValue()).toBe('2')
  await button('Save anyway').click()
  const sentence = '0 of 2 places are free. The retreat is overbooked by 2.'
  await status.getByText(`Saved. ${sentence}`).waitFor()
  await expect.poll(() => tileTexts(page)).toEqual(['0 Free of 2', ...rsvpTiles])
  await zone.selectOption('America/New York')
  await button('Save').click()
  const saved = [{ places: 2, days: 10, zone: 'America/New_York' }]
  await expect.poll(() => desk.sql`select places, days, zone from private.places`).toEqual(saved)

  await page.getByRole('link', { name: '1 of them late' }).click()
  await expect.poll(names).toEqual(['Person 4'])
  expect(await page.evaluate(() => location.hash)).toBe('#/?status=accepted&answer=late')
  expect(await row('Person 4').locator('.rows-status').textContent()).toBe('AcceptedLate')
  await button('Filters (1)').click()
  await page.getByLabel('Coming?').selectOption('No answer yet')
  await expect.poll(names).toEqual(['Person 3', 'Person 4'])
  await button('Clear').click()
  await expect.poll(names).toHaveLength(5)
  await link('Door').click()
  await link('History').click()
  await page.getByText('2 places, 10 days to answer, time zone America/New York').waitFor()
  expect(await page.getByText('2 places, 10 days to answer').count()).toBe(2)
})

test('until a time zone is saved, the browser’s is offered, and no letter with a deadline can be opened in a mail program', async ({
  visitor,
}) => {
  visitor.allowConsoleError(failedRequest)
  await desk.sql`update private.places set zone = null`
  const [id = ''] = await storePeople(1)
  await accept(id)
  const page = await desk.open(visitor, '/letters/drafts/accepted')
  const { button, link } = getDesk(page)
  await button('Open in mail program: Person 1').click()
  await page.getByText('This letter has a deadline: first save the time zone under Places.').waitFor()
  await link('Places').click()
  await page.getByText('Not saved yet: no letter with a deadline is sent until you save it.').waitFor()
  const browserZone = await page.evaluate(() => Intl.DateTimeFormat().resolvedOptions().timeZone)
  expect(await page.getByLabel('Time zone').inputValue()).toBe(browserZone)
  await button('Save').click()
  await page.getByText('Not saved yet').waitFor({ state: 'detached' })
  expect(await desk.sql`select zone from private.places`).toEqual([{ zone: browserZone }])
})

test('reminders are drafted once for people without an RSVP, and the result is announced', async ({
  visitor,
}) => {
  const ids = await storePeople(3)
  await accept(ids[0] ?? '', {})
  await accept(ids[1] ?? '', { days: -1 })
  const page = await desk.open(visitor, '/places')
  const { button, heading, link } = getDesk(page)
  await button('Draft 2 reminders').click()
  const result = page.locator('.places-reminded')
  await result
    .getByText(
      '2 reminders drafted. Nothing has been sent. 1 is late: move the deadline in their application',
    )
    .waitFor()
  // Both have a reminder now.
  await button('Draft reminders').waitFor()
  await link('Review drafts').click()
  await heading('Drafts: Reminder').waitFor()
  const lateDraft = page.locator('.drafts-draft', { has: link('Person 2') })
  await page.getByRole('radio', { name: 'Person 2' }).check()
  await lateDraft.getByText('They cannot answer').waitFor()
  expect(await lateDraft.getByRole('button', { name: /mail program/ }).count()).toBe(0)
  const firstDraft = page.locator('.drafts-draft', { has: link('Person 1') })
  await page.getByRole('radio', { name: 'Person 1' }).check()
  expect(await firstDraft.locator('.letters-body').textContent()).toMatch(
    /until their deadline\.[^]*here: their link to answer\s/,
  )
  // The editor shows the placeholder.
  await firstDraft.getByRole('button', { name: 'Edit' }).click()
  expect(await firstDraft.getByLabel('Text').inputValue()).toContain('here: {{answer_link}}')
})

test('accepting the person who waited longest takes a free place, can be undone, and does not overwrite another organiser’s decision', async ({
  visitor,
}) => {
  visitor.allowConsoleError(failedRequest)
  const ids = await storePeople(4)
  for (const id of ids.slice(0, 3)) await desk.setStatus([{ id }], 'waitlisted')
  await desk.sql`update private.places set places = 1`
  const page = await desk.open(visitor, '/places')
  const { alert, button, link, undo } = getDesk(page)
  const waiting = page.locator('.places-waiting a')
  await expect.poll(() => waiting.allTextContents()).toEqual(['Person 1', 'Person 2', 'Person 3'])
  // The place is reserved until the decision is confirmed.
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  await page.route(
    '**/rpc/desk_decide',
    async (route) => {
      await released
      await route.continue()
    },
    { times: 1 },
  )
  await button('Accept: Person 1').click()
  await button('Accept: Person 2').waitFor({ state: 'detached' })
  release()
  await page.getByText('No place is free.').waitFor()
  expect(await desk.statusOf(ids[0] ?? '')).toBe('accepted')
  await expect.poll(() => tileTexts(page)).toContain('1 Not told yet')
  await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe('H1')
  await undo.click()
  await expect.poll(() => waiting.count()).toBe(3)
  expect(await desk.statusOf(ids[0] ?? '')).toBe('waitlisted')

  // Without a number of places everybody can be accepted. Another organiser's decision is not overwritten.
  await desk.sql`update private.places set places = null`
  await activateWindow(page)
  await page.getByText('The number of places is not set.').waitFor()
  await page.route(
    '**/rpc/desk_decide',
    async (route) => {
      await desk.setStatus([{ id: ids[1] ?? '' }], 'declined')
      await route.continue()
    },
    { times: 1 },
  )
  await button('Accept: Person 2').click()
  await alert.getByText('bob@example.org set it to Declined meanwhile').waitFor()
  await button('Leave it Declined').click()
  expect(await desk.statusOf(ids[1] ?? '')).toBe('declined')
  await page.getByText('2 wait for a place.').waitFor()
  await link('Show the whole waitlist').click()
  await expect.poll(getDesk(page).names).toHaveLength(2)
})

test('an RSVP is shown in its row without changing the height of the row', async ({ visitor }) => {
  const [first = '', second = ''] = await storePeople(3)
  await accept(first, {})
  await accept(second)
  const page = await desk.open(visitor, '/?status=all')
  const { button, row, select, status } = getDesk(page)
  const statusAndRsvp = (name: string) => row(name).locator('.rows-status').textContent()
  const heights = () =>
    page.locator('tbody tr').evaluateAll((rows) => rows.map((each) => each.getBoundingClientRect().height))
  await expect.poll(() => statusAndRsvp('Person 1')).toBe('AcceptedNo answer yet')
  expect(await statusAndRsvp('Person 2')).toBe('AcceptedNot told yet')
  expect(await statusAndRsvp('Person 3')).toBe('New')
  const wide = await heights()
  expect(new Set(wide).size).toBe(1)
  await resize(page, { width: 390, height: 844 })
  const narrow = await heights()
  expect(new Set(narrow).size).toBe(1)

  await desk.sql`update private.invitations set rsvp = 'coming', rsvp_at = now() where told_at is not null`
  await select('Person 3').check()
  await button('Accept').click()
  await status.getByText('Person 3: Accepted').waitFor()
  await expect.poll(() => statusAndRsvp('Person 3')).toBe('AcceptedNot told yet')
  await expect.poll(() => statusAndRsvp('Person 1')).toBe('AcceptedComing')
  expect(await heights()).toEqual(narrow)
  await resize(page, { width: 1280, height: 720 })
  expect(await heights()).toEqual(wide)

  // Only accepted people have an RSVP, so the filter leads to them from any tab.
  await page.getByRole('link', { name: /^New/ }).click()
  await button('Filters').click()
  await page.getByLabel('Coming?').selectOption('coming')
  await expect.poll(getDesk(page).names).toEqual(['Person 1'])
})

test('an organiser enters an RSVP given by email and moves the deadline, and the applicant’s own RSVP appears', async ({
  visitor,
}) => {
  const [id = ''] = await storePeople(1)
  await accept(id, { days: -1 })
  const page = await desk.open(visitor, `/applications/${id}`)
  const { button, status, timeline } = getDesk(page)
  const head = page.locator('.application-head .decisions-answer')
  await head.getByText(/^Late, deadline \d+ \w+ 20\d\d$/).waitFor()
  const deadline = page.getByLabel('Deadline')
  await deadline.fill(await dayIn(5))
  await button('Save').click()
  await status.getByText('Person 1: deadline').waitFor()
  await head.getByText(/^No answer yet, deadline/).waitFor()
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  await page.route('**/rpc/desk_set_answer', async (route) => {
    await released
    await route.continue()
  })
  await button('Not coming').click()
  // The others do nothing until it is saved, and show it.
  await expect.poll(() => button('Coming').getAttribute('aria-busy')).toBe('true')
  release()
  await head.getByText(/^Not coming, answered \d/).waitFor()
  expect(await storedRsvps()).toEqual([{ rsvp: 'not coming', deadline: await dayIn(5) }])
  await button('Not answered').click()
  await head.getByText(/^No answer yet/).waitFor()

  const [row] = await desk.sql<[{ token: string }]>`select token from private.invitations`
  await desk.ada.client
    .rpc('answer_place', { token: row.token, answer: 'coming', act: crypto.randomUUID() })
    .throwOnError()
  await activateWindow(page)
  await head.getByText(/^Coming, answered/).waitFor()
  await timeline.last().getByText('the applicant, new since you looked').waitFor()
  expect(await timeline.last().textContent()).toMatch(/Answer: Coming$/)
  // The server sets a deadline, too: that of a letter that is sent while somebody types one.
  await deadline.fill(await dayIn(9))
  await desk.sql`update private.invitations set deadline = ${await dayIn(7)}::date`
  await activateWindow(page)
  await page
    .getByRole('alert')
    .getByText(/^The deadline is \d+ \w+ 20\d\d now\. Your change is not saved\./)
    .waitFor()
  await button('Discard').click()
  // The printed page shows the RSVP without buttons.
  await page.emulateMedia({ media: 'print' })
  expect(await head.isVisible()).toBe(true)
  expect(await page.getByRole('heading', { name: 'Are they coming?' }).isVisible()).toBe(false)
})

test("a letter sent by hand opens with the recipient's own link, and is recorded as sent", async ({
  visitor,
}) => {
  const [id = ''] = await storePeople(1)
  await accept(id)
  const page = await desk.open(visitor, '/letters/drafts/accepted', {
    prepare: (opened) =>
      opened.addInitScript(() => {
        HTMLAnchorElement.prototype.click = function click() {
          document.title = this.href
        }
      }),
  })
  const { button } = getDesk(page)
  await button('Open in mail program: Person 1').click()
  await expect.poll(() => page.title()).toMatch(/^mailto:/)
  const address = new URL(await page.title())
  const [row] = await desk.sql<[{ token: string }]>`select token from private.invitations`
  expect(address.searchParams.get('body')).toContain(`here: ${desk.origin}/answer/#${row.token}\r\n`)
  expect(address.searchParams.get('body')).not.toContain('{{')
  await button('I sent it: Person 1').click()
  await page.getByText('No drafts here.').waitFor()
  await getDesk(page).link('Places').click()
  await expect.poll(() => tileTexts(page)).toContain('1 No answer yet')
})

test('templates for accepted people offer the link and the deadline, and the desk says if SITE_URL is missing', async ({
  visitor,
}) => {
  await storePeople(1)
  const page = await desk.open(visitor, '/letters/templates/reminder')
  const { button } = getDesk(page)
  const letter = page.locator('.letters-letter')
  await letter.getByText(`${desk.origin}/answer/#example`).waitFor()
  expect(await button('Remove').count()).toBe(0)
  await button('{{reply_by}}').click()
  await button('Discard').click()
  // A server that sends letters uses its SITE_URL, which is not set here.
  await setMailSender(true)
  await page.reload()
  await page.getByText('The site’s address (SITE_URL) is not set').waitFor()
  expect(await letter.textContent()).not.toContain('here:')
  await page.evaluate(() => (location.hash = '#/letters/templates/waitlisted'))
  await button('{{company}}').waitFor()
  expect(await button('{{answer_link}}').count()).toBe(0)
})

test('a blind reader sees no name under Places or next to an RSVP', async ({ visitor }) => {
  const ids = await storePeople(5)
  await accept(ids[0] ?? '', { days: -1 })
  await accept(ids[1] ?? '', { answer: 'coming' })
  for (const id of ids.slice(2)) await desk.setStatus([{ id }], 'waitlisted')
  await desk.sql`update private.places set places = 1000000`
  await desk.ada.client.rpc('desk_set_blind', { blind: true }).throwOnError()
  const page = await desk.open(visitor, '/places')
  for (const screen of ['places', `applications/${ids[0]}`]) {
    await page.evaluate((path) => (location.hash = `#/${path}`), screen)
    await page.locator('.places-numbers, .decisions-answer-edit').waitFor()
    if (screen === 'places') await getDesk(page).button('Draft 1 reminder').click()
    expect(await page.locator('#content').textContent()).not.toContain('Person')
  }
})
