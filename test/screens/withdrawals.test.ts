import { screen, waitFor, within } from '@testing-library/dom'
import { expect, test } from 'vitest'

import { people } from '../support/applicants.ts'
import { button, heading, names, problems, row, tab, tabs, timeline } from '../support/desk-parts.ts'
import { deskScreensForTestFile } from '../support/opened-desk.ts'

const desk = deskScreensForTestFile()

const setWithdrawn = (id: string, isWithdrawn: boolean) =>
  desk.sql`select private.set_withdrawn(${id}, gen_random_uuid(), ${isWithdrawn})`

test('a withdrawn application leaves New, and says so in the list of all, at its head and in its history', async () => {
  const [one] = await desk.store(people(2))
  const id = one?.id ?? ''
  const { user, follow, refresh } = await desk.open('/?status=all')
  await waitFor(() => expect(tabs()).toContain('New 2'))
  await setWithdrawn(id, true)
  await refresh()
  await waitFor(() => expect(tabs()).toContain('New 1'))
  expect((await row('Person 1')).textContent).toContain('Withdrawn')
  expect((await row('Person 2')).textContent).not.toContain('Withdrawn')
  await user.click(tab('New'))
  await waitFor(() => expect(names()).toEqual(['Person 2']))
  await user.click(tab('All'))
  await follow('Person 1')
  await heading('Person 1')
  expect(await screen.findAllByText('Withdrawn', { selector: '.decisions-pill' })).not.toHaveLength(0)
  await waitFor(() => expect(timeline().join()).toContain('the applicantApplication withdrawn'))
})

test('a decision on an application that was withdrawn meanwhile is refused with a sentence', async () => {
  const [one] = await desk.store(people(1))
  const { press } = await desk.open(`/applications/${one?.id}`)
  await heading('Person 1')
  await button('Accept')
  await setWithdrawn(one?.id ?? '', true)
  await press('Accept')
  await waitFor(() =>
    expect(problems()).toEqual(['Person 1: “Accepted” was not saved. The applicant withdrew.']),
  )
  await press('Close')
  await waitFor(() => expect(problems()).toEqual([]))
})

test('a withdrawn application has no buttons and no keys to shortlist, accept, waitlist or decline it, and says why', async () => {
  const [one] = await desk.store(people(1))
  await setWithdrawn(one?.id ?? '', true)
  const { user, press, announced } = await desk.open(`/applications/${one?.id}`)
  await heading('Person 1')
  const bar = within(await screen.findByRole('region', { name: 'Decide: Person 1' }))
  const sentence = 'The applicant withdrew, so there is nothing to decide.'
  bar.getByText(sentence)
  const labels = bar.getAllByRole('button').map((each) => each.textContent)
  expect(labels).toEqual(['Reset to New', 'Put aside'])
  await user.keyboard('s')
  await announced(sentence)
  await press('Put aside')
  await announced('Person 1: Put aside')
})
