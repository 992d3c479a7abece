import type { BrowserContextOptions, Page } from 'playwright-core'
import { beforeAll, expect } from 'vitest'

import { addOrganiser, operatorSecret, removeOrganiser } from '../../src/server/auth/organisers.ts'
import { anApplication } from '../support/form.ts'
import { newProject } from '../support/hosted-project.ts'
import { startMailServer, type MailServer } from '../support/mail-server.ts'
import { clientOf } from '../support/organiser.ts'
import { startPostgres } from '../support/postgres.ts'
import { dataDirectory, runCommand, startServer, type RunningServer } from '../support/server.ts'
import { unusedIpAddress, anonKey, codeOf } from '../support/sign-in.ts'
import { disableBackOff } from '../support/back-off.ts'
import { holdRequests } from '../support/held-requests.ts'
import { test, type Visitor } from '../support/visitor.ts'
import { connectToEmbedded } from '../support/sql.ts'
import type { Pool } from '../../src/server/database/pool.ts'

const refusedRequest = /Failed to load resource/

let server: RunningServer
let mail: MailServer
let sql: Pool
let settings: Record<string, string>

beforeAll(async () => {
  const directory = await dataDirectory()
  mail = await startMailServer()
  settings = {
    DATA_DIR: directory.path,
    SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
    MAIL_FROM: 'hello@example.org',
    // Each visitor has their own IP address, since rate limits count by address.
    TRUST_PROXY: '1',
  }
  server = await startServer(settings)
  sql = connectToEmbedded(directory.path)
})

let organiserCount = 0

/** Makes an organiser with a new email address. */
async function organiser() {
  organiserCount += 1
  const email = `organiser-${organiserCount}@example.org`
  await addOrganiser(sql, email)
  return email
}

/** A sign-in link, as an operator makes it. */
async function linkFor(email: string, origin = server.origin) {
  return `${origin}/desk#token_hash=${await operatorSecret(sql, email)}&type=magiclink`
}

/** Opens a page of the desk from an unused IP address. */
function open(visitor: Visitor, url = `${server.origin}/desk`, options: BrowserContextOptions = {}) {
  return visitor.open(url, options, (page) =>
    page.setExtraHTTPHeaders({ 'x-forwarded-for': unusedIpAddress() }),
  )
}

/** The parts of the sign-in page and of the desk. */
function on(page: Page) {
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  return {
    email: page.getByLabel('Email', { exact: true }),
    code: page.getByLabel('Code', { exact: true }),
    sendCode: button('Send code'),
    signIn: button('Sign in'),
    signOut: button('Sign out'),
    button,
    // An alert with text. An empty one is on the page from the start.
    alert: page.getByRole('alert').filter({ hasText: /./ }),
    status: page.getByRole('status'),
    heading: (name: string) => page.getByRole('heading', { level: 1, name, exact: true }),
    applications: page.getByRole('heading', { level: 1, name: 'Applications', exact: true }),
    account: page.getByRole('link', { name: 'Account', exact: true }),
  }
}

const focused = (page: Page) =>
  page.evaluate(() => {
    const element = document.activeElement
    const label = element instanceof HTMLInputElement ? element.labels?.[0] : element
    return label?.textContent ?? ''
  })

/** Opens the desk as a signed-in organiser. */
async function openSignedIn(visitor: Visitor, options: BrowserContextOptions & { email?: string } = {}) {
  const { email = await organiser(), ...context } = options
  const page = await open(visitor, await linkFor(email), context)
  await on(page).signIn.click()
  await on(page).applications.waitFor()
  return { page, email }
}

/** A different code. */
const otherCodeThan = (code: string) => (code === '000000' ? '000001' : '000000')

/** The addresses in the browser's history. */
async function historyOf(page: Page) {
  const devtools = await page.context().newCDPSession(page)
  const { entries } = await devtools.send('Page.getNavigationHistory')
  return entries.map(({ url }) => url)
}

test('an organiser signs in with an emailed code, stays signed in after a reload, and signs out', async ({
  visitor,
}) => {
  visitor.allowConsoleError(refusedRequest)
  const email = await organiser()
  const page = await open(visitor)
  const desk = on(page)
  await expect.poll(() => focused(page)).toBe('Email')
  expect(await desk.email.getAttribute('type')).toBe('email')
  await desk.email.fill(email)
  await desk.sendCode.click()
  await desk.code.waitFor()
  await expect.poll(() => focused(page)).toBe('Code')
  expect(await desk.code.getAttribute('autocomplete')).toBe('one-time-code')
  expect(await desk.code.getAttribute('inputmode')).toBe('numeric')
  const [{ code } = { code: '' }] = await mail.waitFor(1, email)

  await desk.code.fill('12345')
  await desk.signIn.click()
  await expect.poll(() => desk.alert.textContent()).toBe('A code has six digits. Please check it.')
  await desk.code.fill(otherCodeThan(code))
  await desk.signIn.click()
  await expect.poll(() => desk.alert.textContent()).toMatch(/^This code is wrong, was used already/)
  await expect.poll(() => focused(page)).toBe('Code')
  // Somebody may paste the code with spaces.
  await desk.code.fill(` ${code.slice(0, 3)} ${code.slice(3)}`)
  await desk.signIn.click()
  await desk.applications.waitFor()
  await page.getByText(email).waitFor()
  await page.reload()
  await desk.applications.waitFor()

  await desk.signOut.click()
  await desk.email.waitFor()
  expect(await desk.status.first().textContent()).toBe('You are signed out.')
  expect(
    await sql`select from auth.sessions join auth.users on user_id = users.id where email = ${email}`,
  ).toHaveLength(0)
  await page.reload()
  await desk.email.waitFor()
})

test('an unknown address gets the same response as a known one, from our server and from a hosted project', async ({
  visitor,
}) => {
  visitor.allowConsoleError(refusedRequest)
  const [page, hosted] = [await open(visitor), await open(visitor)]
  await hosted.route('**/auth/v1/otp*', (route) =>
    route.fulfill({
      status: 422,
      json: { code: 422, error_code: 'otp_disabled', msg: 'Signups not allowed for otp' },
    }),
  )
  const known = await open(visitor)
  await on(known).email.fill(await organiser())
  const seen: string[] = []
  for (const each of [page, hosted, known]) {
    const email = (await on(each).email.inputValue()) || 'nobody@example.org'
    await on(each).email.fill(email)
    await on(each).sendCode.click()
    await on(each).code.waitFor()
    seen.push((await each.locator('main').innerText()).replace(email, '…'))
  }
  expect(new Set(seen).size).toBe(1)
  expect(mail.received.flatMap(({ to }) => to)).not.toContain('nobody@example.org')
  await on(page).code.fill('123456')
  await on(page).signIn.click()
  await expect.poll(() => on(page).alert.textContent()).toMatch(/^This code is wrong/)
})

test('a repeated request for a code says how long to wait, and another address can be used', async ({
  visitor,
}) => {
  visitor.allowConsoleError(refusedRequest)
  const page = await open(visitor)
  const desk = on(page)
  await desk.email.fill(await organiser())
  await desk.sendCode.click()
  await desk.button('Send again').click()
  await expect
    .poll(() => desk.alert.textContent())
    .toMatch(/^An email was requested a moment ago\. Please wait \d\d seconds before you ask for another\.$/)
  await desk.button('Another address').click()
  await expect.poll(() => focused(page)).toBe('Email')
  const email = await organiser()
  await desk.email.fill(email)
  await desk.sendCode.click()
  const [received] = await mail.waitFor(1, email)
  await desk.code.fill(received?.code ?? '')
  await desk.signIn.click()
  await desk.applications.waitFor()
})

test('a code can be sent again, and the newest code works', async ({ visitor }) => {
  visitor.allowConsoleError(refusedRequest)
  const email = await organiser()
  const page = await open(visitor)
  const desk = on(page)
  await desk.email.fill(email)
  await desk.sendCode.click()
  await mail.waitFor(1, email)
  await sql`delete from private.mail_requests`
  await desk.button('Send again').click()
  await page.getByText('Sent again.').waitFor()
  const received = await mail.waitFor(2, email)
  await desk.code.fill(received.at(-1)?.code ?? '')
  await desk.signIn.click()
  await desk.applications.waitFor()
})

test('only the button uses a link up, and no token remains in the address or the history', async ({
  visitor,
}) => {
  visitor.allowConsoleError(refusedRequest)
  const email = await organiser()
  const requester = await open(visitor)
  await on(requester).email.fill(email)
  await on(requester).sendCode.click()
  const [{ link } = { link: '' }] = await mail.waitFor(1, email)
  expect(link).toMatch(/\/desk#token_hash=[0-9a-f]{64}&type=magiclink$/)
  // Email scanners open links, some even in a browser.
  await fetch(link)
  const scanner = await open(visitor, link)
  await on(scanner).signIn.waitFor()

  const page = await open(visitor, link)
  await on(page).signIn.waitFor()
  await expect.poll(() => focused(page)).toBe('Sign in')
  await page.reload()
  await on(page).signIn.click()
  await on(page).applications.waitFor()
  expect(page.url()).toBe(`${server.origin}/desk#/`)
  expect((await historyOf(page)).join(' ')).not.toContain('token')

  await on(scanner).signIn.click()
  await expect.poll(() => on(scanner).alert.textContent()).toMatch(/^This link was used already/)
  await on(scanner).button('Get a code by email').click()
  await expect.poll(() => focused(scanner)).toBe('Email')
})

test('the link of the organisers command signs in, even in a tab where somebody else is signed in', async ({
  visitor,
}) => {
  const { page, email } = await openSignedIn(visitor)
  const { stdout } = await runCommand(['organisers', '--add', 'printed@example.org'], {
    ...settings,
    SITE_URL: server.origin,
  })
  await page.goto(stdout.trim())
  await on(page).signIn.click()
  await on(page).applications.waitFor()
  await page.getByText('printed@example.org').waitFor()
  await expect.poll(() => page.getByText(email).count()).toBe(0)
})

test('without a mail server the response says how the operator makes a link', async ({ visitor }) => {
  visitor.allowConsoleError(refusedRequest)
  const page = await open(visitor)
  // A server without emails responds like this, as `src/server/auth/calls/emails.test.ts` shows.
  const json = { code: 422, error_code: 'email_provider_disabled', msg: 'Email logins are disabled' }
  await page.route('**/auth/v1/otp*', (route) => route.fulfill({ status: 422, json }))
  await on(page).email.fill('ada@example.org')
  await on(page).sendCode.click()
  await expect
    .poll(() => on(page).alert.innerText())
    .toMatch(
      /^This site sends no emails\. Please ask the person who runs it .*\s+npm run organisers -- --link ada@example\.org$/,
    )
})

/** Begins to set up a second factor on the account page, and returns its secret. */
async function setUpFactor(page: Page) {
  await page.getByRole('button', { name: 'Set up' }).click()
  const secret = (await page.locator('.account-secret').textContent()) ?? ''
  expect(secret).toMatch(/^[A-Z2-7]{32}$/)
  return secret
}

test('the typed email address carries over to the sign-in by password, and the focus stays', async ({
  visitor,
}) => {
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  const page = await visitor.open(`${server.origin}/desk`, {}, (opened) =>
    opened.route('**/assets/*.js', async (route) => {
      await released
      await route.continue()
    }),
  )
  const desk = on(page)
  await desk.email.fill('ada@example.org')
  await desk.button('Use a password').focus()
  release()
  await page.waitForFunction(() => window.heldPress === null)
  expect(await focused(page)).toBe('Use a password')
  await page.keyboard.press('Enter')
  await expect.poll(() => focused(page)).toBe('Password')
  expect(await desk.email.inputValue()).toBe('ada@example.org')
  await desk.email.fill('bob@example.org')
  await desk.button('Use a code').click()
  await desk.sendCode.waitFor()
  expect(await desk.email.inputValue()).toBe('bob@example.org')
  expect(await focused(page)).toBe('Email')
})

test('a code that is sent late does not replace the password that is being typed', async ({ visitor }) => {
  visitor.allowConsoleError(refusedRequest)
  const page = await open(visitor)
  const desk = on(page)
  const release = await holdRequests(page, '**/auth/v1/otp*')
  await desk.email.fill(await organiser())
  await desk.sendCode.click()
  await desk.button('Use a password').click()
  await page.getByLabel('Password', { exact: true }).fill('correct horse')
  const response = page.waitForResponse('**/auth/v1/otp*')
  release()
  await response
  await desk.signIn.click()
  await expect.poll(() => desk.alert.textContent()).toMatch(/^The address or the password is wrong\./)
  expect(await page.getByLabel('Password', { exact: true }).inputValue()).toBe('correct horse')
})

test('a second factor is switched on, required, and switched off', async ({ visitor }) => {
  visitor.allowConsoleError(refusedRequest)
  const { page, email } = await openSignedIn(visitor)
  const desk = on(page)
  await desk.account.click()
  await desk.heading('Account').waitFor()
  // An abandoned set-up does not block a new one.
  await setUpFactor(page)
  await page.reload()
  const secret = await setUpFactor(page)
  await expect.poll(() => focused(page)).toBe('Code')
  const drawing = page.getByRole('img', { name: /QR code/ })
  expect(
    await drawing.evaluate((image: HTMLImageElement) => image.decode().then(() => image.naturalWidth)),
  ).toBeGreaterThan(20)
  await desk.code.fill(otherCodeThan(codeOf(secret)))
  await desk.button('Switch on').click()
  await expect.poll(() => desk.alert.textContent()).toMatch(/^This code is wrong, or was used already/)
  await desk.code.fill(codeOf(secret))
  // The new state is shown before it is read again.
  await page.route('**/auth/v1/user', () => {})
  await desk.button('Switch on').click()
  await desk.status.getByText('The second factor is on.').waitFor()
  await desk.button('Switch off').waitFor()
  await expect.poll(() => focused(page)).toBe('Switch off')
  await page.unroute('**/auth/v1/user')
  expect(
    await sql`select status from auth.mfa_factors join auth.users on user_id = users.id where email = ${email}`,
  ).toEqual([{ status: 'verified' }])

  await desk.signOut.click()
  await desk.email.waitFor()
  await page.goto(await linkFor(email))
  await desk.signIn.click()
  await desk.heading('Second factor').waitFor()
  await expect.poll(() => focused(page)).toBe('Code')
  expect(await desk.applications.count()).toBe(0)
  // The second factor is still required after a reload. Somebody who lost it can sign out.
  await page.reload()
  await desk.signOut.click()
  await desk.email.waitFor()
  await page.goto(await linkFor(email))
  await desk.signIn.click()
  await desk.code.fill(otherCodeThan(codeOf(secret, 1)))
  await desk.signIn.click()
  await expect.poll(() => desk.alert.textContent()).toMatch(/^This code is wrong, or was used already/)
  await desk.code.fill(codeOf(secret, 1))
  await desk.signIn.click()
  await desk.applications.waitFor()
  await expect.poll(() => focused(page)).toBe('Applications')

  await desk.account.click()
  await desk.button('Switch off').click()
  await desk.button('Set up').waitFor()
  await desk.signOut.click()
  await desk.email.waitFor()
  await page.goto(await linkFor(email))
  await desk.signIn.click()
  await desk.applications.waitFor()
})

test('a password is set under Account and signs in; in an older session it also needs an emailed code', async ({
  visitor,
}) => {
  visitor.allowConsoleError(refusedRequest)
  const { page, email } = await openSignedIn(visitor)
  const { page: other } = await openSignedIn(visitor, { email })
  const desk = on(page)
  const [newPassword, password] = [
    page.getByLabel('New password', { exact: true }),
    page.getByLabel('Password', { exact: true }),
  ]
  await desk.account.click()
  await newPassword.fill('12345')
  await desk.button('Set password').click()
  await expect
    .poll(() => desk.alert.textContent())
    .toBe('Please choose another password. The server said: Password should be at least 6 characters.')
  await newPassword.fill('correct horse')
  await desk.button('Set password').click()
  await page.getByText('The password is set.').waitFor()
  expect(await newPassword.inputValue()).toBe('')
  expect(await focused(page)).toBe('New password')
  await mail.waitFor(1, email)
  await on(other).account.click()
  await on(other).email.waitFor()

  await sql`update auth.sessions set created_at = created_at - interval '25 hours'`
  await newPassword.fill('battery staple')
  await desk.button('Set password').click()
  await expect.poll(() => focused(page)).toBe('Code')
  expect(await newPassword.inputValue()).toBe('battery staple')
  const code = (await mail.waitFor(2, email)).at(-1)?.code ?? ''
  await desk.code.fill(otherCodeThan(code))
  await desk.button('Set password').click()
  await expect.poll(() => desk.alert.textContent()).toMatch(/^This code is wrong/)
  await desk.code.fill(code)
  await desk.button('Set password').click()
  await desk.code.waitFor({ state: 'detached' })
  await mail.waitFor(3, email)

  await desk.signOut.click()
  await desk.button('Use a password').click()
  await expect.poll(() => focused(page)).toBe('Email')
  await desk.email.fill(email)
  await password.fill('correct horse')
  await desk.signIn.click()
  await expect.poll(() => desk.alert.textContent()).toMatch(/^The address or the password is wrong\./)
  await password.fill('battery staple')
  await desk.signIn.click()
  await desk.heading('Account').waitFor()
  await page.getByText(email).first().waitFor()
})

test('a second factor that is set up in one browser ends the sessions of other browsers', async ({
  visitor,
}) => {
  visitor.allowConsoleError(refusedRequest)
  const { page, email } = await openSignedIn(visitor)
  const { page: other } = await openSignedIn(visitor, { email })
  await on(other).account.click()
  const secret = await setUpFactor(other)
  await on(other).code.fill(codeOf(secret))
  await on(other).button('Switch on').click()
  await on(other).button('Switch off').waitFor()
  await on(page).account.click()
  await expect.poll(() => on(page).alert.textContent()).toBe('Your session has ended. Please sign in again.')
})

test('an organiser who is removed while signed in no longer sees any application', async ({ visitor }) => {
  visitor.allowConsoleError(refusedRequest)
  await sendApplicationOf('Lovelace')
  const { page, email } = await openSignedIn(visitor)
  await page.getByText('Lovelace').first().waitFor()
  await removeOrganiser(sql, email)
  // The test sets the address, since a refresh of the list may already have removed the link.
  await page.evaluate(() => location.assign('#/account'))
  await expect.poll(() => on(page).alert.textContent()).toBe('Your session has ended. Please sign in again.')
  await on(page).email.waitFor()
  expect(await page.locator('body').innerText()).not.toMatch(/Lovelace|Account|organiser-/)
  // The session is also gone from storage.
  expect(await page.evaluate(() => localStorage.getItem('unplugged-desk'))).toBeNull()
  await page.goBack()
  await on(page).email.waitFor()
})

test('ending all sessions signs out other tabs and other browsers', async ({ visitor }) => {
  visitor.allowConsoleError(refusedRequest)
  const { page, email } = await openSignedIn(visitor)
  const { page: other } = await openSignedIn(visitor, { email })
  const tab = await other.context().newPage()
  await tab.goto(`${server.origin}/desk`)
  await on(tab).applications.waitFor()
  await on(other).account.click()
  await on(other).button('End all sessions').click()
  await on(other).email.waitFor()
  // A tab of the same browser signs out at once, another browser at its next request.
  await on(tab).email.waitFor()
  await on(page).account.click()
  await expect.poll(() => on(page).alert.textContent()).toBe('Your session has ended. Please sign in again.')
})

test('a session in the address is ignored if this server has the accounts, and is not stored', async ({
  visitor,
}) => {
  const other = clientOf(server.origin)
  await other.auth.verifyOtp({ type: 'magiclink', token_hash: await operatorSecret(sql, await organiser()) })
  const { data } = await other.auth.getSession()
  const link = `${server.origin}/desk#${new URLSearchParams({
    access_token: data.session?.access_token ?? '',
    refresh_token: data.session?.refresh_token ?? '',
    token_type: 'bearer',
  }).toString()}`
  const page = await open(visitor, link)
  await expect.poll(() => on(page).alert.textContent()).toMatch(/^Signing in by this link did not work\./)
  await on(page).email.waitFor()
  expect(page.url()).toBe(`${server.origin}/desk#/`)
  expect((await historyOf(page)).join(' ')).not.toContain('access_token')
  expect(await page.evaluate(() => localStorage.getItem('unplugged-desk'))).toBeNull()
  // A signed-in organiser keeps their session.
  const { page: signedInPage, email } = await openSignedIn(visitor)
  await signedInPage.goto('about:blank')
  await signedInPage.goto(link)
  await signedInPage.getByText(email).waitFor()
})

test('when one window signs somebody else in, the others show the new organiser, even without BroadcastChannel', async ({
  visitor,
}) => {
  visitor.allowConsoleError(refusedRequest)
  await sendApplicationOf('Lovelace')
  const { page, email } = await openSignedIn(visitor)
  const windows = [await page.context().newPage(), await page.context().newPage()]
  const [informed, uninformed] = windows
  if (!informed || !uninformed) throw new Error('the two windows were not opened')
  await uninformed.addInitScript(() => Object.assign(window, { BroadcastChannel: undefined }))
  for (const each of windows) {
    await each.goto(`${server.origin}/desk`)
    await each.getByText('Lovelace').first().waitFor()
  }
  const next = await organiser()
  await page.goto(await linkFor(next))
  await on(page).signIn.click()
  await page.getByText(next).waitFor()
  await informed.getByText(next).waitFor()
  // Without BroadcastChannel the window notices at its next request with the old session.
  await on(uninformed).account.click()
  await uninformed.getByText(next).first().waitFor()
  for (const each of windows) expect(await each.locator('body').innerText()).not.toContain(email)
})

test.for([
  ['an expired link', 'error=access_denied&error_code=otp_expired', /^This link was used already/],
  ['another refusal', 'error=server_error&error_code=unexpected_failure', /^Signing in by this link did not/],
  ['tokens', 'access_token=a.b.c&refresh_token=d', /^Signing in by this link did not/],
] as const)("a hosted project's failed link is reported: %s", async ([, fragment, sentence], { visitor }) => {
  visitor.allowConsoleError(refusedRequest)
  const words = 'error_description=Call+0900+123456'
  const page = await open(visitor, `${server.origin}/desk#${fragment}&${words}&sb=`)
  await expect.poll(() => on(page).alert.textContent()).toMatch(sentence)
  // Anybody can write a link, so its text is not shown.
  expect(await page.locator('body').innerText()).not.toContain('0900')
  expect(page.url()).toBe(`${server.origin}/desk#/`)
  await expect.poll(() => focused(page)).toBe('Email')
})

test('both links of a change of address are confirmed with a button, one after the other', async ({
  visitor,
}) => {
  visitor.allowConsoleError(refusedRequest)
  const email = await organiser()
  const client = clientOf(server.origin)
  await client.auth.verifyOtp({ type: 'magiclink', token_hash: await operatorSecret(sql, email) })
  expect((await client.auth.updateUser({ email: `new-${email}` })).error).toBeNull()
  const [first] = await mail.waitFor(1, email)
  const [second] = await mail.waitFor(1, `new-${email}`)
  const page = await open(visitor, first?.link)
  await on(page).button('Confirm').click()
  await page.getByText('This address is confirmed.').waitFor()
  await page.goto(second?.link ?? '')
  await on(page).button('Confirm').click()
  await on(page).applications.waitFor()
  await page.getByText(`new-${email}`).waitFor()
})

test('without a connection nothing is lost, and each step can be tried again', async ({ visitor }) => {
  visitor.allowConsoleError(refusedRequest)
  visitor.allowConsoleError(/Failed to fetch/)
  const page = await open(visitor)
  const desk = on(page)
  const email = await organiser()
  await desk.email.fill(email)
  await page.route('**/auth/v1/**', (route) => route.abort())
  await desk.sendCode.click()
  await expect.poll(() => desk.alert.textContent()).toMatch(/^The server could not be reached\./)
  expect(await desk.email.inputValue()).toBe(email)
  await page.unroute('**/auth/v1/**')
  await desk.sendCode.click()
  const [received] = await mail.waitFor(1, email)
  await desk.code.fill(received?.code ?? '')
  await disableBackOff(page)
  await page.route('**/rpc/**', (route) => route.abort())
  await desk.signIn.click()
  await desk.heading('The desk cannot be opened now').waitFor()
  await page.unroute('**/rpc/**')
  await page.route('**/rpc/**', (route) =>
    route.fulfill({ status: 500, json: { code: 'XX000', message: 'boom', details: null, hint: null } }),
  )
  await desk.button('Try again').click()
  await expect.poll(() => desk.alert.textContent()).toBe('The server said: boom')
  await page.unroute('**/rpc/**')
  await desk.button('Try again').click()
  await desk.applications.waitFor()

  // If the sign-out does not reach the server, the session continues and the page says so.
  await page.route('**/auth/v1/**', (route) => route.abort())
  await desk.signOut.click()
  await page.getByText(/^You are still signed in\. The server could not be reached\./).waitFor()
})

test('a pressed button shows that it is busy, and sends once', async ({ visitor }) => {
  const page = await open(visitor)
  const desk = on(page)
  await desk.email.fill(await organiser())
  let requests = 0
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route('**/auth/v1/otp*', async (route) => {
    requests += 1
    await released
    await route.continue()
  })
  await desk.sendCode.evaluate((button: HTMLButtonElement) => {
    button.click()
    button.click()
  })
  await desk.button('Sending…').waitFor()
  expect(await desk.button('Sending…').isDisabled()).toBe(true)
  await desk.email.press('Enter')
  release()
  await desk.code.waitFor()
  expect(requests).toBe(1)
})

/** Sends an application whose name the list shows. */
async function sendApplicationOf(name: string) {
  await fetch(`${server.origin}/rest/v1/retreat_applications`, {
    method: 'POST',
    headers: { apikey: anonKey, 'content-type': 'application/json' },
    body: JSON.stringify(anApplication({ last_name: name, email: `${name}@example.com` })),
  })
}

test('blind reading is switched on and off, and hides everything that was read before', async ({
  visitor,
}) => {
  await sendApplicationOf('Babbage')
  const { page, email } = await openSignedIn(visitor)
  await page.getByText('Babbage').first().waitFor()
  await page.getByRole('checkbox', { name: 'Select Ada Babbage' }).first().check()
  await page.getByRole('button', { name: 'Accept', exact: true }).click()
  await page.getByRole('button', { name: 'Undo: Ada Babbage, accepted' }).waitFor()
  await on(page).account.click()
  const blind = page.getByRole('switch', { name: 'Blind reading' })
  await expect.poll(() => blind.isEnabled()).toBe(true)
  expect(await blind.isChecked()).toBe(false)
  await blind.check()
  await page.getByText('Blind reading is on.').waitFor()
  expect(
    await sql`select blind from private.organisers join auth.users on account_id = id where email = ${email}`,
  ).toEqual([{ blind: true }])
  // The list shows nothing until it has been read again.
  await page.route('**/rpc/desk_list', () => {})
  await page.getByRole('link', { name: 'Applications' }).click()
  await on(page).applications.waitFor()
  expect(await page.locator('body').innerText()).not.toContain('Babbage')
  await page.unroute('**/rpc/desk_list')
  await page.reload()
  await on(page).account.click()
  await expect.poll(() => blind.isChecked()).toBe(true)
  await blind.uncheck()
  await page.getByText('Blind reading is off.').waitFor()
})

test('switching blind reading keeps the rest of the account page and the focus', async ({ visitor }) => {
  const { page } = await openSignedIn(visitor)
  await on(page).account.click()
  const setUp = on(page).button('Set up')
  await setUp.waitFor()
  const blind = page.getByRole('switch', { name: 'Blind reading' })
  await expect.poll(() => blind.isEnabled()).toBe(true)
  // The second factor must not be read again, since its button would disappear until then.
  await page.route('**/auth/v1/user', () => {})
  await blind.check()
  await setUp.focus()
  await page.getByText('Blind reading is on.').waitFor()
  await expect.poll(() => focused(page)).toBe('Set up')
})

test('the next organiser to sign in in the same tab sees no data of the previous one', async ({
  visitor,
}) => {
  await sendApplicationOf('Lovelace')
  const { page } = await openSignedIn(visitor)
  await page.getByText('Lovelace').first().waitFor()
  await page.evaluate(() => Object.assign(window, { isSameDocument: true }))
  await on(page).signOut.click()
  await on(page).email.waitFor()
  await page.route('**/rpc/desk_list', () => {})
  await page.goto(await linkFor(await organiser()))
  await on(page).signIn.click()
  await on(page).applications.waitFor()
  expect(await page.evaluate(() => Reflect.get(window, 'isSameDocument') as boolean)).toBe(true)
  expect(await page.locator('body').innerText()).not.toContain('Lovelace')
})

test('if a hosted project has the accounts, the page says that the desk is elsewhere', async ({
  visitor,
}) => {
  const postgres = await startPostgres()
  const project = await newProject(postgres, 'desk')
  const ownServer = await startServer({ DATABASE_URL: project.url })
  const page = await open(visitor, `${ownServer.origin}/desk`)
  await on(page).heading('The desk is elsewhere').waitFor()
  expect(await page.locator('main').innerText()).toContain('npm run build')
  expect(await page.getByRole('textbox').count()).toBe(0)
})

test('the whole sign-in works by keyboard alone', async ({ visitor }) => {
  const email = await organiser()
  const page = await open(visitor, undefined, { viewport: { width: 320, height: 480 } })
  const { keyboard } = page
  await expect.poll(() => focused(page)).toBe('Email')
  await keyboard.type(email)
  await keyboard.press('Tab')
  await expect.poll(() => focused(page)).toBe('Send code')
  await keyboard.press('Enter')
  await expect.poll(() => focused(page)).toBe('Code')
  const [{ code } = { code: '' }] = await mail.waitFor(1, email)
  await keyboard.type(code)
  await keyboard.press('Enter')
  await on(page).applications.waitFor()

  const tabTo = async (name: string) => {
    for (let presses = 0; presses < 60 && (await focused(page)) !== name; presses += 1)
      await keyboard.press('Tab')
    await expect.poll(() => focused(page)).toBe(name)
    const outline = await page.evaluate(
      () => getComputedStyle(document.activeElement ?? document.body).outlineStyle,
    )
    expect(outline, `outline of ${name}`).toBe('solid')
  }
  await tabTo('Account')
  await keyboard.press('Enter')
  const blind = page.getByRole('switch', { name: 'Blind reading' })
  await expect.poll(() => blind.isEnabled()).toBe(true)
  await tabTo('Blind reading')
  await keyboard.press('Space')
  await expect.poll(() => blind.isChecked()).toBe(true)
  await tabTo('Set up')
  await keyboard.press('Enter')
  await expect.poll(() => focused(page)).toBe('Code')
  await keyboard.type(codeOf((await page.locator('.account-secret').textContent()) ?? ''))
  await keyboard.press('Enter')
  await on(page).button('Switch off').waitFor()
  await tabTo('End all sessions')
  await keyboard.press('Enter')
  await expect.poll(() => focused(page)).toBe('Email')
})
