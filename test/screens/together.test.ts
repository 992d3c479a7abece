import { screen, waitFor, within } from '@testing-library/dom'
import { expect, test } from 'vitest'

import { people } from '../support/applicants.ts'
import {
  box,
  button,
  heading,
  names,
  pill,
  problems,
  row,
  rowStatus,
  sentence,
  tab,
  timeline,
} from '../support/desk-parts.ts'
import { deskScreensForTestFile } from '../support/opened-desk.ts'

const desk = deskScreensForTestFile()

const pillIs = (status: string) => waitFor(() => expect(pill()).toBe(status))
const problemsAre = (...expected: unknown[]) => waitFor(() => expect(problems()).toEqual(expected))
/** The entries of the open application that are marked as new since the organiser looked. */
const highlighted = () =>
  [...document.querySelectorAll('.application-timeline .application-fresh')].map(
    ({ textContent }) => textContent,
  )
/** Presses buttons at once, so that each decision is made before the response to the previous one. */
async function pressQuickly(...labels: string[]) {
  const buttons = await Promise.all(labels.map(button))
  for (const each of buttons) each.click()
}
const decisions = () => desk.sql`
  select author, detail ->> 'status' as status from private.history where kind = 'status' order by id`
const erase = (application: { id: string; email: string } | undefined) =>
  desk.bob.client
    .rpc('desk_erase', { applications: [application?.id], email: application?.email })
    .throwOnError()

test('of two organisers the later sees who decided what, and overwrites the decision', async () => {
  const [first] = await desk.store(people(2))
  const { user, network, press, announced } = await desk.open()
  // Another organiser's decision is not seen before this organiser's own.
  network.hold('desk_refresh')
  await user.click(await box('Person 1'))
  await desk.setStatus(first ? [first] : [], 'declined')
  await press('Accept')
  await announced('Person 1: not saved')
  expect(problems()).toEqual([
    expect.stringMatching(
      /^Person 1: “Accepted” was not saved\. bob@example\.org set it to Declined meanwhile \(\d.* 20\d\d, \d\d:\d\d\)\.$/,
    ),
  ])
  expect(rowStatus('Person 1')).toBe('Declined')
  expect(await desk.statusOf(first?.id ?? '')).toBe('declined')
  await press('Accept anyway')
  await announced('Person 1: Accepted')
  await problemsAre()
  expect(await decisions()).toEqual([
    { author: 'bob@example.org', status: 'declined' },
    { author: 'ada@example.org', status: 'accepted' },
  ])
})

test('of two organisers the later can leave the decision of the earlier', async () => {
  const [{ id } = { id: '' }] = await desk.store(people(1))
  const { press, announced } = await desk.open(`/applications/${id}`)
  await button('Waitlist')
  await desk.setStatus([{ id }], 'accepted')
  await press('Waitlist')
  await announced('Person 1: not saved')
  await problemsAre(expect.stringContaining('bob@example.org set it to Accepted meanwhile'))
  await press('Leave it Accepted')
  await problemsAre()
  expect(pill()).toBe('Accepted')
  expect(await desk.statusOf(id)).toBe('accepted')
})

test('of several decisions, one that conflicts is reported, and the others are saved', async () => {
  const stored = await desk.store(people(5))
  const { user, network, press, announced } = await desk.open()
  network.hold('desk_refresh')
  await user.click(await screen.findByLabelText('Select all shown'))
  await desk.setStatus(stored.slice(2, 3), 'declined')
  await press('Shortlist')
  await announced('4 applications: Shortlisted; 1 not saved')
  expect([1, 2, 3, 4, 5].map((number) => rowStatus(`Person ${number}`))).toEqual([
    'Shortlisted',
    'Shortlisted',
    'Declined',
    'Shortlisted',
    'Shortlisted',
  ])
  expect(problems()).toEqual([
    expect.stringContaining('Person 3: “Shortlisted” was not saved. bob@example.org set it to Declined'),
  ])
  expect(await desk.statusOf(stored[2]?.id ?? '')).toBe('declined')
  await press('Shortlist anyway')
  await announced('Person 3: Shortlisted')
  expect((await box('Person 3')).checked).toBe(false)
  expect(await desk.statusOf(stored[2]?.id ?? '')).toBe('shortlisted')
})

test('of quick decisions on one application the last one is the result, and each is in the history', async () => {
  const [{ id } = { id: '' }] = await desk.store(people(1))
  await desk.open(`/applications/${id}`)
  await pressQuickly('Accept', 'Decline', 'Waitlist', 'Shortlist')
  await pillIs('Shortlisted')
  expect(await desk.statusOf(id)).toBe('shortlisted')
  expect(await decisions()).toMatchObject(
    ['accepted', 'declined', 'waitlisted', 'shortlisted'].map((status) => ({ status })),
  )
  await waitFor(() => expect(timeline().at(-1)).toMatch(/ada@example\.orgShortlisted \(was Waitlisted\)$/))
})

test("no quick decision overwrites another organiser's decision", async () => {
  const stored = await desk.store(people(1))
  const { user, network, announced } = await desk.open()
  network.hold('desk_refresh')
  await user.click(await box('Person 1'))
  await desk.setStatus(stored, 'declined')
  await pressQuickly('Accept', 'Waitlist')
  await problemsAre(expect.stringContaining('“Waitlisted” was not saved. bob@example.org set it'))
  await announced('Person 1: not saved')
  expect(rowStatus('Person 1')).toBe('Declined')
  expect(await desk.statusOf(stored[0]?.id ?? '')).toBe('declined')
})

test('if another organiser has already made the same decision, no conflict is reported', async () => {
  const stored = await desk.store(people(1))
  const { user, network, press, announced } = await desk.open()
  network.hold('desk_refresh')
  await user.click(await box('Person 1'))
  await desk.setStatus(stored, 'accepted')
  await press('Accept')
  await announced('Person 1: Accepted already')
  expect(rowStatus('Person 1')).toBe('Accepted')
  expect(problems()).toEqual([])
  // Bob made the decision, so Ada cannot undo it.
  expect(screen.queryByRole('button', { name: /^Undo/ })).toBeNull()
  expect(await decisions()).toEqual([{ author: 'bob@example.org', status: 'accepted' }])
})

test("Undo does not undo another organiser's later decision, even if the page shows that decision", async () => {
  const [{ id } = { id: '' }] = await desk.store(people(1))
  const { press, announced, activateWindow } = await desk.open(`/applications/${id}`)
  await press('Accept')
  await announced('Person 1: Accepted')
  await desk.setStatus([{ id }], 'declined')
  await activateWindow()
  await pillIs('Declined')
  await press('Undo: Person 1, Accepted')
  await problemsAre(expect.stringContaining('bob@example.org set it to Declined meanwhile'))
  expect(pill()).toBe('Declined')
  expect(await desk.statusOf(id)).toBe('declined')
  await press('Reset to New anyway')
  await announced('Person 1: New')
  expect(await desk.statusOf(id)).toBe('new')
})

test('another organiser’s acts on an open application appear, highlighted and announced, and cause no conflict later', async () => {
  const stored = await desk.store(people(1))
  const [{ id } = { id: '' }] = stored
  const { press, fill, announced, refresh, activateWindow } = await desk.open(`/applications/${id}`)
  const note = await screen.findByLabelText<HTMLTextAreaElement>('Note')
  await fill(note, 'Half a thought')
  await desk.setStatus(stored, 'declined')
  await refresh()
  await announced('bob@example.org changed this just now')
  expect(pill()).toBe('Declined')
  await sentence(/^Changed by bob@example\.org since you opened it/)
  expect(highlighted()).toEqual([
    expect.stringMatching(/, bob@example\.org, new since you last lookedDeclined/),
  ])
  expect(note.value).toBe('Half a thought')

  // Bob adds a note, and Ada's window becomes active.
  await desk.bob.client
    .rpc('desk_note', { act: crypto.randomUUID(), application: id, note: 'Too early.' })
    .throwOnError()
  await activateWindow()
  await waitFor(() => expect(highlighted()).toHaveLength(2))

  await press('Accept')
  await announced('Person 1: Accepted')
  await waitFor(() => expect(timeline()).toHaveLength(4))
  expect(highlighted()).toHaveLength(2)
  expect(problems()).toEqual([])
  expect(await desk.statusOf(id)).toBe('accepted')
})

test('a note of another organiser gives its row a dot, which goes once the note was seen', async () => {
  const [first] = await desk.store(people(2))
  const writeNote = () =>
    desk.bob.client
      .rpc('desk_note', { act: crypto.randomUUID(), application: first?.id, note: 'Call her.' })
      .throwOnError()
  const { follow, goTo, network, refresh } = await desk.open()
  await row('Person 1')
  expect(screen.queryByText('New note')).toBeNull()
  await writeNote()
  await refresh()
  await within(await row('Person 1')).findByText('New note')

  // If the server does not learn of it, the dot stays.
  const end = network.route('desk_see_notes', () => Promise.reject(new TypeError('Failed to fetch')))
  await follow('Person 1')
  await waitFor(() => expect(highlighted()).toEqual([expect.stringMatching(/Call her\.$/)]))
  await waitFor(() => expect(network.calls).toContain('desk_see_notes'))
  // The call is tried again.
  await network.settled()
  end()
  goTo('/')
  await within(await row('Person 1')).findByText('New note')
  await network.settled()

  await follow('Person 1')
  await waitFor(() => expect(highlighted()).toHaveLength(1))
  await waitFor(async () =>
    expect(await desk.sql`select from private.seen_notes`.then((rows) => rows.length)).toBe(1),
  )
  await network.settled()
  // The dot is gone before the list is read again.
  const release = network.hold('desk_list')
  goTo('/')
  await row('Person 1')
  expect(screen.queryByText('New note')).toBeNull()
  release()

  // A note that is written while the application is open is seen there.
  await follow('Person 1')
  await heading('Person 1')
  await writeNote()
  await refresh()
  await waitFor(() => expect(highlighted()).toHaveLength(1))
  goTo('/')
  await row('Person 1')
  await waitFor(() => expect(screen.queryByText('New note')).toBeNull())
})

test('an application that another organiser erases while it is open is reported as erased', async () => {
  const [first] = await desk.store(people(1))
  const { refresh } = await desk.open(`/applications/${first?.id}`)
  await screen.findByRole('heading', { name: 'Person 1' })
  await erase(first)
  await refresh()
  await screen.findByText(/There is no such application: it may have been erased\./)
})

test("another organiser's decision is highlighted in a visible list and announced, and a new list has no highlight", async () => {
  const stored = await desk.store(people(4))
  const { user, announced, refresh } = await desk.open('/?status=all')
  await waitFor(() => expect(names()).toHaveLength(4))
  await desk.setStatus(stored.slice(1, 2), 'declined')
  await refresh()
  await announced('Person 2: Declined now, changed meanwhile')
  const statusCell = (await row('Person 2')).querySelector('.rows-status')
  expect(statusCell?.textContent).toBe('Declined (changed meanwhile)Draft waits')
  await desk.setStatus(stored.slice(2, 4), 'waitlisted')
  await refresh()
  await announced('3 changed meanwhile')
  // An organiser's own decision is not highlighted.
  screen.getByRole('link', { name: 'Person 1' }).focus()
  await user.keyboard('s')
  await waitFor(() => expect(rowStatus('Person 1')).toBe('Shortlisted'))
  await user.click(tab('Declined'))
  await waitFor(() => expect(names()).toEqual(['Person 2']))
  expect(rowStatus('Person 2')).toBe('Declined')
  await button('Undo: Person 1, Shortlisted')
})

test("a decision made before the screen shows another organiser's act is refused and explained", async () => {
  const stored = await desk.store(people(1))
  const [{ id } = { id: '' }] = stored
  const { network, press, announced, refresh } = await desk.open(`/applications/${id}`)
  await waitFor(() => expect(timeline()).toHaveLength(1))
  // A first read of the list would show the decision.
  await network.settled()
  await desk.setStatus(stored, 'declined')
  // The list beside the application would show the decision, too.
  const releaseList = network.hold('desk_refresh')
  const release = network.hold('desk_application')
  const readCount = () => network.calls.filter((name) => name === 'desk_application').length
  const before = readCount()
  await refresh()
  // The screen has requested the change, but not received it.
  await waitFor(() => expect(readCount()).toBeGreaterThan(before))
  expect(pill()).toBe('New')
  await press('Accept')
  await announced('Person 1: not saved')
  await problemsAre(expect.stringContaining('bob@example.org set it to Declined meanwhile'))
  releaseList()
  release()
  await waitFor(() => expect(timeline()).toHaveLength(2))
  expect(pill()).toBe('Declined')
  expect(await desk.statusOf(id)).toBe('declined')
})

test('an application that another organiser erased is reported as erased, on a decision and when it is opened', async () => {
  const [first] = await desk.store(people(2))
  const { user, network, press, follow, announced } = await desk.open()
  network.hold('desk_refresh')
  await user.click(await box('Person 1'))
  await erase(first)
  await press('Accept')
  await announced('Person 1: not saved')
  expect(problems()).toEqual(['Person 1: “Accepted” was not saved. The application was erased meanwhile.'])
  expect(screen.queryByRole('button', { name: 'Accept anyway' })).toBeNull()
  await press('Close')
  await problemsAre()
  await follow('Person 1')
  await screen.findByText(/There is no such application: it may have been erased\./)
  await follow('Back')
  await waitFor(() => expect(names()).toContain('Person 2'))
})
