import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect } from 'vitest'

import { documentHeaders, framing } from '../../src/pages/headers.ts'
import { storedEmails } from '../support/send-application.ts'
import { anApplication, getForm } from '../support/form.ts'
import { startNginx } from '../support/nginx.ts'
import { freePort } from '../support/ports.ts'
import { readRecipe } from '../support/deploy-recipes.ts'
import { dataDirectory, startServer, temporaryDirectory } from '../support/server.ts'
import { writeSite } from '../support/static-site.ts'
import { waitForTakeOver, test } from '../support/browser-test.ts'

/** The page as `deploy/nginx-static.conf` serves it, its files, and the settings of its backend. */
let site: { origin: string; files: string; log: string; script: string; backend: { DATA_DIR: string } }

beforeAll(async () => {
  const [directory, data] = await Promise.all([temporaryDirectory(), dataDirectory()])
  const backend = { DATA_DIR: data.path }
  // Our server stands in for a hosted project. Its data interface is the same, and allows any origin.
  const server = await startServer(backend)
  const files = await writeSite(directory.path, { VITE_SUPABASE_URL: server.origin })
  const scripts = (await readdir(join(files, 'assets'))).filter((name) => name.endsWith('.js'))
  const port = await freePort()
  await startNginx(
    await readRecipe('nginx-static.conf', {
      'listen 80;': `listen ${port};`,
      'listen [::]:80;': `listen [::]:${port};`,
      'root /srv/unplugged/dist;': `root ${files};`,
      '/var/log/nginx/access.log': join(directory.path, 'access.log'),
    }),
  )
  const log = join(directory.path, 'access.log')
  site = { origin: `http://127.0.0.1:${port}`, files, log, script: `/assets/${scripts[0] ?? ''}`, backend }
})

test('a founder applies on the static page that nginx serves', async ({ visitor }) => {
  const application = anApplication()
  const page = await visitor.open(site.origin)
  await waitForTakeOver(page)
  const form = getForm(page)
  await form.fill(application)
  await form.button.click()
  await form.success.waitFor()
  expect(await storedEmails(site.backend)).toEqual([application.email])
})

test('nginx sends the compressed files of the build to clients that accept them, and the uncompressed ones to others', async () => {
  for (const [path, file] of [
    ['/', '/index.html'],
    [site.script, site.script],
  ] as const) {
    const compressed = await fetch(site.origin + path, { headers: { 'accept-encoding': 'gzip' } })
    expect(Object.fromEntries(compressed.headers)).toMatchObject({
      'content-encoding': 'gzip',
      // If nginx compressed the file itself, it would not know the length in advance.
      'content-length': String((await stat(`${site.files}${file}.gz`)).size),
      vary: 'Accept-Encoding',
    })
    const whole = await fetch(site.origin + path, { headers: { 'accept-encoding': 'identity' } })
    expect(whole.headers.get('content-encoding')).toBeNull()
    expect(await whole.text()).toBe(await readFile(site.files + file, 'utf8'))
    expect(await compressed.text()).toBe(await readFile(site.files + file, 'utf8'))
  }
})

test('browsers cache the static assets for a year, and revalidate the document', async () => {
  const document = await fetch(site.origin)
  expect(document.headers.get('cache-control')).toBe('no-cache')
  expect(document.headers.get('content-type')).toBe('text/html')
  const script = await fetch(site.origin + site.script)
  expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect(script.headers.get('content-type')).toBe('application/javascript')
  const missing = await fetch(`${site.origin}/assets/main-of-before.js`)
  expect([missing.status, missing.headers.get('cache-control')]).toEqual([404, null])

  const etag = document.headers.get('etag') ?? ''
  const revalidated = await fetch(site.origin, { headers: { 'if-none-match': etag } })
  expect([revalidated.status, revalidated.headers.get('cache-control')]).toEqual([304, 'no-cache'])
})

test('nginx sends the security headers of the build with every static response', async () => {
  const built = await readFile(join(site.files, '_headers'), 'utf8')
  for (const path of ['/', site.script, '/nothing']) {
    const { headers } = await fetch(site.origin + path)
    for (const [name, value] of Object.entries(documentHeaders(''))) {
      // The rest of the policy is in the document.
      const isPolicy = name === 'content-security-policy'
      expect(headers.get(name), `${name} of GET ${path}`).toBe(isPolicy ? framing : value)
      expect(built).toMatch(
        isPolicy ? /content-security-policy: .*; frame-ancestors 'none'\n/ : `${name}: ${value}\n`,
      )
    }
    expect(headers.get('server')).toBe('nginx')
  }
})

test('nginx serves the desk with its headers, with and without a slash at the end of its address', async () => {
  const document = await readFile(join(site.files, 'desk/index.html'), 'utf8')
  for (const path of ['/desk', '/desk/', '/desk/index.html']) {
    const response = await fetch(site.origin + path)
    expect(await response.text()).toBe(document)
    expect(response.headers.get('content-security-policy')).toBe(framing)
  }
  const { headers } = await fetch(`${site.origin}/desk`)
  expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
  expect((await fetch(site.origin)).headers.get('cross-origin-opener-policy')).toBeNull()
})

test('nginx serves the pages of links with a header that forbids search engines to index it', async () => {
  for (const page of ['answer', 'withdraw']) {
    const document = await readFile(join(site.files, `${page}/index.html`), 'utf8')
    for (const path of [`/${page}/`, `/${page}`]) {
      const response = await fetch(site.origin + path)
      expect(await response.text()).toBe(document)
      expect(response.headers.get('x-robots-tag')).toBe('noindex')
    }
  }
  expect((await fetch(site.origin)).headers.get('x-robots-tag')).toBeNull()
})

test('a link that a mail program changed leads to its page, and nginx does not log its token', async ({
  visitor,
}) => {
  const token = crypto.randomUUID()
  for (const path of [`/answer/%23${token}`, `/answer%23${token}.`, `/answer/${token}`]) {
    const response = await fetch(site.origin + path)
    expect(await response.text()).toBe(await readFile(join(site.files, 'answer/index.html'), 'utf8'))
  }
  const desk = await fetch(`${site.origin}/desk%23token_hash=${token}&type=magiclink`)
  expect(await desk.text()).toBe(await readFile(join(site.files, 'desk/index.html'), 'utf8'))
  // In capitals the path is missing, and the page for missing addresses leads on.
  visitor.allowConsoleError(/Failed to load resource.*404/)
  const page = await visitor.open(`${site.origin}/ANSWER/%23${token.toUpperCase()}`)
  await page.waitForURL(`${site.origin}/answer/#${token.toUpperCase()}`)
  await page.getByText('This link is no longer valid.').waitFor()
  await fetch(`${site.origin}/?last`)
  await expect.poll(() => readFile(site.log, 'utf8')).toContain('/?last')
  expect((await readFile(site.log, 'utf8')).toLowerCase()).not.toContain(token)
})

test('nginx sends a page with a link to the form for missing addresses', async () => {
  const response = await fetch(`${site.origin}/nothing/here`)
  expect([response.status, response.headers.get('content-type')]).toEqual([404, 'text/html'])
  expect(await response.text()).toBe(await readFile(join(site.files, '404.html'), 'utf8'))
})

test('nginx does not serve files of the static build that are not for browsers', async () => {
  const hidden = ['/_headers', '/_redirects', '/assets/complete', '/index.html.gz', '/index.html.br']
  const compressed = [`${site.script}.gz`, `${site.script}.br`]
  for (const path of [...hidden, ...compressed]) {
    expect((await stat(site.files + path)).isFile()).toBe(true)
    expect((await fetch(site.origin + path)).status, `GET ${path}`).toBe(404)
  }
  for (const path of ['/assets/', '/assets', '/nothing', '/rest/v1/retreat_applications']) {
    expect((await fetch(site.origin + path)).status, `GET ${path}`).toBe(404)
  }
})
