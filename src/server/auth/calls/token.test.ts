import type { SupabaseClient } from '@supabase/supabase-js'
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify, type JSONWebKeySet } from 'jose'
import { beforeAll, expect, test } from 'vitest'

import {
  bearerOf,
  readResponse,
  startSignIn,
  type SignInServer,
} from '../../../../test/support/sign-in-server.ts'
import { createSigningKeys, replaceKey } from '../sessions/keys.ts'
import { hashPassword } from '../accounts/passwords.ts'

let server: SignInServer

beforeAll(async () => {
  server = await startSignIn()
})

const password = 'correct horse'
const wrongCredentials = { code: 400, error_code: 'invalid_credentials', msg: 'Invalid login credentials' }
const tokenNotFound = {
  code: 400,
  error_code: 'refresh_token_not_found',
  msg: 'Invalid Refresh Token: Refresh Token Not Found',
}
const tokenUsed = {
  code: 400,
  error_code: 'refresh_token_already_used',
  msg: 'Invalid Refresh Token: Already Used',
}

/** The parts of a refresh's response that these tests compare. */
interface Refreshed {
  access_token: string
  refresh_token: string
}

const grant = (type: string, body: unknown) =>
  readResponse(server.call('POST', `token?grant_type=${type}`, body))
const refresh = (token: string) => grant('refresh_token', { refresh_token: token })

/** Refreshes the tokens, and expects success. */
async function refreshed(token: string) {
  const { status, body } = await refresh(token)
  expect(status).toBe(200)
  return body as Refreshed
}

async function sessionOf(client: SupabaseClient) {
  const { data } = await client.auth.getSession()
  if (data.session === null) throw new Error('nobody signed in')
  return { ...data.session, id: String(decodeJwt(data.session.access_token)['session_id']) }
}

/** A session's first refresh token. */
async function firstToken() {
  const { client } = await server.signedIn()
  const session = await sessionOf(client)
  return { client, id: session.id, token: session.refresh_token }
}

/** Makes the session and its last refresh this many seconds older. */
const age = (id: string, seconds: number) => server.database.owner`
  update auth.sessions set
    created_at = created_at - make_interval(secs => ${seconds}),
    refreshed_at = refreshed_at - make_interval(secs => ${seconds})
  where id = ${id}`

const sessionExists = async (id: string) =>
  (await server.database.owner`select from auth.sessions where id = ${id}`).length === 1

/** An organiser with a password. */
async function withPassword() {
  const { client, email } = await server.signedIn()
  const { error } = await client.auth.updateUser({ password })
  if (error) throw error
  return { client, email }
}

test('a password signs in, with the address in upper or lower case', async () => {
  const { email } = await withPassword()
  const client = server.client()
  const { data, error } = await client.auth.signInWithPassword({ email: email.toUpperCase(), password })
  expect(error).toBeNull()
  expect(data.user?.email).toBe(email)
  expect(data).not.toHaveProperty('weakPassword.reasons')
  expect(decodeJwt(data.session?.access_token ?? '')['amr']).toMatchObject([{ method: 'password' }])
  expect((await client.rpc('desk_me')).data).toEqual({ email })
})

test('a password from before the least length still signs in, and the response says that it is weak', async () => {
  const { email } = await withPassword()
  await server.database.owner`
    update auth.users set encrypted_password = ${await hashPassword('abcdef', 4)} where email = ${email}`
  const { data, error } = await server.client().auth.signInWithPassword({ email, password: 'abcdef' })
  expect(error).toBeNull()
  expect(data.weakPassword).toEqual({
    message: 'Password should be at least 10 characters.',
    reasons: ['length'],
  })
})

test('a wrong or missing password, an account without a password, and an unknown address are refused alike', async () => {
  const { email } = await withPassword()
  const without = await server.organiser()
  for (const body of [
    { email, password: `${password}r` },
    { email, password: password.toUpperCase() },
    { email, password: '' },
    { email },
    { email, password: null },
    { email: without, password },
    { email: without, password: '' },
    { email: 'nobody@example.org', password },
    { email: 'nobody', password },
    { email: `${'a'.repeat(300)}@example.org`, password },
    { email: 'nobody@example.org' },
  ]) {
    expect(await grant('password', body)).toEqual({ status: 400, body: wrongCredentials })
  }
})

test.each([
  [
    { email: 'jo@example.org', phone: '4930123456', password },
    400,
    'validation_failed',
    'Only an email address or phone number should be provided on login.',
  ],
  [{ password }, 400, 'validation_failed', 'missing email or phone'],
  [{ phone: '4930123456', password }, 422, 'phone_provider_disabled', 'Phone logins are disabled'],
])('the password grant refuses %j', async (body, status, code, msg) => {
  expect(await grant('password', body)).toEqual({ status, body: { code: status, error_code: code, msg } })
})

test.each(['', 'id_token', 'web3', 'Password'])('the grant type "%s" is refused', async (type) => {
  expect(await grant(type, { email: 'jo@example.org', password })).toEqual({
    status: 400,
    body: { code: 400, error_code: 'invalid_credentials', msg: 'unsupported_grant_type' },
  })
})

test('nobody can sign in with an identity token of a provider such as Google', async () => {
  const { error } = await server.client().auth.signInWithIdToken({ provider: 'google', token: 'abc' })
  expect(error).toMatchObject({ status: 400, code: 'invalid_credentials' })
})

test('a refresh gives new tokens of the same session', async () => {
  const { client } = await server.signedIn()
  const before = await sessionOf(client)
  const { data, error } = await client.auth.refreshSession()
  expect(error).toBeNull()
  const renewed = await sessionOf(client)
  expect(renewed.refresh_token).not.toBe(before.refresh_token)
  expect(renewed.id).toBe(before.id)
  const [old, fresh] = [decodeJwt(before.access_token), decodeJwt(data.session?.access_token ?? '')]
  expect(fresh['amr']).toEqual(old['amr'])
  expect(fresh['aal']).toBe('aal1')
  expect(data.user?.last_sign_in_at).toBe(before.user.last_sign_in_at)
  expect((await client.auth.getUser()).error).toBeNull()
})

test('the refresh token before the active one gives the active one again, at any time', async () => {
  const { id, token } = await firstToken()
  const second = (await refreshed(token)).refresh_token
  expect((await refreshed(token)).refresh_token).toBe(second)
  await age(id, 100_000)
  expect((await refreshed(token)).refresh_token).toBe(second)
  expect(second).not.toBe(token)
  expect((await refreshed(second)).refresh_token).not.toBe(second)
})

test('a refresh token older than the previous one gives the active one within ten seconds after a refresh', async () => {
  const { id, token } = await firstToken()
  const second = (await refreshed(token)).refresh_token
  const third = (await refreshed(second)).refresh_token
  await age(id, 8)
  expect((await refreshed(token)).refresh_token).toBe(third)
  expect(await sessionExists(id)).toBe(true)
})

// break: old-refresh-token-accepted
test('a refresh token older than the previous one ends the session after ten seconds', async () => {
  const { client, id, token } = await firstToken()
  const second = (await refreshed(token)).refresh_token
  const third = (await refreshed(second)).refresh_token
  await age(id, 11)
  expect(await refresh(token)).toEqual({ status: 400, body: tokenUsed })
  expect(await sessionExists(id)).toBe(false)
  expect(await refresh(third)).toEqual({ status: 400, body: tokenNotFound })
  expect((await client.auth.getUser()).error).toMatchObject({ name: 'AuthSessionMissingError' })
  expect((await client.rpc('desk_me')).error).toMatchObject({ code: '42501' })
})

test('after the clock was set back, a refresh token older than the previous one ends the session', async () => {
  const { id, token } = await firstToken()
  await refreshed((await refreshed(token)).refresh_token)
  await age(id, -3_600)
  expect(await refresh(token)).toEqual({ status: 400, body: tokenUsed })
  expect(await sessionExists(id)).toBe(false)
})

test('using an older refresh token does not prolong its ten seconds', async () => {
  const { id, token } = await firstToken()
  await refreshed((await refreshed(token)).refresh_token)
  await age(id, 8)
  await refreshed(token)
  await age(id, 3)
  expect(await refresh(token)).toEqual({ status: 400, body: tokenUsed })
})

test('concurrent refreshes agree on the next token', async () => {
  const { id, token } = await firstToken()
  const responses = await Promise.all(Array.from({ length: 10 }, () => refreshed(token)))
  expect(new Set(responses.map(({ refresh_token: next }) => next)).size).toBe(1)
  const [row] = await server.database.owner<{ refresh_token_counter: number }[]>`
    select refresh_token_counter from auth.sessions where id = ${id}`
  expect(row?.refresh_token_counter).toBe(1)
})

test('a refresh that waits too long for a lock on its session fails with a conflict, and the token stays valid', async () => {
  const { id, token } = await firstToken()
  const response = await server.database.owner.begin(async (transaction) => {
    await transaction`select from auth.sessions where id = ${id} for update`
    return refresh(token)
  })
  expect(response).toMatchObject({ status: 409, body: { error_code: 'conflict' } })
  await refreshed(token)
})

test.each(['', 'abc', 'abcdefghijk', 'ABCDEFGHIJKL', 'abcdefghijklm', 'a'.repeat(60), 'ä'.repeat(12)])(
  'the text "%s" is refused as a refresh token',
  async (token) => {
    expect(await refresh(token)).toEqual({
      status: 400,
      body: { code: 400, error_code: 'validation_failed', msg: 'Refresh token is not valid' },
    })
  },
)

test('a refresh token of an older format, of an ended session or of another database is refused, and ends no session', async () => {
  expect(await refresh('abcdefghijk1')).toEqual({ status: 400, body: tokenNotFound })
  const { client, id, token } = await firstToken()
  const second = (await refreshed(token)).refresh_token
  await server.database.owner`update auth.sessions set refresh_token_counter = 0 where id = ${id}`
  expect(await refresh(second)).toEqual({
    status: 400,
    body: {
      code: 400,
      error_code: 'validation_failed',
      msg: 'Invalid Refresh Token: Not Issued By This Server',
    },
  })
  expect(await sessionExists(id)).toBe(true)
  await server.database.owner`
    update auth.sessions set refresh_token_hmac_key = decode(repeat('00', 32), 'hex') where id = ${id}`
  expect(await refresh(token)).toEqual({ status: 400, body: tokenNotFound })
  expect(await sessionExists(id)).toBe(true)
  await client.auth.signOut()
  expect(await refresh(token)).toEqual({ status: 400, body: tokenNotFound })
})

/** The outcomes of GET user and of a refresh, for each of an account's three sessions, after the first signed out. */
async function responsesAfter(scope: 'global' | 'local' | 'others') {
  const email = await server.organiser()
  const clients = [
    (await server.signedIn(email)).client,
    (await server.signedIn(email)).client,
    (await server.signedIn(email)).client,
  ] as const
  const sessions = await Promise.all(clients.map(sessionOf))
  expect(await clients[0].auth.signOut({ scope })).toMatchObject({ error: null })
  const outcomes: string[] = []
  for (const { access_token: token, refresh_token: refreshToken } of sessions) {
    const user = await readResponse(
      server.call('GET', 'user', undefined, { authorization: `Bearer ${token}` }),
    )
    const responses = [user, await refresh(refreshToken)].map(({ status, body }) =>
      status === 200 ? 'good' : `${status} ${(body as { error_code: string }).error_code}`,
    )
    outcomes.push(responses.join(', '))
  }
  return outcomes
}

const good = 'good, good'
const ended = '403 session_not_found, 400 refresh_token_not_found'

test('signing out everywhere ends all sessions of the account', async () => {
  const { client: stranger } = await server.signedIn()
  expect(await responsesAfter('global')).toEqual([ended, ended, ended])
  expect((await stranger.auth.getUser()).error).toBeNull()
})

test('signing out locally ends only this session', async () => {
  expect(await responsesAfter('local')).toEqual([ended, good, good])
})

test('signing out the other sessions ends all sessions but this one', async () => {
  const { client: stranger } = await server.signedIn()
  expect(await responsesAfter('others')).toEqual([good, ended, ended])
  expect((await stranger.auth.getUser()).error).toBeNull()
})

test.each(['logout', 'logout?scope='])('%s signs out everywhere, with an empty response', async (path) => {
  const { client, email } = await server.signedIn()
  const { client: other } = await server.signedIn(email)
  const response = await server.call('POST', path, undefined, await bearerOf(client))
  expect(response.status).toBe(204)
  expect(await response.text()).toBe('')
  expect((await other.auth.getUser()).error).toMatchObject({ name: 'AuthSessionMissingError' })
})

test('signing out needs a bearer token, and a known scope', async () => {
  const { client } = await server.signedIn()
  expect(
    await readResponse(server.call('POST', 'logout?scope=all', undefined, await bearerOf(client))),
  ).toEqual({
    status: 400,
    body: { code: 400, error_code: 'validation_failed', msg: 'Unsupported logout scope "all"' },
  })
  expect((await client.auth.getUser()).error).toBeNull()
  for (const path of ['logout', 'logout?scope=all']) {
    expect(await readResponse(server.call('POST', path))).toMatchObject({
      status: 401,
      body: { error_code: 'no_authorization' },
    })
  }
})

test('an access token has the same claims as in a hosted project', async () => {
  const { client, email } = await server.signedIn()
  const { access_token: token, user } = await sessionOf(client)
  expect(decodeProtectedHeader(token)).toEqual({ alg: 'ES256', kid: expect.any(String), typ: 'JWT' })
  const claims = decodeJwt(token)
  expect(claims).toEqual({
    iss: `${server.origin}/auth/v1`,
    sub: user.id,
    aud: 'authenticated',
    iat: expect.any(Number),
    exp: (claims.iat ?? 0) + 3600,
    email,
    phone: '',
    app_metadata: { provider: 'email', providers: ['email'] },
    user_metadata: { email_verified: true },
    role: 'authenticated',
    aal: 'aal1',
    amr: [{ method: 'otp', timestamp: expect.any(Number) }],
    session_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    is_anonymous: false,
  })
  expect(Math.abs((claims.iat ?? 0) - Date.now() / 1000)).toBeLessThan(60)
})

test('the issuer is below the public address, regardless of the request', async () => {
  const other = await server.another({ siteUrl: 'https://example.org/retreat' })
  const { token } = await firstToken()
  const response = await other.call(
    'POST',
    'token?grant_type=refresh_token',
    { refresh_token: token },
    { 'x-forwarded-host': 'evil.example.com', 'x-forwarded-proto': 'https' },
  )
  const { access_token: fresh } = (await response.json()) as Refreshed
  expect(decodeJwt(fresh).iss).toBe('https://example.org/retreat/auth/v1')
})

/** The published keys of this server or of another one. */
async function keySet(origin = server.origin) {
  const response = await fetch(`${origin}/auth/v1/.well-known/jwks.json`)
  return { headers: response.headers, set: (await response.json()) as JSONWebKeySet }
}

test('the key set has only the public parts, and verifies the tokens', async () => {
  const { client } = await server.signedIn()
  const { headers, set } = await keySet()
  expect(headers.get('cache-control')).toBe('public, max-age=600')
  for (const key of set.keys) {
    expect(key).toEqual({
      kty: 'EC',
      crv: 'P-256',
      x: expect.any(String),
      y: expect.any(String),
      alg: 'ES256',
      kid: expect.any(String),
      use: 'sig',
      key_ops: ['verify'],
    })
  }
  const { access_token: token } = await sessionOf(client)
  const { payload } = await jwtVerify(token, createLocalJWKSet(set))
  expect(payload.aud).toBe('authenticated')
})

test('the client verifies a token with the key set, without a call', async () => {
  const { client, email } = await server.signedIn()
  const { access_token: token, id } = await sessionOf(client)
  const { set } = await keySet()
  // The session has ended, which the server would notice.
  await server.database.owner`delete from auth.sessions where id = ${id}`
  const { data, error } = await client.auth.getClaims(token, { jwks: set as never })
  expect(error).toBeNull()
  expect(data?.claims).toMatchObject({ email, session_id: id })
  const [head = '', body = '', signature = ''] = token.split('.')
  const forged = Buffer.from(JSON.stringify({ ...decodeJwt(token), email: 'eve@example.org' })).toString(
    'base64url',
  )
  expect(body).not.toBe(forged)
  const refused = await client.auth.getClaims([head, forged, signature].join('.'), { jwks: set as never })
  expect(refused.error?.message).toBe('Invalid JWT signature')
})

test('the client fetches the key set automatically', async () => {
  const { client, email } = await server.signedIn()
  const { data, error } = await client.auth.getClaims()
  expect(error).toBeNull()
  expect(data?.claims.email).toBe(email)
  expect(data?.header.kid).toBe((await keySet()).set.keys[0]?.kid)
})

test('a new key signs the next tokens, and tokens of the old key stay valid until they expire', async () => {
  const newServer = await startSignIn()
  const { client, email } = await newServer.signedIn()
  const before = await sessionOf(client)
  const oldKid = decodeProtectedHeader(before.access_token).kid
  await replaceKey(newServer.database.owner)
  const other = await newServer.another()
  const { body } = await readResponse(
    other.call('POST', 'token?grant_type=refresh_token', { refresh_token: before.refresh_token }),
  )
  const fresh = (body as Refreshed).access_token
  const newKid = decodeProtectedHeader(fresh).kid
  expect(newKid).not.toBe(oldKid)
  for (const token of [before.access_token, fresh]) {
    expect(
      await readResponse(other.call('GET', 'user', undefined, { authorization: `Bearer ${token}` })),
    ).toMatchObject({ status: 200, body: { email } })
  }
  const { set } = await keySet(other.origin)
  expect(set.keys.map(({ kid }) => kid)).toEqual([newKid, oldKid])
  await jwtVerify(before.access_token, createLocalJWKSet(set))
  await jwtVerify(fresh, createLocalJWKSet(set))
  await other.close()

  await newServer.database.owner`
    update private.signing_keys set retired_at = now() - interval '3 hours' where retired_at is not null`
  const laterServer = await newServer.another()
  expect((await keySet(laterServer.origin)).set.keys.map(({ kid }) => kid)).toEqual([newKid])
  const old = { authorization: `Bearer ${before.access_token}` }
  expect(await readResponse(laterServer.call('GET', 'user', undefined, old))).toMatchObject({
    status: 403,
    body: { error_code: 'bad_jwt' },
  })
})

test("a server accepts a token that another server's new key signed, and signs with the newest key within half a minute", async () => {
  let clock = 0
  const ownKeys = createSigningKeys(server.database.signIn, () => clock)
  const claims = { aud: 'authenticated', sub: 'jo' }
  const { token: old } = await ownKeys.sign(claims)
  await replaceKey(server.database.owner)
  const otherKeys = createSigningKeys(server.database.signIn)
  const { token: fresh } = await otherKeys.sign(claims)
  const kidOf = (token: string) => decodeProtectedHeader(token).kid
  expect(kidOf(fresh)).not.toBe(kidOf(old))
  expect(kidOf((await ownKeys.sign(claims)).token)).toBe(kidOf(old))
  expect(await otherKeys.verify(old)).toMatchObject(claims)
  clock = 1_001
  expect(await ownKeys.verify(fresh)).toMatchObject(claims)
  expect(await ownKeys.verify(old)).toMatchObject(claims)
  await replaceKey(server.database.owner)
  clock += 30_001
  const { token: newest } = await ownKeys.sign(claims)
  expect([kidOf(old), kidOf(fresh)]).not.toContain(kidOf(newest))
})

test('servers that start together on a new database create one key', async () => {
  const newServer = await startSignIn()
  const keysOfServers = Array.from({ length: 8 }, () => createSigningKeys(newServer.database.signIn))
  const sets = await Promise.all(keysOfServers.map((keys) => keys.published()))
  expect(new Set(sets.flat().map(({ kid }) => kid)).size).toBe(1)
})

test('two servers on one database share the sessions', async () => {
  const other = await server.another()
  const { client, id, token } = await firstToken()
  const headers = await bearerOf(client)
  expect((await other.call('GET', 'user', undefined, headers)).status).toBe(200)
  const renewed = await other.call('POST', 'token?grant_type=refresh_token', { refresh_token: token })
  expect(renewed.status).toBe(200)
  expect((await other.call('POST', 'logout', undefined, headers)).status).toBe(204)
  expect(await sessionExists(id)).toBe(false)
  expect((await client.auth.getUser()).error).toMatchObject({ name: 'AuthSessionMissingError' })
})
