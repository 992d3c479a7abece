import { decodeJwt, exportJWK, generateKeyPair, SignJWT, UnsecuredJWT, type JWTPayload } from 'jose'
import { beforeAll, expect, test } from 'vitest'

import { secretOf, verifyLink } from '../../../../test/support/sign-in-links.ts'
import type { ReceivedMail } from '../../../../test/support/mail-server.ts'
import {
  bearerOf,
  codeOf,
  readResponse,
  startSignIn,
  type SignInServer,
} from '../../../../test/support/sign-in-server.ts'
import { createSigningKeys } from '../sessions/keys.ts'
import { operatorSecret, removeOrganiser } from '../manage-organisers.ts'

let server: SignInServer

beforeAll(async () => {
  server = await startSignIn()
})

const password = 'correct horse'
const halfDone = 'Confirmation link accepted. Please proceed to confirm link sent to the other email'

type Client = Awaited<ReturnType<SignInServer['signedIn']>>['client']

/** Calls PUT user with any body. */
const put = async (client: Client, body: unknown, query = '') =>
  readResponse(server.call('PUT', `user${query}`, body, await bearerOf(client)))

const refusal = (status: number, code: string, msg: string) => ({
  status,
  body: { code: status, error_code: code, msg },
})

const sessionId = async (client: Client) => {
  const { data } = await client.auth.getSession()
  return String(decodeJwt(data.session?.access_token ?? '')['session_id'])
}

/** Makes the session more than a day old. */
const aDayLater = async (client: Client) => server.database.owner`
  update auth.sessions set created_at = created_at - interval '25 hours' where id = ${await sessionId(client)}`

let addresses = 0
const newAddress = () => {
  addresses += 1
  return `new-${addresses}@example.org`
}

/** A wrong code: the candidate, or a different code if the candidate is right. */
const otherThan = (right: string, candidate = '000000') => (candidate === right ? '111111' : candidate)

/** Waits until an address has this many emails, and returns the last one. */
async function lastMail(email: string, number = 1) {
  const mail = (await server.mail.waitFor(number, email)).at(-1)
  if (mail === undefined) throw new Error('no mail came')
  return mail
}

/** An account that requested a change from `email` to `address`. `old` is the message to `email`, `fresh` that to `address`. */
async function changing(options?: { emailRedirectTo: string }) {
  const { client, email } = await server.signedIn()
  const address = newAddress()
  const { data, error } = await client.auth.updateUser({ email: address }, options)
  if (error) throw error
  return {
    client,
    email,
    address,
    user: data.user,
    old: await lastMail(email),
    fresh: await lastMail(address),
  }
}

/** An account with a verified factor. `client` is signed in with it, and `firstLevel` without it. */
async function withFactor() {
  const { client, email } = await server.signedIn()
  const { data } = await client.auth.mfa.enroll({ factorType: 'totp' })
  const { error } = await client.auth.mfa.challengeAndVerify({
    factorId: data?.id ?? '',
    code: codeOf(data?.totp.secret ?? ''),
  })
  if (error) throw error
  const { client: firstLevel } = await server.signedIn(email)
  return { client, firstLevel, email }
}

test('a signed-in person gets their full account', async () => {
  const { client, email } = await server.signedIn()
  const { data, error } = await client.auth.getUser()
  expect(error).toBeNull()
  const id = data.user?.id ?? ''
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)$/)
  expect(data.user).toEqual({
    id,
    aud: 'authenticated',
    role: 'authenticated',
    email,
    phone: '',
    email_confirmed_at: time,
    confirmed_at: time,
    last_sign_in_at: time,
    app_metadata: { provider: 'email', providers: ['email'] },
    user_metadata: { email_verified: true },
    identities: [
      {
        identity_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        id,
        user_id: id,
        identity_data: { sub: id, email, email_verified: true, phone_verified: false },
        provider: 'email',
        last_sign_in_at: time,
        created_at: time,
        updated_at: time,
        email,
      },
    ],
    created_at: time,
    updated_at: time,
    is_anonymous: false,
  })
  expect(data.user?.identities?.[0]?.identity_id).not.toBe(id)
  expect((await client.auth.getUserIdentities()).data?.identities).toHaveLength(1)
})

test.each([undefined, 'Basic abc', 'Bearer', 'Bearer ', 'Bearer a b', 'abc'])(
  'the header "%s" is refused as a bearer token',
  async (authorization) => {
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization }
    for (const [method, path] of [
      ['GET', 'user'],
      ['PUT', 'user'],
      ['GET', 'reauthenticate'],
      ['POST', 'logout'],
      ['POST', 'factors'],
      ['POST', 'factors/x/challenge'],
      ['POST', 'factors/x/verify'],
      ['DELETE', 'factors/x'],
      ['GET', 'user/identities/authorize?provider=google'],
      ['DELETE', 'user/identities/x'],
    ] as const) {
      expect(
        await readResponse(server.call(method, path, method === 'GET' ? undefined : {}, headers)),
      ).toEqual(refusal(401, 'no_authorization', 'This endpoint requires a valid Bearer token'))
    }
  },
)

test('the scheme of a bearer token may be in upper or lower case', async () => {
  const { client } = await server.signedIn()
  const { authorization } = await bearerOf(client)
  for (const written of [
    authorization.replace('Bearer', 'bearer'),
    authorization.replace('Bearer', 'BEARER'),
  ]) {
    expect((await server.call('GET', 'user', undefined, { authorization: written })).status).toBe(200)
  }
})

test('the public API key (anon) is refused as a bearer token', async () => {
  const response = server.call('GET', 'user', undefined, { authorization: 'Bearer public-anon-key' })
  expect(await readResponse(response)).toMatchObject({ status: 403, body: { error_code: 'bad_jwt' } })
})

test('a token with another signature than ours is refused', async () => {
  const { client } = await server.signedIn()
  const { data } = await client.auth.getSession()
  const token = data.session?.access_token ?? ''
  const claims = decodeJwt(token)
  const published = (await readResponse(server.call('GET', '.well-known/jwks.json'))).body as {
    keys: JWTPayload[]
  }
  const kid = String(published.keys[0]?.['kid'])
  const publicKey = new TextEncoder().encode(JSON.stringify(published.keys[0]))
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const [head = '', body = '', signature = ''] = token.split('.')
  const headOf = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  for (const forged of [
    new UnsecuredJWT(claims).encode(),
    `${headOf({ alg: 'none', kid })}.${body}.`,
    `${headOf({ alg: 'none', kid })}.${body}.${signature}`,
    await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid }).sign(publicKey),
    await new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid }).sign(privateKey),
    await new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'other' }).sign(privateKey),
    await new SignJWT(claims)
      .setProtectedHeader({ alg: 'ES256', kid, jwk: await exportJWK(privateKey) })
      .sign(privateKey),
    `${head}.${headOf({ ...claims, email: 'eve@example.org' })}.${signature}`,
    `${head}.${body}.`,
    `${head}.${body}`,
    'a.b.c',
  ]) {
    const response = await readResponse(
      server.call('GET', 'user', undefined, { authorization: `Bearer ${forged}` }),
    )
    expect(response).toEqual({
      status: 403,
      body: {
        code: 403,
        error_code: 'bad_jwt',
        msg: expect.stringMatching(/^invalid JWT: unable to parse or verify signature, ./),
      },
    })
  }
})

test('a token of ours with a wrong audience, account or session is refused', async () => {
  const { client } = await server.signedIn()
  const { data } = await client.auth.getSession()
  const { exp: _exp, iat: _iat, ...claims } = decodeJwt(data.session?.access_token ?? '')
  const keys = createSigningKeys(server.database.signIn)
  const getUserWith = async (changedClaims: JWTPayload) =>
    readResponse(
      server.call('GET', 'user', undefined, {
        authorization: `Bearer ${(await keys.sign({ ...claims, ...changedClaims })).token}`,
      }),
    )
  const { sub: _sub, ...withoutSubject } = claims
  expect(await getUserWith({})).toMatchObject({ status: 200 })
  const { token } = await keys.sign(withoutSubject)
  expect(
    await readResponse(server.call('GET', 'user', undefined, { authorization: `Bearer ${token}` })),
  ).toMatchObject({
    status: 403,
    body: { error_code: 'bad_jwt' },
  })
  expect(await getUserWith({ sub: 'jo' })).toMatchObject({ status: 400, body: { error_code: 'bad_jwt' } })
  expect(await getUserWith({ aud: 'anon' })).toMatchObject({ status: 403, body: { error_code: 'bad_jwt' } })
  expect(await getUserWith({ sub: '8f5b1e2a-0000-4000-8000-000000000000' })).toEqual(
    refusal(403, 'user_not_found', 'User from sub claim in JWT does not exist'),
  )
  for (const id of ['8f5b1e2a-0000-4000-8000-000000000000', 'x', undefined, 5]) {
    expect(await getUserWith({ session_id: id })).toEqual(
      refusal(403, 'session_not_found', 'Session from session_id claim in JWT does not exist'),
    )
  }
  const { client: other } = await server.signedIn()
  expect(await getUserWith({ session_id: await sessionId(other) })).toMatchObject({
    status: 403,
    body: { error_code: 'session_not_found' },
  })
})

test('removing an organiser ends their access at once', async () => {
  const { client, email } = await server.signedIn()
  const headers = await bearerOf(client)
  expect((await client.rpc('desk_me')).error).toBeNull()
  await removeOrganiser(server.database.owner, email)
  expect(await readResponse(server.call('GET', 'user', undefined, headers))).toEqual(
    refusal(403, 'user_not_found', 'User from sub claim in JWT does not exist'),
  )
  expect((await client.rpc('desk_me')).error).toMatchObject({ code: '42501' })
})

test('the top-level keys of user data are merged, a nested object is replaced, and null removes a key', async () => {
  const { client } = await server.signedIn()
  const update = async (data: object) => (await client.auth.updateUser({ data })).data.user?.user_metadata
  expect(await update({ name: 'Jo', nested: { a: 1, b: 2 }, none: null })).toEqual({
    email_verified: true,
    name: 'Jo',
    nested: { a: 1, b: 2 },
  })
  expect(await update({ nested: { c: 3 }, list: [1, null] })).toEqual({
    email_verified: true,
    name: 'Jo',
    nested: { c: 3 },
    list: [1, null],
  })
  expect(await update({ name: null, list: null })).toEqual({ email_verified: true, nested: { c: 3 } })
  expect(await update({})).toEqual({ email_verified: true, nested: { c: 3 } })
  await client.auth.refreshSession()
  const { data } = await client.auth.getClaims()
  expect(data?.claims.user_metadata).toEqual({ email_verified: true, nested: { c: 3 } })
})

test('a change of app_metadata is refused, and changes of the role, audience, id or confirmation are ignored', async () => {
  const { client, email } = await server.signedIn()
  expect(await put(client, { app_metadata: { role: 'admin' } })).toEqual(
    refusal(403, 'not_admin', 'Updating app_metadata requires admin privileges'),
  )
  const { data: before } = await client.auth.getUser()
  const { status, body } = await put(client, {
    role: 'service_role',
    aud: 'other',
    id: '8f5b1e2a-0000-4000-8000-000000000000',
    is_anonymous: true,
    email_confirmed_at: null,
  })
  expect(status).toBe(200)
  expect(body).toMatchObject({ id: before.user?.id, role: 'authenticated', aud: 'authenticated', email })
  expect(await put(client, { app_metadata: { role: 'admin' }, password: 'abc' })).toMatchObject({
    status: 422,
    body: { error_code: 'weak_password' },
  })
})

test.each([
  ['', 422, 'weak_password', 'Password should be at least 10 characters.'],
  ['abcdefghi', 422, 'weak_password', 'Password should be at least 10 characters.'],
  ['🔑'.repeat(9), 422, 'weak_password', 'Password should be at least 10 characters.'],
  ['a'.repeat(73), 400, 'validation_failed', 'Password cannot be longer than 72 characters'],
  ['ä'.repeat(37), 400, 'validation_failed', 'Password cannot be longer than 72 characters'],
])('the password "%s" is refused', async (given, status, code, msg) => {
  const { client } = await server.signedIn()
  expect(await put(client, { password: given })).toMatchObject(refusal(status, code, msg))
})

test('the error for a weak password has its own name and the reason, in the newer and in the older format of errors', async () => {
  const { client } = await server.signedIn()
  const { error } = await client.auth.updateUser({ password: 'abcde' })
  expect(error).toMatchObject({ name: 'AuthWeakPasswordError', status: 422, reasons: ['length'] })
  const older = await server.call('PUT', 'user', { password: 'abcde' }, await bearerOf(client))
  expect(older.headers.get('x-sb-error-code')).toBe('weak_password')
  expect(await readResponse(older)).toEqual({
    status: 422,
    body: {
      code: 422,
      error_code: 'weak_password',
      msg: 'Password should be at least 10 characters.',
      weak_password: { reasons: ['length'] },
    },
  })
  const newer = await server.call(
    'PUT',
    'user',
    { password: 'abcde' },
    { ...(await bearerOf(client)), 'x-supabase-api-version': '2024-01-01' },
  )
  expect(newer.headers.get('x-sb-error-code')).toBeNull()
  expect(await readResponse(newer)).toEqual({
    status: 422,
    body: {
      code: 'weak_password',
      message: 'Password should be at least 10 characters.',
      weak_password: { reasons: ['length'] },
    },
  })
})

test.each(['abcdefghij', '🔑'.repeat(10), 'a'.repeat(72), 'ä'.repeat(36), 'pass word 🔑'])(
  'the password "%s" signs in',
  async (given) => {
    const { client, email } = await server.signedIn()
    expect((await client.auth.updateUser({ password: given })).error).toBeNull()
    const other = server.client()
    expect((await other.auth.signInWithPassword({ email, password: given })).error).toBeNull()
    const wrong = await other.auth.signInWithPassword({ email, password: given.slice(0, -2) })
    expect(wrong.error).toMatchObject({ code: 'invalid_credentials' })
  },
)

test('a new password has to be different, and ends other sessions, codes, links and a change of address', async () => {
  const { client, email, address, old, fresh } = await changing()
  const { client: elsewhere } = await server.signedIn(email)
  await client.auth.updateUser({ password })
  // The email that says that the password was changed.
  await lastMail(email, 2)
  expect((await elsewhere.auth.getUser()).error).toMatchObject({ name: 'AuthSessionMissingError' })
  expect((await elsewhere.auth.refreshSession()).error).toMatchObject({ name: 'AuthSessionMissingError' })

  const { client: third } = await server.signedIn(email)
  await server.database.owner`delete from private.mail_requests`
  await server.call('POST', 'otp', { email })
  const { code } = await lastMail(email, 3)
  const operatorLink = await operatorSecret(server.database.owner, email)
  const { error } = await client.auth.updateUser({ password })
  expect(error).toMatchObject({
    status: 422,
    code: 'same_password',
    message: 'New password should be different from the old password.',
  })
  expect((await third.auth.getUser()).error).toBeNull()

  const { data } = await client.auth.updateUser({ password: `${password}s` })
  expect(data.user?.new_email).toBeUndefined()
  expect((await client.auth.getUser()).error).toBeNull()
  expect((await client.auth.refreshSession()).error).toBeNull()
  expect((await third.auth.getUser()).error).toMatchObject({ name: 'AuthSessionMissingError' })
  const verify = (body: unknown) => readResponse(server.call('POST', 'verify', body))
  for (const body of [
    { type: 'email', email, token: code },
    { type: 'magiclink', token_hash: operatorLink },
    { type: 'email_change', email, token: old.code },
    { type: 'email_change', email: address, token: fresh.code },
    { type: 'email_change', token_hash: secretOf(old.link) },
  ]) {
    expect(await verify(body)).toMatchObject({ status: 403, body: { error_code: 'otp_expired' } })
  }
  const { error: refused } = await server.client().auth.signInWithPassword({ email, password })
  expect(refused).toMatchObject({ code: 'invalid_credentials' })
})

test('a new password ends an unused PKCE code', async () => {
  const { client, email } = await server.signedIn()
  const verifier = 'a'.repeat(43)
  await server.call('POST', 'otp', { email, code_challenge: verifier, code_challenge_method: 'plain' })
  const response = await fetch((await lastMail(email)).link, { redirect: 'manual' })
  const code = new URL(response.headers.get('location') ?? '').searchParams.get('code')
  expect(code).toMatch(/^[0-9a-f-]{36}$/)
  expect((await client.auth.updateUser({ password })).error).toBeNull()
  expect(
    await readResponse(
      server.call('POST', 'token?grant_type=pkce', { auth_code: code, code_verifier: verifier }),
    ),
  ).toMatchObject({ status: 404, body: { error_code: 'flow_state_not_found' } })
})

test('after a recovery a person can set a new password', async () => {
  const email = await server.organiser()
  const client = server.client()
  await client.auth.resetPasswordForEmail(email)
  const { code } = await lastMail(email)
  expect((await client.auth.verifyOtp({ email, token: code, type: 'recovery' })).error).toBeNull()
  expect((await client.auth.updateUser({ password })).error).toBeNull()
  expect((await server.client().auth.signInWithPassword({ email, password })).error).toBeNull()
})

test('a session older than a day needs a reauthentication code for a new password', async () => {
  const { client, email } = await server.signedIn()
  await aDayLater(client)
  expect(await put(client, { password })).toEqual(
    refusal(400, 'reauthentication_needed', 'Password update requires reauthentication'),
  )
  expect((await client.auth.updateUser({ data: { name: 'Jo' } })).error).toBeNull()
  await client.auth.reauthenticate()
  const { code } = await lastMail(email)
  expect(await put(client, { password, nonce: otherThan(code) })).toEqual(
    refusal(422, 'reauthentication_not_valid', 'Nonce has expired or is invalid'),
  )
  expect((await client.auth.updateUser({ password, nonce: code })).error).toBeNull()
  expect((await server.client().auth.signInWithPassword({ email, password })).error).toBeNull()
  expect(await put(client, { password: `${password}s`, nonce: code })).toEqual(
    refusal(422, 'reauthentication_not_valid', 'Nonce has expired or is invalid'),
  )
})

test('the reauthentication code expires after ten minutes or five wrong tries, and signs nobody in', async () => {
  const { client, email } = await server.signedIn()
  await aDayLater(client)
  await client.auth.reauthenticate()
  const { code } = await lastMail(email)
  for (const type of ['email', 'magiclink', 'recovery', 'email_change']) {
    expect(await readResponse(server.call('POST', 'verify', { type, email, token: code }))).toMatchObject({
      status: 403,
    })
  }
  const wrong = otherThan(code)
  for (let guess = 0; guess < 5; guess += 1) {
    expect(await put(client, { password, nonce: wrong })).toMatchObject({ status: 422 })
  }
  expect(await put(client, { password, nonce: code })).toMatchObject({
    status: 422,
    body: { error_code: 'reauthentication_not_valid' },
  })
  await server.database.owner`
    update auth.users set reauthentication_sent_at = now() - interval '61 seconds' where email = ${email}`
  await client.auth.reauthenticate()
  const { code: second } = await lastMail(email, 2)
  await server.database.owner`
    update auth.one_time_tokens set expires_at = expires_at - interval '601 seconds' where relates_to = ${email}`
  expect(await put(client, { password, nonce: second })).toMatchObject({ status: 422 })
})

test('the reauthentication code of another account is refused', async () => {
  const { client } = await server.signedIn()
  await aDayLater(client)
  const { client: stranger, email } = await server.signedIn()
  await stranger.auth.reauthenticate()
  const { code } = await lastMail(email)
  await client.auth.reauthenticate()
  const mail = await lastMail((await client.auth.getUser()).data.user?.email ?? '')
  expect(await put(client, { password, nonce: otherThan(mail.code, code) })).toMatchObject({ status: 422 })
  expect(await put(client, { password, nonce: mail.code })).toMatchObject({ status: 200 })
})

test('a wrong code does not reveal whether a password is the old one, and a try with the old password leaves the code valid', async () => {
  const { client, email } = await server.signedIn()
  await client.auth.updateUser({ password })
  // The email that says that the password was changed.
  await lastMail(email)
  await aDayLater(client)
  await client.auth.reauthenticate()
  const { code } = await lastMail(email, 2)
  expect(await put(client, { password, nonce: otherThan(code) })).toEqual(
    refusal(422, 'reauthentication_not_valid', 'Nonce has expired or is invalid'),
  )
  expect(await put(client, { password, nonce: code })).toMatchObject({
    body: { error_code: 'same_password' },
  })
  expect(await put(client, { password: `${password}s`, nonce: code })).toMatchObject({ status: 200 })
})

test('a reauthentication code stays valid if the change of address beside the password is refused', async () => {
  const { client, email, user } = await changing()
  await aDayLater(client)
  await client.auth.reauthenticate()
  const { code } = await lastMail(email, 2)
  await server.database.owner`update private.account_counts set count = 10 where user_id = ${user.id}`
  const tooMany = { status: 429, body: { error_code: 'over_email_send_rate_limit' } }
  expect(await put(client, { password, nonce: code, email: newAddress() })).toMatchObject(tooMany)
  expect(await put(client, { password, nonce: code })).toMatchObject({ status: 200 })
})

test('a session younger than a day ignores a reauthentication code, even a wrong one', async () => {
  const { client } = await server.signedIn()
  expect((await client.auth.updateUser({ password, nonce: '000000' })).error).toBeNull()
})

test.each(['old first', 'new first'])(
  'an address changes after the codes of both emails are used, %s',
  async (order) => {
    const { client, email, address, user, old, fresh } = await changing()
    const { client: elsewhere } = await server.signedIn(email)
    // Signing in elsewhere ended the codes of the change, so the person requests the change again.
    await server.database.owner`
    update auth.users set email_change_sent_at = now() - interval '61 seconds' where email = ${email}`
    await client.auth.updateUser({ email: address })
    const [oldMail, freshMail] = [await lastMail(email, 2), await lastMail(address, 2)]
    expect(user).toMatchObject({ email, new_email: address, email_change_sent_at: expect.any(String) })
    expect([old.code, fresh.code]).toEqual([
      expect.stringMatching(/^\d{6}$/),
      expect.stringMatching(/^\d{6}$/),
    ])
    expect(secretOf(old.link)).not.toBe(secretOf(fresh.link))
    expect(old.text).toContain(address)

    const halves = [
      { email, token: oldMail.code },
      { email: address, token: freshMail.code },
    ]
    const [first, second] = order === 'old first' ? halves : halves.toReversed()
    const verify = (half: object | undefined) =>
      readResponse(server.call('POST', 'verify', { type: 'email_change', ...half }))
    expect(await verify(first)).toEqual({ status: 200, body: { msg: halfDone, code: '200' } })
    expect(await verify(first)).toMatchObject({ status: 403, body: { error_code: 'otp_expired' } })
    expect((await client.auth.getUser()).data.user).toMatchObject({ email, new_email: address })

    const { status, body } = await verify(second)
    expect(status).toBe(200)
    expect(body).toMatchObject({ token_type: 'bearer', user: { email: address } })
    expect(body).not.toHaveProperty('user.new_email')
    expect(await verify(second)).toMatchObject({ status: 403 })

    const { data } = await client.auth.getUser()
    expect(data.user).toMatchObject({
      email: address,
      identities: [{ email: address, identity_data: { email: address, email_verified: true } }],
    })
    expect(data.user).not.toHaveProperty('new_email')
    expect((await elsewhere.auth.getUser()).error).toBeNull()
    expect((await client.auth.getClaims()).data?.claims.email).toBe(email)
    await client.auth.refreshSession()
    expect((await client.auth.getClaims()).data?.claims.email).toBe(address)
    expect((await client.rpc('desk_me')).data).toEqual({ email: address })
  },
)

test('the client changes an address with the codes of both emails', async () => {
  const { email, address, old, fresh } = await changing()
  const client = server.client()
  const half = await client.auth.verifyOtp({ email: address, token: fresh.code, type: 'email_change' })
  expect(half).toMatchObject({ data: { session: null }, error: null })
  const { data, error } = await client.auth.verifyOtp({ email, token: old.code, type: 'email_change' })
  expect(error).toBeNull()
  expect(data.session?.user.email).toBe(address)
})

test.each(['old first', 'new first'])(
  'an address changes after the links of both emails are used, %s',
  async (order) => {
    const { client, address, old, fresh } = await changing({ emailRedirectTo: `${server.origin}/desk/me` })
    const [first, second] = order === 'old first' ? [old, fresh] : [fresh, old]
    const open = async (mail: ReceivedMail) =>
      (await fetch(mail.link, { redirect: 'manual' })).headers.get('location') ?? ''
    const half = new URL(await open(first))
    expect(`${half.origin}${half.pathname}${half.search}`).toBe(`${server.origin}/desk/me`)
    expect(Object.fromEntries(new URLSearchParams(half.hash.slice(1)))).toEqual({ message: halfDone, sb: '' })
    const whole = new URL(await open(second))
    const fragment = new URLSearchParams(whole.hash.slice(1))
    expect(fragment.get('type')).toBe('email_change')
    expect(decodeJwt(fragment.get('access_token') ?? '')['email']).toBe(address)
    expect((await client.auth.getUser()).data.user?.email).toBe(address)
  },
)

test('with PKCE the second link of a change of address gives a code for a session of the method email_change', async () => {
  const { client, email } = await server.signedIn()
  const address = newAddress()
  // Without the client: its updateUser forgets the verifier when the response arrives.
  const verifier = 'a'.repeat(43)
  await put(client, { email: address, code_challenge: verifier, code_challenge_method: 'plain' })
  const open = async (mail: ReceivedMail) =>
    new URL((await fetch(mail.link, { redirect: 'manual' })).headers.get('location') ?? '')
  const half = await open(await lastMail(email))
  expect(half.searchParams.get('message')).toBe(halfDone)
  expect(half.searchParams.get('code')).toBeNull()
  expect(Object.fromEntries(new URLSearchParams(half.hash.slice(1)))).toEqual({ message: halfDone, sb: '' })
  const whole = await open(await lastMail(address))
  expect(whole.hash).toBe('')
  const { status, body } = await readResponse(
    server.call('POST', 'token?grant_type=pkce', {
      auth_code: whole.searchParams.get('code'),
      code_verifier: verifier,
    }),
  )
  expect(status).toBe(200)
  const { access_token: token } = body as { access_token: string }
  expect(decodeJwt(token)).toMatchObject({ email: address, amr: [{ method: 'email_change' }] })
})

test('both confirmations of a change of address at the same time complete the change', async () => {
  const { client, email, address, old, fresh } = await changing()
  const verify = (body: object) =>
    readResponse(server.call('POST', 'verify', { type: 'email_change', ...body }))
  const responses = await Promise.all([
    verify({ email, token: old.code }),
    verify({ token_hash: secretOf(old.link) }),
    verify({ email: address, token: fresh.code }),
    verify({ token_hash: secretOf(fresh.link) }),
  ])
  const [half, whole, ...refused] = responses.toSorted(
    (one, other) =>
      one.status - other.status || JSON.stringify(one.body).length - JSON.stringify(other.body).length,
  )
  expect(half).toEqual({ status: 200, body: { msg: halfDone, code: '200' } })
  expect(whole).toMatchObject({ status: 200, body: { user: { email: address } } })
  expect(refused.map(({ status }) => status)).toEqual([403, 403])
  expect((await client.auth.getUser()).data.user?.email).toBe(address)
})

test('of five concurrent requests for the same kind of email, only one succeeds', async () => {
  const { client, email } = await server.signedIn()
  const statusesOf = async (responses: Promise<{ status: number }>[]) =>
    (await Promise.all(responses)).map(({ status }) => status).toSorted((one, other) => one - other)
  const headers = await bearerOf(client)
  const five = [0, 1, 2, 3, 4]
  const once = [200, 429, 429, 429, 429]
  expect(await statusesOf(five.map(() => server.call('GET', 'reauthenticate', undefined, headers)))).toEqual(
    once,
  )
  expect(await statusesOf(five.map(() => put(client, { email: newAddress() })))).toEqual(once)
  expect(await statusesOf(five.map(() => server.call('POST', 'otp', { email })))).toEqual(once)
  expect(await server.mail.waitFor(3, email)).toHaveLength(3)
})

test('a code for a change of address is valid only for the address that it was sent to', async () => {
  const { email, address, old, fresh } = await changing()
  const verify = (given: string, token: string) =>
    readResponse(server.call('POST', 'verify', { type: 'email_change', email: given, token }))
  expect(await verify(email, otherThan(old.code, fresh.code))).toMatchObject({ status: 403 })
  expect(await verify(address, otherThan(fresh.code, old.code))).toMatchObject({ status: 403 })
  for (const type of ['email', 'magiclink', 'recovery']) {
    expect(await readResponse(server.call('POST', 'verify', { type, email, token: old.code }))).toMatchObject(
      {
        status: 403,
      },
    )
  }
})

test('a new address that another account has is refused, even if that account got it during the change', async () => {
  const taken = await server.organiser()
  const { client } = await server.signedIn()
  const exists = refusal(422, 'email_exists', 'A user with this email address has already been registered')
  expect(await put(client, { email: taken })).toEqual(exists)
  expect(await put(client, { email: taken.toUpperCase() })).toEqual(exists)

  const { address, email, old, fresh } = await changing()
  await server.organiser(address)
  await server.call('POST', 'verify', { type: 'email_change', email, token: old.code })
  const second = await readResponse(
    server.call('POST', 'verify', { type: 'email_change', email: address, token: fresh.code }),
  )
  expect(second).toEqual(exists)
  const rows = await server.database.owner`select from auth.users where email in (${email}, ${address})`
  expect(rows).toHaveLength(2)
})

test('a change of address can be requested once a minute, whether by PUT user or by resend', async () => {
  const { client, email, address, fresh } = await changing()
  expect(await put(client, { email: newAddress() })).toMatchObject({
    status: 429,
    body: {
      error_code: 'over_email_send_rate_limit',
      msg: expect.stringMatching(/^For security purposes, you can only request this after \d+ seconds\.$/),
    },
  })
  // Resend needs no session, and does not reveal that a change is pending.
  expect(await client.auth.resend({ type: 'email_change', email })).toMatchObject({ error: null })
  expect((await client.auth.getUser()).data.user?.new_email).toBe(address)
  await server.database.owner`
    update auth.users set email_change_sent_at = now() - interval '61 seconds' where email = ${email}`
  expect(await client.auth.resend({ type: 'email_change', email })).toMatchObject({ error: null })
  const [oldAgain, freshAgain] = [await lastMail(email, 2), await lastMail(address, 2)]
  const verify = (body: unknown) => readResponse(server.call('POST', 'verify', body))
  expect(await verify({ type: 'email_change', token_hash: secretOf(fresh.link) })).toMatchObject({
    status: 403,
  })
  expect(await verify({ type: 'email_change', token_hash: secretOf(freshAgain.link) })).toMatchObject({
    status: 200,
    body: { code: '200' },
  })
  expect(await verify({ type: 'email_change', token_hash: secretOf(oldAgain.link) })).toMatchObject({
    status: 200,
    body: { user: { email: address } },
  })
})

test('an email says that the password or address was changed, or that a second factor was added or removed', async () => {
  const { client, email } = await server.signedIn()
  const nextReport = async () => {
    const { subject, text } = await lastMail(email, (emailCount += 1))
    expect(subject).toBe('Your account for Unplugged. was changed')
    return text
  }
  let emailCount = 0
  expect((await client.auth.updateUser({ password })).error).toBeNull()
  expect(await nextReport()).toContain('has a new password')
  const { data } = await client.auth.mfa.enroll({ factorType: 'totp' })
  const factorId = data?.id ?? ''
  const verify = (steps: number) =>
    client.auth.mfa.challengeAndVerify({ factorId, code: codeOf(data?.totp.secret ?? '', steps) })
  expect((await verify(0)).error).toBeNull()
  expect(await nextReport()).toContain('has a second factor')
  // Using the factor again sends no report.
  expect((await verify(1)).error).toBeNull()
  expect((await client.auth.mfa.unenroll({ factorId })).error).toBeNull()
  expect(await nextReport()).toContain('A second factor was removed')

  const { email: from, address, old, fresh } = await changing()
  await fetch(verifyLink(old.link), { redirect: 'manual' })
  await fetch(verifyLink(fresh.link), { redirect: 'manual' })
  const { subject, text } = await lastMail(from, 2)
  expect(subject).toBe('Your account for Unplugged. was changed')
  expect(text).toContain(`is ${address} from now on`)
})

test('a session that has not used the second factor signs out only itself', async () => {
  const { client, firstLevel, email } = await withFactor()
  const { client: another } = await server.signedIn(email)
  const logout = async (scope: string) =>
    readResponse(server.call('POST', `logout?scope=${scope}`, undefined, await bearerOf(firstLevel)))
  expect(await logout('others')).toEqual(
    refusal(403, 'insufficient_aal', 'AAL2 required to sign out other sessions'),
  )
  expect(await logout('global')).toEqual({ status: 204, body: undefined })
  expect((await firstLevel.auth.getUser()).error).toMatchObject({ name: 'AuthSessionMissingError' })
  for (const other of [client, another]) expect((await other.auth.getUser()).error).toBeNull()
  // A session that has used the factor ends all sessions.
  await client.auth.signOut({ scope: 'global' })
  expect((await another.auth.getUser()).error).toMatchObject({ name: 'AuthSessionMissingError' })
})

test("the account's own address in another spelling is not a change", async () => {
  const { client, email } = await server.signedIn()
  const { data, error } = await client.auth.updateUser({ email: email.toUpperCase() })
  expect(error).toBeNull()
  expect(data.user).not.toHaveProperty('new_email')
  expect(data.user?.email).toBe(email)
})

test.each([
  [{ email: 'jo' }, 400, 'validation_failed', 'Unable to validate email address: invalid format'],
  [{ phone: '030' }, 400, 'validation_failed', 'Invalid phone number format (E.164 required)'],
  [
    { email: 'jo@example.org', code_challenge_method: 's256' },
    400,
    'validation_failed',
    'PKCE flow requires code_challenge_method and code_challenge',
  ],
])('PUT user refuses %j', async (body, status, code, msg) => {
  const { client } = await server.signedIn()
  expect(await put(client, body)).toEqual(refusal(status, code, msg))
})

test.each([{ data: [] }, { data: 'a' }, { email: 5 }, { password: {} }, { nonce: 1 }, { phone: false }, []])(
  'PUT user refuses %j as unreadable',
  async (body) => {
    const { client } = await server.signedIn()
    expect(await put(client, body)).toMatchObject({ status: 400, body: { error_code: 'bad_json' } })
  },
)

test('data that cannot be stored is refused and not partly stored', async () => {
  const { client } = await server.signedIn()
  const { status } = await put(client, { data: { name: 'a\0b', other: 1 } })
  expect(status).toBe(400)
  expect((await client.auth.getUser()).data.user?.user_metadata).toEqual({ email_verified: true })
})

// break: password-changed-without-second-factor
test('with a second factor only a session that has used it changes the password or the address', async () => {
  const { client, firstLevel, email } = await withFactor()
  const insufficient = refusal(
    401,
    'insufficient_aal',
    'AAL2 session is required to update email or password when MFA is enabled.',
  )
  expect(await put(firstLevel, { password })).toEqual(insufficient)
  expect(await put(firstLevel, { email: newAddress() })).toEqual(insufficient)
  expect(await put(firstLevel, { phone: '4930123456' })).toEqual(insufficient)
  expect(await put(firstLevel, { password: 'abc' })).toMatchObject({ body: { error_code: 'weak_password' } })
  expect(await put(firstLevel, { app_metadata: {}, password })).toMatchObject({
    body: { error_code: 'not_admin' },
  })
  expect(await put(firstLevel, { email, data: { name: 'Jo' } })).toMatchObject({
    status: 200,
    body: { user_metadata: { name: 'Jo' } },
  })
  expect(await put(client, { password })).toMatchObject({ status: 200 })
})

test('linking an identity to an account, or unlinking it, is refused', async () => {
  const { client } = await server.signedIn()
  const off = { status: 404, code: 'manual_linking_disabled', message: 'Manual linking is disabled' }
  expect((await client.auth.linkIdentity({ provider: 'google' })).error).toMatchObject(off)
  const { data } = await client.auth.getUserIdentities()
  const [identity] = data?.identities ?? []
  if (identity === undefined) throw new Error('no identity')
  expect((await client.auth.unlinkIdentity(identity)).error).toMatchObject(off)
  expect((await client.auth.getUserIdentities()).data?.identities).toHaveLength(1)
})

test('a password is not changed if, while it is hashed, the account gets a second factor or the session ends', async () => {
  for (const change of ['factor', 'session'] as const) {
    const { client, email } = await server.signedIn()
    const id = (await client.auth.getUser()).data.user?.id ?? ''
    const response = await server.database.owner.begin(async (transaction) => {
      await transaction`select from auth.users where id = ${id} for update`
      await (change === 'factor'
        ? transaction`
            insert into auth.mfa_factors (user_id, secret, status) values (${id}, 'JBSWY3DP', 'verified')`
        : transaction`delete from auth.sessions where user_id = ${id}`)
      const waiting = put(client, { password })
      await expect
        .poll(() => server.database.owner`select from pg_stat_activity where wait_event_type = 'Lock'`)
        .toHaveLength(1)
      // Not awaited here: the call waits for this transaction.
      return { waiting }
    })
    expect(await response.waiting).toMatchObject(
      change === 'factor'
        ? { status: 401, body: { error_code: 'insufficient_aal' } }
        : { status: 403, body: { error_code: 'session_not_found' } },
    )
    const { error } = await server.client().auth.signInWithPassword({ email, password })
    expect(error).toMatchObject({ code: 'invalid_credentials' })
  }
})
