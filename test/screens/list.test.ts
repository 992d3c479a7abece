import { screen, waitFor, within } from '@testing-library/dom'
import { expect, test } from 'vitest'

import { people } from '../support/applicants.ts'
import { box, button, heading, link, names, row, rowStatus, tab, tabs } from '../support/desk-parts.ts'
import { deskScreensForTestFile } from '../support/opened-desk.ts'

const desk = deskScreensForTestFile()

const shown = (expected: readonly string[]) => waitFor(() => expect(names()).toEqual(expected))

test('the newest fifty are listed, then fifty more at a time, and every tab shows its number', async () => {
  const stored = await desk.store(people(120))
  await desk.setStatus(stored.slice(0, 3), 'accepted')
  await desk.setStatus(stored.slice(3, 4), 'declined')
  const { user } = await desk.open()
  const more = () => screen.getByText('More')
  await waitFor(() => expect(names()).toHaveLength(50))
  // It comes with the script that follows the list.
  await screen.findByText('More')
  expect(names().slice(0, 2)).toEqual(['Person 5', 'Person 6'])
  await user.click(more())
  await waitFor(() => expect(names()).toHaveLength(100))
  await waitFor(() => expect(more().getAttribute('aria-disabled')).not.toBe('true'))
  await user.click(more())
  await waitFor(() => expect(names()).toHaveLength(116))
  expect(names().at(-1)).toBe('Person 120')
  expect(screen.queryByText('More')).toBeNull()
  await waitFor(() =>
    expect(tabs()).toEqual([
      'New 116',
      'Shortlisted 0',
      'Accepted 3',
      'Waitlisted 0',
      'Declined 1',
      'All 120',
    ]),
  )
  await user.click(tab('Accepted'))
  await shown(['Person 1', 'Person 2', 'Person 3'])
  expect(tab('Accepted').getAttribute('aria-current')).toBe('page')
  await user.click(tab('All'))
  await waitFor(() => expect(names()).toHaveLength(50))
  // It comes with the script that follows the list.
  await screen.findByText('More')
  expect(names()[0]).toBe('Person 1')
})

test('where a name shows nothing, the link, the tick and the heading have the email', async () => {
  await desk.store([{ first_name: '\u00a0', last_name: '\u200b', email: 'ada@example.com' }])
  const { user } = await desk.open()
  await screen.findByRole('checkbox', { name: 'Select ada@example.com' })
  await user.click(await link('ada@example.com'))
  await heading('ada@example.com')
})

test('a row shows the name, company, team size, first line of the reason, time and status', async () => {
  const created_at = new Date('2024-03-05T12:00:00Z')
  const reason = '\n  To think.\r\nWithout a screen.'
  await desk.store([{ first_name: 'Zoë', last_name: 'K', company: 'Nana & Sons', reason, created_at }])
  await desk.open()
  const cells = within(await row('Zoë K')).getAllByRole('cell')
  expect(cells.map(({ textContent }) => textContent)).toEqual([
    '',
    'Nana & Sons',
    '3-10',
    'To think. …',
    '5 Mar 2024',
    'New',
  ])
})

test('a search that is too short to match beginnings says that it matches whole words', async () => {
  await desk.store([{ first_name: 'Al', last_name: 'Khwarizmi' }, ...people(1)])
  const { user } = await desk.open()
  await waitFor(() => expect(names()).toHaveLength(2))
  const search = screen.getByLabelText('Search')
  await user.type(search, 'al')
  const hint = await screen.findByText(/^Short words must match exactly, such as “/)
  expect(hint.textContent).toContain('such as “al”.')
  expect(hint.getAttribute('aria-live')).toBe('polite')
  expect(search.getAttribute('aria-describedby')).toBe(hint.id)
  await shown(['Al Khwarizmi'])
  await user.clear(search)
  await user.type(search, 'pe')
  await screen.findByText('No application matches.')
  await user.type(search, 'r')
  await shown(['Person 1'])
  expect(hint.textContent).toBe('')
})

test('a search of one Chinese character finds the beginnings of names, without the hint about whole words', async () => {
  await desk.store([{ first_name: '小明', last_name: '王' }, ...people(1)])
  const { user } = await desk.open()
  await waitFor(() => expect(names()).toHaveLength(2))
  await user.type(screen.getByLabelText('Search'), '小')
  await shown(['小明 王'])
  expect(screen.queryByText(/^Short words must match exactly/)).toBeNull()
})

test('the words that a search found are highlighted in the rows and in the application, and a blank reason says so', async () => {
  await desk.store([
    { first_name: 'José', last_name: 'Clark', company: 'Clarkson', reason: ' ' },
    { first_name: 'Ada', reason: 'Mr Clark told me.' },
  ])
  const { user } = await desk.open('/?search=clar')
  const marked = (part: Element) => [...part.querySelectorAll('mark')].map(({ textContent }) => textContent)
  await waitFor(() => expect(marked(document.body)).toEqual(['Clark', 'Clarkson', 'Clark']))
  expect((await row('José Clark')).textContent).toContain('No answer')
  await user.click(await link('José Clark'))
  await heading('José Clark')
  const answers = await screen.findByRole('region', { name: 'Answers' })
  expect(marked(answers)).toEqual(['Clark', 'Clarkson'])
  expect(answers.textContent).toContain('No answer')
})

test('a search and filters are combined, counted in the tabs, and shown again when the desk is opened again', async () => {
  const on = (day: string) => new Date(`${day}T12:00:00Z`)
  await desk.store([
    {
      first_name: 'A',
      last_name: 'A',
      team_size: '1-3',
      paid_solution: 'travel',
      created_at: on('2026-03-04'),
    },
    {
      first_name: 'B',
      last_name: 'B',
      team_size: '1-3',
      paid_solution: 'work',
      created_at: on('2026-03-03'),
    },
    {
      first_name: 'C',
      last_name: 'C',
      team_size: '10+',
      paid_solution: 'work',
      created_at: on('2026-03-02'),
    },
    { first_name: 'D', last_name: 'D', team_size: '', paid_solution: '', created_at: on('2026-03-01') },
  ])
  const { user, press, fill, reload } = await desk.open()
  await shown(['A A', 'B B', 'C C', 'D D'])
  expect(screen.queryByLabelText('Team size')).toBeNull()
  await press('Filters')
  await user.selectOptions(await screen.findByLabelText('Team size'), '1-3')
  await shown(['A A', 'B B'])
  await waitFor(() => expect(tabs()[0]).toBe('New 2'))
  await user.selectOptions(screen.getByLabelText('Paid for a solution'), 'Yes, work or team related')
  await shown(['B B'])
  await user.selectOptions(screen.getByLabelText('Team size'), 'Any')
  await shown(['B B', 'C C'])
  await user.selectOptions(screen.getByLabelText('Paid for a solution'), 'No answer')
  await shown(['D D'])
  await button('Filters (1)')
  await press('Clear')
  await shown(['A A', 'B B', 'C C', 'D D'])
  await fill(screen.getByLabelText('Applied from'), '2026-03-02')
  await shown(['A A', 'B B', 'C C'])
  await fill(screen.getByLabelText('Applied to'), '2026-03-03')
  await shown(['B B', 'C C'])
  await user.type(screen.getByLabelText('Search'), 'b')
  await shown(['B B'])
  reload()
  await shown(['B B'])
  expect(screen.getByLabelText<HTMLInputElement>('Search').value).toBe('b')
  // The button counts active filters even if their fields are not visible.
  await user.click(await button('Filters (2)'))
  expect((await screen.findByLabelText<HTMLInputElement>('Applied from')).value).toBe('2026-03-02')
})

// break: search-in-url
test('a search is in the part of the address that no browser sends to a server', async () => {
  await desk.store([
    { first_name: 'Émile', last_name: 'Zola', email: 'emile@naturalisme.example' },
    ...people(1),
  ])
  const { user, network } = await desk.open()
  await waitFor(() => expect(names()).toHaveLength(2))
  const filters: unknown[] = []
  network.route('desk_list', ({ args, send }) => {
    filters.push(args['filter'])
    return send()
  })
  await user.type(screen.getByLabelText('Search'), 'emile@naturalisme.example')
  await shown(['Émile Zola'])
  expect(filters.at(-1)).toMatchObject({ search: 'emile@naturalisme.example' })
  expect(network.addresses.filter((address) => address.includes('emile'))).toEqual([])
  expect(location.pathname + location.search).toBe('/desk')
  expect(location.hash).toBe('#/?search=emile%40naturalisme.example')
})

test('the address of an application opens it and its list for a co-organiser, too', async () => {
  const [, , third] = await desk.store(people(5).map((each) => ({ ...each, company: 'Acme' })))
  await desk.store([{ first_name: 'Not', last_name: 'Acme', company: 'Other' }])
  const { follow } = await desk.open(`/applications/${third?.id}?status=all&search=acme+person`, {
    as: desk.bob,
  })
  await heading('Person 3')
  await screen.findByText('3 of 5')
  await follow('Back')
  await shown(people(5).map(({ last_name }) => `Person ${last_name}`))
  expect(screen.getByLabelText<HTMLInputElement>('Search').value).toBe('acme person')
})

test('Back returns to the earlier applications and lists', async () => {
  const [, , third] = await desk.store(people(5).map((each) => ({ ...each, company: 'Acme' })))
  await desk.store([{ first_name: 'Not', last_name: 'Acme', company: 'Other' }])
  const { user, follow } = await desk.open()
  await waitFor(() => expect(names()).toHaveLength(6))
  await user.click(tab('All'))
  await user.type(screen.getByLabelText('Search'), 'acme person')
  await waitFor(() => expect(names()).toHaveLength(5))
  await follow('Person 3')
  await heading('Person 3')
  expect(location.hash).toBe(`#/applications/${third?.id}?status=all&search=acme+person`)
  await follow('Next')
  await heading('Person 4')
  history.back()
  await heading('Person 3')
  history.back()
  await waitFor(() => expect(names()).toHaveLength(5))
  history.back()
  await waitFor(() => expect(names()).toHaveLength(6))
  expect(tab('New').getAttribute('aria-current')).toBe('page')
})

test('after moving through any number of applications by keys, Back returns to the list in one step', async () => {
  await desk.store(people(4))
  const { user, follow } = await desk.open('/?status=all')
  await follow('Person 1')
  await heading('Person 1')
  for (const [key, name] of [
    ['j', 'Person 2'],
    ['j', 'Person 3'],
    ['k', 'Person 2'],
  ] as const) {
    await user.keyboard(key)
    await heading(name)
  }
  history.back()
  await heading('Applications')
  await waitFor(() => expect(document.activeElement?.textContent).toBe('Person 2'))
})

test('repeated applications from one email address are labelled, and each links to the others', async () => {
  await desk.store([
    { first_name: 'Ada', last_name: 'B', email: 'ADA@example.com', company: 'Engines' },
    { first_name: 'Grace', last_name: 'H' },
    { first_name: 'Ada', last_name: 'L', email: 'ada@example.com', company: 'Looms' },
  ])
  const { follow } = await desk.open()
  expect((await screen.findAllByText('applied more than once')).map((each) => each.closest('tr'))).toEqual([
    await row('Ada B'),
    await row('Ada L'),
  ])
  await follow('Ada B')
  await screen.findByRole('heading', { name: 'Other applications with this email' })
  await follow(/^Looms\b/)
  await heading('Ada L')
  await link(/^Engines\b/)
})

test('an unknown address says that nothing is here, and links to the list', async () => {
  await desk.store(people(1))
  const { user } = await desk.open('/hired')
  await heading('Page not found')
  await waitFor(() => expect(document.title).toBe('Page not found · Unplugged.'))
  const content = within(document.querySelector<HTMLElement>('#content') ?? document.body)
  await user.click(content.getByRole('link', { name: 'Applications' }))
  await shown(['Person 1'])
})

test('a decided row keeps its position in the open tab, and is also in the tab of its new status', async () => {
  await desk.store(people(3))
  const { user, press, announced } = await desk.open()
  await user.click(await box('Person 2'))
  await press('Decline')
  await announced('Person 2: Declined')
  expect(names()).toEqual(['Person 1', 'Person 2', 'Person 3'])
  expect(rowStatus('Person 2')).toBe('Declined')
  await user.click(tab('Declined'))
  await shown(['Person 2'])
})

test('an empty list says what to do next', async () => {
  await desk.store(people(2))
  const { user, follow } = await desk.open('/?status=accepted')
  await screen.findByText(/^Nothing in Accepted\./)
  await follow('Read the 2 new')
  await waitFor(() => expect(names()).toEqual(['Person 1', 'Person 2']))
  await user.type(screen.getByLabelText('Search'), 'nobody{Enter}')
  await screen.findByText('No application matches.')
  expect(screen.queryByRole('link', { name: /^Show all/ })).toBeNull()
  await follow('Clear search and filters')
  await waitFor(() => expect(names()).toEqual(['Person 1', 'Person 2']))
})

test('a line in the head of the list counts what came since yesterday, and leads to these applications', async () => {
  const longAgo = new Date('2024-03-05T12:00:00Z')
  const [old] = await desk.store([{ first_name: 'Old', last_name: 'K', created_at: longAgo }])
  const { refresh, user } = await desk.open()
  await link('New 1')
  expect(screen.queryByText(/Since yesterday/)).toBeNull()
  await desk.store([
    { first_name: 'Ada', last_name: 'L' },
    { first_name: 'Bob', last_name: 'R' },
  ])
  await desk.sql`
    insert into private.history (application_id, author, kind, detail)
    values (${old?.id ?? ''}, 'applicant', 'answer', '{"answer": "coming"}')`
  await refresh()
  // The button about new applications takes its place.
  await user.click(await button('2 new'))
  const words = await screen.findByText('Since yesterday:')
  expect(words.parentElement?.textContent).toBe('Since yesterday: 2 new, 1 replied')
  await user.click(await link('2 new'))
  await shown(['Ada L', 'Bob R'])
})

test('a person is added by hand after those with the same email were shown, and their application says who added them', async () => {
  const [stored] = await desk.store([
    { first_name: 'Grace', last_name: 'Hopper', email: 'grace@example.com' },
  ])
  const { user, press, fill, announced } = await desk.open()
  await desk.sql`update private.postman set webhook_seen_at = now()`
  await press('Add a person')
  const dialog = within(await screen.findByRole('dialog', { name: 'Add a person' }))
  await fill(dialog.getByLabelText('First name'), 'Amazing')
  await fill(dialog.getByLabelText('Last name'), 'Grace')
  await fill(dialog.getByLabelText('Email'), 'Grace@example.com')
  await user.click(await dialog.findByRole('checkbox', { name: 'Pass them on to the connected system' }))
  expect(dialog.queryByRole('checkbox', { name: 'Send them a receipt' })).toBeNull()
  await user.click(dialog.getByRole('button', { name: 'Add' }))
  const there = await dialog.findByRole('link', { name: 'Grace Hopper' })
  expect(there.getAttribute('href')).toContain(stored?.id ?? '-')
  // The notice follows the email that it is about, and is brought into sight.
  expect(document.activeElement?.textContent).toBe('This email is here already:Grace Hopper, New')
  expect(document.activeElement?.previousElementSibling?.textContent).toBe('Email')
  expect(await desk.sql`select from public.retreat_applications`).toHaveLength(1)
  await user.click(dialog.getByRole('button', { name: 'Add anyway' }))
  await announced('Amazing Grace: added')
  await heading('Amazing Grace')
  await screen.findByText('Not asked: added by ada@example.org')
  await screen.findByText('Added by hand, without an application')
  expect(screen.queryByText('Received')).toBeNull()
  expect(
    await desk.sql`
    select from private.deliveries join public.retreat_applications using (id) where added_by is not null`,
  ).toHaveLength(1)
})
