import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterEach, beforeAll, expect } from 'vitest'

import { addOrganiser, operatorSecret } from '../../../src/server/auth/manage-organisers.ts'
import { storeAcceptedApplicant, rsvpsOf } from '../../support/accepted.ts'
import { signPageIn } from '../../support/desk.ts'
import { publishableKey, startHostedGateway, type HostedGateway } from '../../support/hosted-gateway.ts'
import { startMailServer, type MailServer } from '../../support/mail-server.ts'
import { clientOf } from '../../support/sign-in-by-link.ts'
import { startPostgres, type TestPostgres } from '../../support/postgres.ts'
import { send } from '../../support/send-application.ts'
import { anApplication, getForm } from '../../support/form.ts'
import { startServer, temporaryDirectory, type RunningServer } from '../../support/server.ts'
import { anonKey } from '../../support/sign-in-server.ts'
import { writeSite, staticHost } from '../../support/static-site.ts'
import { disableBackOff } from '../../support/without-back-off.ts'
import { waitForTakeOver, test, type Visitor } from '../../support/browser-test.ts'

const kilobyte = 1_000

// The static build on one origin, at the root and in a folder, and its backend on another. The backend is our server with a
// project's roles and default privileges, behind a stand-in for the project's gateway. A hosted project's own sign-in is
// tested in test/deployment/supabase-lite.test.ts, as far as it is available.
/** The folder of the static build. */
let site: string
let origin: string
let backend: string
let database: TestPostgres
let mail: MailServer
let server: RunningServer
let gateway: HostedGateway

beforeAll(async () => {
  const directory = await temporaryDirectory()
  database = await startPostgres()
  await database.admin.unsafe(`
    create role anon nologin noinherit;
    create role authenticated nologin noinherit;
    create role service_role nologin noinherit bypassrls;
    alter default privileges in schema public grant all on tables to anon, authenticated, service_role;
    alter default privileges in schema public grant all on sequences to anon, authenticated, service_role;
    alter default privileges in schema public grant all on functions to anon, authenticated, service_role;
  `)
  mail = await startMailServer()
  server = await startServer({
    DATABASE_URL: database.url(),
    SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
    MAIL_FROM: 'hello@example.org',
  })
  gateway = await startHostedGateway({ origin: server.origin, key: anonKey })
  backend = gateway.origin
  site = await writeSite(directory.path, {
    VITE_SUPABASE_URL: backend,
    VITE_SUPABASE_ANON_KEY: publishableKey,
  })
  const host = await staticHost(site, '/', '/retreat/')
  // Some hosts remove the trailing slash and serve the same document.
  for (const address of ['/desk', '/retreat/desk']) {
    host.get(address, (_request, reply) => reply.sendFile('desk/index.html'))
  }
  origin = await host.listen({ host: '127.0.0.1', port: 0 })
})

afterEach(() => {
  expect(gateway.refused.splice(0)).toEqual([])
})

/** Opens a page, and records its requests. */
async function open(
  visitor: Visitor,
  address: string,
  prepare: (page: Page) => Promise<unknown> = async () => {},
) {
  const requests: string[] = []
  const page = await visitor.open(origin + address, { isNew: true }, async (opened) => {
    opened.on('request', (request) => requests.push(`${request.resourceType()} ${request.url()}`))
    await prepare(opened)
  })
  return { page, requests: () => requests.filter((each) => !each.includes(' data:')) }
}

/** The file of a document's script. */
async function scriptOf(document: string) {
  const [, script = ''] = /data-page="\.?\/?([^"]+)"/.exec(await readFile(join(site, document), 'utf8')) ?? []
  return script
}

test.for([
  '/desk/',
  '/desk',
  '/desk/index.html',
  '/retreat/desk/',
  '/retreat/desk',
  '/retreat/desk/index.html',
])(
  'the static desk opens at %s, obeys its content security policy, and contacts only its host and its backend',
  async (address, { visitor }) => {
    const { page, requests } = await open(visitor, `${address}#/?status=all`)
    await page.getByLabel('Email', { exact: true }).waitFor()
    const root = origin + (address.startsWith('/retreat') ? '/retreat' : '')
    const files = await readdir(join(site, 'assets'))
    await expect.poll(() => page.evaluate(() => window.heldPress)).toBeNull()
    expect(requests()).toEqual([
      `document ${origin}${address}`,
      `script ${root}/${await scriptOf('desk/index.html')}`,
      `script ${root}/assets/${files.find((name) => /^sign-in-.*\.js$/.test(name))}`,
    ])
    const policy =
      (await page.locator('meta[http-equiv="content-security-policy"]').getAttribute('content')) ?? ''
    expect(policy).toContain(`connect-src ${backend};`)
    expect(policy).toMatch(/^default-src 'none';/)
    expect(policy).not.toMatch(/unsafe|font-src|frame-src/)
    const refused = page.waitForEvent('console', (message) => message.text().includes('connect-src'))
    visitor.allowConsoleError(/connect-src|violates the document's Content Security Policy|Failed to fetch/)
    await page.evaluate(() => fetch('/robots.txt').catch(() => {}))
    await refused
  },
)

test.for([
  '/answer/',
  '/retreat/answer/',
  '/retreat/answer/index.html',
  '/withdraw/',
  '/retreat/withdraw/index.html',
])(
  'the static page of a link at %s obeys its content security policy, and contacts only its host and its backend',
  async (address, { visitor }) => {
    const { page, requests } = await open(visitor, `${address}#${crypto.randomUUID()}`)
    await page.getByText(/^This link (is no longer valid|does not work)/).waitFor()
    expect(requests()).toEqual([
      `document ${origin}${address}`,
      `fetch ${backend}/rest/v1/rpc/${address.includes('answer') ? 'place' : 'withdrawal'}_by_token`,
    ])
    for (const link of await page.locator('link:not([href^="data:"])').all()) {
      const { href } = new URL((await link.getAttribute('href')) ?? '', page.url())
      const { status } = await fetch(href)
      expect({ href, status }).toEqual({ href, status: 200 })
    }
    const refused = page.waitForEvent('console', (message) => message.text().includes('connect-src'))
    visitor.allowConsoleError(/connect-src|violates the document's Content Security Policy|Failed to fetch/)
    await page.evaluate(() => fetch('/robots.txt').catch(() => {}))
    await refused
  },
)

test('an accepted person gives an RSVP on the static answer page', async ({ visitor }) => {
  const accepted = await storeAcceptedApplicant(database.admin)
  const { page } = await open(visitor, `/answer/#${accepted.token}`)
  await page.getByRole('button', { name: 'I am coming' }).click()
  await page.getByText('See you at').waitFor()
  expect(await rsvpsOf(database.admin, accepted)).toEqual(['coming'])
})

test('an organiser signs in to the static desk with a code and decides, across origins', async ({
  visitor,
}) => {
  const application = anApplication()
  expect(await send(server.origin, application)).toBe(201)
  await addOrganiser(database.admin, 'ada@example.org')
  const { page, requests } = await open(visitor, '/retreat/desk/')
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  await page.getByLabel('Email', { exact: true }).fill('ada@example.org')
  await button('Send code').click()
  await page.getByLabel('Code', { exact: true }).waitFor()
  const [{ code } = { code: '' }] = await mail.waitFor(1, 'ada@example.org')
  await page.getByLabel('Code', { exact: true }).fill(code)
  await button('Sign in').click()
  const name = `${application.first_name} ${application.last_name}`
  await page.getByRole('link', { name }).click()
  await page.getByRole('heading', { level: 1, name }).waitFor()
  await button('Accept').click()
  await expect.poll(() => page.getByRole('status').textContent()).toBe(`${name}: Accepted`)
  await page.reload()
  await page.getByRole('listitem').filter({ hasText: 'Accepted' }).waitFor()
  // The token expires.
  await page.evaluate(() => {
    const session = JSON.parse(localStorage.getItem('unplugged-desk') ?? '') as object
    localStorage.setItem('unplugged-desk', JSON.stringify({ ...session, expires_at: 1 }))
  })
  const refreshed = page.waitForResponse(/token\?grant_type=refresh_token$/)
  await page.reload()
  expect((await refreshed).status()).toBe(200)
  await page.getByRole('listitem').filter({ hasText: 'Accepted' }).waitFor()
  const hosts = new Set(requests().map((each) => new URL(each.split(' ')[1] ?? '').origin))
  expect(hosts).toEqual(new Set([origin, backend]))
  expect(requests().filter((each) => each.startsWith('font'))).toEqual([])
})

/** The fragment of the link in a hosted project's own email, which has a session of a new organiser. */
async function linkSessionOf(email: string) {
  await addOrganiser(database.admin, email)
  const client = clientOf(server.origin)
  await client.auth.verifyOtp({ type: 'magiclink', token_hash: await operatorSecret(database.admin, email) })
  const { data } = await client.auth.getSession()
  return new URLSearchParams({
    access_token: data.session?.access_token ?? '',
    refresh_token: data.session?.refresh_token ?? '',
    token_type: 'bearer',
    type: 'magiclink',
  }).toString()
}

test("a link in a hosted project's own email signs in only after a button is pressed, and its session does not stay in the address", async ({
  visitor,
}) => {
  const email = 'brought@example.org'
  const fragment = await linkSessionOf(email)
  const { page, requests } = await open(visitor, `/desk/#${fragment}`)
  const button = page.getByRole('button', { name: 'Sign in', exact: true })
  await button.waitFor()
  expect(page.url()).toBe(`${origin}/desk/#/`)
  expect(requests().filter((each) => each.includes(backend))).toEqual([])
  await button.click()
  await page.getByRole('heading', { level: 1, name: 'Applications', exact: true }).waitFor()
  await page.getByText(email).waitFor()
  await page.goBack()
  expect(page.url()).not.toContain('access_token')

  visitor.allowConsoleError(/Failed to load resource/)
  const { page: invalidLink } = await open(visitor, '/desk/#access_token=a.b.c&refresh_token=d')
  await invalidLink.getByRole('button', { name: 'Sign in', exact: true }).click()
  await invalidLink.getByText('This link was used already').waitFor()
  await invalidLink.getByRole('button', { name: 'Get a code by email' }).click()
  await invalidLink.getByLabel('Email', { exact: true }).waitFor()
  expect(await invalidLink.getByRole('alert').count()).toBe(0)
})

test.for([
  ['ahead', 61],
  ['behind', -61],
] as const)(
  "a link in a hosted project's own email signs in for an hour with a clock that is 61 minutes %s",
  async ([direction, minutes], { visitor }) => {
    const fragment = await linkSessionOf(`clock-${direction}@example.org`)
    const { page, requests } = await open(visitor, `/desk/#${fragment}`, async (opened) =>
      opened.clock.install({ time: Date.now() + minutes * 60_000 }),
    )
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Applications', exact: true }).waitFor()
    await page.getByText(`The clock of this device is 61 minutes ${direction}.`).waitFor()
    expect(requests().filter((each) => each.includes('/auth/v1/'))).toEqual([
      `fetch ${backend}/auth/v1/token?grant_type=refresh_token`,
    ])
    const hours = await page.evaluate(() => {
      const session = JSON.parse(localStorage.getItem('unplugged-desk') ?? '') as { expires_at: number }
      return (session.expires_at - Date.now() / 1000) / 3600
    })
    expect(hours).toBeCloseTo(1, 1)
  },
)

test('the application form requests no file of the desk', async ({ visitor }) => {
  const { page, requests } = await open(visitor, '/retreat/')
  await waitForTakeOver(page)
  const form = getForm(page)
  await form.fill(anApplication())
  await form.button.click()
  await form.success.waitFor()
  expect(requests().filter((each) => each.includes('desk'))).toEqual([])
  const apply = await readFile(join(site, await scriptOf('index.html')), 'utf8')
  expect(apply).not.toMatch(/desk_|unplugged-desk|Shortlist/)
  expect(await readFile(join(site, 'index.html'), 'utf8')).not.toMatch(/desk/i)
})

test("the desk's script is at most 90 kB, and the site contains nothing of the server", async () => {
  const script = await scriptOf('desk/index.html')
  const { size } = await stat(join(site, `${script}.br`))
  console.log(`the desk's script: ${size} bytes`)
  expect(size).toBeGreaterThan(30 * kilobyte)
  expect(size).toBeLessThanOrEqual(90 * kilobyte)
  const files = await readdir(site, { recursive: true, withFileTypes: true })
  for (const file of files.filter((entry) => entry.isFile() && /\.(js|html)$/.test(entry.name))) {
    const text = await readFile(join(file.parentPath, file.name), 'utf8')
    expect(text).not.toMatch(/deliveries_|enqueue_|initdb|DATABASE_URL|SMTP_URL|private\.|security definer/)
  }
})

/** Responses at a wrong address of the backend; `undefined` for none. */
const wrongBackends: Record<string, { status: number; body: string } | undefined> = {
  'no server listens': undefined,
  'another server returns a web page': { status: 200, body: '<!doctype html><title>Hello</title>' },
  'another server returns 404': { status: 404, body: '<h1>Not Found</h1>' },
}

/** Responds in place of the backend. */
const respondInstead = (response: (typeof wrongBackends)[string]) => (page: Page) =>
  page.route(`${backend}/**`, (route) =>
    response
      ? route.fulfill({
          ...response,
          contentType: 'text/html',
          headers: {
            'access-control-allow-origin': '*',
            'access-control-allow-headers': '*, authorization',
          },
        })
      : route.abort('connectionrefused'),
  )

test.for(Object.entries(wrongBackends))(
  'with a wrong backend (%s), the desk reports a problem at sign-in and afterwards',
  async ([, response], { visitor }) => {
    visitor.allowConsoleError(/Failed to load resource|TypeError: Failed to fetch|is not valid JSON/)
    const { page } = await open(visitor, '/desk/', respondInstead(response))
    const email = page.getByLabel('Email', { exact: true })
    await email.fill('grace@example.org')
    await page.getByRole('button', { name: 'Send code' }).click()
    await page.getByRole('alert').waitFor()
    expect(await page.getByRole('alert').textContent()).toMatch(/^(The server|Another server) /)
    expect(await email.inputValue()).toBe('grace@example.org')

    await addOrganiser(database.admin, 'grace@example.org')
    const grace = clientOf(server.origin)
    const token_hash = await operatorSecret(database.admin, 'grace@example.org')
    expect((await grace.auth.verifyOtp({ type: 'magiclink', token_hash })).error).toBeNull()
    const signedIn = await open(visitor, '/desk/', async (opened) => {
      await signPageIn(grace)(opened)
      await disableBackOff(opened)
      await respondInstead(response)(opened)
    })
    await signedIn.page.getByRole('heading', { name: 'The desk cannot be opened now' }).waitFor()
    expect(await signedIn.page.getByRole('alert').textContent()).toMatch(/\S+ \S+/)
    await signedIn.page.unroute(`${backend}/**`)
    await signedIn.page.getByRole('button', { name: 'Try again' }).click()
    await signedIn.page.getByRole('heading', { name: 'Applications', exact: true }).waitFor()
  },
)

test('a desk whose script does not load says so', async ({ visitor }) => {
  visitor.allowConsoleError(/Failed to load resource/)
  const { page } = await open(visitor, '/retreat/desk', (opened) =>
    opened.route('**/assets/**', (route) => route.abort()),
  )
  await page.getByText('The desk could not be loaded.').waitFor()
})
