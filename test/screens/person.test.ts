import { screen, waitFor, within } from '@testing-library/dom'
import { expect, test } from 'vitest'

import { questions } from '../../src/application/fields.ts'
import { deskScreensForTestFile } from '../support/opened-desk.ts'
import { storeGuest } from '../support/stored-guest.ts'

const desk = deskScreensForTestFile()
const linkText = 'Everything about this person'
const title = 'Everything about a person'

test('an application leads to everything about its person, and Back leads to the application', async () => {
  const id = await storeGuest(desk)
  const { follow } = await desk.open(`/applications/${id}?status=all`)
  await follow(linkText)
  const heading = await screen.findByRole('heading', { name: title })
  expect(location.hash).toBe(`#/applications/${id}/all?status=all`)
  await waitFor(() => expect(document.activeElement).toBe(heading))
  await screen.findAllByRole('heading', { name: 'Deliveries' })
  expect(screen.getAllByRole('heading', { level: 2 })).toHaveLength(2)
  const text = document.body.textContent
  for (const words of [
    `“${questions.consent}”`,
    'To think again.',
    'Met in Lisbon.',
    'Whom do we call? (private)Mary',
    'They have one. It is not shown: with it, others could answer.',
    'Letter to ada@example.com',
    'reply “250 OK”',
    'By train: [RSVP link]',
    'Backups, if there are any, have this too',
  ])
    expect(text).toContain(words)
  expect(text).not.toContain('Alan')
  await follow('Back')
  await screen.findByRole('heading', { name: 'Ada Lovelace' })
  expect(location.hash).toBe(`#/applications/${id}?status=all`)
})

test('an application to which only a replaced address leads is apart, with the reason, and says what it is', async () => {
  const id = await storeGuest(desk)
  const [mistyped = { id: '' }] = await desk.store([
    { first_name: 'Grace', last_name: 'Hopper', email: 'grace@example.com' },
    { first_name: 'Zoë', last_name: 'Zola', email: 'zoe@example.com' },
  ])
  await desk.sql`insert into private.addresses values (${mistyped.id}, 'ada@example.com'), (${id}, 'zoe@example.com')`
  const { follow } = await desk.open(`/applications/${id}/all`)
  const apart = within(await screen.findByRole('region', { name: 'Perhaps about somebody else' }))
  expect(apart.getAllByRole('listitem').map(({ textContent }) => textContent)).toEqual([
    expect.stringMatching(
      /^Grace Hopper, grace@example\.com, .* An organiser replaced the email of that application with ada@example\.com\.$/,
    ) as string,
    expect.stringMatching(
      /^Zoë Zola, zoe@example\.com, .* An organiser replaced the address of this person with the email of that application\.$/,
    ) as string,
  ])
  expect(screen.getAllByRole('heading', { name: /^Application of/ })).toHaveLength(2)
  await follow('Grace Hopper')
  await screen.findByRole('heading', { name: 'Grace Hopper' })
  expect(location.hash).toBe(`#/applications/${mistyped.id}`)
})

test('marks of others are left out until the reader has marked too, and the page says so', async () => {
  const [application] = await desk.store([{ first_name: 'Ada' }])
  await desk.bob.client
    .rpc('desk_mark', { act: crypto.randomUUID(), application: application?.id, mark: 'no', why: 'Cold.' })
    .throwOnError()
  const { reload } = await desk.open(`/applications/${application?.id}/all`)
  await screen.findByText(/^Marks of other organisers are left out/)
  expect(screen.queryByText(/Cold\./)).toBeNull()
  await desk.ada.client
    .rpc('desk_mark', { act: crypto.randomUUID(), application: application?.id, mark: 'yes', why: '' })
    .throwOnError()
  reload()
  await screen.findByText('No: Cold.')
  expect(screen.queryByText(/are left out/)).toBeNull()
})

test('an organiser who reads blind finds no link, and the address shows a sentence', async () => {
  const id = await storeGuest(desk)
  await desk.sql`update private.organisers set blind = true`
  const { goTo } = await desk.open(`/applications/${id}`)
  await screen.findByRole('button', { name: 'Erase' })
  expect(screen.queryByRole('link', { name: linkText })).toBeNull()
  goTo(`/applications/${id}/all`)
  await screen.findByText('Not loaded. Everything about a person is hidden while blind reading is on.')
  expect(document.body.textContent).not.toMatch(/ada@example\.com|Lovelace/)
  // The page is still the desk of a signed-in organiser.
  screen.getByRole('link', { name: 'Guests' })
})

test('the page of an application that was erased says so', async () => {
  await desk.open(`/applications/${crypto.randomUUID()}/all`)
  const sentence = 'Not loaded. There is no such application: it may have been erased.'
  expect(await screen.findAllByText(sentence)).toHaveLength(1)
})
