import { screen, waitFor, within } from '@testing-library/dom'
import { expect, test } from 'vitest'

import { people } from '../support/applicants.ts'
import { tab } from '../support/desk-parts.ts'
import { deskScreensForTestFile } from '../support/opened-desk.ts'
import { refusal } from '../support/intercepted-fetch.ts'

const desk = deskScreensForTestFile()

test('the charts show visits, starts and sources, once a server has counted', async () => {
  await desk.store(people(3))
  const { user, press, network, reload } = await desk.open()
  await press('Charts')
  const visits = within(await screen.findByRole('region', { name: 'Visits' }))
  await visits.findByText(
    'No visits were counted. Only a server that serves the page counts them, and leaves out robots.',
  )

  const batch = [
    { source: '', visits: 1, starts: 1 },
    { source: 'newsletter', visits: 1, starts: 0 },
  ]
  await desk.server.database.server`select private.count_visits(${JSON.stringify(batch)}::text::jsonb)`
  reload()
  await screen.findByText('The page in the last 90 days: 2 visits, 1 start, 3 applications.')
  const cells = (caption: string) =>
    within(screen.getByRole('table', { name: caption }))
      .getAllByRole('row')
      .map((row) => [...row.children].map((cell) => cell.textContent))
  expect(cells('Visits by source')).toEqual([
    ['Source', 'Visits'],
    ['No source', '1'],
    ['newsletter', '1'],
  ])
  const [head, ...days] = cells('Visits, starts and applications a day')
  expect(head).toEqual(['Day', 'Visits', 'Starts', 'Applications'])
  expect(days.at(-1)?.slice(1, 3)).toEqual(['2', '1'])
  expect(document.querySelectorAll('[aria-label=Visits] .plots-days')).toHaveLength(3)

  // The charts of visits are about the page for applicants, so they stay in a tab without applications.
  await user.click(tab('Declined'))
  await screen.findByText(/^Nothing in Declined\./)
  await waitFor(() => expect(screen.getAllByRole('figure')).toHaveLength(2))

  const end = network.route('desk_visits', () => Promise.resolve(refusal('No.')))
  reload()
  await screen.findByText('Visits were not loaded. No.')
  end()
  await press('Try again')
  await screen.findByText(/^The page in the last 90 days/)
})
