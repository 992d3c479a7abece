import { screen, waitFor } from '@testing-library/dom'
import { expect, test, vi } from 'vitest'

import { deferred } from '../support/deferred.ts'
import { people } from '../support/applicants.ts'
import { atTestEnd } from '../support/cleanup.ts'
import {
  box,
  button,
  focusedWords,
  heading,
  link,
  names,
  row,
  rowStatus,
  tab,
  tabs,
} from '../support/desk-parts.ts'
import { deskScreensForTestFile } from '../support/opened-desk.ts'
import { refusal } from '../support/intercepted-fetch.ts'

const desk = deskScreensForTestFile()

const shows = (...rows: string[]) => waitFor(() => expect(names()).toEqual(rows))
const showsCount = (count: number) => waitFor(() => expect(names()).toHaveLength(count))

test('a list refreshes whenever it is opened, and matches the number on its tab', async () => {
  const stored = await desk.store(people(5))
  await desk.setStatus(stored.slice(0, 2), 'accepted')
  const { user, press, follow, announced, activateWindow } = await desk.open('/?status=accepted')
  await shows('Person 1', 'Person 2')
  await user.click(tab('New'))
  await user.click(await box('Person 3'))
  await press('Accept')
  await announced('Person 3: Accepted')
  await user.click(tab('Accepted'))
  await shows('Person 1', 'Person 2', 'Person 3')
  await waitFor(() => expect(tabs()[2]).toBe('Accepted 3'))

  // The list also refreshes after Back from an application, and from another screen.
  await follow('Person 1')
  await heading('Person 1')
  await desk.setStatus(stored.slice(3, 4), 'accepted')
  await follow('Back')
  await shows('Person 1', 'Person 2', 'Person 3', 'Person 4')
  await follow('Letters')
  await heading('Letters')
  await desk.setStatus(stored.slice(0, 1), 'declined')
  history.back()
  await shows('Person 2', 'Person 3', 'Person 4')

  await desk.setStatus(stored.slice(4), 'accepted')
  await activateWindow()
  await shows('Person 2', 'Person 3', 'Person 4', 'Person 5')
  await waitFor(() => expect(tabs()[2]).toBe('Accepted 4'))
})

test('an empty list shows the first application when it arrives', async () => {
  const { refresh } = await desk.open()
  await screen.findByText('Nobody has applied yet.')
  await desk.store(people(1))
  await refresh()
  await link('Person 1')
})

test('visible rows stay and show their current status, and new rows are offered', async () => {
  const stored = await desk.store(people(6))
  await desk.setStatus(stored.slice(0, 3), 'accepted')
  const { user, press, network, refresh } = await desk.open('/?status=accepted')
  await shows('Person 1', 'Person 2', 'Person 3')
  await waitFor(() => expect(tabs()[2]).toBe('Accepted 3'))
  await desk.setStatus(stored.slice(0, 1), 'waitlisted')
  await desk.bob.client
    .rpc('desk_erase', { applications: [stored[1]?.id], email: stored[1]?.email })
    .throwOnError()
  await desk.setStatus(stored.slice(3, 5), 'accepted')
  await refresh()
  await button('2 more')
  expect(names()).toEqual(['Person 1', 'Person 2', 'Person 3'])
  expect(rowStatus('Person 1')).toBe('Waitlisted')
  expect((await row('Person 2')).textContent).toContain('Erased')
  expect((await box('Person 2')).disabled).toBe(true)
  await user.click(await box('Person 3'))
  // If they cannot be read, the rows and the ticks stay.
  const read = network.route('desk_list', async () => refusal('Not now.', 400, '22023'))
  await press('2 more')
  await screen.findByText(/Not now\.$/)
  expect(names()).toEqual(['Person 1', 'Person 2', 'Person 3'])
  read()
  await press('2 more')
  await shows('Person 3', 'Person 4', 'Person 5')
  expect((await box('Person 3')).checked).toBe(true)
  await waitFor(() => expect(tabs()[2]).toBe('Accepted 3'))
  await waitFor(() => expect(screen.queryByRole('button', { name: '2 more' })).toBeNull())
})

test('the order "oldest first" applies to the list, the next application, the table and the address', async () => {
  await desk.store(people(4))
  const { user, press, follow, network, refresh } = await desk.open()
  const newestFirst = ['Person 1', 'Person 2', 'Person 3', 'Person 4']
  const oldestFirst = newestFirst.toReversed()
  await screen.findByRole('table', { name: /^Applications, newest first/ })
  await shows(...newestFirst)
  await network.settled()
  const ordered: unknown[] = []
  for (const name of ['desk_list', 'desk_refresh', 'desk_application', 'desk_export'])
    network.route(name, ({ args, send }) => {
      ordered.push([name, (args['filter'] as { order?: string }).order])
      return send()
    })
  await press('Filters')
  const order = await screen.findByLabelText('Order')
  await user.selectOptions(order, 'Oldest first')
  await shows(...oldestFirst)
  await screen.findByRole('table', { name: /^Applications, oldest first/ })
  expect(location.hash).toBe('#/?order=oldest')
  // The button does not count the order as a filter.
  await button('Filters')

  await follow('Person 4')
  await heading('Person 4')
  await screen.findByText('1 of 4, 4 to read')
  await user.keyboard('j')
  await heading('Person 3')
  await screen.findByText('2 of 4, 4 to read')
  expect(location.hash).toMatch(/\?order=oldest$/)
  await follow('Back')
  await shows(...oldestFirst)
  await refresh()
  const tables: Blob[] = []
  const createUrl = vi.spyOn(URL, 'createObjectURL').mockImplementation((blob) => {
    tables.push(blob as Blob)
    return 'blob:table'
  })
  const click = vi.spyOn(HTMLAnchorElement.prototype, 'click').mockReturnValue()
  atTestEnd(() => {
    createUrl.mockRestore()
    click.mockRestore()
  })
  await press('Download CSV')
  await waitFor(() => expect(tables).toHaveLength(1))
  const table = (await tables[0]?.text()) ?? ''
  expect(table.match(/Person,\d/g)).toEqual(oldestFirst.map((name) => name.replace(' ', ',')))
  expect(ordered).toContainEqual(['desk_refresh', 'oldest'])
  // All calls since the choice use the order “oldest first”.
  expect(ordered.filter((each) => !String(each).endsWith('oldest'))).toEqual([])

  await user.selectOptions(await screen.findByLabelText('Order'), 'Newest first')
  await shows(...newestFirst)
  expect(location.hash).toBe('#/')
})

test('during a search the list, the bar and Undo stay, and then the number of results is announced', async () => {
  await desk.store(
    people(60).map((person, index) => ({ ...person, company: index === 59 ? 'Acme' : 'Other' })),
  )
  const { user, fill, press, announced, network } = await desk.open()
  const results = () => document.querySelector('#list > [aria-live]')?.textContent
  await waitFor(() => expect(results()).toBe('60 applications'))
  await user.click(await box('Person 2'))
  await press('Decline')
  await announced('Person 2: Declined')
  await user.click(await box('Person 3'))
  await network.settled()
  const calls = network.calls.length
  const release = network.hold('desk_list')
  await fill(screen.getByLabelText('Search'), 'acme')
  await waitFor(() => expect(network.calls.slice(calls)).toContain('desk_list'))
  await waitFor(() => expect(results()).toBe(''))
  expect(names()).toHaveLength(50)
  screen.getByRole('region', { name: 'Decide: Person 3' })
  screen.getByRole('button', { name: 'Undo: Person 2, Declined' })
  expect(screen.queryByText('Loading…')).toBeNull()
  release()
  await waitFor(() => expect(results()).toBe('1 application'))
  expect(names()).toEqual(['Person 60'])
  screen.getByRole('button', { name: 'Undo: Person 2, Declined' })
})

test('a search without results in its tab links to the results in all tabs, with their number', async () => {
  const stored = await desk.store(people(12))
  await desk.setStatus(stored.slice(0, 10), 'declined')
  const { user, fill, follow } = await desk.open('/?search=person&status=shortlisted')
  const live = () => document.querySelector('#list > [aria-live]')?.textContent
  await waitFor(() => expect(live()).toContain('Nothing in Shortlisted.'))
  await follow('Show all 12')
  await showsCount(12)
  expect(location.hash).toBe('#/?status=all&search=person')
  await waitFor(() => expect(focusedWords()).toBe('Applications'))
  const search = screen.getByLabelText('Search')
  await fill(search, 'nobody')
  await screen.findByText('No application matches.')
  await user.click(tab('New'))
  await screen.findByText('No application matches.')
  await fill(search, '')
  await user.click(tab('Waitlisted'))
  await screen.findByText(/^Nothing in Waitlisted\./)
})

test('Back reloads a long list in one call, and focuses the row whose application was open', async () => {
  await desk.store(people(220))
  const { press, follow, network } = await desk.open()
  for (const count of [100, 150, 200]) {
    await press('More')
    await showsCount(count)
    // The first new row gets the focus.
    await waitFor(() => expect(focusedWords()).toBe(`Person ${count - 49}`))
  }
  await follow('Person 180')
  await heading('Person 180')
  await desk.store([{ first_name: 'Late', last_name: 'One', created_at: new Date() }])
  const reads: unknown[] = []
  network.route('desk_list', ({ args, send }) => {
    reads.push(args)
    return send()
  })
  history.back()
  await waitFor(() => expect(names()[0]).toBe('Late One'))
  expect(names()).toHaveLength(200)
  expect(focusedWords()).toBe('Person 180')
  await network.settled()
  expect(reads).toEqual([{ filter: { status: 'new' }, after: null, most: 200 }])
})

test('More loads the next rows even if the list refreshes meanwhile', async () => {
  await desk.store(people(60))
  const { press, network } = await desk.open()
  await button('More')
  await network.settled()
  const { promise: released, resolve: release } = deferred()
  let responses = 0
  network.beforeNext('desk_list', () => {
    network.route('desk_list', async ({ send }) => {
      const response = await send()
      responses += 1
      return response
    })
    return released
  })
  await press('More')
  dispatchEvent(new Event('focus'))
  await waitFor(() => expect(responses).toBe(1))
  release()
  await showsCount(60)
})

test('rows that stay visible overnight change from the time of day to the date', async () => {
  await desk.store(people(2).map((each) => ({ ...each, created_at: new Date() })))
  const { user, network } = await desk.open()
  await link('Person 1')
  const times = () => [...document.querySelectorAll('tbody time')].map(({ textContent }) => textContent)
  expect(times()).toEqual([expect.stringMatching(/^\d\d:\d\d$/), expect.stringMatching(/^\d\d:\d\d$/)])
  // On the server's clock the day has not changed, so the test holds all calls.
  await network.settled()
  network.hold()
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 24 * 3_600_000 })
  await user.keyboard('j')
  await waitFor(() =>
    expect(times()).toEqual([expect.stringMatching(/^\d+ [A-Z]/), expect.stringMatching(/^\d+ [A-Z]/)]),
  )
})

test('a keydown without a key, as autofill in a browser sends it, does nothing', async () => {
  await desk.store(people(1))
  const { user } = await desk.open()
  await link('Person 1')
  // A console error fails this test.
  screen.getByLabelText('Search').dispatchEvent(new Event('keydown', { bubbles: true }))
  await user.keyboard('j')
  await waitFor(() => expect(focusedWords()).toBe('Person 1'))
})
