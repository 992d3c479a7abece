import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import { beforeAll, expect, test } from 'vitest'

import { send, storedEmails } from '../../support/send-application.ts'
import { anApplication } from '../../support/form.ts'
import { dataDirectory, startServer, type RunningServer } from '../../support/server.ts'
import { until } from '../../support/until.ts'

const form = 'application/x-www-form-urlencoded'
const maxBodyBytes = 256 * 1024

let server: RunningServer
let settings: Record<string, string>

beforeAll(async () => {
  const directory = await dataDirectory()
  settings = { DATA_DIR: directory.path }
  server = await startServer(settings)
})

/** The server's memory in megabytes: now (`VmRSS`), or the most so far (`VmHWM`). */
function memory(field: 'VmRSS' | 'VmHWM' = 'VmRSS') {
  const status = readFileSync(`/proc/${server.process.pid}/status`, 'utf8')
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) / 1024
}

/** Opens a connection, writes to it and never reads. */
async function write(text: string): Promise<Socket> {
  const { hostname, port } = new URL(server.origin)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.pause()
  await new Promise<void>((resolve) => socket.write(text, () => resolve()))
  return socket
}

const post = (body: string, length = body.length) =>
  `POST / HTTP/1.1\r\nhost: x\r\ncontent-type: ${form}\r\ncontent-length: ${length}\r\n\r\n${body}`

const postForm = (fields: Record<string, string>) =>
  fetch(server.origin, { method: 'POST', body: new URLSearchParams(fields) })

test('200 connections that send large bodies and never read cost little memory, and other visitors are served', async () => {
  await (await fetch(server.origin)).text()
  const before = memory()
  const body = `reason=${'<'.repeat(maxBodyBytes - 7)}`
  const sockets = await Promise.all(Array.from({ length: 200 }, () => write(post(body))))
  expect(await send(server.origin, anApplication())).toBe(201)
  expect((await fetch(server.origin)).status).toBe(200)
  const sent = (200 * maxBodyBytes) / 2 ** 20
  expect(memory() - before - sent).toBeLessThan(100)
  for (const socket of sockets) socket.destroy()
  // Waits until the server has noticed that the connections are closed.
  await until('room for a large request', async () => {
    return (await postForm({ reason: 'x'.repeat(maxBodyBytes / 2) })).status !== 503
  })
})

test('if too many large requests are pending, further ones are refused at once, and small requests are served', async () => {
  // Only the beginning of each request is sent.
  const openMany = () => Promise.all(Array.from({ length: 40 }, () => write(post('reason=x', maxBodyBytes))))
  let sockets = await openMany()
  const sendLarge = () => postForm({ reason: 'x'.repeat(maxBodyBytes / 2) })
  // The server may not have read the headers of all 40 yet, so the first tries may still be accepted.
  let refusal = await sendLarge()
  await until('a refusal', async () => {
    // On a busy machine, their time may have run out before the first try.
    if (sockets.every(({ destroyed: isClosed }) => isClosed)) sockets = await openMany()
    refusal = await sendLarge()
    return refusal.status === 503
  })
  expect(await refusal.text()).toContain('Too many large requests are open.')
  const small = anApplication()
  expect((await postForm({ ...small, consent: 'true' })).status).toBe(200)
  expect(await send(server.origin, anApplication())).toBe(201)
  const closed = sockets.filter(({ destroyed: isClosed }) => !isClosed).map((socket) => once(socket, 'close'))
  for (const socket of sockets) socket.destroy()
  await Promise.all(closed)
  const answers = { reason: 'x'.repeat(100_000), custom_solution: 'x'.repeat(maxBodyBytes / 2 - 100_000) }
  const large = { ...anApplication(answers), consent: 'true' }
  await until('room for a large request', async () => (await postForm(large)).status !== 503)
  expect(await storedEmails(settings)).toEqual(expect.arrayContaining([small.email, large.email]))
})

test('bodies that arrive in chunks of one byte cost little memory', async () => {
  const { hostname, port } = new URL(server.origin)
  const head = `POST / HTTP/1.1\r\nhost: x\r\ncontent-type: ${form}\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n`
  const request = `${head}${'1\r\nx\r\n'.repeat(maxBodyBytes)}0\r\n\r\n`
  const before = memory()
  // A slow machine needs seconds for each of them, and the server ends what takes too long.
  const statuses = Array.from({ length: 4 }, async () => {
    const socket = connect(Number(port), hostname)
    socket.write(request)
    return (await readText(socket)).split(' ')[1]
  })
  expect(new Set(await Promise.all(statuses))).toEqual(new Set(['400']))
  // Fastify's own reader takes 100 MB for each.
  expect(memory('VmHWM') - before).toBeLessThan(150)
})

test.each(['text/plain', 'application/json', 'multipart/form-data; boundary=x'])(
  'a post to the page is accepted only as a form, and not as %s',
  async (type) => {
    const response = await fetch(server.origin, {
      method: 'POST',
      headers: { 'content-type': type },
      body: '{}',
    })
    expect(response.status).toBe(415)
    expect(await response.text()).toContain('Submission Failed')
  },
)

test('a body with too many fields for the form is refused before it is parsed', async () => {
  const response = await fetch(server.origin, {
    method: 'POST',
    headers: { 'content-type': form },
    body: 'a&'.repeat(maxBodyBytes / 2),
  })
  expect(response.status).toBe(400)
  expect(await response.text()).toContain('The form sends fewer fields than this request has.')
})

// break: echoed-answers-unlimited
test('a refused form comes back with its form answers, or only with the error message if these are too long', async () => {
  const filled = await (await postForm({ first_name: 'Ada', reason: '<'.repeat(16_000) })).text()
  expect(filled).toContain('value="Ada"')
  expect(filled).toContain('&lt;'.repeat(16_000))
  const empty = await (await postForm({ first_name: 'Ada', reason: '<'.repeat(17_000) })).text()
  expect(empty).toContain('Submission Failed')
  expect(empty).not.toContain('Ada')
  expect(empty.length).toBeLessThan(40_000)
})

test('a form whose consent is not ticked is refused', async () => {
  const application = anApplication()
  const { consent, ...answers } = application
  expect(consent).toBe(true)
  for (const body of [{ ...answers, consent: 'false' }, { ...answers, consent: 'on' }, answers]) {
    expect((await postForm(body)).status).toBe(400)
  }
  const json = await fetch(server.origin, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...answers, consent: false }),
  })
  expect(json.status).toBe(415)
  expect(await storedEmails(settings)).not.toContain(application.email)
  expect((await postForm({ ...answers, consent: 'true' })).status).toBe(200)
})

test('the message of a refusal is short, even if the refused text is long', async () => {
  const response = await fetch(`${server.origin}/rest/v1/retreat_applications`, {
    method: 'POST',
    headers: { apikey: 'public-anon-key', 'content-type': 'application/json' },
    body: JSON.stringify({ ...anApplication(), consent: 'x'.repeat(200_000) }),
  })
  expect(response.status).toBe(400)
  expect((await response.text()).length).toBeLessThan(2_000)
})
