import { decodeJwt } from 'jose'
import { beforeAll, expect, test } from 'vitest'

import {
  unusedIpAddress,
  bearerOf,
  codeOf,
  readResponse,
  startSignIn,
  type SignInServer,
} from '../../../../test/support/sign-in-server.ts'
import { resetFactors } from '../manage-organisers.ts'

// A session has the first level (AAL1) until it has used a second factor, and then the second level (AAL2).

let server: SignInServer

beforeAll(async () => {
  server = await startSignIn()
})

type Client = Awaited<ReturnType<SignInServer['signedIn']>>['client']

const refusal = (status: number, code: string, msg: string) => ({
  status,
  body: { code: status, error_code: code, msg },
})

/** Makes a call as a signed-in person, from an unused IP address unless one is given. */
const call = async (client: Client, method: string, path: string, body?: unknown, from = unusedIpAddress()) =>
  readResponse(server.call(method, path, body, { ...(await bearerOf(client)), 'x-forwarded-for': from }))

/** Sets up a factor, without verifying it. */
async function enrolFactor(client: Client, friendlyName = 'telephone') {
  const { data, error } = await client.auth.mfa.enroll({ factorType: 'totp', friendlyName })
  if (error) throw error
  return { id: data.id, secret: data.totp.secret }
}

/** An account with a verified factor, used in this session. */
async function withFactor() {
  const { client, email } = await server.signedIn()
  const factor = await enrolFactor(client)
  const { error } = await client.auth.mfa.challengeAndVerify({
    factorId: factor.id,
    code: codeOf(factor.secret),
  })
  if (error) throw error
  return { client, email, ...factor }
}

/** Forgets which codes were used. */
const forgetCodes = (id: string) =>
  server.database.owner`update auth.mfa_factors set last_step = 0 where id = ${id}`

/** A code that is not valid now, a different one for each `nth`. */
function wrongCode(secret: string, nth = 0) {
  const near = Array.from({ length: 21 }, (_, step) => codeOf(secret, step - 10))
  const code = Array.from({ length: 1000 }, (_, guess) => String(guess).padStart(6, '0')).filter(
    (guess) => !near.includes(guess),
  )[nth]
  if (code === undefined) throw new Error('no code is wrong')
  return code
}

async function createChallenge(client: Client, id: string, from: string) {
  const { body } = await call(client, 'POST', `factors/${id}/challenge`, {}, from)
  return (body as { id: string }).id
}

/** Requests a challenge, and sends a code for it from the same IP address. */
async function attempt(client: Client, id: string, code: string) {
  const from = unusedIpAddress()
  const challengeId = await createChallenge(client, id, from)
  return call(client, 'POST', `factors/${id}/verify`, { challenge_id: challengeId, code }, from)
}

const invalid = refusal(422, 'mfa_verification_failed', 'Invalid TOTP code entered')
const claimsOf = async (client: Client) => {
  const { data } = await client.auth.getSession()
  return decodeJwt(data.session?.access_token ?? '')
}

test('a new factor comes with a secret, an address for authenticators and its QR code', async () => {
  const { client, email } = await server.signedIn()
  const { data, error } = await client.auth.mfa.enroll({ factorType: 'totp', friendlyName: 'telephone' })
  expect(error).toBeNull()
  expect(data).toMatchObject({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    type: 'totp',
    friendly_name: 'telephone',
  })
  expect(data?.totp.secret).toMatch(/^[A-Z2-7]{32}$/)
  expect(data?.totp.qr_code).toMatch(/^data:image\/svg\+xml;utf-8,<\?xml [^#]*><svg [^#]*<\/svg>$/)
  const uri = new URL(data?.totp.uri ?? '')
  const { host } = new URL(server.origin)
  expect(decodeURIComponent(uri.pathname)).toBe(`/${host}:${email}`)
  expect(Object.fromEntries(uri.searchParams)).toEqual({
    algorithm: 'SHA1',
    digits: '6',
    issuer: host,
    period: '30',
    secret: data?.totp.secret,
  })
  const { data: factors } = await client.auth.mfa.listFactors()
  expect(factors).toMatchObject({ totp: [], all: [{ friendly_name: 'telephone', status: 'unverified' }] })
  expect((await client.auth.mfa.getAuthenticatorAssuranceLevel()).data).toMatchObject({
    currentLevel: 'aal1',
    nextLevel: 'aal1',
  })
  expect((await client.rpc('desk_me')).error).toBeNull()
})

test('a factor may name its issuer, and need not have a name', async () => {
  const { client } = await server.signedIn()
  const { data } = await client.auth.mfa.enroll({ factorType: 'totp', issuer: 'Our retreat' })
  expect(new URL(data?.totp.uri ?? '').searchParams.get('issuer')).toBe('Our retreat')
  const user = (await client.auth.getUser()).data.user
  expect(user?.factors).toEqual([
    {
      id: data?.id,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      status: 'unverified',
      factor_type: 'totp',
      phone: null,
      last_challenged_at: null,
    },
  ])
})

test.each([
  [
    { factor_type: 'phone', phone: '+4930123456' },
    422,
    'mfa_phone_enroll_not_enabled',
    'MFA enroll is disabled for Phone',
  ],
  [
    { factor_type: 'webauthn' },
    422,
    'mfa_webauthn_enroll_not_enabled',
    'MFA enroll is disabled for WebAuthn',
  ],
  [{ factor_type: 'TOTP' }, 400, 'validation_failed', 'factor_type needs to be totp, phone, or webauthn'],
  [{}, 400, 'validation_failed', 'factor_type needs to be totp, phone, or webauthn'],
])('the factor %j is refused', async (body, status, code, msg) => {
  const { client } = await server.signedIn()
  expect(await call(client, 'POST', 'factors', body)).toEqual(refusal(status, code, msg))
})

test('an account cannot have two factors of the same name, even the empty name', async () => {
  const { client } = await server.signedIn()
  for (const friendlyName of ['telephone', '']) {
    await enrolFactor(client, friendlyName)
    const { error } = await client.auth.mfa.enroll({ factorType: 'totp', friendlyName })
    expect(error).toMatchObject({
      status: 422,
      code: 'mfa_factor_name_conflict',
      message: `A factor with the friendly name "${friendlyName}" for this user already exists`,
    })
  }
  await enrolFactor(client, 'Telephone')
  const { client: other } = await server.signedIn()
  await enrolFactor(other, 'telephone')
})

test('an account has at most ten factors, even when they are begun concurrently', async () => {
  const { client } = await server.signedIn()
  const responses = await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      call(client, 'POST', 'factors', { factor_type: 'totp', friendly_name: `number ${index}` }),
    ),
  )
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(10)
  expect(responses.filter(({ status }) => status !== 200)).toEqual(
    Array.from({ length: 2 }, () =>
      refusal(
        422,
        'too_many_enrolled_mfa_factors',
        'Maximum number of verified factors reached, unenroll to continue',
      ),
    ),
  )
})

test('a new factor is refused first for its name, then for too many factors, then because the session has the first level', async () => {
  const { email } = await withFactor()
  const { client: firstLevel } = await server.signedIn(email)
  const enrol = (name: string) =>
    call(firstLevel, 'POST', 'factors', { factor_type: 'totp', friendly_name: name })
  const level = refusal(403, 'insufficient_aal', 'AAL2 required to enroll a new factor')
  expect(await enrol('second')).toEqual(level)
  expect(await enrol('telephone')).toMatchObject({ body: { error_code: 'mfa_factor_name_conflict' } })
  await server.database.owner`
    insert into auth.mfa_factors (user_id, friendly_name, secret)
    select id, 'number ' || number, '' from auth.users, generate_series(1, 9) as number where email = ${email}`
  expect(await enrol('second')).toMatchObject({ body: { error_code: 'too_many_enrolled_mfa_factors' } })
  expect(await enrol('telephone')).toMatchObject({ body: { error_code: 'mfa_factor_name_conflict' } })
})

test('when a factor is added, unverified ones older than five minutes without a challenge are removed, in all accounts', async () => {
  const { client } = await server.signedIn()
  const [unused, challenged, young] = [
    await enrolFactor(client, 'unused'),
    await enrolFactor(client, 'challenged'),
    await enrolFactor(client, 'young'),
  ]
  await client.auth.mfa.challenge({ factorId: challenged.id })
  const verified = await withFactor()
  await server.database.owner`
    update auth.mfa_factors set created_at = now() - interval '301 seconds'
    where id = any(${[unused.id, challenged.id, verified.id]})`
  await server.database.owner`delete from auth.mfa_challenges where factor_id = ${verified.id}`
  const { client: other } = await server.signedIn()
  await enrolFactor(other)
  const { data } = await client.auth.mfa.listFactors()
  expect(data?.all.map(({ id }) => id)).toEqual([challenged.id, young.id])
  expect((await verified.client.auth.mfa.listFactors()).data?.totp).toHaveLength(1)
})

test('a challenge lasts five minutes, and allows wrong codes before the right one', async () => {
  const { client } = await server.signedIn()
  const { id, secret } = await enrolFactor(client)
  const before = Math.floor(Date.now() / 1000)
  const { data, error } = await client.auth.mfa.challenge({ factorId: id })
  expect(error).toBeNull()
  expect(data).toEqual({ id: expect.any(String), type: 'totp', expires_at: expect.any(Number) })
  expect(data?.expires_at).toBeGreaterThanOrEqual(before + 300)
  expect(data?.expires_at).toBeLessThanOrEqual(Math.ceil(Date.now() / 1000) + 300)
  expect((await client.auth.mfa.listFactors()).data?.all[0]?.last_challenged_at).toEqual(expect.any(String))
  const verify = (code: string) => client.auth.mfa.verify({ factorId: id, challengeId: data?.id ?? '', code })
  expect((await verify(wrongCode(secret))).error).toMatchObject({
    status: 422,
    code: 'mfa_verification_failed',
    message: 'Invalid TOTP code entered',
  })
  expect((await verify(codeOf(secret))).error).toBeNull()
})

test('a code raises the session to the second level, with new tokens, and removes unverified factors', async () => {
  const { client, email } = await server.signedIn()
  const before = await claimsOf(client)
  const { id, secret } = await enrolFactor(client)
  await enrolFactor(client, 'begun and abandoned')
  const events: string[] = []
  client.auth.onAuthStateChange((event) => void events.push(event))
  const { data, error } = await client.auth.mfa.challengeAndVerify({ factorId: id, code: codeOf(secret) })
  expect(error).toBeNull()
  expect(data).toMatchObject({ token_type: 'bearer', expires_in: 3600 })
  expect(events).toContain('MFA_CHALLENGE_VERIFIED')
  const after = await claimsOf(client)
  expect(after).toMatchObject({ aal: 'aal2', session_id: before['session_id'] })
  expect(after['amr']).toEqual([
    { method: 'totp', timestamp: expect.any(Number) },
    { method: 'otp', timestamp: expect.any(Number) },
  ])
  expect((await client.auth.mfa.listFactors()).data?.all).toMatchObject([{ id, status: 'verified' }])
  expect((await client.auth.getUser()).data.user?.factors?.[0]).not.toHaveProperty('secret')
  expect((await client.auth.mfa.getAuthenticatorAssuranceLevel()).data).toMatchObject({
    currentLevel: 'aal2',
    nextLevel: 'aal2',
  })
  expect((await client.auth.refreshSession()).error).toBeNull()
  expect(await claimsOf(client)).toMatchObject({ aal: 'aal2', amr: after['amr'] })
  expect((await client.rpc('desk_me')).data).toEqual({ email })
})

test('an account with a second factor opens the desk only after using it', async () => {
  const { client, email, id, secret } = await withFactor()
  const { client: firstLevel } = await server.signedIn(email)
  expect((await firstLevel.auth.mfa.getAuthenticatorAssuranceLevel()).data).toMatchObject({
    currentLevel: 'aal1',
    nextLevel: 'aal2',
  })
  expect((await firstLevel.rpc('desk_me')).error).toMatchObject({ code: '42501' })
  expect((await client.rpc('desk_me')).data).toEqual({ email })
  await firstLevel.auth.mfa.challengeAndVerify({ factorId: id, code: codeOf(secret, 1) })
  expect((await firstLevel.rpc('desk_me')).data).toEqual({ email })
})

// break: authenticator-code-accepted-twice
test('a code is accepted once, and no earlier code is accepted after it', async () => {
  const { email, id, secret } = await withFactor()
  const { client } = await server.signedIn(email)
  await forgetCodes(id)
  const next = codeOf(secret, 1)
  expect(await attempt(client, id, next)).toMatchObject({ status: 200 })
  const { client: other } = await server.signedIn(email)
  expect(await attempt(other, id, next)).toEqual(invalid)
  expect(await attempt(other, id, codeOf(secret))).toEqual(invalid)
  await forgetCodes(id)
  expect(await attempt(other, id, codeOf(secret))).toMatchObject({ status: 200 })
})

test('exactly one of ten concurrent uses of a code is accepted', async () => {
  const { email, id, secret } = await withFactor()
  await forgetCodes(id)
  const { client } = await server.signedIn(email)
  const from = unusedIpAddress()
  const challenges = await Promise.all(Array.from({ length: 10 }, () => createChallenge(client, id, from)))
  const code = codeOf(secret)
  const responses = await Promise.all(
    challenges.map((challengeId) =>
      call(client, 'POST', `factors/${id}/verify`, { challenge_id: challengeId, code }, from),
    ),
  )
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
  expect(responses.filter(({ status }) => status >= 500)).toEqual([])
})

test('a challenge works once, only from the IP address that requested it, and only for its factor', async () => {
  const { client, id, secret } = await withFactor()
  await forgetCodes(id)
  const second = await enrolFactor(client, 'second')
  const from = unusedIpAddress()
  const challengeId = await createChallenge(client, id, from)
  const verify = (factorId: string, body: object, ip = from) =>
    call(client, 'POST', `factors/${factorId}/verify`, { challenge_id: challengeId, ...body }, ip)
  const code = codeOf(secret)
  expect(await verify(id, { code }, unusedIpAddress())).toMatchObject({
    status: 422,
    body: { error_code: 'mfa_ip_address_mismatch' },
  })
  const unknown = refusal(422, 'mfa_factor_not_found', 'MFA factor with the provided challenge ID not found')
  expect(await verify(second.id, { code: codeOf(second.secret) })).toEqual(unknown)
  expect(await verify(id, { code, challenge_id: '8f5b1e2a-0000-4000-8000-000000000000' })).toEqual(unknown)
  expect(await verify(id, { code, challenge_id: 'x' })).toMatchObject({
    status: 400,
    body: { error_code: 'bad_json' },
  })
  expect(await verify(id, {})).toEqual(refusal(400, 'validation_failed', 'Code needs to be non-empty'))
  for (const odd of ['12345', '1234567', 'abcdef', '12345٦', 'é'.repeat(6), '🔑🔑🔑']) {
    expect(await verify(id, { code: odd })).toEqual(invalid)
  }
  expect(await verify(id, { code })).toMatchObject({ status: 200 })
  await forgetCodes(id)
  expect(await verify(id, { code })).toMatchObject({
    status: 422,
    body: { error_code: 'mfa_ip_address_mismatch' },
  })
})

test('a code for an expired challenge is refused, and the challenge is removed', async () => {
  const { client } = await server.signedIn()
  const { id, secret } = await enrolFactor(client)
  const from = unusedIpAddress()
  const challengeId = await createChallenge(client, id, from)
  const verify = () =>
    call(client, 'POST', `factors/${id}/verify`, { challenge_id: challengeId, code: codeOf(secret) }, from)
  await server.database.owner`
    update auth.mfa_challenges set created_at = now() - interval '301 seconds' where id = ${challengeId}`
  expect(await verify()).toEqual(
    refusal(
      422,
      'mfa_challenge_expired',
      `MFA challenge ${challengeId} has expired, verify against another challenge or create a new challenge.`,
    ),
  )
  expect(await verify()).toMatchObject({ status: 422, body: { error_code: 'mfa_factor_not_found' } })
})

test("nobody can use a factor that does not exist, or is somebody else's", async () => {
  const { client } = await server.signedIn()
  const { id: othersFactor } = await withFactor()
  const body = { challenge_id: '8f5b1e2a-0000-4000-8000-000000000000', code: '123456' }
  for (const [method, path] of [
    ['POST', '/challenge'],
    ['POST', '/verify'],
    ['DELETE', ''],
  ] as const) {
    const sent = method === 'DELETE' ? undefined : body
    expect(await call(client, method, `factors/x${path}`, sent)).toEqual(
      refusal(404, 'validation_failed', 'factor_id must be an UUID'),
    )
    for (const id of ['8f5b1e2a-0000-4000-8000-000000000000', othersFactor]) {
      expect(await call(client, method, `factors/${id}${path}`, sent)).toEqual(
        refusal(404, 'mfa_factor_not_found', 'Factor not found'),
      )
    }
  }
})

test("using the factor ends the account's other sessions of the first level, and no other session", async () => {
  const { client, email, id, secret } = await withFactor()
  const { client: firstLevel } = await server.signedIn(email)
  const { client: another } = await server.signedIn(email)
  const { client: stranger } = await server.signedIn()
  await forgetCodes(id)
  const { error } = await another.auth.mfa.challengeAndVerify({ factorId: id, code: codeOf(secret) })
  expect(error).toBeNull()
  expect((await firstLevel.auth.getUser()).error).toMatchObject({ name: 'AuthSessionMissingError' })
  for (const remaining of [client, another, stranger])
    expect((await remaining.auth.getUser()).error).toBeNull()
})

test('a refresh token from before the second level is no longer valid', async () => {
  const { client } = await server.signedIn()
  const { id, secret } = await enrolFactor(client)
  const { data } = await client.auth.getSession()
  const old = data.session?.refresh_token
  expect(await attempt(client, id, codeOf(secret))).toMatchObject({ status: 200 })
  const response = await readResponse(
    server.call('POST', 'token?grant_type=refresh_token', { refresh_token: old }),
  )
  expect(response).toEqual(refusal(400, 'refresh_token_already_used', 'Invalid Refresh Token: Already Used'))
})

test('an access token from before the second level does not open the desk', async () => {
  const { client } = await server.signedIn()
  const { id, secret } = await enrolFactor(client)
  expect((await client.rpc('desk_me')).error).toBeNull()
  expect(await attempt(client, id, codeOf(secret))).toMatchObject({ status: 200 })
  expect((await client.rpc('desk_me')).error).toMatchObject({ code: '42501' })
})

test('removing a factor needs the second level, and sessions that used the factor have the first level after their next refresh', async () => {
  const { client, email, id } = await withFactor()
  const { client: firstLevel } = await server.signedIn(email)
  expect((await firstLevel.auth.mfa.unenroll({ factorId: id })).error).toMatchObject({
    status: 422,
    code: 'insufficient_aal',
    message: 'AAL2 required to unenroll verified factor',
  })
  expect(await client.auth.mfa.unenroll({ factorId: id })).toEqual({ data: { id }, error: null })
  expect((await client.auth.mfa.listFactors()).data?.all).toEqual([])
  expect(await claimsOf(client)).toMatchObject({ aal: 'aal2' })
  await client.auth.refreshSession()
  expect(await claimsOf(client)).toMatchObject({ aal: 'aal1', amr: [{ method: 'otp' }] })
  expect((await firstLevel.rpc('desk_me')).data).toEqual({ email })
})

test('an unverified factor is removed without the second level', async () => {
  const { client } = await server.signedIn()
  const { id } = await enrolFactor(client)
  expect(await client.auth.mfa.unenroll({ factorId: id })).toEqual({ data: { id }, error: null })
  expect((await client.auth.mfa.listFactors()).data?.all).toEqual([])
})

test('ten wrong codes for an account, from any address, block guessing for a quarter of an hour', async () => {
  const { client, email, id, secret } = await withFactor()
  const { client: firstLevel } = await server.signedIn(email)
  await forgetCodes(id)
  for (let guess = 0; guess < 10; guess += 1) {
    const guesser = guess % 2 === 0 ? client : firstLevel
    expect(await attempt(guesser, id, wrongCode(secret, guess))).toEqual(invalid)
  }
  expect(await attempt(firstLevel, id, codeOf(secret))).toEqual(
    refusal(429, 'over_request_rate_limit', 'Request rate limit reached'),
  )
  const { client: stranger, id: strangerFactor, secret: strangerSecret } = await withFactor()
  await forgetCodes(strangerFactor)
  expect(await attempt(stranger, strangerFactor, codeOf(strangerSecret))).toMatchObject({ status: 200 })
  await server.database.owner`
    update private.account_counts set began = now() - interval '901 seconds' where what = 'factor guesses'`
  expect(await attempt(firstLevel, id, codeOf(secret))).toMatchObject({ status: 200 })
})

test('a right code resets the count of wrong codes', async () => {
  const { client, id, secret } = await withFactor()
  for (let round = 0; round < 2; round += 1) {
    await forgetCodes(id)
    for (let guess = 0; guess < 9; guess += 1) {
      expect(await attempt(client, id, wrongCode(secret, guess))).toEqual(invalid)
    }
    expect(await attempt(client, id, codeOf(secret))).toMatchObject({ status: 200 })
  }
})

test('if the operator resets the factors of a person, the sessions end, and a new factor can be set up', async () => {
  const { client, email, id, secret } = await withFactor()
  for (let guess = 0; guess < 10; guess += 1) {
    expect(await attempt(client, id, wrongCode(secret, guess))).toEqual(invalid)
  }
  expect(await resetFactors(server.database.owner, email)).toBe(1)
  expect((await client.auth.getUser()).error).toMatchObject({ name: 'AuthSessionMissingError' })
  const { client: newClient } = await server.signedIn(email)
  expect((await newClient.rpc('desk_me')).data).toEqual({ email })
  const next = await enrolFactor(newClient)
  expect(await attempt(newClient, next.id, codeOf(next.secret))).toMatchObject({ status: 200 })
})

test('an IP address may request fifteen challenges and send fifteen codes a minute', async () => {
  const { client } = await server.signedIn()
  const from = '192.0.2.7'
  for (const what of ['challenge', 'verify']) {
    const responses = await Promise.all(
      Array.from({ length: 45 }, () => call(client, 'POST', `factors/x/${what}`, {}, from)),
    )
    const refused = responses.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThan(0)
    // One more call may have been allowed for each four seconds that the calls took.
    expect(responses.length - refused.length).toBeGreaterThanOrEqual(15)
    expect(refused[0]).toEqual(refusal(429, 'over_request_rate_limit', 'Request rate limit reached'))
  }
})
