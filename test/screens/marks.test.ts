import { screen, waitFor, within } from '@testing-library/dom'
import { expect, test } from 'vitest'

import { people } from '../support/applicants.ts'
import { atTestEnd } from '../support/cleanup.ts'
import { button, heading, link, names, problems, row, settingSwitch, tab } from '../support/desk-parts.ts'
import { deskScreensForTestFile } from '../support/opened-desk.ts'

const desk = deskScreensForTestFile()

/** The marks in a row of the list: in words, and as initials with the value that gives each its sign. */
const marksShown = async (name: string) =>
  [...(await row(name)).querySelectorAll<HTMLElement>('.rows-when > .visually-hidden, [data-mark]')].map(
    ({ textContent, dataset }) => [textContent, dataset['mark']].filter(Boolean).join(' '),
  )
const markAs = (application: string, mark: string, why = '') =>
  desk.bob.client.rpc('desk_mark', { act: crypto.randomUUID(), application, mark, why })

test('keys mark an application, which then shows the marks of others, and Enter saves a one-line explanation', async () => {
  const [{ id } = { id: '' }, { id: other } = { id: '' }] = await desk.store(people(2))
  await markAs(id, 'no', '=Cold.')
  const { user, announced } = await desk.open(`/applications/${id}`)
  const marks = within(await screen.findByRole('region', { name: 'Your mark' }))
  await marks.findByText(/You see other marks once/)
  expect(screen.queryByText(/bob@example.org/)).toBeNull()
  await user.keyboard('1')
  await announced('Person 1: your mark is Yes')
  expect((await marks.findByRole('listitem')).textContent).toBe('No bob@example.org: =Cold.')
  expect(marks.getByRole('button', { name: 'Yes' }).getAttribute('aria-pressed')).toBe('true')

  await user.type(marks.getByLabelText('Reason (one line)'), 'Knows what to leave behind.{Enter}')
  await waitFor(async () =>
    expect(
      await desk.sql`select mark, why, is_after_seeing from private.marks where author = 'ada@example.org'`,
    ).toEqual([{ mark: 'yes', why: 'Knows what to leave behind.', is_after_seeing: false }]),
  )

  screen.getByRole('heading', { name: 'Person 1' }).focus()
  await user.keyboard('2')
  await marks.findByText('You saw other marks before you gave or changed yours, so it says “after seeing”.')

  screen.getByRole('heading', { name: 'Person 1' }).focus()
  await user.keyboard('j')
  await screen.findByRole('heading', { name: 'Person 2' })
  await screen.findByText('2 of 2, 2 to decide')
  await user.keyboard('3')
  await announced('Person 2: your mark is No')
  await user.keyboard('0')
  await announced('Person 2: no mark')
  expect(
    await desk.sql`select from private.marks where application_id = ${other} and mark is not null`,
  ).toEqual([])

  await user.keyboard('{Escape}')
  await waitFor(async () => {
    expect(await marksShown('Person 1')).toEqual([
      'Marks: ada@example.org: Maybe, bob@example.org: No',
      'AD maybe',
      'BO no',
    ])
    expect(await marksShown('Person 2')).toEqual([])
  })
})

test('a mark that is taken back while the list is shown leaves its row', async () => {
  const [{ id } = { id: '' }] = await desk.store(people(1))
  const give = (mark: string | null) =>
    desk.ada.client
      .rpc('desk_mark', { act: crypto.randomUUID(), application: id, mark, why: '' })
      .throwOnError()
  await give('no')
  const { refresh } = await desk.open()
  await waitFor(async () =>
    expect(await marksShown('Person 1')).toEqual(['Marks: ada@example.org: No', 'AD no']),
  )
  await give(null)
  await refresh()
  await waitFor(async () => expect(await marksShown('Person 1')).toEqual([]))
})

test('the list shows initials of the names of those whose marks one may see, and none before one’s own mark', async () => {
  const [{ id } = { id: '' }, { id: other } = { id: '' }] = await desk.store(people(2))
  await desk.bob.client.rpc('desk_set_name', { name: 'Bob Ross' }).throwOnError()
  await desk.ada.client.rpc('desk_set_name', { name: 'Ada' }).throwOnError()
  for (const each of [id, other]) await markAs(each, 'yes')
  await desk.ada.client.rpc('desk_mark', {
    act: crypto.randomUUID(),
    application: other,
    mark: 'no',
    why: '',
  })
  await desk.open()
  await waitFor(async () =>
    expect(await marksShown('Person 2')).toEqual(['Marks: Ada: No, Bob Ross: Yes', 'AD no', 'BR yes']),
  )
  expect(await marksShown('Person 1')).toEqual([])
})

test('of keys that are pressed while a mark is being saved, the last one counts', async () => {
  const [{ id } = { id: '' }] = await desk.store(people(1))
  const { user, network } = await desk.open(`/applications/${id}`)
  await screen.findByRole('region', { name: 'Your mark' })
  const release = network.hold('desk_mark')
  await user.keyboard('1203')
  await screen.findByRole('button', { name: 'No', pressed: true })
  release()
  const stored = () => desk.sql`select mark from private.marks where application_id = ${id}`
  await waitFor(async () => expect(await stored()).toEqual([{ mark: 'no' }]))
  await network.settled()
  expect(await stored()).toEqual([{ mark: 'no' }])
})

test('a mark that fails after its application was left keeps a message with the name, which can send it again', async () => {
  const [{ id } = { id: '' }] = await desk.store(people(2))
  const { user, network, announced } = await desk.open(`/applications/${id}`, { goesOn: true })
  await screen.findByRole('region', { name: 'Your mark' })
  // The next application is read before the connection is lost.
  await network.settled()
  network.setOffline(true)
  await user.keyboard('1')
  await heading('Person 2')
  await waitFor(() => expect(problems()).toEqual(['Person 1: mark not saved. You were offline.']))
  expect((await link('Open')).getAttribute('href')).toContain(id)
  network.setOffline(false)
  await user.click(await button('Try again'))
  await announced('Person 1: your mark is Yes')
  expect(problems()).toEqual([])
  expect(await desk.sql`select application_id, mark from private.marks`).toEqual([
    { application_id: id, mark: 'yes' },
  ])
})

test('the list shows what is left to mark, and where organisers disagree', async () => {
  const [{ id: one } = { id: '' }, { id: two } = { id: '' }] = await desk.store(people(3))
  await Promise.all([markAs(one, 'no'), markAs(two, 'no')])
  await desk.ada.client.rpc('desk_mark', { act: crypto.randomUUID(), application: one, mark: 'yes' })
  const { user, press } = await desk.open()
  await link('Person 1')
  await press('Filters')
  await user.selectOptions(await screen.findByLabelText('Marks'), 'Not marked by me')
  await waitFor(() => expect(names()).toEqual(['Person 2', 'Person 3']))
  await waitFor(() => expect(tab('New').textContent).toBe('New 2'))
  await user.selectOptions(screen.getByLabelText('Marks'), 'Organisers disagree')
  await waitFor(() => expect(names()).toEqual(['Person 1']))
  await user.selectOptions(screen.getByLabelText('Order'), 'Shuffled')
  await waitFor(() => expect(names()).toHaveLength(2))
  expect(location.hash).toContain('marks=none+of+mine&order=shuffled')
})

test('an organiser can choose only to read, and again to mark', async () => {
  const { user, announced } = await desk.open('/account')
  const onlyRead = await settingSwitch('I don’t mark applications')
  await user.click(onlyRead)
  await announced('You don’t mark applications.')
  await waitFor(() => expect(onlyRead.getAttribute('aria-checked')).toBe('true'))
  await user.click(onlyRead)
  await announced('You read and mark.')
})

test('nobody waits for the marks of organisers who only read', async () => {
  const [{ id } = { id: '' }] = await desk.store(people(1))
  await desk.ada.client.rpc('desk_set_reads_only', { reads_only: true }).throwOnError()
  const { user } = await desk.open(`/applications/${id}`, { as: desk.bob })
  const marks = await screen.findByRole('region', { name: 'Your mark' })
  await user.keyboard('2')
  await within(marks).findByText(/^Maybe$/, { selector: 'b' })
  await waitFor(() => expect(within(marks).queryByText(/You see other marks once/)).toBeNull())
  expect(marks.textContent).not.toContain('ada@example.org')
})

test('marks are hidden if there is only one organiser', async () => {
  const [{ id } = { id: '' }] = await desk.store(people(1))
  const [{ account_id: bob }] = await desk.sql<[{ account_id: string }]>`
    delete from private.organisers using auth.users
    where users.id = account_id and email = 'bob@example.org' returning account_id`
  atTestEnd(() => desk.sql`insert into private.organisers (account_id) values (${bob})`)
  await desk.open(`/applications/${id}`)
  await heading('Person 1')
  await screen.findByRole('heading', { name: 'What happened' })
  await button('Add note')
  expect(screen.queryByRole('heading', { name: 'Your mark' })).toBeNull()
})

test('where somebody has marked, the bar offers marks first, and decisions behind them', async () => {
  const stored = await desk.store(people(3))
  const bar = (name: string) => screen.findByRole('region', { name })
  const { user, press, announced, goTo, reload } = await desk.open(`/applications/${stored[0]?.id}`)
  await bar('Decide: Person 1')
  await markAs(stored[2]?.id ?? '', 'yes')
  reload()
  await bar('Mark: Person 1')
  expect(screen.queryByRole('button', { name: 'Accept' })).toBeNull()
  expect(screen.getAllByRole('button', { name: 'Yes' })).toHaveLength(1)
  await press('Maybe')
  await announced('Person 1: your mark is Maybe')
  await bar('Decide: Person 1')
  // Its mark can be changed where the others' marks are.
  within(await screen.findByRole('region', { name: 'Your mark' })).getByRole('button', { name: 'Maybe' })
  expect(screen.queryByRole('button', { name: 'Mark' })).toBeNull()

  goTo(`/applications/${stored[1]?.id}`)
  await bar('Mark: Person 2')
  await press('Decide')
  await bar('Decide: Person 2')
  reload()
  await press('Accept')
  await announced('Person 2: Accepted')
  expect(screen.queryByRole('button', { name: 'Mark' })).toBeNull()
  goTo(`/applications/${stored[2]?.id}`)
  await bar('Decide: Person 3')
  await press('Mark')
  await bar('Mark: Person 3')
  await user.keyboard('d')
  await announced('Person 3: Declined')
})
