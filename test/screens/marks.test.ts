import { screen, waitFor, within } from '@testing-library/dom'
import { expect, test } from 'vitest'

import { people } from '../support/applicants.ts'
import { deskScreensForTestFile } from '../support/desk-screens.ts'

const desk = deskScreensForTestFile()

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

  await user.type(marks.getByLabelText('Why, in a line'), 'Knows what to leave behind.{Enter}')
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
  await user.keyboard('3')
  await announced('Person 2: your mark is No')
  await user.keyboard('0')
  await announced('Person 2: no mark')
  expect(
    await desk.sql`select from private.marks where application_id = ${other} and mark is not null`,
  ).toEqual([])

  await user.keyboard('{Escape}')
  await screen.findByText('1 maybe, 1 no')
})
