import { screen, waitFor } from '@testing-library/dom'
import { beforeEach, expect, test } from 'vitest'

import { deskScreensForTestFile } from '../support/opened-desk.ts'

const desk = deskScreensForTestFile()

beforeEach(async () => {
  await desk.sql`update private.editions set starts_on = '2024-03-12', ends_on = '2024-03-15'`
  await desk.sql`update private.places set zone = 'UTC'`
})

const store = async (...names: string[]) =>
  desk.store(
    names.map((first_name) => ({
      first_name,
      last_name: 'N',
      email: `${first_name.toLowerCase()}@example.com`,
      created_at: new Date('2024-01-10'),
    })),
  )

test('an application says on which day it is erased, and can be kept with a reason, which organisers see', async () => {
  const [ada] = await store('Ada')
  await desk.sql`update private.retention set months = 120, months_for_guests = 120`
  const { user, press, follow, goTo, announced } = await desk.open(`/applications/${ada?.id}`)
  await screen.findByText('It is due to be erased on 15 March 2034, as organisers set for all applications.')
  await press('Keep')
  await user.type(await screen.findByLabelText('Reason'), 'Wants to apply again')
  await press('Cancel')
  await press('Keep')
  // The reason is still there.
  await user.type(await screen.findByLabelText('Reason'), ' next year')
  await press('Keep it')
  await announced('Ada N: kept')
  const sheet = await screen.findByRole('region', { name: 'How long it is kept' })
  await waitFor(() =>
    expect(sheet.textContent).toContain(
      `Kept until you erase it: Wants to apply again next year ${desk.ada.email}`,
    ),
  )
  expect(document.activeElement).toBe(screen.getByRole('heading', { name: 'Ada N' }))

  goTo('/retention')
  const holds = await screen.findByRole('region', { name: 'Kept until you erase them' })
  expect(holds.textContent).toContain('Ada N: Wants to apply again next year')
  await follow('Ada N')
  await press('Remove hold')
  await announced('Ada N: hold removed')
  await screen.findByRole('button', { name: 'Keep' })
  await screen.findByText('Kept: Wants to apply again next year')
  await screen.findByText('No longer kept')
})

test('an announced erasure is shown under Retreat, and due applications are erased by hand', async () => {
  const [ada] = await store('Ada', 'Bea')
  await desk.setStatus([{ id: ada?.id ?? '' }], 'shortlisted')
  await desk.sql`update private.retention set months = 12`
  await desk.sql`select private.announce_and_erase_applications(100)`
  const { user, network, press, follow, goTo, announced } = await desk.open('/retreat')
  await screen.findByText(/2 applications will be erased from/)
  // After the erasing, the announcement of a later one is still shown.
  let announcement: unknown = null
  network.route('desk_retention', async ({ send }) => {
    const retention = (await (await send()).json()) as { announced: unknown }
    announcement ??= retention.announced
    return Response.json({ ...retention, announced: announcement })
  })
  const [link = document.body] = await screen.findAllByRole('link', {
    name: 'How long applications are kept',
  })
  await user.click(link)
  await screen.findByText(/this is day 1\./)
  await press('Erase 2 applications')
  await press('Erase for good')
  await announced('2 applications erased.')
  await waitFor(() => expect(document.activeElement?.textContent).toBe('How long applications are kept'))
  await follow('Applications')
  await screen.findByRole('heading', { name: 'Applications' })
  await waitFor(() => expect(screen.queryByRole('link', { name: 'Ada N' })).toBeNull())
  goTo('/history')
  await screen.findByText('2 applications erased after the retreat')
})

test('the changes of a colleague who saves first are not overwritten', async () => {
  const { press, fill } = await desk.open('/retention')
  const field = () => screen.findByLabelText<HTMLInputElement>('The same for people who came')
  await fill(await field(), '36')
  const { version } = (await desk.bob.client.rpc('desk_retention').throwOnError()).data as { version: number }
  await desk.bob.client.rpc('desk_set_retention', { version, months: 6, months_for_guests: 6 }).throwOnError()
  await press('Save')
  await screen.findByText(
    /^Somebody else changed this meanwhile: Applications are kept for 6 months after the retreat\./,
  )
  await press('Discard')
  expect((await field()).value).toBe('6')
})
