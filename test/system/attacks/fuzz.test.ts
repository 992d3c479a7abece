import { connect } from 'node:net'
import * as fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'

import { send } from '../../support/send-application.ts'
import { anApplication } from '../../support/form.ts'
import { startServer, dataDirectory, type RunningServer } from '../../support/server.ts'
import { extent, seed } from '../../support/quick-or-long.ts'

/** The number of connections, each with up to four requests. */
const pipelines = extent({ quick: 150, long: 4_000 })
/** A module that makes the server print its memory on SIGUSR2. */
const memoryReporter = `data:text/javascript,${encodeURIComponent(`
  import { setFlagsFromString } from 'node:v8'
  import { runInNewContext } from 'node:vm'
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  process.on('SIGUSR2', () => {
    for (const _once of [1, 2, 3]) collect()
    const { heapUsed, external } = process.memoryUsage()
    process.stdout.write('\\nmemory: ' + (heapUsed + external) + '\\n')
  })`)}`

let server: RunningServer

beforeAll(async () => {
  const directory = await dataDirectory()
  server = await startServer({ DATA_DIR: directory.path, NODE_OPTIONS: `--import=${memoryReporter}` })
})

const anyBytes = (most: number) =>
  fc.uint8Array({ maxLength: most, size: 'max' }).map((bytes) => Buffer.from(bytes).toString('latin1'))
const repeated = (part: string, most: number) => fc.nat(most).map((times) => part.repeat(times))

const text = fc.oneof(
  fc.constantFrom('', '\\u0000', '\\ud800', '😀\u202e', '%00%ff%c0%af%'),
  fc.constantFrom("'; drop table retreat_applications; --", '<script>alert(1)</script>'),
  anyBytes(60),
  repeated('../', 12),
  repeated('x', 3_000),
)

const { value: json } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom(null, true, false, 0, -1, 1e308, 1e-300, 2 ** 53, Number.MAX_SAFE_INTEGER),
    text,
    fc.array(tie('value'), { maxLength: 3 }),
    fc
      .tuple(fc.oneof(fc.constantFrom('consent', 'reason', 'id', 'team_size'), text), tie('value'))
      .map(([name, value]) => ({ ...anApplication(), [name]: value })),
    fc.array(fc.tuple(text, tie('value')), { maxLength: 3 }).map((entries) => Object.fromEntries(entries)),
  ),
}))
const serialised = json.map((value) => JSON.stringify(value))

const body = fc.oneof(
  { weight: 4, arbitrary: fc.constant('').map(() => JSON.stringify(anApplication())) },
  serialised,
  fc.tuple(serialised, fc.nat(79)).map(([whole, length]) => whole.slice(0, length)),
  json.map((value) => JSON.stringify([anApplication(), value])),
  fc.record({ first_name: text, consent: text }).map((fields) => new URLSearchParams(fields).toString()),
  fc.constantFrom('', `{"reason":${'['.repeat(8_000)}${']'.repeat(8_000)}}`),
  repeated('[', 20_000),
  repeated('{"a":', 5_000),
  anyBytes(2_000),
  fc.constantFrom(262_143, 262_145, 300_000).map((length) => 'y'.repeat(length)),
)

const rest = '/rest/v1/retreat_applications'
const target = fc
  .oneof(
    { weight: 2, arbitrary: fc.constant(rest) },
    fc.constantFrom('/', '/rest/v1/rpc/enqueue_webhook', 'http://elsewhere.example/', '*'),
    fc.constantFrom(
      '/assets/..%2f..%2fpackage.json',
      '/assets/%2e%2e/%2e%2e/etc/passwd',
      '/..//../etc/passwd',
    ),
    fc
      .tuple(fc.constantFrom('/', '/rest/v1/', '/assets/', `${rest}?columns=`, `${rest}?select=*&`), text)
      .map((parts) => parts.join('')),
  )
  .map((path) => path.replaceAll(/[\s\r\n]/g, '+'))

const method = fc.oneof(
  { weight: 2, arbitrary: fc.constant('POST') },
  fc.constantFrom('GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'FOO', 'get'),
)

/** Makes a header optional. A `mostly` header is usually sent, and a `seldom` one once in `times` requests. */
const mostly = (line: fc.Arbitrary<string>) => fc.option(line, { freq: 5, nil: '' })
const seldom = (times: number, line: fc.Arbitrary<string>) =>
  fc.oneof({ weight: times - 1, arbitrary: fc.constant('') }, { weight: 1, arbitrary: line })

const type = fc.oneof(
  { weight: 6, arbitrary: fc.constant('application/json') },
  fc.constantFrom('application/x-www-form-urlencoded', 'text/csv', 'multipart/form-data', ''),
  text,
)
const preference = fc.oneof(fc.constantFrom('return=representation', 'resolution=merge-duplicates'), text)
const name = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom('x-forwarded-for', 'authorization', 'accept-encoding', 'if-none-match'),
  },
  { weight: 3, arbitrary: fc.constantFrom('range', 'origin', 'cookie') },
  text,
)
const headers = fc
  .tuple(
    mostly(fc.constant('apikey: public-anon-key')),
    mostly(type.map((value) => `content-type: ${value.replaceAll(/[\r\n]/g, ' ')}`)),
    seldom(
      5,
      preference.map((value) => `prefer: ${value.replaceAll(/[\r\n]/g, ' ')}`),
    ),
    seldom(
      5,
      fc.tuple(name, text).map((line) => line.join(': ').replaceAll(/[\r\n]/g, ' ')),
    ),
    seldom(
      20,
      repeated('x', 40_000).map((value) => `x-long: ${value}`),
    ),
    seldom(20, fc.constant('apikey: another')),
    seldom(
      20,
      fc.nat(300).map((many) => Array.from({ length: many }, (_each, index) => `x-${index}: y`).join('\r\n')),
    ),
  )
  .map((lines) => ['host: fuzz', ...lines.filter((line) => line !== '')].join('\r\n'))

/** A request as bytes, sometimes malformed or cut off. */
const request = fc
  .record({
    method,
    target,
    version: fc.constantFrom('1.1', '1.1', '1.1', '1.0'),
    headers,
    body,
    encoding: fc.constantFrom('utf8' as const, 'latin1' as const),
    // How the head states the length of the body: `as it is`, in another way, or wrongly.
    framing: fc.oneof(
      { weight: 18, arbitrary: fc.constant('as it is') },
      fc.constantFrom('chunked', 'longer', '0', '-1', '1000000000000', 'abc'),
    ),
    // The share of the request that is sent.
    sent: fc.oneof({ weight: 29, arbitrary: fc.constant(1) }, fc.double({ min: 0, max: 1, noNaN: true })),
  })
  .map(({ encoding, framing, sent, ...parts }) => {
    const content = Buffer.from(parts.body, encoding)
    const lengths: Record<string, string> = {
      'as it is': `${content.length}`,
      longer: `${content.length + 5}`,
    }
    const frame =
      framing === 'chunked' ? 'transfer-encoding: chunked' : `content-length: ${lengths[framing] ?? framing}`
    const head = `${parts.method} ${parts.target} HTTP/${parts.version}\r\n${parts.headers}\r\n${frame}\r\n\r\n`
    const payload =
      framing === 'chunked' ? [`${content.length.toString(16)}\r\n`, content, '\r\n0\r\n\r\n'] : [content]
    const whole = Buffer.concat([head, ...payload].map((part) => Buffer.from(part as string, 'latin1')))
    return whole.subarray(0, Math.ceil(whole.length * sent)).toString('latin1')
  })
const piece = fc.oneof({ weight: 49, arbitrary: request }, anyBytes(500))
/** One to four requests. Usually a single one, because nonsense after a request would suppress its response. */
const pipeline = fc.oneof(
  { weight: 3, arbitrary: piece.map((only) => [only]) },
  fc.array(piece, { minLength: 2, maxLength: 4 }),
)

/** Sends pipelined requests on one connection. Returns everything that the server sent. */
function exchange(pieces: string[]) {
  const { hostname, port } = new URL(server.origin)
  return new Promise<string>((resolve) => {
    const chunks: Buffer[] = []
    const finish = () => resolve(Buffer.concat(chunks).toString('latin1'))
    const socket = connect(Number(port), hostname, () => {
      // The server responds to `closingRequest` last, and then closes the connection.
      for (const part of [...pieces, closingRequest]) socket.write(part, 'latin1')
    })
    // If a malformed request never ends, the server does not respond to the closing request.
    socket.setTimeout(200, () => socket.end())
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('error', finish)
    socket.on('close', finish)
  })
}
const closingRequest = 'GET /healthz HTTP/1.1\r\nhost: fuzz\r\nconnection: close\r\n\r\n'

/** Measures the server's memory after garbage collection, in megabytes. */
async function memory() {
  const outputLength = server.output().length
  server.process.kill('SIGUSR2')
  const reportedBytes = () => /^memory: (\d+)$/m.exec(server.output().slice(outputLength))?.[1]
  await expect.poll(reportedBytes, { message: "the server's memory" }).toBeTypeOf('string')
  return Number(reportedBytes()) / 2 ** 20
}

// break: nonsense-gets-500
test(`${pipelines} connections with nonsense requests never get a 5xx, a stack trace or another applicant's data`, async () => {
  const secret = anApplication({ first_name: 'Topsecret', email: 'topsecret@example.com' })
  expect(await send(server.origin, secret)).toBe(201)
  const statuses = new Map<string, number>()
  let sentMegabytes = 0
  const property = fc.asyncProperty(pipeline, async (requests) => {
    sentMegabytes += requests.join('').length / 2 ** 20
    const response = await exchange(requests)
    for (const [, status = ''] of response.matchAll(/HTTP\/1\.1 (\d{3}) /g)) {
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
    expect(response).not.toMatch(/HTTP\/1\.1 5\d\d |\n\s+at .+:\d+:\d+|topsecret@|root:x:0/)
  })
  const play = (part: number) => fc.assert(property, { seed: seed + part, numRuns: pipelines / 2 })
  // The first half fills caches. Memory must not grow afterwards.
  await play(0)
  const before = await memory()
  sentMegabytes = 0
  await play(1)
  const after = await memory()
  console.log('responses by status:', Object.fromEntries(statuses))
  console.log(
    `The server’s memory half-way and at the end, and the size of the requests between, in MB: ${[before, after, sentMegabytes].map((each) => each.toFixed(1)).join(', ')}`,
  )

  // Checks that the requests reached more than the first checks of the server.
  expect([...statuses.keys()]).toEqual(
    expect.arrayContaining([
      '201',
      '400',
      '401',
      '404',
      ...extent({ quick: [], long: ['405', '413', '415', '431'] }),
    ]),
  )
  // The server must keep almost nothing of the requests. The measurements differ by a megabyte even without requests.
  expect(after - before).toBeLessThan(1 + sentMegabytes / 10)
  expect(await send(server.origin, anApplication())).toBe(201)
  expect(server.output()).not.toMatch(/"level":"error"|topsecret/)
}, 600_000)

// break: request-without-timeout
test('a request that is sent too slowly gets a timeout, and other requests do not wait for it', async () => {
  const { hostname, port } = new URL(server.origin)
  const socket = connect(Number(port), hostname)
  const closed = new Promise<string>((resolve) => {
    let response = ''
    socket.on('data', (chunk) => (response += chunk.toString()))
    socket.on('close', () => resolve(response))
  })
  socket.write('POST /rest/v1/retreat_applications HTTP/1.1\r\nhost: x\r\n')
  expect(await send(server.origin, anApplication())).toBe(201)
  expect(await closed).toMatch(/^HTTP\/1\.1 408 /)
})
