import { screen, waitFor } from '@testing-library/dom'
import { expect, test } from 'vitest'

import { sessionKey } from '../../src/client/stored-session.ts'
import { operatorSecret } from '../../src/server/auth/manage-organisers.ts'
import {
  findAlert,
  box,
  button,
  focusedWords,
  heading,
  link,
  setClockBehind,
  settingSwitch,
  timeline,
} from '../support/desk-parts.ts'
import { deskScreensForTestFile, type OpenedDesk } from '../support/opened-desk.ts'
import { codeOf, otherCodeThan } from '../support/sign-in-server.ts'

const desk = deskScreensForTestFile()

/** Opens the operator's link for an organiser, and presses its button. */
async function signInByLink({ goTo, press }: OpenedDesk, email: string) {
  goTo(`token_hash=${await operatorSecret(desk.sql, email)}&type=magiclink`)
  await screen.findByText(/^Press the button to sign in by your link\./)
  await press('Sign in')
}

async function signOut({ user }: OpenedDesk) {
  // The screen “Account” has a second one for narrow windows.
  const [signOutButton] = await screen.findAllByRole('button', { name: 'Sign out' })
  if (signOutButton) await user.click(signOutButton)
  await screen.findByLabelText('Email')
}

/** Begins to set up a second factor. Returns its secret. */
async function setUpFactor({ press }: OpenedDesk) {
  await press('Set up')
  const secret = (await screen.findByText(/^[A-Z2-7]{32}$/)).textContent
  expect(focusedWords()).toBe('Code')
  return secret
}

test('a second factor is switched on, required, and switched off', async () => {
  const organiser = await desk.server.signedIn()
  const opened = await desk.open('/account', { as: organiser })
  const { fill, follow, press, announced, network, reload } = opened
  const enterCode = async (code: string, name: string) => {
    await fill(await screen.findByLabelText('Code'), code)
    await press(name)
  }
  // An abandoned set-up does not block a new one.
  await setUpFactor(opened)
  reload()
  const secret = await setUpFactor(opened)
  expect(screen.getByRole('img', { name: /QR code/ }).getAttribute('src')).toMatch(/^data:image\/svg\+xml/)
  await enterCode(otherCodeThan(codeOf(secret)), 'Switch on')
  await findAlert(/^This code is wrong, or was used already/)
  // The new state is shown before it is read again.
  const release = network.hold('user')
  await enterCode(codeOf(secret), 'Switch on')
  await announced('The second factor is on.')
  await button('Switch off')
  await waitFor(() => expect(focusedWords()).toBe('Switch off'))
  release()
  expect(
    await desk.sql`
      select status from auth.mfa_factors join auth.users on user_id = users.id where email = ${organiser.email}`,
  ).toEqual([{ status: 'verified' }])

  await signOut(opened)
  await signInByLink(opened, organiser.email)
  await heading('Second factor')
  expect(focusedWords()).toBe('Code')
  expect(screen.queryByRole('heading', { name: 'Applications' })).toBeNull()
  // The second factor is still required after a reload. Somebody who lost it can sign out.
  setClockBehind()
  reload()
  await heading('Second factor')
  await screen.findByText(
    /^The clock of this device is 10 minutes behind\. .* codes of an app on it may be wrong\.$/,
  )
  await signOut(opened)
  await signInByLink(opened, organiser.email)
  await enterCode(otherCodeThan(codeOf(secret, 1)), 'Sign in')
  await findAlert(/^This code is wrong, or was used already/)
  await enterCode(codeOf(secret, 1), 'Sign in')
  await heading('Applications')
  await waitFor(() => expect(focusedWords()).toBe('Applications'))

  await follow('Account')
  await press('Switch off')
  await announced('The second factor is off.')
  await button('Set up')
  await signOut(opened)
  await signInByLink(opened, organiser.email)
  await heading('Applications')
})

test('a password is set under Account and signs in; in an older session it also needs an emailed code', async () => {
  const organiser = await desk.server.signedIn()
  const { email } = organiser
  const opened = await desk.open('/account', { as: organiser })
  const { fill, press, announced } = opened
  const newPassword = () => screen.findByLabelText<HTMLInputElement>('New password')
  const setPassword = async (password: string) => {
    await fill(await newPassword(), password)
    await press('Set password')
  }
  await setPassword('12345')
  await findAlert(
    'Please choose another password. The server said: Password should be at least 10 characters.',
  )
  expect(focusedWords()).toBe('New password')
  await setPassword('correct horse')
  await announced('The password is set. Your sessions in other browsers have ended.')
  expect((await newPassword()).value).toBe('')
  expect(focusedWords()).toBe('New password')
  await desk.server.mail.waitFor(1, email)

  await desk.sql`
    update auth.sessions set created_at = sessions.created_at - interval '25 hours'
    from auth.users where user_id = users.id and email = ${email}`
  await setPassword('battery staple')
  const code = await screen.findByLabelText('Code')
  expect(focusedWords()).toBe('Code')
  expect((await newPassword()).value).toBe('battery staple')
  const emailed = (await desk.server.mail.waitFor(2, email)).at(-1)?.code ?? ''
  await fill(code, otherCodeThan(emailed))
  await press('Set password')
  await findAlert(/^This code is wrong/)
  expect(focusedWords()).toBe('Code')
  await fill(code, emailed)
  await press('Set password')
  await waitFor(() => expect(screen.queryByLabelText('Code')).toBeNull())
  await desk.server.mail.waitFor(3, email)

  await signOut(opened)
  await press('Use a password')
  expect(focusedWords()).toBe('Email')
  await fill(await screen.findByLabelText('Email'), email)
  const password = await screen.findByLabelText('Password')
  await fill(password, 'correct horse')
  await press('Sign in')
  await findAlert(/^The address or the password is wrong\./)
  expect(focusedWords()).toBe('Password')
  await fill(password, 'battery staple')
  await press('Sign in')
  await heading('Account')
  await screen.findByText(email, { selector: 'b' })
})

test('a second factor that is set up in one browser ends the sessions of other browsers', async () => {
  const organiser = await desk.server.signedIn()
  const { follow } = await desk.open('/', { as: organiser })
  await heading('Applications')
  const other = await desk.server.signedIn(organiser.email)
  const { data: factor } = await other.client.auth.mfa.enroll({ factorType: 'totp' })
  await other.client.auth.mfa.challengeAndVerify({
    factorId: factor?.id ?? '',
    code: codeOf(factor?.totp?.secret ?? ''),
  })
  await follow('Account')
  await findAlert('Your session has ended. Please sign in again.')
  expect(localStorage.getItem(sessionKey)).toBeNull()
})

test('ending all sessions signs out here, and other browsers at their next request', async () => {
  const organiser = await desk.server.signedIn()
  const other = await desk.server.signedIn(organiser.email)
  const { press } = await desk.open('/account', { as: organiser })
  await press('End all sessions')
  await screen.findByLabelText('Email')
  expect((await other.client.rpc('desk_me')).error?.code).toBe('42501')
})

test('blind reading is switched on and off, and hides everything that was read before', async () => {
  await desk.store([{ first_name: 'Ada', last_name: 'Babbage' }])
  const { user, follow, press, network, announced, reload } = await desk.open()
  await user.click(await box('Ada Babbage'))
  await press('Accept')
  await button('Undo: Ada Babbage, Accepted')
  await follow('Account')
  const blind = await settingSwitch('Blind reading')
  expect(blind).toHaveProperty('checked', false)
  await user.click(blind)
  await announced('Blind reading is on.')
  expect(
    await desk.sql`
      select blind from private.organisers join auth.users on account_id = id where email = ${desk.ada.email}`,
  ).toEqual([{ blind: true }])
  // The list shows nothing until it has been read again.
  const release = network.hold('desk_list')
  await follow('Applications')
  await heading('Applications')
  expect(document.body.textContent).not.toContain('Babbage')
  release()
  await link('Accepted 1')
  expect(document.body.textContent).not.toContain('Babbage')
  reload()
  await follow('Account')
  const switchedOn = await settingSwitch('Blind reading')
  expect(switchedOn).toHaveProperty('checked', true)
  await user.click(switchedOn)
  await announced('Blind reading is off.')
})

test('switching blind reading keeps the rest of the account page and the focus', async () => {
  const { user, network, announced } = await desk.open('/account')
  const setUp = await button('Set up')
  const blind = await settingSwitch('Blind reading')
  // The second factor must not be read again, since its button would disappear until then.
  network.hold('user')
  const release = network.hold('desk_set_blind')
  await user.click(blind)
  setUp.focus()
  release()
  await announced('Blind reading is on.')
  expect(document.activeElement).toBe(setUp)
  expect(setUp.isConnected).toBe(true)
})

test('a name that is set at the desk stands in place of the email, and an own act is not announced as another’s', async () => {
  const [{ id } = { id: '' }] = await desk.store([{ first_name: 'Ada', last_name: 'Babbage' }])
  await desk.bob.client
    .rpc('desk_note', { act: crypto.randomUUID(), application: id, note: 'By Bob.' })
    .throwOnError()
  await desk.bob.client.rpc('desk_set_name', { name: 'Bob' }).throwOnError()
  const { press, fill, goTo, announced, user } = await desk.open('/account')
  await fill(await screen.findByLabelText('Your name'), 'bob')
  await press('Save name')
  await findAlert(/^Not saved\. Somebody else has this name\./)
  await fill(await screen.findByLabelText('Your name'), ' Ada L. ')
  await press('Save name')
  await announced('Name saved.')
  await waitFor(() => expect(screen.getByLabelText('Your name')).toHaveProperty('value', 'Ada L.'))

  goTo(`/applications/${id}`)
  await heading('Ada Babbage')
  await user.type(await screen.findByLabelText('Note'), 'By Ada.')
  await press('Add note')
  await waitFor(() =>
    expect(timeline().slice(1)).toEqual([
      expect.stringMatching(/, Bob, new since you last lookedBy Bob\.$/),
      expect.stringMatching(/, Ada L\.By Ada\.$/),
    ]),
  )
})
