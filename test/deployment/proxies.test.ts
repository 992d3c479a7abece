import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { request, type RequestOptions } from 'node:https'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect } from 'vitest'

import { isDuplicate, type Application } from '../../src/application/application.ts'
import { startCaddy } from '../support/caddy.ts'
import { anApplication, getForm } from '../support/form.ts'
import { verifyLink } from '../support/sign-in-links.ts'
import { startNginx } from '../support/nginx.ts'
import { freePort } from '../support/ports.ts'
import type { RunningProxy } from '../support/proxy.ts'
import { readRecipe } from '../support/deploy-recipes.ts'
import {
  dataDirectory,
  runCommand,
  startServer,
  temporaryDirectory,
  type RunningServer,
} from '../support/server.ts'
import { waitForTakeOver, test } from '../support/browser-test.ts'

type Settings = Record<string, string>

/** The ports and files of a recipe. */
interface RecipeOptions {
  directory: string
  key: string
  certificate: string
  upstream: string
  plainPort: number
  tlsPort: number
  /** The port of the same recipe with the page under a path. */
  pathPort: number
}

/** A running recipe, with the functions that differ between proxies. */
interface RunningRecipe {
  running: RunningProxy
  /** The target of the redirect to TLS. */
  redirectTarget: RegExp
  /** The log of requests so far. */
  readLog: () => Promise<string>
  /** Resolves when the proxy could not forward the request from this address, because the server does not run. */
  waitForRefusal: (localAddress: string, method: string, path: string) => Promise<void>
}

/** The recipe, and the settings of the server behind it. */
let proxy: RunningRecipe & {
  origin: string
  plainOrigin: string
  underPath: string
  certificate: string
  certificateFile: string
  settings: Settings
}
let server: RunningServer
/** Paths of links that mail programs changed, with a token. */
const pathsWith = (token: string) => [
  `answer/%23${token}`,
  `answer/${token}`,
  `answer%2523${token}.`,
  `withdraw/%23${token}.`,
  `desk%23token_hash=${token}&type=magiclink`,
]
/** The limit of inserts a minute from one address. */
const maxInserts = 6

async function nginxRecipe(options: RecipeOptions): Promise<RunningRecipe> {
  const { directory, key, certificate, upstream, plainPort, tlsPort, pathPort } = options
  const accessLog = join(directory, 'access.log')
  const tls = (listening: number) => ({
    '/var/log/nginx/access.log': accessLog,
    'listen 443 ': `listen ${listening} sndbuf=4k `,
    'listen [::]:443 ': `listen [::]:${listening} `,
    '/etc/letsencrypt/live/retreat.example/fullchain.pem': certificate,
    '/etc/letsencrypt/live/retreat.example/privkey.pem': key,
  })
  const atRoot = await readRecipe('nginx-proxy.conf', {
    'listen 80;': `listen ${plainPort};`,
    'listen [::]:80;': `listen [::]:${plainPort};`,
    'server 127.0.0.1:3000;': `server ${upstream};`,
    ...tls(tlsPort),
  })
  // Makes the change that the recipe describes for a page under a path. `atRoot` already defines the upstream.
  const withPath = await readRecipe('nginx-proxy.conf', {
    'location / {\n    proxy_pass ':
      'location /retreat/ {\n    rewrite ^/retreat(/.*) $1 break;\n    proxy_pass ',
    ...tls(pathPort),
  })
  const running = await startNginx(`${atRoot}\n${withPath.slice(withPath.lastIndexOf('\nserver {'))}`)
  return {
    running,
    redirectTarget: /^https:\/\/retreat\.example\//,
    readLog: async () => (await readFile(accessLog, 'utf8')) + running.output(),
    waitForRefusal: (localAddress, method, path) =>
      running.waitForLog(
        new RegExp(`Connection refused.* client: ${localAddress}, .*"${method} ${path} HTTP`),
      ),
  }
}

async function caddyRecipe(options: RecipeOptions): Promise<RunningRecipe> {
  const { key, certificate, upstream, plainPort, tlsPort, pathPort } = options
  const tls = (address: string) => ({
    '{$SITE_URL:https://retreat.example} {': `${address} {\n\ttls ${certificate} ${key}`,
    '{$UPSTREAM:127.0.0.1:3000}': upstream,
  })
  const atRoot = await readRecipe('Caddyfile', {
    // With `debug`, the log also contains each attempt.
    '\tservers {': `\tadmin off\n\tdebug\n\thttp_port ${plainPort}\n\thttps_port ${tlsPort}\n\tservers {`,
    ...tls('https://127.0.0.1'),
  })
  // Makes the change that the recipe describes for a page under a path.
  const withPath = await readRecipe('Caddyfile', {
    '\thandle {': '\tredir /retreat /retreat/ permanent\n\thandle_path /retreat/* {',
    ...tls(`https://:${pathPort}`),
  })
  const running = await startCaddy(`${atRoot}\n${withPath.slice(withPath.indexOf('\nhttps://'))}`)
  return {
    running,
    // Two sites have the same name here, and Caddy redirects to either. The redirect never has https_port.
    redirectTarget: new RegExp(`^https://127\\.0\\.0\\.1(:${pathPort})?/`),
    // Without debug lines the log is as the recipe makes it.
    readLog: async () =>
      running
        .output()
        .split('\n')
        .filter((line) => !line.includes('"level":"debug"'))
        .join('\n'),
    waitForRefusal(localAddress, method, path) {
      const parts = [`"remote_ip":"${localAddress}"`, `"method":"${method}"`]
      const uri = `"uri":"${path.replace('/retreat/', '/')}"`
      return running.waitForLog(new RegExp([...parts, uri, 'connection refused'].join('[^\n]*')))
    },
  }
}

function selfSigned(directory: string) {
  const files = { key: join(directory, 'key.pem'), certificate: join(directory, 'certificate.pem') }
  const options = [
    ['req', '-x509', '-nodes', '-newkey', 'rsa:2048', '-days', '1', '-subj', '/CN=retreat.example'],
    ['-addext', 'subjectAltName=DNS:retreat.example,IP:127.0.0.1'],
    ['-keyout', files.key, '-out', files.certificate],
  ]
  execFileSync('openssl', options.flat(), { stdio: 'ignore' })
  return files
}

/** Sends a request through the proxy over TLS, and verifies the proxy's own certificate, which `fetch` cannot. */
async function sendRequest(path: string, options: RequestOptions = {}, body = '') {
  // Sends the exact path, which a URL would normalise.
  const outgoing = request(proxy.origin, { path, ca: proxy.certificate, ...options })
  outgoing.end(body)
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  return { status: response.statusCode, headers: response.headers, text: await text(response) }
}

/** Sends an application from a loopback address. */
function sendFrom(
  localAddress: string,
  changes: Partial<Application> = {},
  { headers, ...options }: { headers?: Settings; port?: string; path?: string } = {},
) {
  const key = { apikey: 'public-anon-key', 'content-type': 'application/json' }
  return sendRequest(
    '/rest/v1/retreat_applications',
    { method: 'POST', localAddress, headers: { ...key, ...headers }, ...options },
    JSON.stringify(anApplication(changes)),
  )
}

async function apply(page: Page, application: Application) {
  const form = getForm(page)
  await form.fill(application)
  await form.button.click()
  await form.success.waitFor()
}

async function stored({ email }: Application, settings: Settings) {
  const { stdout } = await runCommand(['applications', '--json'], settings)
  const rows = stdout.split('\n').filter((line) => line.includes(`"${email}"`))
  return rows.map((line) => JSON.parse(line) as Record<string, unknown>)
}

/** The longest form answers that fit into the limit of a body, 255 kB in all. */
const longest = { reason: 'é'.repeat(100_000), custom_solution: 'x'.repeat(55_000) }

/** Runs the doctor with a public address, whose TLS certificate is its own. Returns its finding about the proxy. */
async function proxyFinding(settings: Settings, siteUrl: string, certificate: string) {
  const { stdout } = await runCommand(['doctor'], {
    ...settings,
    SITE_URL: siteUrl,
    NODE_EXTRA_CA_CERTS: certificate,
  })
  expect(stdout).toMatch(/^site +ok +SITE_URL is .*, which answers and is a server on this database\./m)
  return /^proxy +(.*)$/m.exec(stdout)?.[1]
}

describe.each([
  ['nginx', nginxRecipe],
  ['Caddy', caddyRecipe],
] as const)('behind %s', (name, startRecipe) => {
  beforeAll(async () => {
    const [directory, data] = await Promise.all([temporaryDirectory(), dataDirectory()])
    const ownPort = await freePort()
    const settings = {
      DATA_DIR: data.path,
      PORT: String(ownPort),
      TRUST_PROXY: '1',
      RATE_LIMIT_PER_MINUTE: String(maxInserts),
    }
    server = await startServer(settings)
    const { key, certificate } = selfSigned(directory.path)
    const [plainPort, tlsPort, pathPort] = [await freePort(), await freePort(), await freePort()]
    const upstream = `127.0.0.1:${ownPort}`
    const recipe = await startRecipe({
      directory: directory.path,
      key,
      certificate,
      upstream,
      plainPort,
      tlsPort,
      pathPort,
    })
    proxy = {
      ...recipe,
      origin: `https://127.0.0.1:${tlsPort}`,
      plainOrigin: `http://127.0.0.1:${plainPort}`,
      underPath: `https://127.0.0.1:${pathPort}/retreat/`,
      certificate: await readFile(certificate, 'utf8'),
      certificateFile: certificate,
      settings,
    }
  })

  test('the link of an email works through the proxy, and the proxy does not log it', async () => {
    const { stdout } = await runCommand(['organisers', '--add', 'ada@example.org'], {
      ...proxy.settings,
      SITE_URL: proxy.underPath,
    })
    const link = new URL(verifyLink(stdout.trim()))
    expect(link.href).toMatch(proxy.underPath)
    const { port } = link
    const opened = await sendRequest(`${link.pathname}${link.search}`, { port })
    expect(opened.status).toBe(303)
    expect(opened.headers.location).toContain('#access_token=')
    // Waits until the log has a later request, because the log would then contain the link too.
    await sendRequest('/retreat/auth/v1/health?last', { port })
    await expect.poll(() => proxy.readLog()).toContain('/auth/v1/health?last')
    const log = await proxy.readLog()
    expect(log).not.toContain(link.searchParams.get('token'))
    expect(log).not.toContain('access_token')
  })

  test('a link whose token is in the path leads to its page, and the proxy does not log the token', async () => {
    const { port } = new URL(proxy.underPath)
    const token = crypto.randomUUID()
    for (const path of pathsWith(token)) {
      const first = await sendRequest(`/retreat/${path}`, { port })
      const [page, fragment] = first.headers.location?.split('#') ?? []
      const opened = page === undefined ? first : await sendRequest(page, { port })
      expect([opened.status, opened.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
      if (page === undefined) continue
      expect(page).toBe(`/retreat/${/^[a-z]+/.exec(path)?.[0]}/`)
      expect([token, `token_hash=${token}&type=magiclink`]).toContain(fragment)
    }
    const plain = new URL(proxy.plainOrigin)
    await fetch(`${plain.origin}/answer/%23${token}`, { redirect: 'manual' })
    await sendRequest('/retreat/auth/v1/health?later', { port })
    await expect.poll(() => proxy.readLog()).toContain('/auth/v1/health?later')
    expect(await proxy.readLog()).not.toContain(token)
  })

  test('a founder applies over TLS and HTTP/2', async ({ visitor }) => {
    const application = anApplication()
    const page = await visitor.open(proxy.origin, { ignoreHTTPSErrors: true })
    await waitForTakeOver(page)
    const protocol = await page.evaluate(
      () => (performance.getEntriesByType('navigation') as PerformanceNavigationTiming[])[0]?.nextHopProtocol,
    )
    expect(protocol).toBe('h2')
    await apply(page, application)
    expect(await stored(application, proxy.settings)).toMatchObject([application])
  })

  test('a founder applies over TLS without JavaScript', async ({ visitor }) => {
    const application = anApplication()
    const options = { ignoreHTTPSErrors: true, javaScriptEnabled: false }
    const page = await visitor.open(proxy.origin, options)
    await apply(page, application)
    expect(page.url()).toBe(`${proxy.origin}/`)
    expect(await stored(application, proxy.settings)).toMatchObject([application])
  })

  test('each IP address has its own limit, and a forged X-Forwarded-For does not avoid the limit', async () => {
    for (let index = 0; index < maxInserts; index += 1) expect((await sendFrom('127.0.0.2')).status).toBe(201)
    expect((await sendFrom('127.0.0.2')).status).toBe(429)
    for (const forged of ['192.0.2.1', '192.0.2.2, 127.0.0.3']) {
      const sent = await sendFrom('127.0.0.2', {}, { headers: { 'x-forwarded-for': forged } })
      expect(sent.status, `as ${forged}`).toBe(429)
    }
    expect((await sendFrom('127.0.0.3')).status).toBe(201)
  })

  test('a body that is too large is refused by the server and not by the proxy, and the largest allowed body is accepted', async () => {
    expect((await sendFrom('127.0.0.4', longest)).status).toBe(201)
    for (const kilobytes of [256, 500]) {
      const refused = await sendFrom('127.0.0.4', { reason: 'x'.repeat(kilobytes * 1024) })
      expect(refused.status).toBe(413)
      expect(JSON.parse(refused.text)).toMatchObject({ code: 'HTTP413' })
    }
    // This body is also above nginx's own limit, so nginx may respond.
    const refused = await sendFrom('127.0.0.4', { reason: 'x'.repeat(512 * 1024) })
    expect(refused.status).toBe(413)
  })

  test('/healthz and /readyz cannot be reached through the proxy', async () => {
    for (const path of ['/healthz', '/readyz']) {
      expect((await fetch(server.origin + path)).status).toBe(200)
      for (const way of [path, `${path}/`, `/${path}`, `${path}?x`, path.replace('z', '%7a'), `/.${path}`]) {
        expect((await sendRequest(way)).status, `GET ${way}`).toBe(404)
      }
      const { port } = new URL(proxy.underPath)
      expect((await sendRequest(`/retreat${path}`, { port })).status, `GET /retreat${path}`).toBe(404)
    }
  })

  test("the doctor reaches the server by its public address, and finds that the server sees visitors' own IP addresses", async () => {
    for (const siteUrl of [proxy.origin, proxy.underPath]) {
      expect(await proxyFinding(proxy.settings, siteUrl, proxy.certificateFile)).toBe(
        "ok         The server takes visitors' addresses from the proxy, and from nobody else.",
      )
    }
  })

  test('a founder applies on the page under a path', async ({ visitor }) => {
    const application = anApplication()
    const page = await visitor.open(proxy.underPath.slice(0, -1), { ignoreHTTPSErrors: true })
    expect(page.url()).toBe(proxy.underPath)
    await waitForTakeOver(page)
    await apply(page, application)
    expect(await stored(application, proxy.settings)).toMatchObject([application])
  })

  test('without JavaScript the form under a path shows success, or an error message with the answers still filled in', async ({
    visitor,
  }) => {
    visitor.allowConsoleError(/Failed to load resource/)
    const application = anApplication()
    const options = { ignoreHTTPSErrors: true, javaScriptEnabled: false }
    const page = await visitor.open(proxy.underPath, options)
    const form = getForm(page)
    await form.fill(application)
    await form.consent.evaluate((checkbox) => checkbox.removeAttribute('required'))
    await form.consent.uncheck()
    await form.button.click()
    await form.failure.waitFor()
    expect(page.url()).toBe(proxy.underPath)
    const { consent, ...answers } = application
    expect(await form.answers()).toEqual(answers)

    await form.consent.setChecked(consent)
    await form.button.click()
    await form.success.waitFor()
    expect(page.url()).toBe(proxy.underPath)
    expect(await stored(application, proxy.settings)).toMatchObject([application])
  })

  test('a request without TLS is redirected to TLS, and responses over TLS have Strict-Transport-Security', async () => {
    const plain = await fetch(`${proxy.plainOrigin}/?from=a-friend`, { redirect: 'manual' })
    expect([301, 308]).toContain(plain.status)
    expect(plain.headers.get('location')).toMatch(proxy.redirectTarget)
    expect(plain.headers.get('location')).toContain('/?from=a-friend')

    const { status, headers } = await sendRequest('/')
    expect(status).toBe(200)
    expect(headers['strict-transport-security']).toBe('max-age=31536000')
    expect(headers['content-security-policy']).toContain("form-action 'self'")
  })

  if (name === 'nginx') {
    test('nginx writes no application to its disk', async () => {
      expect((await sendFrom('127.0.0.5', longest)).status).toBe(201)
      const options = {
        method: 'POST',
        localAddress: '127.0.0.5',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      }
      // This is the longest value that a refused form returns. Escaped, it is larger than nginx's buffers.
      const reason = '<'.repeat(15 * 1024)
      const refused = await sendRequest('/', options, new URLSearchParams({ reason }).toString())
      expect(refused.status).toBe(400)
      expect(refused.text).toContain(reason.replaceAll('<', '&lt;'))
      expect(proxy.running.output()).not.toContain('temporary file')
    })

    test("nginx does not redirect certbot's requests to TLS", async () => {
      // The file does not exist, and the response is no redirect.
      expect((await fetch(`${proxy.plainOrigin}/.well-known/acme-challenge/x`)).status).toBe(404)
    })

    // The tests that stop the server come last, because the server that they start ends with the test.

    test('requests during a restart of the server wait, and then get normal responses', async ({
      visitor,
    }) => {
      const [native, sent, sentUnderPath] = [anApplication(), anApplication(), anApplication()]
      const options = { ignoreHTTPSErrors: true, javaScriptEnabled: false }
      const page = await visitor.open(proxy.origin, options)
      const form = getForm(page)
      await form.fill(native)
      await server.stop()

      const nativeResponse = page.waitForResponse(`${proxy.origin}/`)
      const { port } = new URL(proxy.underPath)
      const responses = Promise.all([
        sendRequest('/', { localAddress: '127.0.0.6' }),
        sendFrom('127.0.0.6', sent),
        sendFrom('127.0.0.7', sentUnderPath, { port, path: '/retreat/rest/v1/retreat_applications' }),
        form.button.click(),
      ])
      await Promise.all([
        proxy.waitForRefusal('127.0.0.6', 'GET', '/'),
        proxy.waitForRefusal('127.0.0.6', 'POST', '/rest/v1/retreat_applications'),
        proxy.waitForRefusal('127.0.0.7', 'POST', '/retreat/rest/v1/retreat_applications'),
        proxy.waitForRefusal('127.0.0.1', 'POST', '/'),
      ])
      server = await startServer(proxy.settings)
      const [pageResponse, ...posted] = await responses
      expect([pageResponse.status, pageResponse.headers['www-authenticate']]).toEqual([200, undefined])
      expect(pageResponse.text).toContain('Unplugged.')
      expect(posted.slice(0, 2)).toMatchObject([{ status: 201 }, { status: 201 }])
      expect((await nativeResponse).status()).toBe(200)
      await form.success.waitFor()
      for (const application of [native, sent, sentUnderPath]) {
        expect(await stored(application, proxy.settings)).toMatchObject([application])
      }
    })
  }

  test('a page that is opened during a restart of the server waits for the server', async () => {
    await server.stop()
    const response = sendRequest('/', { localAddress: '127.0.0.6' })
    await proxy.waitForRefusal('127.0.0.6', 'GET', '/')
    server = await startServer(proxy.settings)
    expect((await response).text).toContain('Unplugged.')
  })

  test('if the server does not start again, the proxy responds with a sentence', async () => {
    await server.stop()
    const localAddress = '127.0.0.9'
    const token = crypto.randomUUID()
    const [responses] = await Promise.all([
      Promise.all([sendRequest('/', { localAddress }), sendFrom(localAddress)]),
      ...pathsWith(token).map(async (path) => sendRequest(`/${path}`, { localAddress: '127.0.0.11' })),
    ])
    expect(await proxy.readLog()).not.toContain(token)
    for (const { status, headers, text: body } of responses) {
      expect(status).toBe(503)
      expect(headers).toMatchObject({ 'content-type': 'text/plain', 'retry-after': '5' })
      expect(body).toBe('The server cannot be reached right now. Please try again in a moment.\n')
    }
    server = await startServer(proxy.settings)
  })

  if (name !== 'nginx') return

  test('if the response to an application is lost on its way to nginx, nginx retries, and the application is stored once', async () => {
    const [native, sent] = [anApplication(), anApplication()]
    await server.stop()
    // A relay takes the server's port, and loses the first two responses.
    server = await startServer({ ...proxy.settings, PORT: '0' })
    let responsesToLose = 2
    const relay = createServer((incoming) => {
      const outgoing = connect(Number(new URL(server.origin).port))
      const isLost = responsesToLose > 0
      responsesToLose -= 1
      incoming.pipe(outgoing)
      if (isLost) outgoing.once('data', () => outgoing.destroy() && incoming.destroy())
      else outgoing.pipe(incoming)
    })
    relay.listen(Number(proxy.settings['PORT']), '127.0.0.1')
    await once(relay, 'listening')

    const options = {
      method: 'POST',
      localAddress: '127.0.0.8',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    }
    const entries = Object.entries(native).map(([field, answer]) => [field, String(answer)])
    const [page, response] = await Promise.all([
      sendRequest('/', options, new URLSearchParams(entries).toString()),
      sendFrom('127.0.0.8', sent),
    ])
    expect(responsesToLose).toBeLessThan(0)
    expect(page.status).toBe(200)
    expect(page.text).toContain('Application Submitted Successfully!')
    // The page treats this as success.
    expect(response.status).toBe(409)
    expect(isDuplicate(JSON.parse(response.text) as { code: string; message: string })).toBe(true)
    for (const application of [native, sent]) {
      expect(await stored(application, proxy.settings)).toMatchObject([application])
    }

    const closed = once(relay.close(), 'close')
    await server.stop()
    await closed
    server = await startServer(proxy.settings)
  })

  test('if the server does not start again, nginx tries five times', async () => {
    await server.stop()
    expect((await sendRequest('/', { localAddress: '127.0.0.10' })).status).toBe(503)
    const tries = proxy.running.output().match(/Connection refused.* client: 127\.0\.0\.10, .*"GET/g)
    expect(tries).toHaveLength(5)
    server = await startServer(proxy.settings)
  })
})

test('the doctor finds that TRUST_PROXY trusts no proxy, too few or too many', async () => {
  // Requests to `outer` pass two proxies, and requests to `inner` one.
  const [ownPort, outer, inner] = [await freePort(), await freePort(), await freePort()]
  const proxyTo = (port: number, to: number) => `
    server {
      listen 127.0.0.1:${port};
      location / {
        proxy_pass http://127.0.0.1:${to};
        proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      }
    }`
  const plain = await freePort()
  const directory = await temporaryDirectory()
  const { key, certificate } = selfSigned(directory.path)
  const plainProxy = `
    server {
      listen 127.0.0.1:${plain} ssl;
      ssl_certificate ${certificate};
      ssl_certificate_key ${key};
      location / { proxy_pass http://127.0.0.1:${ownPort}; }
    }`
  await startNginx(proxyTo(inner, ownPort) + proxyTo(outer, inner) + plainProxy)
  const data = await dataDirectory()
  for (const [trusted, port, finding] of [
    [undefined, inner, /^wrong +A proxy says who visitors are, but TRUST_PROXY does not name it/],
    ['1', inner, /^ok /],
    ['1', outer, /^wrong +TRUST_PROXY names too few of several proxies/],
    ['2', outer, /^ok /],
    ['2', inner, /^wrong +TRUST_PROXY trusts an X-Forwarded-For that visitors write/],
    ['127.0.0.1', inner, /^not known +The doctor asks from an address in TRUST_PROXY, so/],
    [
      '127.0.0.1',
      plain,
      /^wrong +The proxy before SITE_URL passes on the X-Forwarded-For that visitors write/,
    ],
  ] as const) {
    const settings: Settings = {
      DATA_DIR: data.path,
      PORT: String(ownPort),
      ...(trusted === undefined ? {} : { TRUST_PROXY: trusted }),
    }
    const serverBehind = await startServer(settings)
    const origin = `${port === plain ? 'https' : 'http'}://127.0.0.1:${port}`
    expect(await proxyFinding(settings, origin, certificate)).toMatch(finding)
    await serverBehind.stop()
  }
})
