import { screen, waitFor, within } from '@testing-library/dom'
import { beforeEach, expect, test } from 'vitest'

import { focusedWords, heading, link, names, pill, row, sentence, tab, tabs } from '../support/desk-parts.ts'
import { deskScreensForTestFile } from '../support/opened-desk.ts'
import { beginEdition } from '../support/editions.ts'
import { refusal } from '../support/intercepted-fetch.ts'

const desk = deskScreensForTestFile()

beforeEach(async () => {
  await desk.sql`update private.places set zone = 'UTC'`
})

/** Stores the application of somebody with this first name, sent now. Returns its id. */
const apply = async (first_name: string) => {
  const email = `${first_name.toLowerCase()}@example.com`
  const [stored] = await desk.store([{ first_name, last_name: 'N', email, created_at: new Date() }])
  return stored?.id ?? ''
}
const listed = (...firstNames: string[]) =>
  waitFor(() => expect(names()).toEqual(firstNames.map((name) => `${name} N`)))
const retreatSelect = () => screen.findByLabelText<HTMLSelectElement>('Retreat')
/** Waits for the line that says which earlier retreat is shown. */
const earlier = (name: string) => sentence(new RegExp(`^This is ${name}\\.`))
const field = (label: string | RegExp) => screen.findByLabelText<HTMLInputElement>(label)

test('a retreat is begun, and applications from then on are in a list of their own', async () => {
  await desk.sql`update private.places set places = 40, days = 7`
  const first = await apply('Ada')
  const { user, follow, fill, goTo, press, announced } = await desk.open(`/applications/${first}`)
  await heading('Ada N')
  await user.keyboard('a')
  await announced('Ada N: Accepted')
  goTo('/retreats')
  await heading('Next retreat')
  await user.type(await field('Name'), 'Spring 2028')
  await fill(await field('First day'), '2028-04-07')
  await fill(await field('Last day'), '2028-04-10')
  ;(await field('Copy the questions')).focus()
  await user.keyboard(' ')
  await press('Begin retreat')
  await sentence(/^Begin Spring 2028\?/)
  await press('Begin now')
  await announced('Spring 2028 has begun. Applications from now on belong to it.')
  await heading('Days and places')
  expect(focusedWords()).toBe('Days and places')
  expect(screen.queryByRole('button', { name: /^Undo/ })).toBeNull()
  expect((await field('First day')).value).toBe('2028-04-07')
  await follow('Guests')
  await waitFor(() =>
    expect(document.querySelector('.places-numbers')?.textContent).toContain('40 of 40 free'),
  )
  await apply('Bea')
  await follow('Applications')
  await listed('Bea')
  await waitFor(() => expect(tabs()).toContain('All 1'))
  expect(screen.queryByText(/^This is/)).toBeNull()
  goTo('/history')
  await screen.findByText('Began the retreat Spring 2028')
})

test('an earlier retreat is read, searched and opened, and a link leads back to the newest', async () => {
  await apply('Ada')
  const alan = await apply('Alan')
  await desk.setStatus([{ id: alan }], 'shortlisted')
  await beginEdition(desk.sql, 'Spring 2028')
  await apply('Bea')
  const { user, press, follow, fill, goTo } = await desk.open()
  await listed('Bea')
  // The list of an earlier retreat shows applications of every status.
  await user.selectOptions(await retreatSelect(), 'First retreat')
  await earlier('First retreat')
  await listed('Alan', 'Ada')
  await waitFor(() => expect(tabs()).toEqual(expect.arrayContaining(['New 1', 'Shortlisted 1', 'All 2'])))
  expect(document.activeElement).toBe(await retreatSelect())
  await fill(await field('Search'), 'Alan')
  await listed('Alan')

  await follow('Alan N')
  await heading('Alan N')
  expect(location.hash).toBe(`#/applications/${alan}?edition=1&status=all&search=Alan`)
  await user.keyboard('{Escape}')
  await listed('Alan')
  expect((await retreatSelect()).value).toBe('1')
  // The links of the navigation lead to screens of the same retreat.
  await follow('Guests')
  await heading('Who is coming')
  await earlier('First retreat')
  await follow('Retreat')
  await heading('Days and places')
  await earlier('First retreat')
  // A screen about all retreats says nothing of one.
  await follow('Door')
  await heading('Door')
  expect(screen.queryByText(/^This is/)).toBeNull()
  goTo('/guests?edition=1')
  await earlier('First retreat')
  await follow('Applications')
  await listed('Alan', 'Ada')
  await fill(await field('Search'), 'Alan')
  await listed('Alan')
  // Clear keeps the retreat, too.
  await press('Clear')
  await listed('Alan', 'Ada')
  await follow('Back to Spring 2028')
  await listed('Bea')
  expect(focusedWords()).toBe('Applications')
  expect(location.hash).not.toContain('edition')
})

test.for([
  ['when another organiser begins a retreat, the list of the newest switches to it', '/', 'Bea'],
  ['when another organiser begins a retreat, the list of an earlier retreat stays', '/?edition=1', 'Ada'],
] as const)('%s', async ([, path, shown]) => {
  await apply('Ada')
  const { activateWindow } = await desk.open(path)
  await listed('Ada')
  await waitFor(() => expect(tabs()).toContain('All 1'))
  expect(screen.queryByLabelText('Retreat')).toBeNull()
  await desk.bob.client
    .rpc('desk_begin_edition', {
      act: crypto.randomUUID(),
      newest: 1,
      name: 'Spring 2028',
      starts_on: null,
      ends_on: null,
      copied: {},
    })
    .throwOnError()
  await apply('Bea')
  await activateWindow()
  await retreatSelect()
  await listed(shown)
})

test('if two organisers begin the next retreat, the second one reads that somebody else has begun it', async () => {
  const { press, fill } = await desk.open('/retreats')
  // Without a name, the screen does not ask for confirmation.
  await press('Begin retreat')
  expect(screen.queryByRole('button', { name: 'Begin now' })).toBeNull()
  await fill(await field('Name'), 'Autumn 2027')
  await press('Begin retreat')
  await beginEdition(desk.sql, 'Spring 2028')
  await press('Begin now')
  await screen.findByText(/Not started\. Somebody else has begun a retreat meanwhile\./)
  // The typed name stays, and the screen shows the other retreat.
  expect((await field('Name')).value).toBe('Autumn 2027')
  await sentence(/^You can still read, search and download Spring 2028\./)
  expect(await desk.sql`select name from private.editions order by id`).toEqual([
    { name: '' },
    { name: 'Spring 2028' },
  ])
})

test('an earlier retreat has its own places and days', async () => {
  const first = await apply('Ada')
  await desk.setStatus([{ id: first }], 'accepted')
  await desk.sql`update private.invitations set told_at = now(), rsvp = 'coming', rsvp_at = now()`
  await beginEdition(desk.sql, 'Spring 2028')
  const { user, press, follow, fill, announced } = await desk.open('/coming')
  const numbers = () => document.querySelector('.places-numbers')?.textContent
  await waitFor(() => expect(numbers()).toContain('0 Coming'))
  await user.selectOptions(await retreatSelect(), 'First retreat')
  await waitFor(() => expect(numbers()).toContain('1 Coming'))
  expect(document.activeElement).toBe(await retreatSelect())
  await follow('Retreat')
  await fill(await field('Venue'), 'Hof Sonnenau')
  await press('Save retreat')
  await announced('Saved. The retreat: days not set, Hof Sonnenau.')
  // The number of places is that of the newest retreat.
  expect(screen.queryByLabelText('Places')).toBeNull()
  expect(await desk.sql`select venue from private.editions order by id`).toEqual([
    { venue: 'Hof Sonnenau' },
    { venue: '' },
  ])
})

test('an earlier retreat has its own questions and guests', async () => {
  const first = await apply('Ada')
  await desk.setStatus([{ id: first }], 'accepted')
  await desk.sql`update private.invitations set told_at = now(), rsvp = 'coming', rsvp_at = now()`
  await beginEdition(desk.sql, 'Spring 2028')
  const { press, follow, fill, announced, reload } = await desk.open('/retreat?edition=1')
  await follow('Questions')
  await heading('Questions')
  await earlier('First retreat')
  await press('Add question')
  await fill(await field('Question'), 'What do you not eat?')
  await press('Save')
  await announced('Saved. 1 question.')
  expect(await desk.sql`select edition from private.questions`).toEqual([{ edition: 1 }])
  reload()
  await waitFor(async () => expect((await field('Question')).value).toBe('What do you not eat?'))
  await follow('Guests')
  await follow('Guest list')
  await screen.findByText('1 guest.')
  await follow('Ada N')
  await heading('Ada N')
  expect(location.hash).toContain('edition=1')
})

test('a retreat is named, and its lists and the history show the name', async () => {
  await apply('Ada')
  await beginEdition(desk.sql, 'Spring 2028')
  const { user, fill, goTo, announced } = await desk.open('/retreats')
  await fill(await field('Name of first retreat'), ' Autumn 2027 ')
  const form = await screen.findByRole('form', { name: 'First retreat' })
  await user.click(within(form).getByRole('button', { name: 'Save name: First retreat' }))
  await announced('Name saved.')
  goTo('/?edition=1')
  await earlier('Autumn 2027')
  goTo('/history')
  await screen.findByText('Retreat 1 is named Autumn 2027')
})

test('somebody who applied to an earlier retreat is shown as such, with a link to that application', async () => {
  await apply('Ada')
  await beginEdition(desk.sql, 'Spring 2028')
  await apply('Ada')
  const { user, follow } = await desk.open()
  within(await row('Ada N')).getByText('applied before')
  await follow('Ada N')
  await heading('Ada N')
  await screen.findByText('Applied before')
  const others = () => screen.findByRole('region', { name: 'Other applications with this email' })
  await within(await others()).findByText(/First retreat/)
  await user.click(within(await others()).getByRole('link'))
  await waitFor(async () => expect((await others()).textContent).toContain('Spring 2028'))
  expect(pill()).toBe('New')
  expect(location.hash).toContain('edition=1')
  await user.keyboard('{Escape}')
  await earlier('First retreat')
})

test('while another retreat cannot be read, the tabs show no numbers of the former one, and it can be left', async () => {
  await apply('Ada')
  await beginEdition(desk.sql, 'Spring 2028')
  await apply('Bea')
  const { user, network } = await desk.open()
  await waitFor(() => expect(tabs()).toContain('All 1'))
  const end = network.route('desk_list', async () => refusal('Not now.', 400, '22023'))
  await user.selectOptions(await retreatSelect(), 'First retreat')
  await screen.findByText(/Not now\./)
  expect(tab('All').textContent.trim()).toBe('All')
  end()
  await user.selectOptions(await retreatSelect(), 'Spring 2028')
  await listed('Bea')
  await waitFor(() => expect(tabs()).toContain('All 1'))
  await link('Bea N')
})
