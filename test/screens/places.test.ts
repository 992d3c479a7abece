import { screen, waitFor, within } from '@testing-library/dom'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'

import { people } from '../support/applicants.ts'
import { deskScreensForTestFile } from '../support/opened-desk.ts'
import { setMailSender } from '../support/letters.ts'

const desk = deskScreensForTestFile()

beforeEach(async () => {
  await desk.sql`update private.places set zone = 'UTC'`
})

/** Accepts somebody. With `invitation`, they have also received the letter. */
async function accept(id: string, invitation?: { answer?: 'coming' | 'not coming'; days?: number }) {
  await desk.setStatus([{ id }], 'accepted')
  if (invitation === undefined) return
  const { answer = null, days = 3 } = invitation
  await desk.sql`
    update private.invitations set told_at = now() - interval '3 days', deadline = private.today() + ${days}::integer,
      rsvp = ${answer}, rsvp_at = ${answer && new Date()}
    where application_id = ${id}`
}

/** Stores this many people, from Person 1 on, and returns their ids. */
async function storePeople(count: number) {
  const stored = await desk.store(people(count))
  return stored.map(({ id }) => id)
}

const textsIn = (selector: string) =>
  [...document.querySelectorAll(selector)].map(({ textContent }) => textContent.trim())
/** The texts of the tiles, such as `2 Coming`. */
const tiles = () => textsIn('.places-numbers li')
const waiting = () => textsIn('.places-waiting a')
/** The names in the list, in order. */
const names = () => textsIn('tbody .rows-name a')
const rowOf = (name: string) => screen.getByRole('row', { name: new RegExp(`^Select ${name} `) })
/** The date in this many days, in the format of a date field. */
async function dayIn(days: number) {
  const [row] = await desk.sql<[{ day: string }]>`select (private.today() + ${days}::integer)::text as day`
  return row.day
}

test('RSVPs are counted, and each number links to its list', async () => {
  const ids = await storePeople(7)
  await accept(ids[0] ?? '', { answer: 'coming' })
  await accept(ids[1] ?? '', { answer: 'not coming' })
  await accept(ids[2] ?? '', {})
  // The deadline has passed in every time zone.
  await accept(ids[3] ?? '', { days: -2 })
  await accept(ids[4] ?? '')
  const { user, press, follow } = await desk.open('/coming')
  await screen.findByText('The number of places is not set.')
  expect(tiles()).toEqual(['1 Coming', '1 Not coming', '2 No answer yet 1 of them late', '1 Not told yet'])

  await follow('1 of them late')
  await waitFor(() => expect(names()).toEqual(['Person 4']))
  expect(location.hash).toBe('#/?status=accepted&answer=late')
  expect(rowOf('Person 4').textContent).toContain('AcceptedLate')
  await press('Filters (1)')
  await user.selectOptions(screen.getByLabelText('Coming?'), 'No answer yet')
  await waitFor(() => expect(names()).toEqual(['Person 3', 'Person 4']))
  await press('Clear')
  await waitFor(() => expect(names()).toHaveLength(5))
})

test('saving the number of places and the time zone does not overwrite another organiser’s change', async () => {
  const ids = await storePeople(3)
  for (const id of ids) await accept(id, {})
  const { user, press, follow, fill, announced } = await desk.open('/retreat')
  const field = await screen.findByLabelText<HTMLInputElement>('Places')
  await fill(field, '2')
  await desk.bob.client.rpc('desk_set_places', { version: 0, places: 9, days: 5 }).throwOnError()
  await press('Save places')
  await screen.findByText(
    /^Somebody else changed this meanwhile: 9 places, 5 days to answer, time zone UTC\./,
  )
  expect(field.value).toBe('2')
  await press('Save anyway')
  await announced('Saved. 0 of 2 places are free. The retreat is overbooked by 1.')
  await follow('Guests')
  await waitFor(() => expect(tiles()).toContain('0 of 2 free'))
  await follow('Retreat')
  await user.selectOptions(await screen.findByLabelText('Time zone'), 'America/New York')
  await press('Save places')
  const saved = [{ places: 2, days: 10, zone: 'America/New_York' }]
  await waitFor(async () =>
    expect(await desk.sql`select places, days, zone from private.places`).toEqual(saved),
  )
  await follow('History')
  await screen.findByText('2 places, 10 days to answer, time zone America/New York')
  expect(screen.getAllByText(/2 places, 10 days to answer/)).toHaveLength(2)
})

test('until a time zone is saved, the browser’s is offered, and no letter with a deadline can be opened in a mail program', async () => {
  await desk.sql`update private.places set zone = null`
  const [id = ''] = await storePeople(1)
  await accept(id)
  const { press, follow } = await desk.open('/letters/drafts/accepted')
  await press('Open in mail program: Person 1')
  await screen.findByText(/This letter has a deadline: first save the time zone under Retreat\./)
  await follow('Retreat')
  await screen.findByText(/Not saved yet: no letter with a deadline is sent until you save it\./)
  const browserZone = Intl.DateTimeFormat().resolvedOptions().timeZone
  expect(screen.getByLabelText<HTMLSelectElement>('Time zone').value).toBe(browserZone)
  await press('Save places')
  await waitFor(() => expect(screen.queryByText(/Not saved yet/)).toBeNull())
  expect(await desk.sql`select zone from private.places`).toEqual([{ zone: browserZone }])
})

test('reminders are drafted once for people without an RSVP, and the result is announced', async () => {
  const ids = await storePeople(3)
  await accept(ids[0] ?? '', {})
  await accept(ids[1] ?? '', { days: -1 })
  const { user, press, follow, announced } = await desk.open('/coming')
  await press('Draft 2 reminders')
  await announced(
    /^2 reminders drafted\. Nothing has been sent\. 1 is late: move the deadline in their application/,
  )
  // The screen says it, so the announcement covers nothing.
  expect(screen.getByRole('status').querySelector('.announce-box')).toBeNull()
  // Both have a reminder now.
  await screen.findByRole('button', { name: 'Draft reminders' })
  await follow('Review drafts')
  await screen.findByRole('heading', { name: 'Drafts: Reminder' })
  await user.click(await screen.findByRole('radio', { name: /^Person 2/ }))
  const lateDraft = within(await screen.findByRole('article', { name: 'Person 2' }))
  lateDraft.getByText(/^They cannot answer/)
  expect(lateDraft.queryByRole('button', { name: /mail program/ })).toBeNull()
  await user.click(screen.getByRole('radio', { name: /^Person 1/ }))
  const firstDraft = await screen.findByRole('article', { name: 'Person 1' })
  expect(firstDraft.querySelector('.letters-body')?.textContent).toMatch(
    /until \d+ \w+ \d{4}\.[^]*here: RSVP link\s/,
  )
  // The editor shows the placeholder.
  await press('Edit: Person 1')
  expect(screen.getByLabelText<HTMLTextAreaElement>('Text').value).toContain('here: {{answer_link}}')
})

test('accepting the person who waited longest takes a free place, and can be undone', async () => {
  const ids = await storePeople(3)
  for (const id of ids) await desk.setStatus([{ id }], 'waitlisted')
  await desk.sql`update private.places set places = 1`
  const { network, press } = await desk.open('/coming')
  await waitFor(() => expect(waiting()).toEqual(['Person 1', 'Person 2', 'Person 3']))
  // The place is reserved until the decision is confirmed.
  const release = network.hold('desk_decide')
  await press('Accept: Person 1')
  await waitFor(() => expect(screen.queryByRole('button', { name: 'Accept: Person 2' })).toBeNull())
  release()
  await screen.findByText(/^No place is free\./)
  expect(await desk.statusOf(ids[0] ?? '')).toBe('accepted')
  await waitFor(() => expect(tiles()).toContain('1 Not told yet'))
  expect(document.activeElement).toBe(screen.getByRole('heading', { name: 'Who is coming' }))
  await press(/^Undo/)
  await waitFor(() => expect(waiting()).toHaveLength(3))
  expect(await desk.statusOf(ids[0] ?? '')).toBe('waitlisted')
})

test('without a number of places everybody can be accepted, unless another organiser decided meanwhile', async () => {
  const ids = await storePeople(3)
  for (const id of ids) await desk.setStatus([{ id }], 'waitlisted')
  const { network, press, follow } = await desk.open('/coming')
  await screen.findByText('The number of places is not set.')
  network.beforeNext('desk_decide', () => desk.setStatus([{ id: ids[1] ?? '' }], 'declined'))
  await press('Accept: Person 2')
  await screen.findByText(/bob@example\.org set it to Declined meanwhile/)
  await press('Leave it Declined')
  expect(await desk.statusOf(ids[1] ?? '')).toBe('declined')
  await screen.findByText('2 wait for a place.')
  await follow('Show the whole waitlist')
  await waitFor(() => expect(names()).toHaveLength(2))
})

test('an RSVP is shown in its row, and only accepted people have one', async () => {
  const [first = '', second = ''] = await storePeople(3)
  await accept(first, {})
  await accept(second)
  const { user, press, follow, announced, activateWindow } = await desk.open('/?status=all')
  const statusAndRsvp = (name: string) => rowOf(name).querySelector('.rows-status')?.textContent
  await waitFor(() => expect(statusAndRsvp('Person 1')).toBe('AcceptedNo answer yet'))
  expect(statusAndRsvp('Person 2')).toBe('AcceptedDraft waits')
  expect(statusAndRsvp('Person 3')).toBe('New')

  await desk.sql`update private.invitations set rsvp = 'coming', rsvp_at = now() where told_at is not null`
  await user.click(screen.getByRole('checkbox', { name: 'Select Person 3' }))
  await press('Accept')
  await announced('Person 3: Accepted')
  await waitFor(() => expect(statusAndRsvp('Person 3')).toBe('AcceptedDraft waits'))
  await activateWindow()
  await waitFor(() => expect(statusAndRsvp('Person 1')).toBe('AcceptedComing'))

  // The filter leads to accepted people from any tab.
  await follow(/^New/)
  await press('Filters')
  await user.selectOptions(screen.getByLabelText('Coming?'), 'coming')
  await waitFor(() => expect(names()).toEqual(['Person 1']))
})

test('an organiser enters an RSVP given by email and moves the deadline, and the applicant’s own RSVP appears', async () => {
  const [id = ''] = await storePeople(1)
  await accept(id, { days: -1 })
  const { network, press, fill, announced, activateWindow } = await desk.open(`/applications/${id}`)
  await screen.findByText(/^Late, deadline \d+ \w+ 20\d\d$/)
  const deadline = screen.getByLabelText('Deadline')
  await fill(deadline, await dayIn(5))
  await press('Save deadline')
  await announced(/^Person 1: deadline/)
  await screen.findByText(/^No answer yet, deadline/)
  const release = network.hold('desk_set_answer')
  await press('Not coming')
  // The others do nothing until it is saved, and show it.
  await screen.findByRole('button', { name: 'Coming', busy: true })
  release()
  await screen.findByText(/^Not coming, answered \d/)
  expect(await desk.sql`select rsvp, deadline::text from private.invitations`).toEqual([
    { rsvp: 'not coming', deadline: await dayIn(5) },
  ])
  await press('Not answered')
  await screen.findByText(/^No answer yet/)

  const [row] = await desk.sql<[{ token: string }]>`select token from private.invitations`
  await desk.ada.client
    .rpc('answer_place', { token: row.token, answer: 'coming', act: crypto.randomUUID() })
    .throwOnError()
  await activateWindow()
  await screen.findByText(/^Coming, answered/)
  await screen.findByText(/the applicant, new since you last looked$/)
  expect(document.querySelector('.application-timeline li:last-child')?.textContent).toMatch(
    /Answer: Coming$/,
  )
  // The server sets a deadline, too: that of a letter that is sent while somebody types one.
  await fill(deadline, await dayIn(9))
  await desk.sql`update private.invitations set deadline = ${await dayIn(7)}::date`
  await activateWindow()
  await screen.findByText(/^The deadline is \d+ \w+ 20\d\d now\. Your change is not saved\./)
})

test("a letter sent by hand opens with the recipient's own link, and is recorded as sent", async () => {
  const [id = ''] = await storePeople(1)
  await accept(id)
  const { press, follow } = await desk.open('/letters/drafts/accepted')
  const opened: string[] = []
  const click = vi.spyOn(HTMLAnchorElement.prototype, 'click')
  click.mockImplementation(function (this: HTMLAnchorElement) {
    opened.push(this.href)
  })
  onTestFinished(() => click.mockRestore())
  await press('Open in mail program: Person 1')
  await waitFor(() => expect(opened).toHaveLength(1))
  const address = new URL(opened[0] ?? '')
  expect(address.protocol).toBe('mailto:')
  const [row] = await desk.sql<[{ token: string }]>`select token from private.invitations`
  expect(address.searchParams.get('body')).toContain(`here: ${desk.origin}/answer/#${row.token}\r\n`)
  expect(address.searchParams.get('body')).not.toContain('{{')
  await press('Mark as sent: Person 1')
  await screen.findByText(/^No drafts here\./)
  await follow('Guests')
  await waitFor(() => expect(tiles()).toContain('1 No answer yet'))
})

test('templates for accepted people offer the link and the deadline, and the desk says if the page’s address is not known', async () => {
  await storePeople(1)
  const { press, goTo, reload } = await desk.open('/letters/templates/reminder')
  await screen.findByText(new RegExp(`${desk.origin}/answer/#example`))
  expect(screen.queryByRole('button', { name: 'Remove' })).toBeNull()
  await press('{{reply_by}}')
  await press('Discard')
  // A server that sends letters uses its SITE_URL, which is not set here.
  await setMailSender(desk.sql, true)
  reload()
  await screen.findByText(/^The page’s address is not known/)
  expect(document.querySelector('.letters-letter')?.textContent).not.toContain('here:')
  goTo('/letters/templates/waitlisted')
  await screen.findByRole('heading', { name: 'Template: Waitlisted' })
  await screen.findByRole('button', { name: '{{company}}' })
  expect(screen.queryByRole('button', { name: '{{answer_link}}' })).toBeNull()
})

test('a blind reader sees no name under Guests or next to an RSVP', async () => {
  const ids = await storePeople(5)
  await accept(ids[0] ?? '', { days: -1 })
  await accept(ids[1] ?? '', { answer: 'coming' })
  for (const id of ids.slice(2)) await desk.setStatus([{ id }], 'waitlisted')
  await desk.sql`update private.places set places = 1000000`
  await desk.ada.client.rpc('desk_set_blind', { blind: true }).throwOnError()
  const { press, goTo, announced } = await desk.open('/coming')
  await press('Draft 1 reminder')
  await announced(/^1 reminder drafted/)
  await waitFor(() => expect(waiting()).toHaveLength(3))
  expect(document.body.textContent).not.toContain('Person')
  goTo(`/applications/${ids[0]}`)
  await screen.findByRole('heading', { name: 'Are they coming?' })
  expect(document.body.textContent).not.toContain('Person')
})
