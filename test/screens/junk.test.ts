import { screen, waitFor, within } from '@testing-library/dom'
import { expect, test } from 'vitest'

import { people } from '../support/applicants.ts'
import { heading, names, pill, tab, tabs } from '../support/desk-parts.ts'
import { deskScreensForTestFile } from '../support/opened-desk.ts'

const desk = deskScreensForTestFile()

const showsCount = (count: number) => waitFor(() => expect(names()).toHaveLength(count))

test('suggested junk is put aside by groups, nobody else is touched, and one key brings it back', async () => {
  await desk.store([
    ...people(3),
    ...Array.from({ length: 4 }, (_, index) => ({
      first_name: 'Bot',
      last_name: `Same ${index}`,
      email: `same${index}@s${index}.example`,
      reason: `Best  SEO${' '.repeat(index)}now`,
    })),
    ...Array.from({ length: 2 }, (_, index) => ({
      first_name: 'Bot',
      last_name: `Link ${index}`,
      email: `link${index}@l${index}.example`,
      reason: `https://shop.example/${index}`,
    })),
  ])
  const { user, press, announced } = await desk.open()
  await showsCount(9)
  expect(tabs().join()).not.toContain('Put aside')
  await press('6 look like junk…')
  const dialog = within(screen.getByRole('dialog'))
  await dialog.findByText('4 with the same reason')
  for (const name of ['Put aside 4', 'Put aside 2'])
    await user.click(await dialog.findByRole('button', { name }))
  // Screen readers read nothing outside of an open dialog.
  await dialog.findByText('2 applications: Put aside', { selector: '[role=status] *' })
  await dialog.findByRole('heading', { name: 'Nothing looks like junk' })
  await user.click(dialog.getByRole('button', { name: 'Close' }))
  await waitFor(() => expect(tabs().slice(-2)).toEqual(['Put aside 6', 'All 3']))
  expect(
    await desk.sql`
      select status, count(*)::int from private.statuses join public.retreat_applications on id = application_id
      where first_name = 'Bot' group by 1`,
  ).toEqual([{ status: 'aside', count: 6 }])

  await user.click(tab('Put aside'))
  await showsCount(6)
  await user.click(await screen.findByLabelText('Select all shown'))
  await user.keyboard('r')
  await announced('6 applications: New')
  await user.click(tab('New'))
  await showsCount(9)
  await waitFor(() => expect(tabs().join()).not.toContain('Put aside'))
})

test('the key p puts an application aside, and Undo takes it back', async () => {
  const [{ id } = { id: '' }] = await desk.store(people(2))
  const { user, announced } = await desk.open(`/applications/${id}`)
  await heading('Person 1')
  await user.keyboard('p')
  await announced('Person 1: Put aside')
  expect(pill()).toBe('Put aside')
  await waitFor(async () => expect(await desk.statusOf(id)).toBe('aside'))
  await user.keyboard('z')
  await announced('Undone: Person 1 is New again')
})
