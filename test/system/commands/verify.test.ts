import { beforeAll, expect, test } from 'vitest'

import { checks } from '../../../src/contract/checks.ts'
import { deskCallArguments } from '../../../src/contract/desk-calls.ts'
import { openDatabase } from '../../../src/server/database/database.ts'
import { olderKey, publishableKey, startHostedGateway } from '../../support/hosted-gateway.ts'
import { startReceiver, type ReceivedRequest, type Receiver } from '../../support/receiver.ts'
import { runCommand, startServer, dataDirectory, temporaryDirectory } from '../../support/server.ts'

let directory: Awaited<ReturnType<typeof dataDirectory>>

beforeAll(async () => {
  directory = await dataDirectory()
})

const key = 'public-anon-key'
const verify = (...args: string[]) => runCommand(['verify', ...args], { DATA_DIR: directory.path })
const lines = (stdout: string, prefix: string) => stdout.split('\n').filter((line) => line.startsWith(prefix))

/** Runs `verify` against a stand-in for a backend, which sends the test's responses. */
async function verifyStandIn(respond: Parameters<typeof startReceiver>[0]) {
  const standIn = await startReceiver(respond)
  return { ...(await verify('--url', standIn.origin, '--key', key)), received: standIn.received }
}

test('our own server passes each check, one application is left, and the printed statement deletes it', async () => {
  const { path: DATA_DIR } = await temporaryDirectory()
  const server = await startServer({ DATA_DIR })
  const { code, stdout, stderr } = await verify('--url', `${server.origin}/rest/v1/`, '--key', key)
  expect(stderr).toBe('')
  expect(code).toBe(0)
  expect(lines(stdout, '✗')).toEqual([])
  expect(lines(stdout, '✓')).toEqual(checks.map(({ name }) => `✓ ${name}`))

  const stored = await runCommand(['applications', '--json'], { DATA_DIR })
  const [, email] = /One application is left.* Its email is (\S+), /.exec(stdout) ?? []
  expect(JSON.parse(stored.stdout)).toMatchObject({
    first_name: 'Test',
    last_name: 'of npm run verify',
    email,
  })

  const [, sql = ''] = /^ {2}(delete .*;)$/m.exec(stdout) ?? []
  const database = await openDatabase({ dataDir: DATA_DIR, databaseUrl: undefined }, { schema: 'check' })
  expect(await database.owner.unsafe(sql)).toMatchObject({ count: 1 })
})

test('each check passes through the gateway of a hosted project, with a publishable key and with an older key', async () => {
  const server = await startServer({ DATA_DIR: directory.path })
  const gateway = await startHostedGateway({ origin: server.origin, key })
  for (const projectKey of [publishableKey, olderKey]) {
    const { code, stdout, stderr } = await verify('--url', gateway.origin, '--key', projectKey)
    expect({ code, stderr, failed: lines(stdout, '✗') }).toEqual({ code: 0, stderr: '', failed: [] })
  }
  // `verify` first sends a request without a key, to see whether there is a server. One check sends a wrong key.
  const refusedRequests = [
    'HEAD /rest/v1/: No API key found in request',
    'POST /rest/v1/retreat_applications: Invalid API key',
  ]
  expect(gateway.refused).toEqual([...refusedRequests, ...refusedRequests])

  const withOtherKey = await verify('--url', gateway.origin, '--key', 'sb_publishable_of-another')
  expect(withOtherKey.stderr).toBe(
    '--key (not shown) is not the public key of this backend, which refuses it.\n',
  )
})

test('a closed door is reported once, the checks that need no open door run, and no application is left', async () => {
  const server = await startServer({ DATA_DIR: directory.path })
  const door = (...args: string[]) => runCommand(['door', ...args], { DATA_DIR: directory.path })
  const stored = async () =>
    (await runCommand(['applications', '--json'], { DATA_DIR: directory.path })).stdout
  const before = await stored()
  await door('--close', '--sentence', 'Für dieses Jahr\nist geschlossen.')
  const { code, stdout, stderr } = await verify('--url', server.origin, '--key', key)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(lines(stdout, 'The door is closed')).toEqual([
    'The door is closed: Für dieses Jahr ist geschlossen.',
  ])
  const others = checks.filter(({ needsOpenDoor }) => !needsOpenDoor)
  expect(others).toHaveLength(checks.length - 3)
  expect(lines(stdout, '✓')).toEqual(others.map(({ name }) => `✓ ${name}`))
  expect(lines(stdout, '✗')).toEqual([])
  expect(stdout).toContain(
    `Nothing is left there. Run this again when the door is open: 3 of ${checks.length} checks need that.\n`,
  )
  expect(await stored()).toBe(before)
  await door('--open')
})

test('each function of the desk is checked, and a missing function is reported', async () => {
  const server = await startServer({ DATA_DIR: directory.path })
  const database = await openDatabase(
    { dataDir: directory.path, databaseUrl: undefined },
    { schema: 'check' },
  )
  const functions = await database.owner<{ proname: string }[]>`
    select proname from pg_proc where pronamespace = 'public'::regnamespace and starts_with(proname, 'desk_')`
  expect(Object.keys(deskCallArguments).toSorted()).toEqual(
    functions.map(({ proname }) => proname).toSorted(),
  )
  await database.close()
  await server.stop()

  const missing = '{"code":"PGRST202","message":"Could not find the function in the schema cache"}'
  const { code, stdout } = await verifyStandIn(({ url }, response) => {
    if (url.endsWith('/rpc/desk_me')) response.writeHead(401).end('{"code":"42501","message":"denied"}')
    else response.writeHead(404).end(missing)
  })
  expect(code).toBe(1)
  expect(stdout).toContain(
    '✗ only people who are signed in may call the functions of the desk: desk_list is not there: the schema is older than this program. Push supabase/migrations/ to the project, or start your server once in this version.\n',
  )
})

test('a wrong key is reported once, and no check runs', async () => {
  const server = await startServer({ DATA_DIR: directory.path })
  const { code, stdout, stderr } = await verify('--url', server.origin, '--key', 'another-key')
  expect({ code, stdout, stderr }).toEqual({
    code: 1,
    stdout: '',
    stderr: '--key (not shown) is not the public key of this backend, which refuses it.\n',
  })
})

test('all checks fit into a limit of thirty applications a minute without waiting', async () => {
  const server = await startServer({ DATA_DIR: directory.path, RATE_LIMIT_PER_MINUTE: '30' })
  const { code, stderr } = await verify('--url', server.origin, '--key', key)
  expect(stderr).toBe('')
  expect(code).toBe(0)
})

test('a backend that stores everything and allows reads fails the checks, and its rows are not printed', async () => {
  const { code, stdout, stderr, received } = await verifyStandIn(({ method }, response) => {
    if (method === 'GET') response.end('[{"first_name":"Ada"}]')
    else response.writeHead(201).end('{"message":"Ada"}')
  })
  expect(code).toBe(1)
  expect(lines(stdout, '✓')).toEqual([
    '✓ an application is stored as the page sends it',
    '✓ an insert without rows succeeds',
  ])
  expect(stdout).toContain('✗ nobody reads applications: expected 401 42501, got 200\n')
  expect(stdout).not.toContain('Ada')
  expect(stdout).toMatch(/may be left\. Their email is verify\+\w+@example\.com/)
  expect(stderr).toBe(`${checks.length - 2} of ${checks.length} checks failed.\n`)

  // Like a browser's, the preflight request names the headers and does not have them.
  const preflight = received.find(({ method }) => method === 'OPTIONS')
  expect(preflight?.headers['access-control-request-headers']).toContain('apikey')
  expect(preflight?.headers).not.toHaveProperty('apikey')
})

test('a website that is not a backend fails each check, and its responses cannot control the terminal', async () => {
  const { code, stdout } = await verifyStandIn((_request, response) =>
    response.writeHead(500).end('<p>\u001b[2J\u009bNo\n✓ such page'),
  )
  expect(code).toBe(1)
  expect(lines(stdout, '✗')).toHaveLength(checks.length)
  expect(stdout).toContain('expected 401 42501, got 500: <p> [2J No such page\n')
})

test('a request above a rate limit is retried at the stated time', async () => {
  const posts: ReceivedRequest[] = []
  const { stdout, stderr } = await verifyStandIn((request, response) => {
    if (request.method === 'POST') posts.push(request)
    if (posts.length === 1) response.writeHead(429, { 'retry-after': '0' }).end()
    else response.writeHead(201).end()
  })
  expect(stderr).toContain('Rate limit reached: continuing in 0 seconds.\n')
  expect(posts[1]).toEqual(posts[0])
  expect(stdout).toContain('✓ an application is stored as the page sends it\n')
})

const secretJwt = `e30.${Buffer.from('{"role":"service_role"}').toString('base64url')}.x`
test.each([
  [[], '--url is missing'],
  [['--url', 'https://<project>.supabase.co', '--key', key], 'should be an address that begins with'],
  [['--url', 'ftp://127.0.0.1', '--key', key], '--url is "ftp://127.0.0.1" but should be an address'],
  [['--url', 'http://127.0.0.1'], '--key is missing'],
  [['--url', 'http://127.0.0.1', '--key', 'two words'], '--key is "two words"'],
  [['--url', 'http://127.0.0.1', '--key', 'sb_secret_x'], '--key (not shown) is a secret key'],
  [['--url', 'http://127.0.0.1', '--key', secretJwt], '--key (not shown) is a secret key'],
])('%j is refused with one sentence', async (args, sentence) => {
  const { code, stdout, stderr } = await verify(...args)
  expect(code).toBe(1)
  expect(stderr).toContain(sentence)
  expect(stderr.trim().split('\n')).toHaveLength(1)
  expect(stdout).toBe('')
})

test('a backend that cannot be reached is reported in one sentence', async () => {
  const endedReceiver: Receiver = await startReceiver()
  await endedReceiver.close()
  const { code, stdout, stderr } = await verify('--url', `${endedReceiver.origin}/`, '--key', key)
  expect(code).toBe(1)
  expect(stderr).toBe(`--url is "${endedReceiver.origin}", where nothing answers (ECONNREFUSED).\n`)
  expect(stdout).toBe('')
})
