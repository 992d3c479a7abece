import { screen, waitFor, within } from '@testing-library/dom'
import { expect, test } from 'vitest'

import { people } from '../support/applicants.ts'
import { box, focusedWords, heading, names, problems, rowStatus, tab, tabs } from '../support/desk-parts.ts'
import { deskScreensForTestFile } from '../support/opened-desk.ts'
import { releaseDrafts } from '../support/letters.ts'

const desk = deskScreensForTestFile()

const shows = (...rows: string[]) => waitFor(() => expect(names()).toEqual(rows))
const showsCount = (count: number) => waitFor(() => expect(names()).toHaveLength(count))
/** Waits until the decision bar is about these applications. */
const decidesAbout = (about: string) => screen.findByText(about, { selector: '.decisions-bar bdi' })
const statusesOf = (stored: readonly { id: string }[]) =>
  Promise.all(stored.map(({ id }) => desk.statusOf(id)))

test('a decision on several applications clears the selection, and leaves out rows whose status changed', async () => {
  const stored = await desk.store(people(6))
  const { user, press, announced, refresh } = await desk.open()
  await showsCount(6)
  for (const name of ['Person 1', 'Person 2']) await user.click(await box(name))
  await press('Waitlist')
  await announced('2 applications: Waitlisted')
  expect(document.querySelectorAll('tbody input:checked')).toHaveLength(0)

  await user.click(screen.getByLabelText('Select all shown'))
  await decidesAbout('4 selected')
  expect((await box('Person 1')).checked).toBe(false)
  // A tick on a decided row is announced with its status.
  await user.click(await box('Person 1'))
  await decidesAbout('5 selected, 1 Waitlisted')
  await user.click(await box('Person 1'))
  // Another organiser decides on a ticked application.
  await desk.setStatus(stored.slice(5), 'accepted')
  await refresh()
  await decidesAbout('3 selected, 1 changed since you selected them; not included')
  expect(rowStatus('Person 6')).toBe('Accepted')
  await press('Decline')
  await announced('3 applications: Declined')
  expect(await statusesOf(stored)).toEqual([
    'waitlisted',
    'waitlisted',
    'declined',
    'declined',
    'declined',
    'accepted',
  ])
})

test('a button or a key without an effect keeps the ticks', async () => {
  await desk.store(people(3))
  const { user, press, announced } = await desk.open()
  for (const name of ['Person 1', 'Person 2']) await user.click(await box(name))
  await press('Reset to New')
  await user.keyboard('r')
  await decidesAbout('2 selected')
  await press('Accept')
  await announced('2 applications: Accepted')
})

test('matches beyond the visible rows can be selected, decided in steps with progress and a stop, and undone', async () => {
  const stored = await desk.store(people(260))
  await desk.setStatus(stored.slice(255), 'declined')
  const { user, press, announced, network } = await desk.open()
  const statusCounts = async () =>
    Object.fromEntries(
      (
        await desk.sql<{ status: string; count: number }[]>`
          select status, count(*)::int from private.statuses group by 1`
      ).map(({ status, count }) => [status, count]),
    )
  const selectMatches = () => screen.queryByRole('button', { name: /that match$/ })
  await showsCount(50)
  await waitFor(() => expect(tabs()[0]).toBe('New 255'))
  expect(selectMatches()).toBeNull()
  await user.click(screen.getByLabelText('Select all shown'))
  await press('Select all 255 that match')
  await decidesAbout('255 selected')
  await waitFor(() => expect(focusedWords()).toBe('Select all shown'))
  expect(selectMatches()).toBeNull()
  // A row that was unticked by hand is left out.
  await user.click(await box('Person 1'))
  await decidesAbout('254 selected')

  const steps: (() => void)[] = []
  network.route('desk_decide', ({ send }) => new Promise((resolve) => steps.push(() => resolve(send()))))
  const continueStep = async (step: number) => {
    await waitFor(() => expect(steps).toHaveLength(step))
    steps.at(-1)?.()
  }
  const progress = () => document.querySelector('.decisions-bar [aria-live]')?.textContent
  await press('Accept')
  await screen.findByText('0 of 254')
  expect(progress()).toBe('')
  await continueStep(1)
  await screen.findByText('100 of 254')
  expect(progress()).toBe('100 of 254 saved')
  await waitFor(() => expect(steps).toHaveLength(2))
  await press('Stop')
  await continueStep(2)
  await announced('200 applications: Accepted; stopped, 54 not changed')
  expect(await statusCounts()).toEqual({ accepted: 200, declined: 5 })
  await waitFor(() => expect(screen.queryByRole('button', { name: 'Stop' })).toBeNull())
  expect(focusedWords()).toBe('Applications')
  expect(steps).toHaveLength(2)

  await press('Undo: 200 Accepted')
  await screen.findByText('0 of 200')
  await continueStep(3)
  await screen.findByText('100 of 200')
  await continueStep(4)
  await announced('Undone: 200 applications are New again')
  expect(await statusCounts()).toEqual({ new: 200, declined: 5 })
})

test('all matches of a search can be selected up to the first thousand, and conflicts are reported', async () => {
  const bulk = people(1_060).map((person, index) => ({ ...person, company: index < 60 ? 'Acme' : 'Other' }))
  const stored = await desk.store(bulk)
  const { user, fill, press, announced } = await desk.open('/?search=acme')
  await showsCount(50)
  await user.click(screen.getByLabelText('Select all shown'))
  // Another organiser decides on a match that is not shown.
  await desk.setStatus(stored.slice(58, 59), 'declined')
  await press('Select all 60 that match')
  await decidesAbout('59 selected')
  // Another organiser also decides on a selected match.
  await desk.setStatus(stored.slice(57, 58), 'declined')
  await press('Waitlist')
  await announced('58 applications: Waitlisted; 1 not saved')
  await waitFor(() =>
    expect(problems()).toEqual([
      expect.stringContaining('Person 58: “Waitlisted” was not saved. bob@example.org set it to Declined'),
    ]),
  )
  expect(await desk.statusOf(stored[57]?.id ?? '')).toBe('declined')

  await fill(screen.getByLabelText('Search'), '')
  await waitFor(() => expect(location.hash).toBe('#/'))
  await user.click(tab('All'))
  await waitFor(() => expect(location.hash).toBe('#/?status=all'))
  await user.click(await screen.findByLabelText('Select all shown'))
  await press('Select the first 1,000 that match')
  await screen.findByRole('region', { name: /^Decide: 1,000 selected/ })
})

test('if all selected applications have changed, the desk says so, and the next key acts on the focused row', async () => {
  const stored = await desk.store(people(3))
  const { user, announced, refresh } = await desk.open('/?status=all')
  await showsCount(3)
  await user.keyboard('jx')
  await decidesAbout('Person 1')
  await desk.setStatus(stored.slice(0, 1), 'declined')
  await refresh()
  await announced('1 changed since you selected them; not included')
  expect((await box('Person 1')).checked).toBe(false)
  await user.keyboard('ja')
  await announced('Person 2: Accepted')
  expect(rowStatus('Person 2')).toBe('Accepted')
  expect(await desk.statusOf(stored[0]?.id ?? '')).toBe('declined')
})

test('drafting letters continues when the list behind the dialog changes', async () => {
  const stored = await desk.store(people(2))
  const { user, press, announced, activateWindow } = await desk.open('/?status=new')
  await user.click(await box('Person 1'))
  await press('Draft letters…')
  const dialog = within(await screen.findByRole('dialog', { name: 'Draft a letter to Person 1' }))
  await desk.setStatus(stored.slice(0, 1), 'accepted')
  await activateWindow()
  await shows('Person 2')
  await user.selectOptions(dialog.getByLabelText('Template'), 'Accepted')
  await user.click(await dialog.findByRole('button', { name: 'Draft 1 letter' }))
  await dialog.findByText(/already had one/, { selector: 'form *' })
  await user.click(dialog.getByRole('button', { name: 'Close' }))
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  await announced(/already had one/)
})

test('Undo names the decision, and asks first if a letter about the decision was sent', async () => {
  const stored = await desk.store(people(2))
  const { user, press, announced } = await desk.open('/?status=all')
  for (const name of ['Person 1', 'Person 2']) await user.click(await box(name))
  await press('Accept')
  await announced('2 applications: Accepted')
  await releaseDrafts(desk.sql, { state: 'done' }, stored[0]?.id)
  await press('Undo: 2 Accepted')
  await announced('Undone: Person 2 is New again; 1 not saved')
  await waitFor(() =>
    expect(problems()).toEqual([
      'Not undone for Person 1: a letter saying “Accepted” has already been sent.',
    ]),
  )
  expect(rowStatus('Person 1')).toBe('Accepted')
  expect(await statusesOf(stored)).toEqual(['accepted', 'new'])
  await press('Reset to New anyway')
  await announced('Person 1: New')
  expect(await statusesOf(stored)).toEqual(['new', 'new'])
})

test('closing the page asks for confirmation while decisions are pending, and not afterwards', async () => {
  await desk.store(people(1))
  const { user, press, announced, network } = await desk.open()
  const asksBeforeClosing = () => !dispatchEvent(new Event('beforeunload', { cancelable: true }))
  const release = network.hold('desk_decide')
  await user.click(await box('Person 1'))
  expect(asksBeforeClosing()).toBe(false)
  await press('Accept')
  expect(asksBeforeClosing()).toBe(true)
  release()
  await announced('Person 1: Accepted')
  expect(asksBeforeClosing()).toBe(false)
})

test('waiting decisions are not sent after a sign-out', async () => {
  const stored = await desk.store(people(2))
  const { user, press, network } = await desk.open('/', {
    as: await desk.server.signedIn('eve@example.org'),
  })
  const sent: unknown[] = []
  // The first decision never gets a response, so the second one waits.
  network.route('desk_decide', ({ args }) => {
    sent.push(args['decisions'])
    return new Promise(() => {})
  })
  await user.click(await box('Person 1'))
  await press('Accept')
  await user.click(await box('Person 2'))
  await press('Decline')
  await waitFor(() => expect(sent).toHaveLength(1))
  await press('Sign out')
  await heading('Sign in')
  await network.settled()
  expect(sent).toEqual([[expect.objectContaining({ id: stored[0]?.id })]])
})

test('if a colleague decided on the focused row, the next key acts on nobody, and after an own decision on the next row', async () => {
  const stored = await desk.store(people(4))
  const { user, announced, activateWindow } = await desk.open()
  await showsCount(4)
  await user.keyboard('jj')
  await waitFor(() => expect(focusedWords()).toBe('Person 2'))
  await desk.setStatus(stored.slice(1, 2), 'declined')
  await activateWindow()
  await shows('Person 1', 'Person 3', 'Person 4')
  await waitFor(() => expect(focusedWords()).toBe('Applications'))
  await user.keyboard('a')

  await user.keyboard('j')
  await waitFor(() => expect(focusedWords()).toBe('Person 1'))
  await user.keyboard('w')
  await announced('Person 1: Waitlisted')
  await activateWindow()
  await shows('Person 3', 'Person 4')
  await waitFor(() => expect(focusedWords()).toBe('Person 3'))
  expect(await statusesOf(stored)).toEqual(['waitlisted', 'declined', 'new', 'new'])
})
