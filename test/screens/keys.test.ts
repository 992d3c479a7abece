import { fireEvent, screen, waitFor } from '@testing-library/dom'
import { expect, test } from 'vitest'

import { people } from '../support/applicants.ts'
import { box, focusedWords, heading, link, names, pill, rowStatus } from '../support/desk-parts.ts'
import { deskScreensForTestFile } from '../support/opened-desk.ts'

const desk = deskScreensForTestFile()

const focused = (words: string) => waitFor(() => expect(focusedWords()).toBe(words))

test('in the list, keys move between rows, decide, undo, select and open', async () => {
  await desk.store(people(3))
  const { user, announced } = await desk.open()
  await link('Person 1')
  await user.keyboard('j')
  await focused('Person 1')
  await user.keyboard('jj')
  await focused('Person 3')
  await user.keyboard('k')
  await focused('Person 2')
  // The current row is announced, also when the focus is elsewhere.
  expect(document.querySelector('tr[aria-current] a')?.textContent).toBe('Person 2')
  screen.getByRole('table', { name: /j and k move between rows/ })
  for (const [key, statusName] of [
    ['s', 'Shortlisted'],
    ['a', 'Accepted'],
    ['w', 'Waitlisted'],
    ['d', 'Declined'],
    ['r', 'New'],
  ] as const) {
    await user.keyboard(key)
    await announced(`Person 2: ${statusName}`)
    expect(rowStatus('Person 2')).toBe(statusName)
  }
  await user.keyboard('z')
  await announced('Undone: Person 2 is Declined again')
  await user.keyboard('xkx')
  await screen.findByText('2 selected', { exact: false, selector: 'bdi' })
  await user.keyboard('a')
  await announced('2 applications: Accepted (before: 1 New, 1 Declined)')
  await user.keyboard('{Escape}')
  expect((await box('Person 1')).checked).toBe(false)
  await user.keyboard('{Enter}')
  await heading('Person 1')
})

test('in an application, keys move to the next one, decide, undo, go to the note and back, but not while typing in it', async () => {
  await desk.store(people(3))
  const { user, follow, announced } = await desk.open()
  await follow('Person 1')
  await heading('Person 1')
  await user.keyboard('j')
  await heading('Person 2')
  await user.keyboard('k')
  await heading('Person 1')
  await user.keyboard('w')
  await announced('Person 1: Waitlisted')
  await user.keyboard('z')
  await announced('Undone: Person 1 is New again')
  await screen.findByLabelText('Note')
  await user.keyboard('n')
  await focused('Note')
  await user.keyboard('sawdrjkxz?/n')
  expect(screen.getByLabelText<HTMLTextAreaElement>('Note').value).toBe('sawdrjkxz?/n')
  await user.keyboard('{Escape}')
  await focused('Person 1')
  await user.keyboard('?')
  await screen.findByRole('dialog', { name: 'Keys' })
  await user.keyboard('d')
  await user.click(screen.getByRole('button', { name: 'Close' }))
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  expect(pill()).toBe('New')
  await user.keyboard('a')
  await announced('Person 1: Accepted')
  await user.keyboard('{Escape}')
  // Accepted people are not in this list, and the row that took the position has the focus.
  await waitFor(() => expect(names()).toEqual(['Person 2', 'Person 3']))
  await focused('Person 2')
})

test('/ goes to the search from the list and from an application', async () => {
  await desk.store(people(3))
  const { user, follow } = await desk.open()
  await link('Person 3')
  await user.keyboard('/person 3')
  const search = () => screen.getByLabelText<HTMLInputElement>('Search')
  expect(search().value).toBe('person 3')
  await waitFor(() => expect(names()).toEqual(['Person 3']))
  await follow('Person 3')
  await heading('Person 3')
  await user.keyboard('/')
  await waitFor(() => expect(document.activeElement).toBe(search()))
})

test('the switch turns single-key shortcuts off and on again', async () => {
  const [{ id } = { id: '' }] = await desk.store(people(1))
  const { user, press, announced, reload } = await desk.open(`/applications/${id}`)
  await heading('Person 1')
  await user.keyboard('?')
  await user.click(await screen.findByLabelText('Use single-key shortcuts'))
  await press('Close')
  const pressAll = async () => {
    await user.keyboard('az?n/')
    expect(screen.queryByRole('dialog')).toBeNull()
  }
  await pressAll()
  reload()
  await heading('Person 1')
  await pressAll()
  expect(pill()).toBe('New')
  expect(await desk.sql`select from private.history`).toHaveLength(0)
  await press('Keys')
  await user.click(await screen.findByLabelText('Use single-key shortcuts'))
  await press('Close')
  await user.keyboard('a')
  await announced('Person 1: Accepted')
})

test('on a keyboard with other letters, the keys have the places of the Latin ones', async () => {
  await desk.store(people(2))
  const { announced } = await desk.open()
  await link('Person 1')
  const press = (key: string, code: string) =>
    fireEvent.keyDown(document.activeElement ?? document.body, { key, code })
  press('о', 'KeyJ')
  await focused('Person 1')
  // A Greek alpha.
  press('α', 'KeyA')
  await announced('Person 1: Accepted')
  // A keyboard on the screen reports no place.
  press('α', '')
  expect(screen.queryByRole('dialog')).toBeNull()
})

test('after a right click whose release the browser does not report, keys act on the row that has the focus', async () => {
  await desk.store(people(3))
  const { user, announced } = await desk.open()
  await link('Person 1')
  await user.keyboard('j')
  await focused('Person 1')
  fireEvent.pointerDown(document.body, { button: 2 })
  fireEvent.contextMenu(document.body)
  await user.keyboard('j')
  await focused('Person 2')
  await user.keyboard('a')
  await announced('Person 2: Accepted')
})

test('Esc leaves the note, but not while it belongs to a composition', async () => {
  await desk.store(people(1))
  const { follow } = await desk.open()
  await follow('Person 1')
  const note = await screen.findByLabelText('Note')
  note.focus()
  fireEvent.keyDown(note, { key: 'Escape', isComposing: true })
  expect(document.activeElement).toBe(note)
  fireEvent.keyDown(note, { key: 'Escape', keyCode: 229 })
  expect(document.activeElement).toBe(note)
  fireEvent.keyDown(note, { key: 'Escape' })
  await focused('Person 1')
})

test.each(['list', 'application'])(
  'with “Go on”, keys in Shortlisted go on to the next row, and each decides or is answered: %s',
  async (screenName) => {
    const count = 8
    const stored = await desk.store(people(count))
    await desk.setStatus(stored, 'shortlisted')
    const { user, announced, network } = await desk.open('/?status=shortlisted', { goesOn: true })
    await link('Person 1')
    await user.keyboard('j')
    await focused('Person 1')
    if (screenName === 'application') {
      await user.keyboard('{Enter}')
      await heading('Person 1')
    }
    // A key that comes before the next application is shown is announced instead.
    const lastWords = () => document.querySelector('.announce-words span')
    const statusesOf = () =>
      desk.sql`select status, count(*)::int from private.statuses group by status order by status`
    const shown = () => document.querySelector('h1 bdi, tr[aria-current] bdi')?.textContent
    const isAtEnd = () => lastWords()?.textContent === `Person ${count}: Accepted already`
    for (let keys = 0; !isAtEnd(); keys += 1) {
      // A guard against an endless loop. How many keys are answered instead depends on the machine.
      expect(keys).toBeLessThan(1000)
      const [former, words] = [shown(), lastWords()]
      await user.keyboard('a')
      // Each announcement is a new element, also one with equal words.
      await waitFor(() => expect(shown() !== former || lastWords() !== words).toBe(true))
    }
    await network.settled()
    await waitFor(async () => expect(await statusesOf()).toEqual([{ status: 'accepted', count }]))
    await user.keyboard('z')
    await announced(`Undone: Person ${count} is Shortlisted again`)
    expect(await statusesOf()).toContainEqual({ status: 'shortlisted', count: 1 })
  },
)

test('after an application that is not in its list, the next one of the list follows, and not the first', async () => {
  const stored = await desk.store(people(4))
  const [, , third] = stored
  await desk.setStatus(stored, 'waitlisted')
  await desk.setStatus(stored.slice(2, 3), 'declined')
  const { user, goTo, network } = await desk.open('/?status=waitlisted', { goesOn: true })
  await link('Person 1')
  goTo(`/applications/${third?.id}?status=waitlisted`)
  await heading('Person 3')
  // The neighbours are read meanwhile, which belong to the list.
  await network.settled()
  await user.keyboard('a')
  await heading('Person 4')
})

test('a decision that puts an application back into its list stays on it, and in All the next row follows', async () => {
  const stored = await desk.store(people(4))
  await desk.setStatus(stored.slice(1, 3), 'shortlisted')
  const { user, goTo, announced } = await desk.open(`/applications/${stored[1]?.id}?status=shortlisted`, {
    goesOn: true,
  })
  await heading('Person 2')
  await user.keyboard('r')
  await heading('Person 3')
  await announced('Person 2: New')
  await user.keyboard('z')
  await heading('Person 2')
  await announced('Undone: Person 2 is Shortlisted again')
  goTo(`/applications/${stored[0]?.id}?status=all`)
  await heading('Person 1')
  await user.keyboard('d')
  await heading('Person 2')
})

test('“Go on” is offered where another application follows, and not at the end of the list of all', async () => {
  const stored = await desk.store(people(2))
  const { follow } = await desk.open(`/applications/${stored[0]?.id}?status=all`)
  await heading('Person 1')
  await screen.findByText('1 of 2')
  screen.getByRole('switch', { name: 'Go on' })
  await follow('Next')
  await heading('Person 2')
  await screen.findByText('2 of 2')
  expect(screen.queryByRole('switch', { name: 'Go on' })).toBeNull()
})

test('with “Go on”, each application takes one key to mark, and the end of the list says so', async () => {
  const count = 6
  const stored = await desk.store(people(count))
  const { user, announced, network } = await desk.open(`/applications/${stored[0]?.id}`, { goesOn: true })
  for (const number of Array.from({ length: count }, (_, index) => index + 1)) {
    await heading(`Person ${number}`)
    await waitFor(() => expect(screen.getByRole('button', { name: 'Yes' })).toBeTruthy())
    await user.keyboard(`${(number % 3) + 1}`)
  }
  await screen.findByText(/^This was the last one of this list\./)
  await announced(`Person ${count}: your mark is Yes`)
  await network.settled()
  expect(await desk.sql`select count(*)::int from private.marks`).toEqual([{ count }])
  // Without it, a mark stays on its application.
  await user.click(screen.getByRole('switch', { name: 'Go on' }))
  await user.keyboard('k')
  await heading(`Person ${count - 1}`)
  await user.keyboard('1')
  await announced(`Person ${count - 1}: your mark is Yes`)
  await heading(`Person ${count - 1}`)
})

test('a decision key without an application, and Undo without a decision, are answered', async () => {
  await desk.store(people(1))
  const { user, announced } = await desk.open()
  await link('Person 1')
  await user.keyboard('a')
  await announced('Not decided: no application is selected.')
  await user.keyboard('z')
  await announced('Nothing to undo.')
})
