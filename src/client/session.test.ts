import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeEach, expect, test, vi } from 'vitest'

import { atTestEnd } from '../../test/support/cleanup.ts'
import { createDesk } from './desk.ts'
import { callKey } from './early-calls.ts'
import { MissingScriptError } from './missing-script.ts'
import { RefusedCall } from './rest.ts'
import { isUncertain } from '../pages/desk/kit/Problem.tsx'
import { actRetryDelays, createSession, OfflineError, SignedOutError, UnsentError } from './session.ts'

beforeEach(() => void vi.stubGlobal('navigator', { onLine: true }))

/** Creates a session at a backend that handles each request with `respond`. */
async function sessionAt(
  respond: (request: IncomingMessage, response: ServerResponse) => unknown,
  anonKey = 'public-anon-key',
) {
  const server = createServer((request, response) => void respond(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  atTestEnd(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return createSession({ url, anonKey }, [0, 0])
}

/** An unsigned token that the client can read. */
function tokenOf(account: string) {
  const parts = [
    { alg: 'ES256', typ: 'JWT' },
    { sub: account, exp: 4_102_444_800 },
  ]
  return [...parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')), 'sign'].join('.')
}

const accountIn = ({ headers }: IncomingMessage) =>
  (
    JSON.parse(Buffer.from(headers.authorization?.split('.')[1] ?? '', 'base64url').toString()) as {
      sub: string
    }
  ).sub

test('the addresses of calls and of the sign-in contain the folder of the backend’s address, with or without a slash at its end', async () => {
  const addresses: string[] = []
  vi.stubGlobal('fetch', (address: string) => {
    addresses.push(address)
    return Promise.resolve(new Response('{}'))
  })
  const user = { id: 'ada' }
  const expires_at = 4_102_444_800
  vi.stubGlobal('localStorage', {
    getItem: () => JSON.stringify({ access_token: 'token', expires_at, user }),
  })
  for (const url of ['https://example.org/folder', 'https://example.org/folder/']) {
    const session = createSession({ url, anonKey: 'key' }, [])
    await session.callAs('ada')('desk_me', {}, new AbortController().signal)
    await expect(session.callAs('grace')('desk_me', {}, new AbortController().signal)).rejects.toThrow(
      'You are no longer signed in.',
    )
    const auth = await session.auth()
    atTestEnd(() => auth.dispose())
    await auth.signInWithOtp({ email: 'ada@example.org' })
  }
  vi.unstubAllGlobals()
  const paths = ['rest/v1/rpc/desk_me', 'auth/v1/otp']
  expect(new Set(addresses)).toEqual(new Set(paths.map((path) => `https://example.org/folder/${path}`)))
})

test('a call without a session is refused', async () => {
  atTestEnd(() => void vi.unstubAllGlobals())
  vi.stubGlobal('localStorage', { getItem: () => null })
  const session = createSession({ url: 'https://example.org', anonKey: 'key' }, [])
  await expect(session.callAs('ada')('desk_me', {}, new AbortController().signal)).rejects.toThrow(
    SignedOutError,
  )
})

test('a call that the document has sent already is not sent again', async () => {
  atTestEnd(() => void vi.unstubAllGlobals())
  const stored = { access_token: 'token', expires_at: 4_102_444_800, user: { id: 'ada' } }
  vi.stubGlobal('localStorage', { getItem: () => JSON.stringify(stored) })
  const key = callKey('token', 'https://example.org/rest/v1/rpc/desk_me', '{}')
  vi.stubGlobal('window', { earlyCalls: new Map([[key, Promise.resolve(Response.json('early'))]]) })
  vi.stubGlobal('fetch', async () => Response.json('sent'))
  const call = createSession({ url: 'https://example.org', anonKey: 'key' }, []).callAs('ada')
  const { signal } = new AbortController()
  expect([await call('desk_me', {}, signal), await call('desk_me', {}, signal)]).toEqual(['early', 'sent'])
})

/** Stores an expired session of Ada in the browser, and returns a function that reads the stored access token. */
function storeExpiredSession() {
  const session = { access_token: 'old', refresh_token: 'first', expires_at: 1, user: { id: 'ada' } }
  const stored = new Map([['unplugged-desk', JSON.stringify(session)]])
  atTestEnd(() => void vi.unstubAllGlobals())
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
    removeItem: (key: string) => void stored.delete(key),
  })
  return () => (JSON.parse(stored.get('unplugged-desk') ?? '{}') as { access_token?: string }).access_token
}

/** The response to a refresh. */
const newSession = { access_token: 'new', refresh_token: 'second', expires_in: 3_600, user: { id: 'ada' } }

test('a call without a new token is reported as not sent after one retry, and works once the server responds', async () => {
  const storedToken = storeExpiredSession()
  const responses: (() => Response)[] = []
  const requests: string[] = []
  const session = createSession({ url: 'https://example.org', anonKey: 'key' }, [])
  vi.stubGlobal('fetch', async (address: string, { body }: { body: string }) => {
    requests.push(`${address.replace(/.*v1/, '')} ${body}`)
    const respond = responses.shift()
    if (respond) return respond()
    throw new TypeError('Failed to fetch')
  })
  const { signal } = new AbortController()
  const call = () => session.callAs('ada')('desk_note', {}, signal)
  const failure = await call().catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(UnsentError)
  expect(failure).toMatchObject({ message: '', cause: { name: 'AuthRetryableFetchError' } })
  expect([isUncertain(failure), failure instanceof OfflineError]).toEqual([false, false])
  vi.stubGlobal('navigator', { onLine: false })
  await expect(call()).rejects.toBeInstanceOf(OfflineError)
  expect(new Set(requests)).toEqual(new Set(['/token?grant_type=refresh_token {"refresh_token":"first"}']))
  expect(storedToken()).toBe('old')
  // Each failure was one refresh, or two while the client starts, and each refresh had at most two tries.
  expect(requests.length).toBeLessThanOrEqual(6)
  expect(requests.length).toBeGreaterThan(1)
  requests.length = 0
  responses.push(
    () => new Response('{}', { status: 503 }),
    () => Response.json(newSession),
    () => Response.json([]),
  )
  expect(await call()).toEqual([])
  const refresh = '/token?grant_type=refresh_token {"refresh_token":"first"}'
  expect(requests).toEqual([refresh, refresh, '/rpc/desk_note {}'])
  expect(storedToken()).toBe('new')
})

test('the wait for a new token ends with the call and after a timeout', async () => {
  storeExpiredSession()
  // No request gets a response.
  vi.stubGlobal('fetch', async (_address: string, { signal }: { signal: AbortSignal }) => {
    signal.throwIfAborted()
    return new Promise(() => {})
  })
  const controller = new AbortController()
  const call = () =>
    createSession({ url: 'https://example.org', anonKey: 'key' }, []).callAs('ada')(
      'desk_erase',
      {},
      controller.signal,
    )
  const cancelled = call()
  controller.abort(new SignedOutError())
  await expect(cancelled).rejects.toBeInstanceOf(SignedOutError)
  atTestEnd(() => void vi.restoreAllMocks())
  vi.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort(new DOMException('', 'TimeoutError')))
  await expect(call()).rejects.toBeInstanceOf(UnsentError)
})

test('a call that refreshes the session together with another window is sent with the other window’s token', async () => {
  const session = createSession({ url: 'https://example.org', anonKey: 'key' }, [])
  // The client has started before the session expires.
  await (await session.auth()).getSession()
  const storedToken = storeExpiredSession()
  const requests: unknown[] = []
  vi.stubGlobal('fetch', async (address: string, { headers }: { headers: Record<string, string> }) => {
    if (address.endsWith('refresh_token')) {
      const other = {
        ...newSession,
        access_token: 'other',
        refresh_token: 'third',
        expires_at: 4_102_444_800,
      }
      localStorage.setItem('unplugged-desk', JSON.stringify(other))
      return Response.json(newSession)
    }
    requests.push(headers['Authorization'])
    return Response.json([])
  })
  await session.callAs('ada')('desk_note', {}, new AbortController().signal)
  expect([requests, storedToken()]).toEqual([['Bearer other'], 'other'])
})

test('a refused refresh token ends the session', async () => {
  const storedToken = storeExpiredSession()
  vi.stubGlobal('fetch', async () => Response.json({ code: 'refresh_token_not_found' }, { status: 400 }))
  const session = createSession({ url: 'https://example.org', anonKey: 'key' }, [])
  const called = session.callAs('ada')('desk_note', {}, new AbortController().signal)
  await expect(called).rejects.toBeInstanceOf(SignedOutError)
  expect(storedToken()).toBeUndefined()
})

/** A session whose auth client ends with the test: otherwise it would go on to refresh. */
async function disposableSession(url = 'https://example.org') {
  const session = createSession({ url, anonKey: 'key' }, [])
  const client = await session.auth()
  atTestEnd(() => client.dispose())
  return session
}

const callNote = (session: ReturnType<typeof createSession>) =>
  session.callAs('ada')('desk_note', {}, new AbortController().signal)

/** The hour of which the server's clock says that it ends in `seconds`; this browser's clock is ahead by `ahead` seconds. */
function sessionFrom(ahead: number, token: string, seconds = 3_600) {
  const expires_at = Math.round(Date.now() / 1000) - ahead + seconds
  return { ...newSession, access_token: token, expires_in: seconds, expires_at }
}

/** Minutes by which a browser's clock is ahead. */
const clocks = [61, -5, -61, 0, 3 * 365 * 24 * 60]

test.each(clocks)(
  'with a clock that is %i minutes ahead, a session expires after its hour, however it was received',
  async (minutes) => {
    const storedToken = storeExpiredSession()
    const now = Date.parse('2026-11-25T12:00:00Z')
    vi.useFakeTimers({ now, toFake: ['Date'] })
    const requests: string[] = []
    vi.stubGlobal('fetch', async (address: string) => {
      const path = address.replace(/.*\/v1/, '')
      requests.push(path)
      if (path.startsWith('/rpc')) return Response.json([])
      if (path === '/user') return Response.json({ id: 'ada' })
      return Response.json(sessionFrom(minutes * 60, path))
    })
    const session = await disposableSession()
    const auth = await session.auth()
    const email = 'ada@example.org'
    const receive: [string, () => Promise<unknown>][] = [
      ['/token?grant_type=refresh_token', () => auth.refreshSession()],
      ['/verify', () => auth.verifyOtp({ type: 'email', email, token: '123456' })],
      ['/token?grant_type=password', () => auth.signInWithPassword({ email, password: 'secret' })],
      ['/factors/one/verify', () => auth.mfa.verify({ factorId: 'one', challengeId: 'two', code: '1' })],
    ]
    for (const [path, act] of receive) {
      await act()
      requests.length = 0
      vi.setSystemTime(now + 3_500_000)
      for (let call = 0; call < 150; call += 1) await callNote(session)
      expect([storedToken(), new Set(requests)]).toEqual([path, new Set(['/rpc/desk_note'])])
      vi.setSystemTime(now)
    }
  },
)

test('a call that is refused since its token has expired is sent once more after one refresh, as are all others', async () => {
  const storedToken = storeExpiredSession()
  // By this browser's clock, which was set back, the token is valid for long.
  const expires_at = 4_102_444_800
  const stored = JSON.parse(localStorage.getItem('unplugged-desk') ?? '') as object
  localStorage.setItem('unplugged-desk', JSON.stringify({ ...stored, expires_at }))
  const requests: string[] = []
  vi.stubGlobal('fetch', async (address: string, { headers }: { headers: Record<string, string> }) => {
    const token = headers['Authorization']?.replace('Bearer ', '')
    requests.push(address.replace(/.*v1/, '') + (address.includes('rpc') ? ` ${token}` : ''))
    if (address.includes('token?')) return Response.json(newSession)
    if (token === 'new') return Response.json([])
    return Response.json({ code: 'PGRST303', message: 'JWT expired' }, { status: 401 })
  })
  const session = await disposableSession()
  expect(await Promise.all([callNote(session), callNote(session)])).toEqual([[], []])
  const [old, fresh] = ['/rpc/desk_note old', '/rpc/desk_note new']
  expect(requests).toEqual([old, old, '/token?grant_type=refresh_token', fresh, fresh])
  expect(storedToken()).toBe('new')
})

test.each([
  ['refuses each token as expired', { ...newSession }, 401],
  ['says that each token has expired long ago', { ...newSession, expires_in: -3_600, expires_at: 1 }, 200],
  ['gives each token a minute', { ...newSession, expires_in: 60 }, 200],
  ['does not say when a token expires', { ...newSession, expires_in: undefined }, 200],
  ['cannot refresh', null, 200],
])('a session is refreshed twice a minute at most by a server that %s', async (_name, refreshed, status) => {
  storeExpiredSession()
  vi.useFakeTimers({ toFake: ['performance'] })
  // Clients of other tests may still refresh.
  const url = 'https://own.example.org'
  let refreshes = 0
  vi.stubGlobal('fetch', async (address: string) => {
    if (!address.includes('token?'))
      return Response.json({ code: 'PGRST303', message: 'JWT expired' }, { status })
    if (!address.startsWith(url)) return Response.error()
    refreshes += 1
    if (refreshed === null) return new Response('{}', { status: 503 })
    return Response.json({ ...refreshed, access_token: `${refreshes}`, refresh_token: `${refreshes}` })
  })
  const session = await disposableSession(url)
  const callOften = async () => {
    for (let call = 0; call < 10; call += 1) await callNote(session).catch(() => {})
  }
  await callOften()
  expect(refreshes).toBeLessThanOrEqual(2)
  vi.advanceTimersByTime(59_000)
  await callOften()
  expect(refreshes).toBeLessThanOrEqual(2)
  vi.advanceTimersByTime(2_000)
  await callOften()
  expect(refreshes).toBeLessThanOrEqual(4)
})

/** Lets the windows of this test wait for each other, as browsers do. Node.js 20 has no such locks. */
function stubLocks() {
  let last: Promise<unknown> = Promise.resolve()
  const request = (_name: string, _options: object, run: () => Promise<unknown>) =>
    (last = last.then(run, run))
  vi.stubGlobal('navigator', { onLine: true, locks: { request } })
}

// break: session-refreshed-without-end
test.each([1, 10])(
  'windows share the two refreshes of a minute, however often they are reloaded: %i at once',
  async (count) => {
    storeExpiredSession()
    stubLocks()
    const url = `https://windows-${count}.example.org`
    let refreshes = 0
    vi.stubGlobal('fetch', async (address: string) => {
      if (!address.includes('token?')) return Response.json({ code: 'PGRST303' }, { status: 401 })
      if (!address.startsWith(url)) return Response.error()
      refreshes += 1
      return Response.json({ ...newSession, refresh_token: `${refreshes}`, expires_in: 60 })
    })
    for (let reload = 0; reload < 5; reload += 1) {
      const windows = await Promise.all(Array.from({ length: count }, async () => disposableSession(url)))
      await Promise.all(windows.map(async (session) => callNote(session).catch(() => {})))
    }
    expect(refreshes).toBeLessThanOrEqual(2)
  },
)

test('the first of ten windows refreshes the session for all, and a link of another account is not mistaken for it', async () => {
  const storedToken = storeExpiredSession()
  stubLocks()
  const url = 'https://first-of-ten.example.org'
  const refreshed: unknown[] = []
  vi.stubGlobal(
    'fetch',
    async (address: string, { body, headers }: { body: string; headers: Record<string, string> }) => {
      if (!address.startsWith(url)) return Response.error()
      if (!address.includes('token?')) return Response.json(headers['Authorization'])
      const { refresh_token: token } = JSON.parse(body) as { refresh_token: string }
      refreshed.push(token)
      return Response.json({ ...newSession, access_token: `by ${token}`, refresh_token: `after ${token}` })
    },
  )
  const windows = await Promise.all(Array.from({ length: 10 }, async () => disposableSession(url)))
  const tokens = await Promise.all(windows.map(callNote))
  expect([refreshed, new Set(tokens)]).toEqual([['first'], new Set(['Bearer by first'])])
  const [one] = windows
  await (await one?.auth())?.refreshSession({ refresh_token: 'link' })
  expect([refreshed, storedToken()]).toEqual([['first', 'link'], 'by link'])
})

test('after a failure to load the auth client, the next use loads it again', async () => {
  vi.doMock('./auth.ts', () => {
    throw new TypeError('Failed to fetch dynamically imported module')
  })
  const session = createSession({ url: 'https://example.org', anonKey: 'key' }, [])
  const failed = await session.auth().catch((error: unknown) => error)
  vi.doUnmock('./auth.ts')
  expect(failed).toBeInstanceOf(MissingScriptError)
  const client = await session.auth()
  expect([await session.auth(), await session.authLoaded]).toEqual([client, client])
})

/** Creates a session at a backend that accepts every token. `respond` handles all requests but those for the signed-in user. */
function sessionForAnyToken(respond: (request: IncomingMessage, response: ServerResponse) => unknown) {
  return sessionAt((request, response) => {
    response.setHeader('content-type', 'application/json')
    if (request.url === '/auth/v1/user') return response.end(JSON.stringify({ id: accountIn(request) }))
    return respond(request, response)
  })
}

const signIn = async ({ auth }: Awaited<ReturnType<typeof sessionAt>>, account: string) => {
  const { error } = await (await auth()).setSession({ access_token: tokenOf(account), refresh_token: 'next' })
  if (error) throw error
}

// break: call-sent-as-next-person
test('a call of one person is never sent with the token of the next person', async () => {
  const sentBy: string[] = []
  const session = await sessionForAnyToken(async (request, response) => {
    sentBy.push(accountIn(request))
    if (sentBy.length > 1) return response.end('[]')
    await signIn(session, 'bob')
    return response.writeHead(503).end()
  })
  await signIn(session, 'ada')
  const [asAda, asBob] = ['ada', 'bob'].map((account) => createDesk(session.callAs(account)))
  const note = { act: crypto.randomUUID(), application: crypto.randomUUID(), note: 'A strong one.' }
  // The first call is pending when Bob signs in, and is retried with Ada's token.
  await asAda?.('desk_note', note)
  await expect(asAda?.('desk_note', note)).rejects.toThrow(SignedOutError)
  await asBob?.('desk_note', note)
  expect(sentBy).toEqual(['ada', 'ada', 'bob'])
})

test('a call that did not reach the database is retried unchanged, with the token of its first try', async () => {
  const bodies: string[] = []
  const session = await sessionForAnyToken(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    bodies.push(body)
    if (bodies.length === 1) response.destroy()
    else if (bodies.length === 2) response.writeHead(502).end('<h1>Bad Gateway</h1>')
    else response.end('[]')
  })
  await signIn(session, 'ada')
  const getSession = vi.spyOn(await session.auth(), 'getSession')
  const note = { act: crypto.randomUUID(), application: crypto.randomUUID(), note: 'A strong one.' }
  expect(await createDesk(session.callAs('ada'))('desk_note', note)).toEqual([])
  expect(bodies).toEqual(Array.from({ length: 3 }, () => JSON.stringify(note)))
  expect(getSession).toHaveBeenCalledOnce()
})

test('an act that somebody waits for is retried once', async () => {
  let requests = 0
  const session = await sessionForAnyToken((_request, response) => {
    requests += 1
    response.destroy()
  })
  await signIn(session, 'ada')
  await expect(
    createDesk(session.callAs('ada'))('desk_remind', { act: 'act' }, undefined, actRetryDelays),
  ).rejects.toThrow(new TypeError('fetch failed'))
  expect(requests).toBe(2)
})

test('a call is tried once even offline, since a server on the same machine can respond', async () => {
  let requests = 0
  const session = await sessionForAnyToken((_request, response) => {
    requests += 1
    if (requests === 1) response.end('[]')
    else if (requests === 2) response.writeHead(409).end('{"message":"Full."}')
    else response.destroy()
  })
  await signIn(session, 'ada')
  vi.stubGlobal('navigator', { onLine: false })
  const call = () => createDesk(session.callAs('ada'))('desk_remind', { act: 'act' })
  expect(await call()).toEqual([])
  await expect(call()).rejects.toThrow(new RefusedCall('Full.', '', 409))
  const failure = await call().catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(OfflineError)
  expect(failure).toMatchObject({ message: 'You were offline.', cause: new TypeError('fetch failed') })
  expect(requests).toBe(3)
})

test('a call of the auth client is not retried', async () => {
  let requests = 0
  const session = await sessionAt((_request, response) => {
    requests += 1
    response.writeHead(503).end()
  })
  const { error } = await (await session.auth()).signInWithOtp({ email: 'ada@example.org' })
  expect(error?.name).toBe('AuthRetryableFetchError')
  expect(requests).toBe(1)
})

test.each([
  ['sb_publishable_key', undefined],
  ['a.b.c', 'Bearer a.b.c'],
])('with the public key %s the bearer token is %s, until somebody signs in', async (anonKey, bearer) => {
  const keys: unknown[] = []
  const session = await sessionAt(({ headers }, response) => {
    keys.push([headers['apikey'], headers.authorization])
    response.setHeader('content-type', 'application/json').end('{"id":"ada"}')
  }, anonKey)
  const auth = await session.auth()
  await auth.signInWithOtp({ email: 'ada@example.org' })
  await auth.verifyOtp({ type: 'email', email: 'ada@example.org', token: '123456' })
  await auth.refreshSession({ refresh_token: 'next' })
  await signIn(session, 'ada')
  await createDesk(session.callAs('ada'))('desk_me', {}, new AbortController().signal)
  const signedIn = `Bearer ${tokenOf('ada')}`
  expect(keys).toEqual([bearer, bearer, bearer, signedIn, signedIn].map((each) => [anonKey, each]))
})
