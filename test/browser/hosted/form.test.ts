import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, beforeEach, expect } from 'vitest'

import { anApplication, getForm } from '../../support/form.ts'
import { readLinkPreview } from '../../support/link-preview.ts'
import { startReceiver, type Receiver } from '../../support/receiver.ts'
import { temporaryDirectory } from '../../support/server.ts'
import { writeSite, staticHost } from '../../support/static-site.ts'
import { accessibilityProblems, waitForTakeOver, test } from '../../support/browser-test.ts'

// A stand-in for the hosted backend, which cannot run here. It records requests and returns the responses that a test sets.
let backend: Receiver
let backendResponse: { status: number; body?: string }
let door: object
let hook: Receiver
/** The folder of the static build. */
let site: string
let host: Awaited<ReturnType<typeof staticHost>>
let origin: string
const siteUrl = 'https://unplugged.example/retreat/'
const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJyb2xlIjoiYW5vbiJ9.c2lnbmF0dXJl'

beforeAll(async () => {
  const directory = await temporaryDirectory()
  const cors = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*, authorization' }
  backend = await startReceiver(({ method, url }, response) => {
    const isDoorCall = url === '/rest/v1/rpc/door_is_open'
    const reply = isDoorCall ? { status: 200, body: JSON.stringify(door) } : backendResponse
    const { status, body } = method === 'OPTIONS' ? { status: 200, body: '' } : reply
    response.writeHead(status, { ...cors, 'content-type': 'application/json' }).end(body)
  })
  hook = await startReceiver((_request, response) => {
    response.writeHead(200, cors).end('thanks')
  })
  await mkdir(directory.path, { recursive: true })
  site = await writeSite(directory.path, {
    VITE_SUPABASE_URL: backend.origin,
    VITE_SUPABASE_ANON_KEY: jwt,
    VITE_WEBHOOK_URL: `${hook.origin}/hook`,
    VITE_SITE_URL: siteUrl,
  })
  // Serves the site in a folder, to show that it need not be at the root of its host.
  host = await staticHost(site, '/retreat/')
  origin = `${await host.listen({ host: '127.0.0.1', port: 0 })}/retreat/`
})

beforeEach(() => {
  backendResponse = { status: 201 }
  door = { is_open: true }
  backend.received.length = 0
  hook.received.length = 0
})

const posts = (path: string) =>
  backend.received.filter(({ method, url }) => method === 'POST' && url === `/rest/v1/${path}`)
const inserts = () => posts('retreat_applications')

test('the static build sends the eleven columns with the public key, then calls the webhook', async ({
  visitor,
}) => {
  // The text of the custom box is sent whichever choice is selected.
  const application = anApplication({ custom_solution: 'A flip phone', paid_solution: 'screen' })
  const page = await visitor.open(origin)
  const logged = page.waitForEvent('console', (message) =>
    message.text().startsWith('Webhook response: 200 thanks'),
  )
  const form = getForm(page)
  await form.fill(application)
  await form.button.click()
  await form.success.waitFor()
  await logged

  const [insert, ...others] = inserts()
  expect(others).toEqual([])
  expect(insert).toMatchObject({
    url: '/rest/v1/retreat_applications',
    headers: { apikey: jwt, authorization: `Bearer ${jwt}` },
  })
  expect(insert?.headers['prefer'] ?? '').not.toContain('representation')
  expect(JSON.parse(insert?.body ?? '')).toEqual(application)

  expect(hook.received).toHaveLength(1)
  expect(hook.received[0]).toMatchObject({ method: 'POST', url: '/hook' })
  expect(hook.received[0]?.headers['content-type']).toContain('application/x-www-form-urlencoded')
  expect(Object.fromEntries(new URLSearchParams(hook.received[0]?.body))).toEqual({
    firstName: application.first_name,
    lastName: application.last_name,
    email: application.email,
    phone: application.phone,
    linkedin: application.linkedin,
    company: application.company,
    paidSolution: 'screen',
    customSolution: 'A flip phone',
    teamSize: application.team_size,
    reason: application.reason,
    consent: 'true',
  })
})

test('a closed door is shown and announced when the page is opened, and the form opens without a reload', async ({
  visitor,
}) => {
  const sentence = 'אין מקום. See <b>https://example.org</b>.'
  door = { is_open: false, sentence }
  const page = await visitor.open(origin)
  const heading = page.getByRole('heading', { name: 'Applications are closed' })
  await heading.waitFor()
  const text = page.locator('.door p')
  expect(await text.innerText()).toBe(sentence)
  expect(await text.evaluate((element) => getComputedStyle(element).direction)).toBe('rtl')
  expect(await page.getByRole('link').getAttribute('href')).toBe('https://example.org')
  // The style of a closed door is not in the document.
  expect(await page.locator('.badge').isVisible()).toBe(false)
  const region = page.locator('#progress[aria-live=polite]')
  expect(await region.textContent()).toBe(`Applications are closed. ${sentence}`)
  const form = getForm(page)
  expect(await form.button.isDisabled()).toBe(true)
  expect(await form.firstName.isDisabled()).toBe(true)
  expect(posts('rpc/door_is_open')[0]).toMatchObject({ headers: { apikey: jwt }, body: '{}' })
  expect(await accessibilityProblems(page)).toEqual([])

  door = { is_open: true }
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
  await page.locator('.badge').waitFor()
  expect(await heading.count()).toBe(0)
  expect(await region.textContent()).toBe('Applications are open.')
  await form.fill(anApplication())
  await form.button.click()
  await form.success.waitFor()
})

test('a page that nobody fills in asks once whether applications are open, and loads no script', async ({
  visitor,
}) => {
  const page = await visitor.open(origin)
  await page.waitForLoadState('networkidle')
  expect(posts('rpc/door_is_open')).toHaveLength(1)
  expect(await page.locator('script[src]').count()).toBe(0)
})

test('if the state of the door is not available, the form works as usual', async ({ visitor }) => {
  visitor.allowConsoleError(/Failed to load resource|ERR_FAILED/)
  const page = await visitor.open(origin, {}, (opened) =>
    opened.route('**/rpc/door_is_open', (route) => route.abort()),
  )
  const logged = page.waitForEvent('console', (message) =>
    message.text().startsWith('Could not check whether applications are open'),
  )
  await waitForTakeOver(page)
  await logged
  await getForm(page).fill(anApplication())
  await getForm(page).button.click()
  await getForm(page).success.waitFor()
  expect(await page.locator('.door').count()).toBe(0)
})

// break: error-shown-as-html
test("the server's error message is shown as text, and every form answer is kept", async ({ visitor }) => {
  visitor.allowConsoleError(/Failed to load resource/)
  const message = '<img src=x onerror=alert(1)> is not for sale'
  backendResponse = {
    status: 400,
    body: JSON.stringify({ code: '23514', message, details: null, hint: null }),
  }
  const application = anApplication()
  const page = await visitor.open(origin)
  const form = getForm(page)
  await form.fill(application)
  const before = await form.answers()
  await form.button.click()
  await form.failure.waitFor()
  await page.getByText(message).waitFor()
  expect(await form.answers()).toEqual(before)
  expect(await form.consent.isChecked()).toBe(true)
  expect(hook.received).toEqual([])
  expect(await accessibilityProblems(page)).toEqual([])

  backendResponse = { status: 201 }
  await form.button.click()
  await form.success.waitFor()
  await expect.poll(() => form.failure.count()).toBe(0)
})

// break: form-sent-natively
test('without JavaScript the page says that JavaScript is needed, and no form answer leaves the page', async ({
  visitor,
}) => {
  visitor.allowConsoleError(/form-action|Refused to send form data|violates/)
  const page = await visitor.open(origin, { javaScriptEnabled: false })
  // Playwright's text engine skips the contents of a noscript.
  expect(await page.locator('noscript p').isVisible()).toBe(true)
  expect(await page.locator('noscript p').textContent()).toContain('This form needs JavaScript')
  const form = getForm(page)
  await form.fill(anApplication())
  const refused = page.waitForEvent('console', (message) => message.text().includes('form-action'))
  // Playwright's own click would wait for a page that the policy blocks.
  await form.button.evaluate((button: HTMLButtonElement) => button.click())
  await refused
  expect(page.url()).toBe(origin)
  expect(backend.received).toEqual([])
})

test('the build contains nothing of the server', async () => {
  const files = await readdir(site, { recursive: true, withFileTypes: true })
  for (const file of files.filter((entry) => entry.isFile() && /\.(js|html)$/.test(entry.name))) {
    const text = await readFile(join(file.parentPath, file.name), 'utf8')
    expect(text).not.toMatch(/deliveries_|enqueue_|initdb|DATABASE_URL/)
  }
  expect(await readFile(join(site, 'index.html'), 'utf8')).not.toMatch(/<form[^>]* action/)
})

test('the document has its content security policy, and _headers has the complete policy for static hosts', async () => {
  const html = await readFile(join(site, 'index.html'), 'utf8')
  const headers = await readFile(join(site, '_headers'), 'utf8')
  const [, policy = ''] = /http-equiv="content-security-policy" content="([^"]*)"/i.exec(html) ?? []
  const decoded = policy.replaceAll('&#x27;', "'")
  expect(decoded).toContain(`connect-src ${backend.origin} ${hook.origin}`)
  expect(decoded).toContain("form-action 'none'")
  expect(decoded).not.toMatch(/unsafe|frame-ancestors/)
  expect(headers).toContain(`content-security-policy: ${decoded}; frame-ancestors 'none'\n`)
  expect(headers).toContain('x-content-type-options: nosniff')
})

test('if the script fails, a send shows the red box, and the next send requests the script again', async ({
  visitor,
}) => {
  visitor.allowConsoleError(/Failed to load resource|ERR_FAILED/)
  const page = await visitor.open(origin, {}, (opened) =>
    opened.route('**/assets/**', (route) => route.abort()),
  )
  const form = getForm(page)
  await form.fill(anApplication())
  await form.button.click()
  await page.getByText('Failed to submit application. Please try again.').waitFor()
  expect(await form.button.innerText()).toBe('Send Details!')
  expect(await accessibilityProblems(page)).toEqual([])
  await page.unroute('**/assets/**')
  await form.button.click()
  await form.success.waitFor()
  await expect.poll(() => form.failure.count()).toBe(0)
  expect(inserts()).toHaveLength(1)
})

test('a link to the page shows a preview, and phones find an icon of their size', async () => {
  const { tags, image, icons } = await readLinkPreview(origin, siteUrl)
  expect(tags).toMatchObject({
    description: 'Build deeper relationships and bigger ideas without distraction',
    canonical: siteUrl,
    'og:url': siteUrl,
    'og:title': 'Unplugged.',
    'og:description': 'Build deeper relationships and bigger ideas without distraction',
    'og:image:alt': 'Unplugged. Free For Founders, Apply Below',
    'twitter:card': 'summary_large_image',
    'theme-color': expect.stringMatching(/^#/),
  })
  expect(tags['og:image']).toMatch(`${siteUrl}assets/`)
  expect(image).toMatchObject({ type: 'image/png', size: '1200x630' })
  // Some chats show no image above this size.
  expect(image.bytes).toBeLessThan(300_000)
  expect(icons).toMatchObject([
    { type: 'image/png', size: '192x192' },
    { type: 'image/svg+xml' },
    { type: 'image/png', size: '180x180' },
  ])
})
