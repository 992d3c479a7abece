import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { beforeAll, expect, test } from 'vitest'

import { send } from '../../testing/client.ts'
import { anApplication } from '../../testing/form.ts'
import { startServer, dataDirectory, type RunningServer } from '../../testing/server.ts'
import { extent, seedOf } from '../../testing/extent.ts'
import { randomFrom } from '../../testing/random.ts'

/** The same requests for the same seed. */
const seed = seedOf('FUZZ_SEED')
const requests = extent(1_000, 10_000)

let server: RunningServer

beforeAll(async () => {
  const directory = await dataDirectory()
  server = await startServer({ DATA_DIR: directory.path })
})

function generator(random: () => number) {
  const below = (limit: number) => Math.floor(random() * limit)
  const pick = <T>(from: readonly T[]) => from[below(from.length)] as T
  const bytes = (length: number) => String.fromCharCode(...Array.from({ length }, () => below(256)))
  const text = () =>
    pick([
      () => bytes(below(60)),
      () => '\\u0000',
      () => '\\ud800',
      () => "'; drop table retreat_applications; --",
      () => '<script>alert(1)</script>',
      () => '%00%ff%c0%af%',
      () => '../'.repeat(below(12)),
      () => 'x'.repeat(below(3_000)),
      () => '',
      () => '😀\u202e',
    ])()

  const json = (depth = 0): unknown => {
    const kinds = depth > 3 ? 5 : 8
    switch (below(kinds)) {
      case 0:
        return null
      case 1:
        return random() < 0.5
      case 2:
        return pick([0, -1, 1e308, 1e-300, 2 ** 53, Number.MAX_SAFE_INTEGER])
      case 3:
      case 4:
        return text()
      case 5:
        return Array.from({ length: below(4) }, () => json(depth + 1))
      case 6:
        return {
          ...anApplication(),
          [pick(['consent', 'reason', 'id', 'team_size', text()])]: json(depth + 1),
        }
      default:
        return Object.fromEntries(Array.from({ length: below(4) }, () => [text(), json(depth + 1)]))
    }
  }
  const body = () =>
    pick([
      () => JSON.stringify(anApplication()),
      () => JSON.stringify(json()),
      () => JSON.stringify(json()).slice(0, below(80)),
      () => JSON.stringify([anApplication(), json()]),
      () => '['.repeat(below(20_000)),
      () => `{"reason":${'['.repeat(8_000)}${']'.repeat(8_000)}}`,
      () => '{"a":'.repeat(below(5_000)),
      () => new URLSearchParams({ first_name: text(), consent: text() }).toString(),
      () => bytes(below(2_000)),
      () => 'y'.repeat(pick([262_143, 262_145, 300_000])),
      () => '',
    ])()
  const target = () =>
    pick([
      () => '/',
      () => '/rest/v1/retreat_applications',
      () => `/rest/v1/retreat_applications?columns=${text()}`,
      () => `/rest/v1/retreat_applications?select=*&${text()}`,
      () => `/rest/v1/${text()}`,
      () => '/rest/v1/rpc/enqueue_webhook',
      () => `/assets/${text()}`,
      () => '/assets/..%2f..%2fpackage.json',
      () => '/assets/%2e%2e/%2e%2e/etc/passwd',
      () => '/..//../etc/passwd',
      () => `/${text()}`,
      () => 'http://elsewhere.example/',
      () => '*',
    ])().replaceAll(/[\s\r\n]/g, '+')
  const methods = [
    'POST',
    'POST',
    'POST',
    'GET',
    'HEAD',
    'POST',
    'PUT',
    'PATCH',
    'DELETE',
    'OPTIONS',
    'TRACE',
    'PROPFIND',
    'FOO',
    'get',
  ]
  const types = [
    'application/json',
    'application/json',
    'application/json',
    'application/x-www-form-urlencoded',
    'text/csv',
    'multipart/form-data',
    '',
    text(),
  ]
  const headers = () => {
    const lines = ['host: fuzz']
    if (random() < 0.8) lines.push('apikey: public-anon-key')
    if (random() < 0.8) lines.push(`content-type: ${pick(types)}`)
    if (random() < 0.2)
      lines.push(`prefer: ${pick(['return=representation', 'resolution=merge-duplicates', text()])}`)
    if (random() < 0.2)
      lines.push(
        `${pick(['x-forwarded-for', 'authorization', 'accept-encoding', 'if-none-match', 'range', 'origin', 'cookie', text()])}: ${text()}`,
      )
    if (random() < 0.05) lines.push(`x-long: ${'x'.repeat(below(40_000))}`)
    if (random() < 0.05) lines.push(...Array.from({ length: below(300) }, (_, index) => `x-${index}: y`))
    if (random() < 0.05) lines.push('apikey: another')
    return lines.map((line) => line.replaceAll(/[\r\n]/g, ' '))
  }

  /** One request on the wire, now and then cut off or malformed. */
  return () => {
    const content = Buffer.from(body(), random() < 0.5 ? 'utf8' : 'latin1')
    const length = random() < 0.95 ? content.length : pick([content.length + 5, 0, -1, 1e12, 'abc'])
    const chunked = random() < 0.05
    const framing = chunked ? 'transfer-encoding: chunked' : `content-length: ${length}`
    const head = `${pick(methods)} ${target()} HTTP/1.${pick([1, 1, 1, 0])}\r\n${[...headers(), framing].join('\r\n')}\r\n\r\n`
    const payload = chunked
      ? Buffer.concat([
          Buffer.from(`${content.length.toString(16)}\r\n`),
          content,
          Buffer.from('\r\n0\r\n\r\n'),
        ])
      : content
    const whole =
      random() < 0.98
        ? Buffer.concat([Buffer.from(head, 'latin1'), payload])
        : Buffer.from(bytes(500), 'latin1')
    return random() < 0.97 ? whole : whole.subarray(0, below(whole.length))
  }
}

/** Sends a pipeline of requests on one connection, in pieces, and gives all that came back. */
function exchange(pieces: Buffer[]) {
  const { hostname, port } = new URL(server.origin)
  return new Promise<string>((resolve) => {
    const chunks: Buffer[] = []
    const finish = () => resolve(Buffer.concat(chunks).toString('latin1'))
    const socket = connect(Number(port), hostname, () => {
      for (const piece of pieces) socket.write(piece)
      socket.end()
    })
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('error', finish)
    socket.on('close', finish)
  })
}

/** Megabytes of memory that the server's process holds. */
function memory() {
  const [, kilobytes = '0'] =
    /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.process.pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) / 1024
}

test(`${requests} requests of nonsense: never a 5xx, a stack trace or another applicant's data`, async () => {
  const secret = anApplication({ first_name: 'Topsecret', email: 'topsecret@example.com' })
  expect(await send(server.origin, secret)).toBe(201)
  const random = randomFrom(seed)
  const request = generator(random)
  const statuses = new Map<string, number>()
  const problems: string[] = []
  let answered = 0

  const sendUntil = async (enough: number) => {
    while (answered < enough) {
      // A malformed request ends its connection and the pipeline with it, so only answers are counted.
      const answer = await exchange(Array.from({ length: 1 + Math.floor(random() * 4) }, request))
      for (const [, status = ''] of answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)) {
        answered += 1
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
      if (/HTTP\/1\.1 5\d\d |\n\s+at .+:\d+:\d+|topsecret@|root:x:0/.test(answer))
        problems.push(answer.slice(0, 2_000))
    }
  }
  // The first half fills what is filled once; what is held afterwards has to be as it was then.
  await Promise.all(Array.from({ length: 8 }, () => sendUntil(requests / 2)))
  const before = memory()
  await Promise.all(Array.from({ length: 8 }, () => sendUntil(requests)))
  const after = memory()
  console.log('answers by status:', Object.fromEntries(statuses))
  console.log(`memory in MB half-way and at the end: ${before.toFixed()}, ${after.toFixed()}`)

  expect(problems).toEqual([])
  expect([...statuses.keys()]).toEqual(
    expect.arrayContaining(['400', '401', '404', ...extent([], ['200', '201', '405', '413', '415', '431'])]),
  )
  // Few fill not even what is filled once.
  expect(after).toBeLessThan(before * extent(Infinity, 1.5))
  expect(await send(server.origin, anApplication())).toBe(201)
  expect(server.output()).not.toMatch(/"level":"error"|topsecret/)
}, 600_000)

test('a request that is sent slowly is cut off, and others do not wait for it', async () => {
  const { hostname, port } = new URL(server.origin)
  const socket = connect(Number(port), hostname)
  const closed = new Promise<string>((resolve) => {
    let answer = ''
    socket.on('data', (chunk) => (answer += chunk.toString()))
    socket.on('close', () => resolve(answer))
  })
  socket.write('POST /rest/v1/retreat_applications HTTP/1.1\r\nhost: x\r\n')
  expect(await send(server.origin, anApplication())).toBe(201)
  expect(await closed).toMatch(/^HTTP\/1\.1 408 /)
})
