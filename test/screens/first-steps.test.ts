import { screen, waitFor, within } from '@testing-library/dom'
import { expect, test } from 'vitest'

import { people } from '../support/applicants.ts'
import { setMailSender } from '../support/letters.ts'
import { storeQuestions } from '../support/questions.ts'
import { focusedWords } from '../support/desk-parts.ts'
import { deskScreensForTestFile } from '../support/opened-desk.ts'
import { welcome } from '../../src/pages/desk/data/switches.ts'

const desk = deskScreensForTestFile()

/** Opens the desk of an organiser who has not hidden the first steps. */
async function openFirst() {
  const opened = await desk.open()
  welcome.turn(true)
  return opened
}

const steps = () => screen.findByRole('region', { name: 'First steps' })
const done = async () => (await steps()).querySelector('.layout-quiet')?.textContent

test('the first steps are below the list, are ticked for all organisers, and are hidden until somebody looks under Retreat', async () => {
  await desk.store(people(2))
  const { user, press, follow, announced } = await openFirst()
  await screen.findByRole('link', { name: 'Person 1' })
  const region = await steps()
  const list = document.getElementById('list')
  expect(list && list.compareDocumentPosition(region) & Node.DOCUMENT_POSITION_FOLLOWING).toBeTruthy()
  // Ada and Bob are organisers, and somebody has applied.
  await waitFor(async () => expect(await done()).toBe('2 of 13 done.'))
  expect(within(region).queryByRole('checkbox', { name: /test application\.$/ })).toBeNull()
  await user.click(within(region).getByRole('checkbox', { name: 'Read every template in full.' }))
  await announced('Ticked.')
  expect(await done()).toBe('3 of 13 done.')
  expect(await desk.sql`select ticked from private.first_steps`).toEqual([{ ticked: ['read'] }])
  await press('Hide the list')
  expect(screen.queryByRole('region', { name: 'First steps' })).toBeNull()
  await waitFor(() => expect(focusedWords()).toBe('Applications'))
  await follow('Retreat')
  await follow('First steps')
  expect(
    (await screen.findByRole<HTMLInputElement>('checkbox', { name: 'Read every template in full.' })).checked,
  ).toBe(true)
})

test('the first steps are gone once all are done', async () => {
  await desk.sql`
    update private.first_steps set ticked = '{days,mail,page,questions,application,read,test,door,factor,notices,erased}'`
  const { user } = await openFirst()
  await user.click(within(await steps()).getByRole('checkbox', { name: 'Share the page.' }))
  await waitFor(() => expect(screen.queryByRole('region', { name: 'First steps' })).toBeNull())
  await waitFor(() => expect(focusedWords()).toBe('Applications'))
})

test('the mail server is checked under Letters; without one, the step says what the operator has to set', async () => {
  const { reload } = await desk.open('/first-steps')
  const without = await screen.findByRole('checkbox', {
    name: 'Ask your operator for a mail server.',
  })
  expect(without.closest('li')?.querySelector('a')).toBeNull()
  await setMailSender(desk.sql, true)
  reload()
  const step = await screen.findByRole('checkbox', { name: 'Check the mail server.' })
  const link = within(step.closest('li') ?? document.body).getByRole('link', { name: 'Letters' })
  expect(link.getAttribute('href')).toBe('#/letters')
})

test('the words of the page and the questions are steps that are done once they are saved', async () => {
  const { reload } = await desk.open('/first-steps')
  const isToDo = (name: string) => screen.queryByRole('checkbox', { name }) !== null
  await screen.findByRole('checkbox', { name: 'Write what the page says to applicants.' })
  expect(isToDo('Write the questions to guests, if you have any.')).toBe(true)
  await desk.bob.client
    .rpc('desk_set_page', { version: 0, texts: { title: 'Slow' }, shown: {} })
    .throwOnError()
  await storeQuestions(desk.sql, [{ text: 'What do you not eat?' }])
  reload()
  await waitFor(() => expect(isToDo('Write what the page says to applicants.')).toBe(false))
  expect(isToDo('Write the questions to guests, if you have any.')).toBe(false)
})

test('an empty list offers to share the page, with an address for each source', async () => {
  const { user, press, announced } = await desk.open()
  await screen.findByText('Nobody has applied yet.')
  const region = within(await screen.findByRole('region', { name: 'Share the page' }))
  const address = region.getByLabelText<HTMLInputElement>('Address')
  expect(address.value).toBe(`${desk.origin}/`)
  await user.type(region.getByLabelText('Where you share it'), 'Our Newsletter')
  expect(address.value).toBe(`${desk.origin}/?from=our-newsletter`)
  await press('Copy')
  await announced('Address copied.')
  expect(await navigator.clipboard.readText()).toBe(`${desk.origin}/?from=our-newsletter`)
  expect(region.getByRole('link', { name: 'Open' }).getAttribute('href')).toBe(`${desk.origin}/`)
})
