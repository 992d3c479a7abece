import { screen, within } from '@testing-library/dom'
import { expect, test } from 'vitest'

import { findAlert, heading, sentence, settingSwitch } from '../support/desk-parts.ts'
import { deskScreensForTestFile } from '../support/opened-desk.ts'

const desk = deskScreensForTestFile({ mailServer: undefined })

test('an organiser invites another, who signs in by the link that is shown once, and is removed after a confirmation', async () => {
  const { fill, press, announced, user, reload } = await desk.open('/account')
  await fill(await screen.findByLabelText('Their email'), 'grace@example.org')
  await fill(screen.getByLabelText('Their name (optional)'), 'Grace')
  await user.click(screen.getByRole('checkbox', { name: 'May only read' }))
  await press('Invite')
  await announced('grace@example.org is invited.')
  const { textContent: link } = await screen.findByText(/\/desk#token_hash=[0-9a-f]{64}&type=magiclink$/)
  expect(await settingSwitch('Grace may only read')).toHaveProperty('checked', true)
  await sentence(/Invited by ada@example\.org, .*, not signed in yet$/)
  // The form is empty again.
  expect(screen.getByLabelText('Their email')).toHaveProperty('value', '')

  const client = desk.server.client()
  const token_hash = new URLSearchParams(new URL(link).hash.slice(1)).get('token_hash') ?? ''
  await client.auth.verifyOtp({ type: 'magiclink', token_hash })
  expect((await client.rpc('desk_me')).data).toMatchObject({ name: 'Grace', reader: true })

  reload()
  await settingSwitch('Grace may only read')
  expect(screen.queryByText(/token_hash/)).toBeNull()
  await fill(await screen.findByLabelText('Their email'), 'grace@example.org')
  await press('Invite')
  await findAlert('This person is an organiser already.')

  await press('Remove: Grace')
  await press('Keep')
  await press('Remove: Grace')
  await press('Remove Grace')
  await announced('Grace was removed.')
  const list = within(await screen.findByRole('region', { name: 'Organisers' }))
  expect(list.queryByText('Grace')).toBeNull()
  expect((await client.rpc('desk_me')).error?.code).toBe('42501')
})

test('where a hosted project makes the accounts, one sentence stands in place of the form', async () => {
  const { network } = await desk.open('/applications')
  network.route('desk_organisers', async ({ send }) =>
    Response.json({ ...((await (await send()).json()) as object), can_invite: false }),
  )
  location.hash = '/account'
  await heading('Account')
  await screen.findByText(/^Accounts are made in the project’s dashboard/)
  expect(screen.queryByLabelText('Their email')).toBeNull()
})
