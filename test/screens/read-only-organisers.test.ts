import { screen, waitFor } from '@testing-library/dom'
import { beforeEach, expect, test } from 'vitest'

import { button, heading, link, names, settingSwitch } from '../support/desk-parts.ts'
import { deskScreensForTestFile } from '../support/opened-desk.ts'
import { storeAnswers, storeGuests, storeQuestions } from '../support/questions.ts'
import { addOrganiser } from '../../src/server/auth/manage-organisers.ts'

const desk = deskScreensForTestFile()

const makeReader = () => addOrganiser(desk.sql, desk.ada.email, { isReader: true })

/** The words of everything that can be pressed, entered or followed below the frame, without the rows' links. */
const controls = () =>
  [...document.querySelectorAll('#content :is(a, button, input, select, textarea, summary, [role=switch])')]
    .filter((each) => each.closest('tbody') === null && each.closest('[hidden]') === null)
    .map((each) => (each as HTMLInputElement).labels?.[0]?.textContent || each.textContent.trim())

beforeEach(async () => {
  localStorage.removeItem('unplugged-desk-welcome')
  const [guest = ''] = await storeGuests(desk, ['Grace', 'Hopper'])
  const [diet = '', doctor = ''] = await storeQuestions(desk.sql, [
    { text: 'Diet?' },
    { text: 'Doctor?', is_private: true },
  ])
  await storeAnswers(desk.sql, guest, { [diet]: 'No nuts', [doctor]: 'Dr. Who' })
  await desk.store([{ first_name: 'Ada' }, { first_name: 'Bea' }])
  await makeReader()
})

test('a reader sees the position in the list, and not how many are left to decide', async () => {
  const { follow } = await desk.open()
  await follow(/^Bea /)
  await screen.findByText(/^\d of 2$/)
})

test('a reader’s list and application offer nothing but reading, marks and notes, and keys that decide do nothing', async () => {
  const { network, user, follow, announced, press } = await desk.open('/?status=all')
  await waitFor(() => expect(names()).toHaveLength(3))
  await button('Charts')
  await network.settled()
  // The last one has the applications since yesterday.
  expect(controls().join(', ')).toBe(
    'New 2, Shortlisted 0, Accepted 1, Waitlisted 0, Declined 0, All 3, Search, Filters, Charts, 3 new',
  )
  expect(screen.getByRole('navigation', { name: 'Desk' }).textContent).toBe('ApplicationsAccount')
  expect(screen.queryByRole('checkbox')).toBeNull()
  await user.keyboard('jxsawdrpz')
  await press('Charts')
  await follow(/^Grace Hopper/)
  await heading('Grace Hopper')
  await screen.findByText('No nuts')
  await screen.findByText('Hidden from readers')
  await network.settled()
  // The list is beside the application.
  expect(controls().join(', ')).toMatch(
    /, Back, Go on, Previous, Next, grace@example\.com, \+44 \(20\) 7946 0958, in\/ada, Yes, Maybe, No, Reason \(one line\), Note, Add note$/,
  )
  await user.keyboard('sawdrpz')
  await user.keyboard('2')
  await announced('Grace Hopper: your mark is Maybe')
  await user.type(await screen.findByLabelText('Note'), 'Warm.')
  await press('Add note')
  await announced('Note added')
  await user.keyboard('?')
  expect((await screen.findByRole('dialog', { name: 'Keys' })).textContent).not.toMatch(/accept|undo|select/)
  await network.settled()
  // The list and the application made no call that is refused to readers, not even in the background.
  const ofReaders = ['me', 'blind', 'list', 'refresh', 'application', 'stamp', 'mark', 'note', 'see_notes']
  expect(network.calls.filter((name) => !ofReaders.includes(name.replace('desk_', '')))).toEqual([])
  expect(await desk.sql`select from private.statuses where status <> 'accepted'`).toEqual([])
})

test.each([
  '/coming',
  '/guests',
  '/letters',
  '/letters/drafts/accepted',
  '/retreat',
  '/page',
  '/door',
  '/history',
])('an address that is not for readers, such as %s, shows one sentence', async (path) => {
  const { network } = await desk.open(path)
  await heading('Not for readers')
  await screen.findByText('Readers may not open this screen: ask an organiser who may do everything.')
  await network.settled()
  expect(new Set(network.calls)).toEqual(new Set(['desk_me']))
})

test('an organiser makes another a reader under Account, and the last who may do everything has no switch', async () => {
  await addOrganiser(desk.sql, desk.ada.email)
  const { user, announced } = await desk.open('/account')
  expect(await settingSwitch('ada@example.org may only read')).toHaveProperty('checked', false)
  const bob = await settingSwitch('bob@example.org may only read')
  await user.click(bob)
  await announced('bob@example.org may read, mark and write notes.')
  expect(bob).toHaveProperty('checked', true)
  expect((await desk.bob.client.rpc('desk_door')).error?.code).toBe('42501')
  expect(screen.queryByRole('switch', { name: 'ada@example.org may only read' })).toBeNull()
  await screen.findByText('May do everything, as somebody has to.')
  await user.click(bob)
  await announced('bob@example.org may do everything.')
})

test('an organiser who becomes a reader while the desk is open gets a reader’s desk with the next call', async () => {
  await addOrganiser(desk.sql, desk.ada.email)
  const { follow } = await desk.open('/account')
  await settingSwitch('bob@example.org may only read')
  await makeReader()
  await follow('Guests')
  await heading('Not for readers')
  expect(screen.getByRole('navigation', { name: 'Desk' }).textContent).toBe('ApplicationsAccount')
  await follow('Account')
  await screen.findByText(/You may read, mark and write notes\./)
  await settingSwitch('Blind reading')
  expect(screen.queryByRole('heading', { name: 'Organisers' })).toBeNull()
  await link('Applications')
})
