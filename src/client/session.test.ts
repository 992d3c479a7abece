import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeEach, expect, test, vi } from 'vitest'

import { atTestEnd } from '../../test/support/cleanup.ts'
import { createDesk } from './desk.ts'
import { MissingScriptError } from './missing-script.ts'
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

test('the addresses of calls contain the folder of the backend’s address, with or without a slash at its end', async () => {
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
  }
  vi.unstubAllGlobals()
  expect(new Set(addresses)).toEqual(new Set(['https://example.org/folder/rest/v1/rpc/desk_me']))
})

test('a call without a session is refused', async () => {
  atTestEnd(() => void vi.unstubAllGlobals())
  vi.stubGlobal('localStorage', { getItem: () => null })
  const session = createSession({ url: 'https://example.org', anonKey: 'key' }, [])
  await expect(session.callAs('ada')('desk_me', {}, new AbortController().signal)).rejects.toThrow(
    SignedOutError,
  )
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
  const responses = [503, 429, 502].map((status) => () => new Response('{}', { status }))
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
  expect([isUncertain(failure), failure instanceof OfflineError]).toEqual([false, false])
  vi.stubGlobal('navigator', { onLine: false })
  await expect(call()).rejects.toBeInstanceOf(OfflineError)
  expect(new Set(requests)).toEqual(new Set(['/token?grant_type=refresh_token {"refresh_token":"first"}']))
  expect(storedToken()).toBe('old')
  // Each failure was one refresh, or two while the client starts, and each refresh had at most two tries.
  expect(requests.length).toBeLessThanOrEqual(6)
  requests.length = 0
  responses.push(
    () => Response.json(newSession),
    () => Response.json([]),
  )
  expect(await call()).toEqual([])
  expect(requests).toEqual(['/token?grant_type=refresh_token {"refresh_token":"first"}', '/rpc/desk_note {}'])
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
  ).rejects.toBeInstanceOf(TypeError)
  expect(requests).toBe(2)
})

test('a call is tried once even offline, since a server on the same machine can respond', async () => {
  let requests = 0
  const session = await sessionForAnyToken((_request, response) => {
    requests += 1
    if (requests === 1) response.end('[]')
    else response.destroy()
  })
  await signIn(session, 'ada')
  vi.stubGlobal('navigator', { onLine: false })
  const call = createDesk(session.callAs('ada'))
  expect(await call('desk_remind', { act: 'act' })).toEqual([])
  await expect(call('desk_remind', { act: 'act' })).rejects.toBeInstanceOf(OfflineError)
  expect(requests).toBe(2)
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
