import { fireEvent, screen, waitFor, within } from '@testing-library/dom'
import { expect, test } from 'vitest'

import { deferred } from '../support/deferred.ts'
import { people } from '../support/applicants.ts'
import { box, button, heading, pill, problems, rowStatus, tabs } from '../support/desk-parts.ts'
import { deskScreensForTestFile } from '../support/opened-desk.ts'
import { disconnect, refusal } from '../support/intercepted-fetch.ts'

const desk = deskScreensForTestFile()

/** The words of the buttons that undo. */
const undoOffers = () => screen.queryAllByRole('button', { name: /^Undo/ }).map((each) => each.textContent)

/** Waits for the button that undoes the last decisions, whose text names them. */
const undo = (text: string) => screen.findByRole('button', { name: text })

test('five buttons decide; each decision is announced, shown and saved, and can be undone', async () => {
  const [{ id } = { id: '' }] = await desk.store([{ first_name: 'Ada', last_name: 'L' }])
  const { user, press, announced, reload } = await desk.open(`/applications/${id}`)
  for (const [label, name] of [
    ['Shortlist', 'Shortlisted'],
    ['Accept', 'Accepted'],
    ['Waitlist', 'Waitlisted'],
    ['Decline', 'Declined'],
    ['Reset to New', 'New'],
  ] as const) {
    await press(label)
    await announced(`Ada L: ${name}`)
    expect(pill()).toBe(name)
    const attribute = label === 'Reset to New' ? 'aria-disabled' : 'aria-pressed'
    expect((await button(label)).getAttribute(attribute)).toBe('true')
    expect(await desk.statusOf(id)).toBe(name.toLowerCase())
  }
  await user.click(await undo('Undo: Ada L, New'))
  await announced('Undone: Ada L is Declined again')
  expect(await desk.statusOf(id)).toBe('declined')
  reload()
  await waitFor(() => expect(pill()).toBe('Declined'))
})

test('several applications are decided at once, each row shows its result, and all are undone together', async () => {
  const stored = await desk.store(people(4))
  await desk.setStatus(stored.slice(1, 2), 'shortlisted')
  const { user, press, announced, reload } = await desk.open('/?status=all')
  const rowStatuses = () => [1, 2, 3, 4].map((number) => rowStatus(`Person ${number}`))
  for (const name of ['Person 1', 'Person 2', 'Person 4']) await user.click(await box(name))
  await screen.findByText('3 selected', { selector: 'bdi' })
  await press('Accept')
  await announced('3 applications: Accepted (before: 2 New, 1 Shortlisted)')
  expect(rowStatuses()).toEqual(['Accepted', 'Accepted', 'New', 'Accepted'])
  expect(await Promise.all(stored.map(({ id }) => desk.statusOf(id)))).toEqual([
    'accepted',
    'accepted',
    'new',
    'accepted',
  ])
  await waitFor(() => expect(tabs()[2]).toBe('Accepted 3'))
  await user.click(await undo('Undo: 3 Accepted'))
  await announced('Undone: 3 applications are as they were before')
  expect(rowStatuses()).toEqual(['New', 'Shortlisted', 'New', 'New'])
  reload()
  await waitFor(() => expect(rowStatuses()).toEqual(['New', 'Shortlisted', 'New', 'New']))
})

test('a decision is shown at once as being saved, and is confirmed by the response', async () => {
  const [{ id } = { id: '' }] = await desk.store([{ first_name: 'Ada', last_name: 'L' }])
  const { network, press, announced } = await desk.open(`/applications/${id}`)
  const release = network.hold('desk_decide')
  await press('Accept')
  expect(pill()).toBe('Accepted (saving)')
  expect(document.querySelector('.application-head .decisions-pill')?.getAttribute('aria-busy')).toBe('true')
  expect((await button('Accept')).getAttribute('aria-pressed')).toBe('true')
  await waitFor(() => expect(network.calls).toContain('desk_decide'))
  expect(screen.getByRole('status').textContent).toBe('')
  expect(await desk.statusOf(id)).toBe('new')
  release()
  await announced('Ada L: Accepted')
  expect(pill()).toBe('Accepted')
  expect(await desk.statusOf(id)).toBe('accepted')
})

test('a decision that the server refuses is shown as not saved, and the former status returns', async () => {
  const [first] = await desk.store(people(2))
  await desk.setStatus([{ id: first?.id ?? '' }], 'shortlisted')
  const { user, network, press, announced } = await desk.open('/?status=all')
  const end = network.route('desk_decide', async () => refusal('The disk is full.'))
  await user.click(await box('Person 1'))
  await press('Accept')
  await announced('Person 1: not saved')
  expect(rowStatus('Person 1')).toBe('Shortlisted')
  expect(problems()).toEqual(['Person 1: “Accepted” was not saved. The disk is full.'])
  expect(undoOffers()).toEqual([])
  end()
  await press('Try again')
  await announced('Person 1: Accepted')
  await waitFor(() => expect(problems()).toEqual([]))
  expect(await desk.statusOf(first?.id ?? '')).toBe('accepted')
})

test('after a failed second decision the first one remains, and a third is not reported as a conflict', async () => {
  const [{ id } = { id: '' }] = await desk.store(people(1))
  const { user, network, press, announced } = await desk.open()
  let calls = 0
  network.route('desk_decide', async ({ send }) => {
    calls += 1
    return calls === 2 ? refusal('The disk is full.') : send()
  })
  await user.click(await box('Person 1'))
  // Presses both buttons at once, so that the second decision is pending before the first response.
  const [accept, decline] = await Promise.all([button('Accept'), button('Decline')])
  accept.click()
  decline.click()
  await announced('Person 1: not saved')
  expect(rowStatus('Person 1')).toBe('Accepted')
  await press('Waitlist')
  await announced('Person 1: Waitlisted')
  await waitFor(() => expect(problems()).toEqual([]))
  expect(await desk.statusOf(id)).toBe('waitlisted')
})

test('a decision without a response is retried, then shown as not confirmed; offline it is refused at once', async () => {
  const [{ id } = { id: '' }] = await desk.store([{ first_name: 'Ada', last_name: 'L' }])
  const { network, press, announced } = await desk.open(`/applications/${id}`)
  await button('Accept')
  let tries = 0
  const end = network.route('desk_decide', () => {
    tries += 1
    return disconnect()
  })
  await press('Accept')
  await waitFor(() => expect(problems()).toHaveLength(1))
  expect(problems()[0]).toContain('“Accepted” was not confirmed. The server could not be reached.')
  expect(tries).toBeGreaterThan(1)
  end()
  network.setOffline(true)
  await press('Try again')
  await waitFor(() => expect(problems()[0]).toContain('“Accepted” was not saved. You were offline.'))
  await announced('Ada L: not saved')
  expect(pill()).toBe('New')
  network.setOffline(false)
  await press('Try again')
  await announced('Ada L: Accepted')
  expect(await desk.statusOf(id)).toBe('accepted')
})

test('an undo that waits for a lost response is reported as not sent, and nobody else as the author', async () => {
  const [{ id } = { id: '' }] = await desk.store([{ first_name: 'Ada', last_name: 'L' }])
  const { user, network, press, announced } = await desk.open('/?status=all')
  await user.click(await box('Ada L'))
  const { promise: saved, resolve: isSaved } = deferred()
  const end = network.route('desk_decide', async ({ send }) => {
    await send()
    isSaved()
    return disconnect()
  })
  await user.keyboard('az')
  await saved
  await announced('Ada L: not sent')
  await waitFor(() =>
    expect(problems()[0]).toMatch(/^Ada L: (“Accepted” was not confirmed, and )?“New” was not sent/),
  )
  // The refresh finds that the first decision was saved.
  await waitFor(() => expect(rowStatus('Ada L')).toBe('Accepted'))
  expect(problems()[0]).toBe(
    'Ada L: “New” was not sent. The server could not be reached. Please check your connection.',
  )
  end()
  await press('Try again')
  await announced('Undone: Ada L is New again')
  await waitFor(() => expect(problems()).toEqual([]))
  expect(await desk.statusOf(id)).toBe('new')
})

test('fifty decisions that one call could not save show one message, and are retried together', async () => {
  const stored = await desk.store(people(50))
  const { user, network, press, announced } = await desk.open('/?status=all')
  const end = network.route('desk_decide', async () => refusal('The disk is full.'))
  await user.click(await screen.findByLabelText('Select all shown'))
  await press('Decline')
  await announced('50 not saved')
  expect(problems()).toEqual(['Person 1 and 49 others: “Declined” was not saved. The disk is full.'])
  end()
  await desk.setStatus(stored.slice(0, 20), 'waitlisted')
  await press('Try again')
  await announced('30 applications: Declined; 20 not saved')
  expect(problems()).toEqual([expect.stringContaining('bob@example.org set them to Waitlisted meanwhile')])
  await press('Leave them Waitlisted')
  await waitFor(() => expect(problems()).toEqual([]))
  expect(await desk.sql`select status, count(*)::int from private.statuses group by 1 order by 1`).toEqual([
    { status: 'declined', count: 30 },
    { status: 'waitlisted', count: 20 },
  ])
})

test('the offer to undo ends, and the decision can then be undone where the history says it', async () => {
  const stored = await desk.store(people(3))
  const { user, press, announced, follow } = await desk.open('/?status=all')
  for (const name of ['Person 1', 'Person 2']) await user.click(await box(name))
  await press('Accept')
  fireEvent.animationEnd(await undo('Undo: 2 Accepted'))
  expect(screen.queryByRole('region', { name: 'Last act' })).toBeNull()
  await announced('2 applications: Accepted')
  await follow('Person 2')
  await press('Undo all 2')
  await announced('Undone: 2 applications are New again')
  await press('Decline')
  fireEvent.animationEnd(await undo('Undo: Person 2, Declined'))
  const timeline = within(await screen.findByRole('region', { name: 'What happened' }))
  await user.click(await timeline.findByRole('button', { name: 'Undo' }))
  await announced('Undone: Person 2 is New again')
  expect(undoOffers()).toEqual([])
  expect(await Promise.all(stored.map(({ id }) => desk.statusOf(id)))).toEqual(['new', 'new', 'new'])
})

test('what was announced leaves with its screen, and stays while one goes through a list', async () => {
  const stored = await desk.store(people(2))
  const { press, user, announced, goTo } = await desk.open(`/applications/${stored[0]?.id}?status=all`)
  await press('Accept')
  await press(/^Undo: /)
  await announced('Undone: Person 1 is New again')
  await user.keyboard('j')
  await heading('Person 2')
  await announced('Undone: Person 1 is New again')
  goTo('/letters')
  await heading('Letters')
  await announced('')
})

test('the bar says how many places are taken, and warns at the last two and beyond', async () => {
  const stored = await desk.store(people(5))
  const { user, press } = await desk.open(`/applications/${stored[0]?.id}?status=all`, { goesOn: true })
  const places = () => document.querySelector('.decisions-places')?.textContent
  const showsPlaces = (words: string) => waitFor(() => expect(places()).toBe(words))
  await heading('Person 1')
  expect(places()).toBeUndefined()
  await desk.sql`update private.places set places = 3`
  for (const [name, words] of [
    ['Person 2', '1 of 3 accepted, 2 left'],
    ['Person 3', '2 of 3 accepted, 1 left'],
    ['Person 4', '3 of 3 accepted, 0 left'],
    ['Person 5', '4 of 3 accepted, 1 too many'],
  ] as const) {
    await press('Accept')
    await heading(name)
    await showsPlaces(words)
  }
  await user.keyboard('{Escape}')
  await user.click(await box('Person 5'))
  await showsPlaces('4 of 3 accepted, 1 too many')
})
