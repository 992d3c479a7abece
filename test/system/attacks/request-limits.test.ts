import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { beforeAll, expect } from 'vitest'

import { send } from '../../support/send-application.ts'
import { anApplication, getForm } from '../../support/form.ts'
import { outputOf } from '../../support/output.ts'
import { endWithTest } from '../../support/end-with-test.ts'
import { startReceiver } from '../../support/receiver.ts'
import { runCommand, startServer, dataDirectory, type RunningServer } from '../../support/server.ts'
import { test } from '../../support/browser-test.ts'

let server: RunningServer
let dataDir: string

beforeAll(async () => {
  const directory = await dataDirectory()
  dataDir = directory.path
  server = await startServer({ DATA_DIR: dataDir })
})

const key = { apikey: 'public-anon-key', 'content-type': 'application/json' }
const path = '/rest/v1/retreat_applications'

/** Sends the exact bytes. Returns everything that the server sent until it closed the connection. */
function sendRaw(origin: string, ...parts: string[]) {
  const { hostname, port } = new URL(origin)
  return new Promise<string>((resolve) => {
    let response = ''
    const socket = connect(Number(port), hostname, () => socket.write(parts.join('')))
    socket.on('data', (chunk) => (response += chunk.toString('latin1')))
    socket.on('error', () => resolve(response))
    socket.on('close', () => resolve(response))
  })
}

/** Starts a separate server for one test. */
async function withServer<T>(
  settings: Record<string, string>,
  run: (freshServer: RunningServer) => Promise<T>,
) {
  const directory = await dataDirectory()
  const freshServer = await startServer({ DATA_DIR: directory.path, ...settings })
  return await run(freshServer)
}

test('with 200 open files, 300 connections that only wait keep nobody from the page, and the log has one line', async () => {
  const { path: DATA_DIR } = await dataDirectory()
  const limited = spawn('sh', ['-c', `ulimit -n 200; exec ${process.execPath} start.js`], {
    env: { PATH: process.env['PATH'] ?? '', PORT: '0', DATA_DIR },
  })
  endWithTest(limited, DATA_DIR)
  const { output, waitForOutput } = outputOf(limited)
  await waitForOutput(/is ready at .*\n/)
  expect(output()).toContain('The server may open only 200 files, so at most 50 visitors can be connected: ')
  const origin = /is ready at (.*)\//.exec(output())?.[1] ?? ''
  const { hostname, port } = new URL(origin)
  const idle = Array.from({ length: 300 }, () => connect(Number(port), hostname).on('error', () => {}))
  await Promise.all(idle.map((socket) => once(socket, 'connect')))
  expect((await fetch(origin)).status).toBe(200)
  expect(await send(origin, anApplication())).toBe(201)
  await waitForOutput('too many connections are open')
  expect(output().match(/too many connections are open/g)).toHaveLength(1)
  const doctor = await runCommand(['doctor'], { DATA_DIR, PORT: port })
  expect(doctor.stdout).toMatch(/^open files +wrong +The server may open only 200 files/m)
  for (const socket of idle) socket.destroy()
})

// break: body-limit-doubled
test('a body over 256 KiB is refused in the error format of the data interface', async () => {
  // These are the longest form answers that fit into the limit of a body.
  const fits = anApplication({ reason: 'é'.repeat(100_000), custom_solution: 'x'.repeat(61_000) })
  expect(await send(server.origin, fits)).toBe(201)
  const response = await fetch(server.origin + path, {
    method: 'POST',
    headers: key,
    body: JSON.stringify(anApplication({ reason: 'x'.repeat(256 * 1024) })),
  })
  expect(response.status).toBe(413)
  expect(await response.json()).toMatchObject({ code: 'HTTP413', details: null, hint: null })
})

test('a native post over the limit returns the page with an error message', async () => {
  const body = new URLSearchParams({ reason: 'x'.repeat(256 * 1024) })
  const response = await fetch(server.origin, { method: 'POST', body })
  expect(response.status).toBe(413)
  expect(await response.text()).toMatch(/Submission Failed.*too large/s)
})

test('headers over 16 KiB are refused', async () => {
  const response = await sendRaw(
    server.origin,
    `GET / HTTP/1.1\r\nhost: x\r\nlong: ${'x'.repeat(17_000)}\r\n\r\n`,
  )
  expect(response).toMatch(/^HTTP\/1.1 431 /)
})

test('the number of applications a minute from one IP address is limited, and the refusal says when to try again', async ({
  visitor,
}) => {
  visitor.allowConsoleError(/429/)
  await withServer({ RATE_LIMIT_PER_MINUTE: '1' }, async ({ origin }) => {
    expect(await send(origin, anApplication())).toBe(201)
    const response = await fetch(origin + path, {
      method: 'POST',
      headers: key,
      body: JSON.stringify(anApplication()),
    })
    expect(response.status).toBe(429)
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await response.json()).toMatchObject({
      message: expect.stringMatching(/^Too many applications/) as string,
    })

    const page = await visitor.open(origin)
    await getForm(page).fill(anApplication())
    await getForm(page).button.click()
    await page.getByText('Too many applications came from your connection.').waitFor()

    const native = await fetch(origin, { method: 'POST', body: new URLSearchParams({ first_name: 'Ada' }) })
    expect(native.status).toBe(429)
    expect(await native.text()).toContain('Too many applications')
    // Rows in an array count too.
    const rows = [anApplication(), anApplication()]
    const several = await fetch(origin + path, { method: 'POST', headers: key, body: JSON.stringify(rows) })
    expect(several.status).toBe(429)
    // Requests for the page are not limited.
    expect((await fetch(origin)).status).toBe(200)
  })
})

// break: forwarded-address-always-trusted
test('X-Forwarded-For is trusted only if TRUST_PROXY is set, and otherwise logged once as a warning', async () => {
  const post = async (origin: string, address: string) => {
    const headers = { ...key, 'x-forwarded-for': address }
    return (await fetch(origin + path, { method: 'POST', headers, body: JSON.stringify(anApplication()) }))
      .status
  }
  await withServer({ RATE_LIMIT_PER_MINUTE: '1' }, async ({ origin, output, waitForOutput }) => {
    expect(await post(origin, '192.0.2.1')).toBe(201)
    expect(await post(origin, '192.0.2.2')).toBe(429)
    await waitForOutput('TRUST_PROXY is off')
    expect(output().split('TRUST_PROXY is off')).toHaveLength(2)
  })
  await withServer({ RATE_LIMIT_PER_MINUTE: '1', TRUST_PROXY: '1' }, async ({ origin, output }) => {
    expect(await post(origin, '192.0.2.1')).toBe(201)
    expect(await post(origin, '192.0.2.2')).toBe(201)
    // Only the last entry is the trusted proxy's. A visitor may write anything before it.
    expect(await post(origin, '192.0.2.9, 192.0.2.1')).toBe(429)
    expect(output()).not.toContain('TRUST_PROXY')
  })
  // The requests come from 127.0.0.1, which is not one of these trusted addresses.
  await withServer({ RATE_LIMIT_PER_MINUTE: '1', TRUST_PROXY: '10.0.0.0/8' }, async ({ origin }) => {
    expect(await post(origin, '192.0.2.1')).toBe(201)
    expect(await post(origin, '192.0.2.2')).toBe(429)
  })
})

test('the public API key permits no reads', async () => {
  const secret = anApplication({ first_name: 'Secret', reason: 'nobody may read this' })
  expect(await send(server.origin, secret)).toBe(201)
  const secretTexts = [secret.email, secret.reason, secret.last_name]
  const body = JSON.stringify(secret)
  // An insert that does not ask for rows gets 409, because the application is already stored.
  const attempts: [
    status: number,
    method: string,
    query: string,
    headers: Record<string, string>,
    sent?: string,
  ][] = [
    [401, 'GET', '?select=*', {}],
    [401, 'GET', '?select=email&email=neq.x&limit=1', {}],
    [401, 'GET', '?select=*,deliveries(*)', {}],
    [401, 'GET', '', { range: '0-9', 'range-unit': 'items' }],
    [401, 'GET', '', { accept: 'text/csv' }],
    [401, 'GET', '', { accept: 'application/vnd.pgrst.plan' }],
    [406, 'GET', '', { 'accept-profile': 'private' }],
    [401, 'HEAD', '?select=*', { prefer: 'count=exact' }],
    [401, 'POST', '?select=*', { prefer: 'return=representation' }, body],
    [401, 'POST', '', { prefer: 'return=headers-only' }, body],
    [409, 'POST', '', { prefer: ' RETURN = representation' }, body],
    [
      401,
      'POST',
      '?on_conflict=email',
      { prefer: 'resolution=merge-duplicates,return=representation' },
      body,
    ],
    [401, 'POST', '?on_conflict=email', { prefer: 'resolution=ignore-duplicates' }, body],
    [409, 'POST', '?email=eq.x&select=*', {}, body],
    [401, 'POST', '?columns=email,id', {}, body],
    [400, 'POST', '?columns=ctid,tableoid', {}, body],
    [409, 'POST', '', {}, body],
    [401, 'PATCH', '?email=neq.x', { prefer: 'return=representation' }, '{"first_name":"x"}'],
    [401, 'PUT', '?id=eq.1', {}, body],
    [401, 'DELETE', '?email=neq.x', { prefer: 'return=representation' }],
  ]
  for (const [status, method, query, headers, sent] of attempts) {
    const response = await fetch(server.origin + path + query, {
      method,
      headers: { ...key, ...headers },
      ...(sent === undefined ? {} : { body: sent }),
    })
    const text = `${JSON.stringify([...response.headers])}${await response.text()}`
    expect(response.status, `${method} ${query}`).toBe(status)
    for (const secretText of secretTexts) expect(text, `${method} ${query}`).not.toContain(secretText)
  }
})

test('pipelined requests get separate responses, and none of them can read applications', async () => {
  const secret = anApplication({ first_name: 'Secret' })
  expect(await send(server.origin, secret)).toBe(201)
  const body = JSON.stringify(anApplication())
  const head = `host: x\r\napikey: public-anon-key\r\ncontent-type: application/json\r\n`
  const response = await sendRaw(
    server.origin,
    `POST ${path} HTTP/1.1\r\n${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    `GET ${path}?select=* HTTP/1.1\r\n${head}\r\n`,
    `POST ${path}?select=* HTTP/1.1\r\n${head}prefer: return=representation\r\ncontent-length: 2\r\n\r\n{}`,
    `GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
  )
  expect(response.match(/HTTP\/1\.1 \d+/g)).toEqual([
    'HTTP/1.1 201',
    'HTTP/1.1 401',
    'HTTP/1.1 401',
    'HTTP/1.1 200',
  ])
  expect(response).not.toContain(secret.email)
})

test('a request with both a content length and chunked encoding is refused', async () => {
  const smuggled = `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`
  const both = await sendRaw(
    server.origin,
    `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
  )
  expect(both).toMatch(/^HTTP\/1\.1 400 /)
  expect(both.match(/HTTP\/1\.1 /g)).toHaveLength(1)
})

// break: page-calls-any-server
// break: page-framed-by-same-site
test('the page allows only its own scripts and styles, by hash, and requests only to its own origin', async ({
  visitor,
}) => {
  const response = await fetch(server.origin)
  const html = await response.text()
  const policy = response.headers.get('content-security-policy') ?? ''
  expect(policy).not.toContain('unsafe')
  expect(policy).toContain("default-src 'none'")
  expect(policy).toMatch(/script-src 'self' 'strict-dynamic' 'sha256-[^']+';/)
  expect(policy).toMatch(/style-src( 'sha256-[^']+')+;/)
  expect(policy).toContain("connect-src 'self';")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).toContain("base-uri 'none'")
  expect(policy).toContain("form-action 'self'")
  expect(html).not.toContain('http-equiv="content-security-policy"')
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  })
  expect([...response.headers.keys()]).not.toContain('server')
  expect([...response.headers.keys()]).not.toContain('x-powered-by')

  visitor.allowConsoleError(/Content Security Policy/)
  const page = await visitor.open(server.origin)
  const ran = await page.evaluate(async () => {
    const holder = document.createElement('div')
    holder.innerHTML = '<img src="data:," onerror="document.title = 1">'
    const failed = new Promise((resolve) => holder.firstElementChild?.addEventListener('error', resolve))
    document.body.append(holder)
    await failed
    return fetch('https://elsewhere.example/').then(
      () => 'called elsewhere',
      () => document.title,
    )
  })
  expect(ran).toBe('Unplugged.')
})

test('responses have Strict-Transport-Security only if the request came over TLS', async () => {
  expect((await fetch(server.origin)).headers.get('strict-transport-security')).toBeNull()
  await withServer({ TRUST_PROXY: '1' }, async ({ origin }) => {
    const response = await fetch(origin, { headers: { 'x-forwarded-proto': 'https' } })
    expect(response.headers.get('strict-transport-security')).toBe('max-age=31536000')
  })
})

// break: log-has-urls
test("neither the server's log nor the database's log contains an applicant's name or a form answer", async () => {
  const receiver = await startReceiver((_request, response) =>
    response.writeHead(500).end('receiver says no'),
  )
  const directory = await dataDirectory()
  const freshServer = await startServer({ DATA_DIR: directory.path, WEBHOOK_URL: receiver.origin })
  const marked = anApplication({
    first_name: 'MARK1',
    last_name: 'MARK2',
    email: 'mark3@example.com',
    reason: 'MARK4',
  })
  const bodies = [
    marked,
    marked,
    { ...marked, consent: 'MARK5' },
    { ...marked, team_size: 'MARK6' },
    { ...marked, reason: 'MARK7\u0000' },
    { ...marked, MARK8: 'x' },
    { ...marked, consent: null },
  ].map((body) => JSON.stringify(body))
  for (const body of [...bodies, '{"first_name": "MARK9']) {
    await fetch(freshServer.origin + path, { method: 'POST', headers: key, body })
    await fetch(freshServer.origin, { method: 'POST', body: new URLSearchParams({ first_name: body }) })
  }
  await fetch(`${freshServer.origin}/MARK10?first_name=MARK11`)
  await freshServer.waitForOutput('receiver says no')
  await freshServer.waitForOutput('"status":404')
  await freshServer.stop()
  const databaseLog = await readFile(join(directory.path, 'postgres.log'), 'utf8')
  const log = freshServer.output()
  expect(log).not.toMatch(/mark\d/i)
  expect(databaseLog).not.toMatch(/mark\d/i)
  const line = log.split('\n').find((text) => text.includes(`"route":"${path}"`)) ?? ''
  expect(JSON.parse(line)).toMatchObject({
    level: 'info',
    method: 'POST',
    status: 201,
    milliseconds: expect.any(Number) as number,
  })
  expect(log).not.toContain('127.0.0.1"')
})
