import { screen, waitFor } from '@testing-library/dom'
import { expect, test } from 'vitest'

import { sessionKey } from '../../src/client/stored-session.ts'
import { operatorSecret, removeOrganiser } from '../../src/server/auth/manage-organisers.ts'
import { people } from '../support/applicants.ts'
import { findAlert, button, focusedWords, heading, link, setClockBehind } from '../support/desk-parts.ts'
import { deskScreensForTestFile, type OpenedDesk } from '../support/opened-desk.ts'
import { disconnect, refusal } from '../support/intercepted-fetch.ts'
import { otherCodeThan } from '../support/sign-in-server.ts'

const desk = deskScreensForTestFile()

const signedOut = { as: null }

/** The part of an address that signs in, as an operator makes it. */
const secretFor = async (email: string) =>
  `token_hash=${await operatorSecret(desk.sql, email)}&type=magiclink`

const emailField = () => screen.findByLabelText('Email')
const codeField = () => screen.findByLabelText('Code')

async function askForCode({ fill, press }: OpenedDesk, email: string) {
  await fill(await emailField(), email)
  await press('Send code')
  await codeField()
}

async function signInBy({ fill, press }: OpenedDesk, code = '') {
  await fill(await codeField(), code)
  await press('Sign in')
}

test('an impossible or wrong code is reported at its field, and the right one may have spaces and wide digits', async () => {
  const email = await desk.server.organiser()
  const opened = await desk.open('/', signedOut)
  await heading('Sign in')
  expect(focusedWords()).toBe('Email')
  await askForCode(opened, email)
  expect(focusedWords()).toBe('Code')
  const [{ code } = { code: '' }] = await desk.server.mail.waitFor(1, email)
  await signInBy(opened, '12345')
  await findAlert('A code has six digits. Please check it.')
  await signInBy(opened, otherCodeThan(code))
  await findAlert(/^This code is wrong, was used already/)
  expect(focusedWords()).toBe('Code')
  const wide = code.replaceAll(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)))
  await signInBy(opened, ` ${wide.slice(0, 3)}\u00a0${wide.slice(3)}\u200b`)
  await heading('Applications')
  expect(focusedWords()).toBe('Applications')
  await screen.findByText(email)
})

test('an unknown address gets the same response as a known one, from our server and from a hosted project', async () => {
  const known = await desk.server.organiser()
  const opened = await desk.open('/', signedOut)
  const { network, press } = opened
  const responses: (string | undefined)[] = []
  for (const [email, isHosted] of [
    [known, false],
    ['nobody@example.org', false],
    ['nobody@example.com', true],
  ] as const) {
    const refuse = () =>
      Promise.resolve(
        Response.json(
          { code: 422, error_code: 'otp_disabled', msg: 'Signups not allowed for otp' },
          { status: 422 },
        ),
      )
    const end = isHosted ? network.route('otp', refuse) : () => {}
    await askForCode(opened, email)
    end()
    responses.push(document.querySelector('main')?.textContent.replace(email, '…'))
    await press('Another address')
    await waitFor(() => expect(focusedWords()).toBe('Email'))
  }
  expect(responses[0]).toContain('an email with a code is on its way')
  expect(new Set(responses).size).toBe(1)
  await desk.server.mail.waitFor(1, known)
  expect(desk.server.mail.received.flatMap(({ to }) => to)).not.toContain('nobody@example.org')
})

test('a repeated request for a code says how long to wait, and another address can be used', async () => {
  const [first, second] = [await desk.server.organiser(), await desk.server.organiser()]
  const opened = await desk.open('/', signedOut)
  const { press } = opened
  await askForCode(opened, first)
  await press('Send again')
  expect((await screen.findByRole('alert')).textContent).toMatch(
    /^An email was requested a moment ago\. Please wait \d\d seconds before you ask for another\.$/,
  )
  await press('Another address')
  await askForCode(opened, second)
  const [received] = await desk.server.mail.waitFor(1, second)
  await signInBy(opened, received?.code)
  await heading('Applications')
})

test('a code can be sent again, and the newest code works', async () => {
  const email = await desk.server.organiser()
  const opened = await desk.open('/', signedOut)
  await askForCode(opened, email)
  await desk.server.mail.waitFor(1, email)
  await desk.sql`delete from private.mail_requests`
  await opened.press('Send again')
  await screen.findByText('Sent again.')
  const received = await desk.server.mail.waitFor(2, email)
  await signInBy(opened, received.at(-1)?.code)
  await heading('Applications')
})

test('without a mail server the response says that the operator makes a link, and for which address', async () => {
  const { fill, press, network } = await desk.open('/', signedOut)
  // A server without emails responds like this, as `src/server/auth/calls/emails.test.ts` shows.
  const response = { code: 422, error_code: 'email_provider_disabled', msg: 'Email logins are disabled' }
  network.route('otp', () => Promise.resolve(Response.json(response, { status: 422 })))
  await fill(await emailField(), 'ada@example.org')
  await press('Send code')
  expect((await screen.findByRole('alert')).textContent).toBe(
    'This site sends no emails. Please ask your operator for a link to sign in as ada@example.org.',
  )
})

test('a code that is sent late does not replace the password that is being typed', async () => {
  const { fill, press, network } = await desk.open('/', signedOut)
  const release = network.hold('otp')
  await fill(await emailField(), await desk.server.organiser())
  await press('Send code')
  await press('Use a password')
  const password = await screen.findByLabelText<HTMLInputElement>('Password')
  await fill(password, 'correct horse')
  release()
  await network.settled()
  await press('Sign in')
  await findAlert(/^The address or the password is wrong\./)
  expect(screen.getByLabelText('Password')).toBe(password)
  expect(password.value).toBe('correct horse')
})

test('a pressed button shows that it is busy, and sends once', async () => {
  const { user, fill, network } = await desk.open('/', signedOut)
  await fill(await emailField(), await desk.server.organiser())
  const release = network.hold('otp')
  const send = await button('Send code')
  send.click()
  send.click()
  expect((await screen.findByRole<HTMLButtonElement>('button', { name: 'Sending…' })).disabled).toBe(true)
  await user.type(await emailField(), '{Enter}')
  release()
  await codeField()
  expect(network.calls.filter((name) => name === 'otp')).toHaveLength(1)
})

test('without a connection nothing is lost, and each step can be tried again', async () => {
  const opened = await desk.open('/', signedOut)
  const { fill, press, network, allowConsoleError } = opened
  allowConsoleError(/Failed to fetch/)
  const email = await desk.server.organiser()
  await fill(await emailField(), email)
  let connect = network.route('otp', disconnect)
  await press('Send code')
  await findAlert(/^The server could not be reached\./)
  expect(await screen.findByLabelText<HTMLInputElement>('Email')).toHaveProperty('value', email)
  connect()
  await press('Send code')
  const [received] = await desk.server.mail.waitFor(1, email)
  connect = network.route('desk_me', disconnect)
  await signInBy(opened, received?.code)
  await heading('The desk cannot be opened now')
  connect()
  connect = network.route('desk_me', () => Promise.resolve(refusal()))
  await press('Try again')
  await findAlert('The server said: boom')
  connect()
  await press('Try again')
  await heading('Applications')

  // If the sign-out does not reach the server, the session continues and the page says so.
  network.route('logout', disconnect)
  await press('Sign out')
  await findAlert(/^You are still signed in\. The server could not be reached\./)
})

test('a link signs in even in a tab where somebody else is signed in', async () => {
  const first = await desk.server.signedIn()
  const second = await desk.server.organiser()
  const { goTo, press } = await desk.open('/', { as: first })
  await screen.findByText(first.email)
  goTo(await secretFor(second))
  await press('Sign in')
  await screen.findByText(second)
  expect(screen.queryByText(first.email)).toBeNull()
  expect(location.hash).toBe('#/')
})

test('a link that another person or program has used leads to a code by email', async () => {
  const email = await desk.server.organiser()
  const secret = await secretFor(email)
  const { press } = await desk.open(secret, signedOut)
  await button('Sign in')
  expect(focusedWords()).toBe('Sign in')
  await desk.server
    .client()
    .auth.verifyOtp({ type: 'magiclink', token_hash: new URLSearchParams(secret).get('token_hash') ?? '' })
  await press('Sign in')
  await screen.findByText(/^This link was used already/)
  await press('Get a code by email')
  await emailField()
  expect(focusedWords()).toBe('Email')
})

test('a link with a session does not replace the session of a signed-in organiser', async () => {
  const { data } = await (await desk.server.signedIn()).client.auth.getSession()
  const { access_token = '', refresh_token = '' } = data.session ?? {}
  const organiser = await desk.server.signedIn()
  await desk.open(new URLSearchParams({ access_token, refresh_token, token_type: 'bearer' }).toString(), {
    as: organiser,
  })
  await heading('Applications')
  await screen.findByText(organiser.email)
  expect(location.hash).toBe('#/')
})

test.each([
  ['an expired link', 'error=access_denied&error_code=otp_expired', /^This link was used already/],
  ['another refusal', 'error=server_error&error_code=unexpected_failure', /^Signing in by this link did not/],
  ['tokens', 'access_token=a.b.c&refresh_token=d', /^Signing in by this link did not/],
])("a hosted project's failed link is reported: %s", async (_, fragment, sentence) => {
  await desk.open(`${fragment}&error_description=Call+0900+123456&sb=`, signedOut)
  await screen.findByText(sentence)
  // Anybody can write a link, so its text is not shown.
  expect(document.body.textContent).not.toContain('0900')
  expect(location.hash).toBe('#/')
  expect(focusedWords()).toBe('Email')
})

test('both links of a change of address are confirmed with a button, one after the other', async () => {
  const { client, email } = await desk.server.signedIn()
  expect((await client.auth.updateUser({ email: `new-${email}` })).error).toBeNull()
  const [first] = await desk.server.mail.waitFor(1, email)
  const [second] = await desk.server.mail.waitFor(1, `new-${email}`)
  const secretIn = (address = '') => address.split('#')[1] ?? ''
  const { goTo, press } = await desk.open(secretIn(first?.link), signedOut)
  await press('Confirm')
  await screen.findByText(/^This address is confirmed\./)
  goTo(secretIn(second?.link))
  await press('Confirm')
  await heading('Applications')
  await screen.findByText(`new-${email}`)
})

test('an organiser who is removed while signed in no longer sees any application', async () => {
  await desk.store(people(1))
  const organiser = await desk.server.signedIn()
  const { network, activateWindow } = await desk.open('/', { as: organiser })
  await link('Person 1')
  await removeOrganiser(desk.sql, organiser.email)
  await activateWindow()
  await findAlert('Your session has ended. Please sign in again.')
  await emailField()
  await network.settled()
  expect(document.body.textContent).not.toMatch(/Person|Account|organiser-/)
  // The session is also gone from storage.
  expect(localStorage.getItem(sessionKey)).toBeNull()
})

test('the next organiser to sign in in the same tab sees no data of the previous one', async () => {
  await desk.store(people(1))
  const { goTo, network, press } = await desk.open('/', { as: await desk.server.signedIn() })
  await link('Person 1')
  await press('Sign out')
  await emailField()
  const release = network.hold('desk_list')
  goTo(await secretFor(await desk.server.organiser()))
  await press('Sign in')
  await heading('Applications')
  expect(document.body.textContent).not.toContain('Person 1')
  release()
  await link('Person 1')
})

test('an organiser whose clock is far off reads so on the list, in an application and on other screens', async () => {
  const [application] = await desk.store(people(1))
  const client = await desk.server.signedIn('grace@example.org')
  const { reload, goTo } = await desk.open('/', { as: client })
  await heading('Applications')
  const sentence = /^The clock of this device is 10 minutes behind\. Please set it/
  expect(screen.queryByText(sentence)).toBeNull()
  setClockBehind()
  reload()
  await screen.findByText(sentence)
  for (const [address, title] of [
    ['/door', 'Door'],
    [`/applications/${application?.id}`, 'Person 1'],
  ] as const) {
    goTo(address)
    await heading(title)
    await screen.findByText(sentence)
  }
})
