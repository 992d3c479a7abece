/**
 * Runs the test suite of Supabase's client against our sign-in: `npm run test:client -- <folder>`. The folder is
 * `packages/core/auth-js` of a checkout of supabase-js with its packages installed.
 *
 * The tests run unchanged. They make accounts by sign-up and by the admin API, and delete them by the admin API. Our server has
 * neither, so this file makes and deletes the accounts as an operator does. It forwards all other calls to our server.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'

import { addOrganiser, operatorSecret, removeOrganiser } from '../src/server/auth/manage-organisers.ts'
import { openDatabase } from '../src/server/database/database.ts'
import { startMailServer } from '../test/support/mail-server.ts'
import { startServer, temporaryDirectory } from '../test/support/server.ts'

/** The port at which the suite expects the hosted project. */
const port = 54_321

interface SuiteResponse {
  status: number
  body: unknown
}

const [folder] = process.argv.slice(2)
if (folder === undefined) {
  console.error(
    'Name the folder packages/core/auth-js of a checkout of supabase-js with its packages installed.',
  )
  process.exit(1)
}
const directory = await temporaryDirectory()
const mail = await startMailServer()
const server = await startServer({
  DATA_DIR: directory.path,
  SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
  MAIL_FROM: 'hello@example.org',
  TRUST_PROXY: '127.0.0.1',
})
const database = await openDatabase({ dataDir: directory.path, databaseUrl: undefined }, { schema: 'check' })
const key = { apikey: 'public-anon-key' }
/** The email addresses of the accounts that this file made, by their ids. */
const emailsById = new Map<string, string>()

let addressCount = 0

/** Returns a header with an unused IP address, because rate limits count by address. */
function unusedAddressHeader() {
  addressCount += 1
  return { 'x-forwarded-for': `10.0.${addressCount >> 8}.${addressCount & 255}` }
}

async function call(method: string, path: string, body: unknown, headers = {}): Promise<SuiteResponse> {
  const response = await fetch(`${server.origin}/auth/v1/${path}`, {
    method,
    headers: { ...key, ...unusedAddressHeader(), 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: await response.json() }
}

/** Makes an account and signs in. Validates the input here, because our server refuses every sign-up. */
async function signUp(sent: {
  email?: unknown
  password?: unknown
  data?: unknown
  user_metadata?: unknown
}) {
  const { password = crypto.randomUUID(), data, user_metadata: metadata } = sent
  const email = String(sent.email).toLowerCase()
  if (String(password).length < 6)
    return refusal(422, 'weak_password', 'Password should be at least 6 characters.')
  if (!/^[^@\s]+@[^@\s]+$/.test(email)) {
    return refusal(400, 'validation_failed', 'Unable to validate email address: invalid format')
  }
  if (!(await addOrganiser(database.owner, email))) {
    return refusal(422, 'user_already_exists', 'User already registered')
  }
  const secret = await operatorSecret(database.owner, email)
  const opened = await call('POST', 'verify', { type: 'magiclink', token_hash: secret })
  const { access_token: token } = opened.body as { access_token: string }
  const authorization = `Bearer ${token}`
  const changed = await call('PUT', 'user', { password, data: data ?? metadata }, { authorization })
  if (changed.status !== 200) return changed
  const granted = await call('POST', 'token?grant_type=password', { email, password })
  emailsById.set((granted.body as { user: { id: string } }).user.id, email)
  return granted
}

function refusal(status: number, code: string, msg: string): SuiteResponse {
  return { status, body: { code: status, error_code: code, msg } }
}

/** Returns this file's response, or undefined for calls that our server answers. */
async function respondLocally(
  method: string,
  path: string,
  body: Buffer,
): Promise<SuiteResponse | undefined> {
  if (method === 'POST' && /^\/(signup|admin\/users)(\?|$)/.test(path)) {
    const sent = JSON.parse(body.toString() || '{}') as { email?: unknown }
    if (!sent.email) return undefined
    const result = await signUp(sent)
    return path.startsWith('/signup')
      ? result
      : { ...result, body: (result.body as { user?: unknown }).user ?? result.body }
  }
  const email = emailsById.get(/^\/admin\/users\/([0-9a-f-]{36})$/.exec(path)?.[1] ?? '')
  if (method !== 'DELETE' || email === undefined) return undefined
  await removeOrganiser(database.owner, email)
  return { status: 200, body: {} }
}

async function handle(request: IncomingMessage, response: ServerResponse) {
  const { method = 'GET', url = '/' } = request
  const body = await buffer(request)
  const local = await respondLocally(method, url.replace(/^\/auth\/v1/, ''), body)
  if (local !== undefined) {
    const headers = { 'content-type': 'application/json', 'access-control-allow-origin': '*' }
    response.writeHead(local.status, headers).end(JSON.stringify(local.body))
    return
  }
  // The suite sends no key, because its own project needs none. A challenge and its answer must come from the same IP address.
  const addressHeader = url.includes('/factors/') ? {} : unusedAddressHeader()
  const headers = { ...request.headers, host: new URL(server.origin).host, ...key, ...addressHeader }
  const forwarded = send(`${server.origin}${url}`, { method, headers })
  forwarded.end(body)
  const [reply] = (await once(forwarded, 'response')) as [IncomingMessage]
  response.writeHead(reply.statusCode ?? 502, reply.headers)
  reply.pipe(response)
}

const proxy = createServer((request, response) => {
  handle(request, response).catch((error: unknown) => {
    console.error(error)
    response.writeHead(500).end()
  })
})
proxy.listen(port, '127.0.0.1')
await once(proxy, 'listening')
const suite = spawn('npx', ['jest', '--config', 'jest.config.cli.js', '--runInBand', '--coverage=false'], {
  cwd: folder,
  stdio: 'inherit',
})
const [code] = (await once(suite, 'exit')) as [number | null]
proxy.close()
proxy.closeAllConnections()
await database.close()
await Promise.all([server.stop(), mail.close()])
await directory.remove()
process.exitCode = code ?? 1
