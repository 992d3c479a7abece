import type { BrowserContextOptions, Page } from 'playwright-core'
import { beforeAll, expect } from 'vitest'

import { deferred } from '../support/deferred.ts'
import { addOrganiser, operatorSecret } from '../../src/server/auth/manage-organisers.ts'
import { startMailServer, type MailServer } from '../support/mail-server.ts'
import { clientOf } from '../support/sign-in-by-link.ts'
import { dataDirectory, startServer, type RunningServer } from '../support/server.ts'
import { unusedIpAddress, codeOf } from '../support/sign-in-server.ts'
import { test, type Visitor } from '../support/browser-test.ts'
import { connectToEmbedded } from '../support/sql.ts'
import type { Pool } from '../../src/server/database/connection/pool.ts'

const refusedRequest = /Failed to load resource/

let server: RunningServer
let mail: MailServer
let sql: Pool

beforeAll(async () => {
  const directory = await dataDirectory()
  mail = await startMailServer()
  server = await startServer({
    DATA_DIR: directory.path,
    SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
    MAIL_FROM: 'hello@example.org',
    // Each visitor has their own IP address, since rate limits count by address.
    TRUST_PROXY: '1',
  })
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
async function linkFor(email: string) {
  return `${server.origin}/desk#token_hash=${await operatorSecret(sql, email)}&type=magiclink`
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
    // The first steps below the list have the same link.
    account: page.getByRole('navigation', { name: 'Desk' }).getByRole('link', { name: 'Account' }),
  }
}

const focused = (page: Page) =>
  page.evaluate(() => {
    const element = document.activeElement
    const label = element instanceof HTMLInputElement ? element.labels?.[0] : element
    return label?.textContent ?? ''
  })

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
  await desk.code.fill(code)
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

test('a link signs in although a mail program changed it', async ({ visitor }) => {
  const link = new URL(await linkFor(await organiser()))
  const changed = `${link.origin}/desk%23${link.hash.slice(1)}.`
  const page = await open(visitor, changed)
  await on(page).signIn.click()
  await on(page).applications.waitFor()
  expect(new URL(page.url()).pathname).toBe('/desk/')
})

test('opening a link does not use it up, and no token remains in the address or the history', async ({
  visitor,
}) => {
  const page = await open(visitor, await linkFor(await organiser()))
  await on(page).signIn.waitFor()
  await page.reload()
  await on(page).signIn.click()
  await on(page).applications.waitFor()
  expect(page.url()).toBe(`${server.origin}/desk#/`)
  expect((await historyOf(page)).join(' ')).not.toContain('token')
})

test('if a link is refused, the focus stays on its button', async ({ visitor }) => {
  visitor.allowConsoleError(/Failed to (load|fetch)/)
  const page = await open(visitor, await linkFor(await organiser()))
  await page.route('**/auth/v1/verify*', (route) => route.abort())
  await on(page).button('Sign in').click()
  await on(page).alert.waitFor()
  expect(await focused(page)).toBe('Sign in')
})

test('the typed email address carries over to the sign-in by password, and the focus stays', async ({
  visitor,
}) => {
  const { promise: released, resolve: release } = deferred()
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
})

test('the whole sign-in works by keyboard alone', async ({ visitor }) => {
  // Once the second factor is set up, calls that are on their way with the former token are refused.
  visitor.allowConsoleError(refusedRequest)
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
  const drawing = page.getByRole('img', { name: /QR code/ })
  expect(
    await drawing.evaluate((image: HTMLImageElement) => image.decode().then(() => image.naturalWidth)),
  ).toBeGreaterThan(20)
  await keyboard.type(codeOf((await page.locator('.account-secret').textContent()) ?? ''))
  await keyboard.press('Enter')
  await on(page).button('Switch off').waitFor()
  await tabTo('End all sessions')
  await keyboard.press('Enter')
  await expect.poll(() => focused(page)).toBe('Email')
})
