import { screen, waitFor } from '@testing-library/dom'
import { expect, test } from 'vitest'

import { table } from '../../src/application/application.ts'
import { focusedWords, heading } from '../support/desk-parts.ts'
import { deskScreensForTestFile, type OpenedDesk } from '../support/opened-desk.ts'
import { anApplication } from '../support/form.ts'
import { disconnect } from '../support/intercepted-fetch.ts'

const desk = deskScreensForTestFile()

const stateIs = (sentence: string) =>
  waitFor(() => expect(document.querySelector('.door-status')?.textContent).toBe(sentence))
const sentenceField = () => screen.findByLabelText<HTMLTextAreaElement>('Sentence for applicants')
const warning = () => screen.queryByRole('alert')?.textContent
const choose = async ({ user }: OpenedDesk, name: 'Open' | 'Closed') =>
  user.click(await screen.findByRole('radio', { name }))
const setDoor = (args: object) => desk.bob.client.rpc('desk_set_door', args).throwOnError()
const storedDoor = () => desk.sql`select sentence, version from private.door`

test('the door is closed with a sentence and opened again, and the history says who did it', async () => {
  const opened = await desk.open('/door')
  const { press, follow, fill, announced } = opened
  await stateIs('The door is open.')
  const sentence = 'Alle Plätze sind vergeben. Bis nächstes Jahr!'
  await choose(opened, 'Closed')
  await fill(await sentenceField(), sentence)
  await press('Close the door')
  await announced(`Saved. The door is closed. Applicants read: “${sentence}”`)
  await stateIs(`The door is closed. Applicants read: “${sentence}”`)
  await choose(opened, 'Open')
  await press('Open the door')
  await stateIs('The door is open.')
  // The sentence stays for the next time that the door is closed.
  expect((await sentenceField()).value).toBe(sentence)
  await follow('History')
  await heading('History')
  const events = await screen.findAllByRole('listitem')
  expect(events.map(({ textContent }) => textContent)).toEqual([
    expect.stringMatching(/^Door openada@example\.org, .* 20\d\d, \d\d:\d\d$/),
    expect.stringMatching(`^Door closed: “${sentence}”ada@example.org, .* 20\\d\\d, \\d\\d:\\d\\d$`),
  ])
})

test('a long history shows the newest first, and more on request', async () => {
  await desk.sql`
    insert into private.history (author, kind, detail)
    select 'ada@example.org', 'erased', jsonb_build_object('applications', number) from generate_series(1, 62) as number`
  const { press } = await desk.open('/history')
  await waitFor(() => expect(screen.queryAllByRole('listitem')).toHaveLength(50))
  await press('More')
  await waitFor(() => expect(screen.queryAllByRole('listitem')).toHaveLength(62))
  // The pressed button disappears with the last page.
  await waitFor(() => expect(focusedWords()).toBe('History'))
  const texts = screen.getAllByRole('listitem').map(({ textContent }) => textContent)
  expect(texts[0]).toMatch(/^62 applications erased/)
  expect(texts.at(-1)).toMatch(/^1 application erased/)
})

test('of two simultaneous changes the later is refused, keeps its text, and can be saved anyway', async () => {
  const opened = await desk.open('/door')
  const { press, fill } = opened
  await fill(await sentenceField(), 'Mine.')
  await choose(opened, 'Closed')
  await setDoor({ version: 0, closed: true, sentence: 'Theirs.' })
  await press('Close the door')
  await waitFor(() =>
    expect(warning()).toMatch(/^bob@example\.org changed the door meanwhile, .* 20\d\d, \d\d:\d\d\./),
  )
  await stateIs('The door is closed. Applicants read: “Theirs.”')
  expect((await sentenceField()).value).toBe('Mine.')
  expect(await storedDoor()).toEqual([{ sentence: 'Theirs.', version: 1 }])
  await press('Save anyway')
  await stateIs('The door is closed. Applicants read: “Mine.”')
  expect(await storedDoor()).toEqual([{ sentence: 'Mine.', version: 2 }])
  await waitFor(() => expect(warning()).toBeUndefined())
})

test('a door with a limit counts applications, closes at the limit, and stays closed when a sentence is saved', async () => {
  const opened = await desk.open('/door')
  const { press, fill } = opened
  const applicant = desk.server.client()
  const send = () => applicant.from(table).insert(anApplication())
  await send()
  await fill(await screen.findByLabelText('Close after this many applications'), '3')
  await press('Save')
  await stateIs('The door is open, for 2 more applications (1 of 3 received).')
  // A read that is still pending would show the applications that follow, and the button as “Save anyway”.
  await opened.network.settled()
  await send()
  // The door reaches its limit before the new sentence is saved.
  await fill(await sentenceField(), 'We are full.')
  expect((await send()).status).toBe(201)
  expect(await send()).toMatchObject({ status: 403, error: { message: 'Applications are closed.' } })
  await press('Save')
  // The failure appears at once, and the reason after the next read.
  await waitFor(() =>
    expect(warning()).toContain(
      'The door closed automatically. Your changes are not saved. Saving now replaces the current state.',
    ),
  )
  await stateIs(
    'The door is closed: it reached its limit of 3 applications. Applicants read: “Applications are closed.”',
  )
  expect(await desk.sql`select from public.retreat_applications`).toHaveLength(3)
  await choose(opened, 'Closed')
  await press('Save anyway')
  await stateIs('The door is closed. Applicants read: “We are full.”')
})

test('a failed save is not reported as saved', async () => {
  const opened = await desk.open('/door')
  await choose(opened, 'Closed')
  opened.network.route('desk_set_door', disconnect)
  await opened.press('Close the door')
  await waitFor(() =>
    expect(warning()).toBe('Not confirmed. The server could not be reached. Please check your connection.'),
  )
  await stateIs('The door is open.')
  expect(screen.getByRole('status').textContent).toBe('')
  expect(screen.getByRole<HTMLInputElement>('radio', { name: 'Closed' }).checked).toBe(true)
})

test("another organiser's change appears automatically", async () => {
  const { refresh } = await desk.open('/door')
  await stateIs('The door is open.')
  await setDoor({ version: 0, closed: true, sentence: 'Full.' })
  await refresh()
  await stateIs('The door is closed. Applicants read: “Full.”')
  expect(screen.getByRole<HTMLInputElement>('radio', { name: 'Closed' }).checked).toBe(true)
})

test('a change that was saved after its screen was left is not shown as another organiser’s', async () => {
  const opened = await desk.open('/door')
  const { press, follow, fill, network, announced } = opened
  await fill(await screen.findByLabelText('Close after this many applications'), '100')
  await press('Save')
  await stateIs('The door is open, for 100 more applications (0 of 100 received).')
  const release = network.hold('desk_set_door')
  // A closed door has no limit, so the limit in the form differs from what is stored.
  await choose(opened, 'Closed')
  await fill(await sentenceField(), 'We are full. ')
  await press('Close the door')
  await follow('Letters')
  await heading('Letters')
  release()
  await announced(/^Saved\. The door is closed\./)
  await follow('Retreat')
  await follow('Door')
  await stateIs('The door is closed. Applicants read: “We are full.”')
  expect(warning()).toBeUndefined()
  await fill(await sentenceField(), 'We are very full.')
  expect(warning()).toBeUndefined()
  await press('Save')
  await stateIs('The door is closed. Applicants read: “We are very full.”')
})
