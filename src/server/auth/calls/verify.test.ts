import { createHash, randomBytes } from 'node:crypto'
import { decodeJwt } from 'jose'
import { beforeAll, expect, test } from 'vitest'

import { secretOf, verifyLink } from '../../../../test/support/sign-in-links.ts'
import type { ReceivedMail } from '../../../../test/support/mail-server.ts'
import { readResponse, startSignIn, type SignInServer } from '../../../../test/support/sign-in-server.ts'
import { operatorSecret } from '../manage-organisers.ts'

let server: SignInServer

beforeAll(async () => {
  server = await startSignIn()
})

const codeRefusal = { code: 403, error_code: 'otp_expired', msg: 'Token has expired or is invalid' }
const linkRefusal = { code: 403, error_code: 'otp_expired', msg: 'Email link is invalid or has expired' }

/** Requests an email, as if the last request were more than a minute ago, and returns the email. */
async function mailTo(
  email: string,
  path: 'otp' | 'recover' = 'otp',
  { query = '', ...fields }: { query?: string } & Record<string, unknown> = {},
): Promise<ReceivedMail> {
  await server.database.owner`delete from private.mail_requests`
  const before = server.mail.received.filter(({ to }) => to.includes(email)).length
  await server.call('POST', `${path}${query}`, { email, ...fields })
  const mail = (await server.mail.waitFor(before + 1, email)).at(-1)
  if (mail === undefined) throw new Error('no mail came')
  return mail
}

const open = (link: string) => fetch(verifyLink(link), { redirect: 'manual' })
const verify = (body: unknown) => readResponse(server.call('POST', 'verify', body))

/** Opens a link, and returns the address and the parameters of its redirect. `names`: the fragment's parameters, in order. */
async function redirectOf(link: string) {
  const response = await open(link)
  const target = new URL(response.headers.get('location') ?? '')
  return {
    status: response.status,
    target: `${target.origin}${target.pathname}`,
    query: Object.fromEntries(target.searchParams),
    fragment: Object.fromEntries(new URLSearchParams(target.hash.slice(1))),
    names: [...new URLSearchParams(target.hash.slice(1)).keys()],
  }
}

/** A code that differs from this one. */
const otherThan = (code: string) => (code === '000000' ? '000001' : '000000')

test.each(['magiclink', 'recovery', 'email'] as const)(
  'the code of a sign-in or recovery email signs in with the type %s',
  async (type) => {
    for (const path of ['otp', 'recover'] as const) {
      const email = await server.organiser()
      const { code } = await mailTo(email, path)
      const client = server.client()
      // As a keyboard for wide characters types it.
      const token = code.replaceAll(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)))
      const { data, error } = await client.auth.verifyOtp({ email: email.toUpperCase(), token, type })
      expect(error).toBeNull()
      expect(data.user?.email).toBe(email)
      expect(data.session?.token_type).toBe('bearer')
      expect((await client.auth.getUser()).data.user?.email).toBe(email)
    }
  },
)

test.each(['magiclink', 'recovery', 'email'] as const)(
  'the link secret of a sign-in or recovery email signs in with the type %s',
  async (type) => {
    for (const path of ['otp', 'recover'] as const) {
      const email = await server.organiser()
      const client = server.client()
      const { error } = await client.auth.verifyOtp({
        token_hash: secretOf((await mailTo(email, path)).link),
        type,
      })
      expect(error).toBeNull()
      expect((await client.auth.getUser()).data.user?.email).toBe(email)
    }
  },
)

test('a sign-in returns tokens that are valid for an hour, and the account', async () => {
  const email = await server.organiser()
  const { code } = await mailTo(email)
  const before = Math.floor(Date.now() / 1000)
  const { status, body } = await verify({ type: 'email', email, token: code })
  expect(status).toBe(200)
  expect(body).toEqual({
    access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
    token_type: 'bearer',
    expires_in: 3600,
    expires_at: expect.any(Number),
    refresh_token: expect.stringMatching(/^[\w-]+$/),
    user: expect.objectContaining({ email, role: 'authenticated', aud: 'authenticated' }),
  })
  const { access_token: token, expires_at: end } = body as { access_token: string; expires_at: number }
  expect(end).toBeGreaterThanOrEqual(before + 3600)
  expect(end).toBe(decodeJwt(token).exp)
  expect(decodeJwt(token)['amr']).toEqual([{ method: 'otp', timestamp: expect.any(Number) }])
})

const email = 'jo@example.org'

test.each([
  [{ email, token: '123456' }, 400, 'Verify requires a verification type'],
  [{ type: 'email', email }, 400, 'Verify requires either a token or a token hash'],
  [
    { type: 'email', email, token: '1', token_hash: 'a' },
    400,
    'Verify requires either a token or a token hash',
  ],
  [
    { type: 'email', token: '123456' },
    400,
    'Only an email address or phone number should be provided on verify',
  ],
  [
    { type: 'email', token: '123456', email, phone: '4930123456' },
    400,
    'Only an email address or phone number should be provided on verify',
  ],
  [{ type: 'email', token_hash: 'a', email }, 400, 'Only the token_hash and type should be provided'],
  [
    { type: 'email', token_hash: 'a', phone: '4930123456' },
    400,
    'Only the token_hash and type should be provided',
  ],
  [
    { type: 'email', token_hash: 'a', redirect_to: 'http://localhost' },
    400,
    'Only the token_hash and type should be provided',
  ],
  [{ type: 'other', token_hash: 'a' }, 400, 'Invalid email verification type'],
  [{ type: 'email', token: '123456', email: 'jo' }, 422, 'Invalid email format'],
])('verify refuses %j', async (body, status, message) => {
  expect(await verify(body)).toEqual({
    status,
    body: { code: status, error_code: 'validation_failed', msg: message },
  })
})

test.each(['email', 'magiclink', 'recovery', 'signup', 'invite', 'email_change', 'other'])(
  'a wrong code and a code for an unknown address get the same refusal, with the type %s',
  async (type) => {
    const known = await server.organiser()
    const { code } = await mailTo(known)
    expect(await verify({ type, email: known, token: otherThan(code) })).toEqual({
      status: 403,
      body: codeRefusal,
    })
    expect(await verify({ type, email: 'nobody@example.org', token: code })).toEqual({
      status: 403,
      body: codeRefusal,
    })
  },
)

test.each(['signup', 'invite', 'email_change'])(
  'the code and the link of a sign-in email are refused with the type %s',
  async (type) => {
    const address = await server.organiser()
    const mail = await mailTo(address)
    expect(await verify({ type, email: address, token: mail.code })).toEqual({
      status: 403,
      body: codeRefusal,
    })
    expect(await verify({ type, token_hash: secretOf(mail.link) })).toEqual({
      status: 403,
      body: linkRefusal,
    })
    expect(await verify({ type: 'email', token_hash: secretOf(mail.link) })).toMatchObject({ status: 200 })
  },
)

test('a code for a phone number is refused', async () => {
  expect(await verify({ type: 'sms', phone: '4930123456', token: '123456' })).toEqual({
    status: 403,
    body: codeRefusal,
  })
  expect(await verify({ type: 'sms', phone: '0', token: '123456' })).toMatchObject({
    status: 400,
    body: { msg: 'Invalid phone number format (E.164 required)' },
  })
})

test("an email's link cannot be computed from its code, and using either ends both", async () => {
  const address = await server.organiser()
  const byCode = await mailTo(address)
  const guess = createHash('sha224').update(`${address}${byCode.code}`).digest('hex')
  expect(await verify({ type: 'email', token_hash: guess })).toEqual({ status: 403, body: linkRefusal })
  expect(await verify({ type: 'email', email: address, token: byCode.code })).toMatchObject({ status: 200 })
  expect(await verify({ type: 'email', token_hash: secretOf(byCode.link) })).toEqual({
    status: 403,
    body: linkRefusal,
  })
  expect(await verify({ type: 'email', email: address, token: byCode.code })).toEqual({
    status: 403,
    body: codeRefusal,
  })
  const byLink = await mailTo(address)
  expect((await redirectOf(byLink.link)).fragment).toHaveProperty('access_token')
  expect(await verify({ type: 'email', email: address, token: byLink.code })).toEqual({
    status: 403,
    body: codeRefusal,
  })
})

test('a newer sign-in or recovery email ends the code and the link of the older one', async () => {
  const address = await server.organiser()
  const older = await mailTo(address, 'otp')
  const newer = await mailTo(address, 'recover')
  expect(await verify({ type: 'email', token_hash: secretOf(older.link) })).toEqual({
    status: 403,
    body: linkRefusal,
  })
  const code = older.code === newer.code ? otherThan(newer.code) : older.code
  expect(await verify({ type: 'email', email: address, token: code })).toMatchObject({ status: 403 })
  expect(await verify({ type: 'email', email: address, token: newer.code })).toMatchObject({ status: 200 })
})

test('the code of another organiser is refused', async () => {
  const [one, other] = [await server.organiser(), await server.organiser()]
  const { code } = await mailTo(one)
  const { code: otherCode } = await mailTo(other)
  expect(
    await verify({ type: 'email', email: other, token: code === otherCode ? otherThan(code) : code }),
  ).toEqual({
    status: 403,
    body: codeRefusal,
  })
})

test("a code and a link expire after ten minutes, and the operator's link after an hour", async () => {
  const address = await server.organiser()
  const mail = await mailTo(address)
  const age = (seconds: number) => server.database.owner`
    update auth.one_time_tokens set expires_at = expires_at - make_interval(secs => ${seconds})
    where relates_to = ${address}`
  await age(601)
  expect(await verify({ type: 'email', email: address, token: mail.code })).toEqual({
    status: 403,
    body: codeRefusal,
  })
  expect(await verify({ type: 'email', token_hash: secretOf(mail.link) })).toEqual({
    status: 403,
    body: linkRefusal,
  })
  const young = await mailTo(address)
  await age(540)
  expect(await verify({ type: 'email', email: address, token: young.code })).toMatchObject({ status: 200 })
  const expired = await operatorSecret(server.database.owner, address)
  await age(3601)
  expect(await verify({ type: 'magiclink', token_hash: expired })).toEqual({ status: 403, body: linkRefusal })
  const inTime = await operatorSecret(server.database.owner, address)
  await age(3540)
  expect(await verify({ type: 'magiclink', token_hash: inTime })).toMatchObject({ status: 200 })
})

// break: code-tried-without-limit
test('a code is invalid after five wrong tries from any address; the link in the same email and the next code still work', async () => {
  const address = await server.organiser()
  const mail = await mailTo(address)
  for (let guess = 0; guess < 5; guess += 1) {
    expect(await verify({ type: 'email', email: address, token: otherThan(mail.code) })).toEqual({
      status: 403,
      body: codeRefusal,
    })
  }
  expect(await verify({ type: 'email', email: address, token: mail.code })).toEqual({
    status: 403,
    body: codeRefusal,
  })
  expect((await redirectOf(mail.link)).fragment).toHaveProperty('access_token')
  const next = await mailTo(address)
  for (let guess = 0; guess < 4; guess += 1) {
    await verify({ type: 'magiclink', email: address, token: otherThan(next.code) })
  }
  expect(await verify({ type: 'email', email: address, token: next.code })).toMatchObject({ status: 200 })
})

test('of ten concurrent uses of a code and the link in the same email, exactly one signs in', async () => {
  const address = await server.organiser()
  const mail = await mailTo(address)
  const uses = await Promise.all(
    Array.from({ length: 10 }, (_, use) =>
      verify(
        use % 2 === 0
          ? { type: 'email', email: address, token: mail.code }
          : { type: 'email', token_hash: secretOf(mail.link) },
      ),
    ),
  )
  expect(uses.filter(({ status }) => status === 200)).toHaveLength(1)
  expect(uses.filter(({ status }) => status === 403)).toHaveLength(9)
})

test('signing in ends all codes and links of the account', async () => {
  const address = await server.organiser()
  const operatorLink = await operatorSecret(server.database.owner, address)
  const { code } = await mailTo(address)
  expect(await verify({ type: 'magiclink', email: address, token: code })).toMatchObject({ status: 200 })
  expect(await verify({ type: 'magiclink', token_hash: operatorLink })).toEqual({
    status: 403,
    body: linkRefusal,
  })
})

test("an email that a stranger requests does not end the operator's link", async () => {
  const address = await server.organiser()
  const operatorLink = await operatorSecret(server.database.owner, address)
  const { code } = await mailTo(address)
  for (let guess = 0; guess < 5; guess += 1) {
    await verify({ type: 'email', email: address, token: otherThan(code) })
  }
  expect(await verify({ type: 'magiclink', token_hash: operatorLink })).toMatchObject({ status: 200 })
})

test('a link redirects with the tokens in the fragment, and keeps the query of its target', async () => {
  const address = await server.organiser()
  const target = `${server.origin}/desk/list?of=all`
  const mail = await mailTo(address, 'recover', { query: `?redirect_to=${encodeURIComponent(target)}` })
  const redirect = await redirectOf(mail.link)
  expect(redirect).toMatchObject({ status: 303, target: `${server.origin}/desk/list`, query: { of: 'all' } })
  expect(redirect.names).toEqual([
    'access_token',
    'expires_at',
    'expires_in',
    'refresh_token',
    'sb',
    'token_type',
    'type',
  ])
  expect(redirect.fragment).toMatchObject({
    expires_in: '3600',
    sb: '',
    token_type: 'bearer',
    type: 'recovery',
  })
  // Without PKCE, the session of a recovery has the method `otp`, as sessions of other links do.
  expect(decodeJwt(redirect.fragment['access_token'] ?? '')['amr']).toMatchObject([{ method: 'otp' }])
  const client = server.client()
  const { data, error } = await client.auth.setSession({
    access_token: redirect.fragment['access_token'] ?? '',
    refresh_token: redirect.fragment['refresh_token'] ?? '',
  })
  expect(error).toBeNull()
  expect(data.user?.email).toBe(address)
})

test('a link that was changed to redirect elsewhere leads to the desk', async () => {
  for (const elsewhere of ['https://example.com/', 'https://example.com/desk', `${server.origin}/`]) {
    const address = await server.organiser()
    const link = new URL(verifyLink((await mailTo(address)).link))
    link.searchParams.set('redirect_to', elsewhere)
    const redirect = await redirectOf(link.href)
    expect(redirect).toMatchObject({ status: 303, target: `${server.origin}/desk` })
    expect(redirect.fragment).toHaveProperty('access_token')
  }
})

test('a used, wrong or unknown link redirects with an error in the fragment', async () => {
  const address = await server.organiser()
  const mail = await mailTo(address)
  await open(mail.link)
  const to = encodeURIComponent(`${server.origin}/desk/list`)
  for (const link of [
    `${verifyLink(mail.link)}&redirect_to=${to}`,
    `${server.origin}/auth/v1/verify?token=${'a'.repeat(64)}&type=magiclink&redirect_to=${to}`,
    `${server.origin}/auth/v1/verify?token=${'a'.repeat(64)}&type=signup&redirect_to=${to}`,
  ]) {
    expect(await redirectOf(link)).toMatchObject({
      status: 303,
      target: `${server.origin}/desk/list`,
      query: {},
      fragment: {
        error: 'access_denied',
        error_code: 'otp_expired',
        error_description: 'Email link is invalid or has expired',
        sb: '',
      },
      names: ['error', 'error_code', 'error_description', 'sb'],
    })
  }
})

test('a wrong PKCE link redirects with the error in the query, too', async () => {
  const error = {
    error: 'access_denied',
    error_code: 'otp_expired',
    error_description: 'Email link is invalid or has expired',
  }
  expect(
    await redirectOf(`${server.origin}/auth/v1/verify?token=pkce_${'a'.repeat(64)}&type=magiclink`),
  ).toMatchObject({
    status: 303,
    target: `${server.origin}/desk`,
    query: error,
    fragment: { ...error, sb: '' },
  })
})

test('a link without its token or its type is refused without a redirect', async () => {
  for (const query of ['', '?type=magiclink', '?token=abc', '?token=&type=magiclink', '?token=abc&type=']) {
    const response = await open(`${server.origin}/auth/v1/verify${query}`)
    expect(await readResponse(response)).toMatchObject({
      status: 400,
      body: { error_code: 'validation_failed' },
    })
  }
  expect(await readResponse(open(`${server.origin}/auth/v1/verify?type=magiclink`))).toMatchObject({
    body: { msg: 'Verify requires a token or a token hash' },
  })
})

test('a link of an unknown type redirects with an error', async () => {
  const redirect = await redirectOf(`${server.origin}/auth/v1/verify?token=abc&type=other`)
  expect(redirect).toMatchObject({ status: 303, target: `${server.origin}/desk`, fragment: { sb: '' } })
  expect(redirect.fragment).toHaveProperty('error_description')
})

test('a HEAD request does not use up a link', async () => {
  const address = await server.organiser()
  const { link } = await mailTo(address)
  await fetch(verifyLink(link), { method: 'HEAD', redirect: 'manual' })
  expect((await redirectOf(link)).fragment).toHaveProperty('access_token')
})

test('the redirect of a link is not cached, and sends no referrer', async () => {
  const address = await server.organiser()
  const { headers } = await open((await mailTo(address)).link)
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('referrer-policy')).toBe('no-referrer')
})

test.each([
  ['otp', 'magiclink'],
  ['recover', 'recovery'],
] as const)(
  'the PKCE link of %s gives a code that the client exchanges for a session of the method %s',
  async (path, method) => {
    const address = await server.organiser()
    const client = server.client({ flowType: 'pkce' })
    const events: string[] = []
    client.auth.onAuthStateChange((event) => void events.push(event))
    const redirectTo = `${server.origin}/desk?step=2`
    const { error: refused } =
      path === 'otp'
        ? await client.auth.signInWithOtp({ email: address, options: { emailRedirectTo: redirectTo } })
        : await client.auth.resetPasswordForEmail(address, { redirectTo })
    expect(refused).toBeNull()
    const [mail] = await server.mail.waitFor(1, address)
    const response = await open(mail?.link ?? '')
    expect(response.headers.get('location')).toMatch(
      new RegExp(`^${server.origin}/desk\\?step=2&code=[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`),
    )
    const code = new URL(response.headers.get('location') ?? '').searchParams.get('code') ?? ''
    const { data, error } = await client.auth.exchangeCodeForSession(code)
    expect(error).toBeNull()
    expect(data.user?.email).toBe(address)
    expect(decodeJwt(data.session?.access_token ?? '')['amr']).toMatchObject([{ method }])
    expect(events).toContain(path === 'otp' ? 'SIGNED_IN' : 'PASSWORD_RECOVERY')
    expect((await client.rpc('desk_me')).data).toEqual({ email: address })
  },
)

/** A PKCE code and its verifier. */
async function authCode(method: 's256' | 'plain' = 's256', account?: string) {
  const verifier = randomBytes(48).toString('base64url')
  const challenge = method === 'plain' ? verifier : createHash('sha256').update(verifier).digest('base64url')
  const address = account ?? (await server.organiser())
  const mail = await mailTo(address, 'otp', { code_challenge: challenge, code_challenge_method: method })
  const { query } = await redirectOf(mail.link)
  return { verifier, challenge, code: query['code'] ?? '', address }
}

const exchange = (code: string, verifier: string) =>
  readResponse(server.call('POST', 'token?grant_type=pkce', { auth_code: code, code_verifier: verifier }))

test.each(['s256', 'plain'] as const)(
  'a PKCE code works once, and only with its verifier (%s)',
  async (method) => {
    const { code, verifier, address } = await authCode(method)
    const wrong = {
      status: 400,
      body: {
        code: 400,
        error_code: 'bad_code_verifier',
        msg: 'code challenge does not match previously saved code verifier',
      },
    }
    expect(await exchange(code, randomBytes(48).toString('base64url'))).toEqual(wrong)
    expect(await exchange(code, verifier.slice(0, -1))).toEqual(wrong)
    expect(await exchange(code, `${verifier.slice(0, -1)}é`)).toEqual(wrong)
    expect(await exchange(code, verifier)).toMatchObject({ status: 200, body: { user: { email: address } } })
    expect(await exchange(code, verifier)).toEqual({
      status: 404,
      body: {
        code: 404,
        error_code: 'flow_state_not_found',
        msg: 'invalid flow state, no valid flow state found',
      },
    })
  },
)

test('an S256 challenge is refused as its own verifier', async () => {
  const { code, challenge } = await authCode()
  expect(await exchange(code, challenge)).toMatchObject({ body: { error_code: 'bad_code_verifier' } })
})

test('a PKCE code that is unknown, expired or missing is refused', async () => {
  for (const code of ['8f5b1e2a-0000-4000-8000-000000000000', 'abc']) {
    expect(await exchange(code, 'verifier')).toMatchObject({
      status: 404,
      body: { error_code: 'flow_state_not_found' },
    })
  }
  for (const [code, verifier] of [
    ['', 'a'],
    ['a', ''],
  ] as const) {
    expect(await exchange(code, verifier)).toEqual({
      status: 400,
      body: {
        code: 400,
        error_code: 'validation_failed',
        msg: 'invalid request: both auth code and code verifier should be non-empty',
      },
    })
  }
  const { code, verifier } = await authCode()
  await server.database.owner`
    update auth.flow_state set auth_code_issued_at = now() - interval '301 seconds' where auth_code = ${code}`
  expect(await exchange(code, verifier)).toMatchObject({
    status: 422,
    body: { error_code: 'flow_state_expired' },
  })
})

test('after the clock was set back, PKCE codes from before are expired, and the newest request gets the next one', async () => {
  const { code, verifier, address } = await authCode()
  await server.database.owner`
    update auth.flow_state set created_at = now() + interval '1 hour', auth_code_issued_at = now() + interval '1 hour'
    where auth_code = ${code}`
  expect(await exchange(code, verifier)).toMatchObject({ body: { error_code: 'flow_state_expired' } })
  const next = await authCode('s256', address)
  expect(await exchange(next.code, next.verifier)).toMatchObject({ status: 200 })
})

test('exactly one of ten concurrent exchanges of a PKCE code opens a session', async () => {
  const { code, verifier } = await authCode()
  const responses = await Promise.all(Array.from({ length: 10 }, () => exchange(code, verifier)))
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
  expect(responses.filter(({ status }) => status === 404)).toHaveLength(9)
})

test('the code of a PKCE email signs in without a redirect, and so does the link secret', async () => {
  const address = await server.organiser()
  const fields = { code_challenge: 'a'.repeat(43), code_challenge_method: 's256' }
  const byCode = await mailTo(address, 'otp', fields)
  expect(await verify({ type: 'email', email: address, token: byCode.code })).toMatchObject({
    status: 200,
    body: { token_type: 'bearer' },
  })
  const byHash = await mailTo(address, 'otp', fields)
  expect(await verify({ type: 'email', token_hash: secretOf(byHash.link) })).toMatchObject({
    status: 200,
    body: { token_type: 'bearer' },
  })
})

test("the operator's link has no code that could be guessed", async () => {
  const address = await server.organiser()
  await operatorSecret(server.database.owner, address)
  expect(
    await server.database.owner`
      select code_hash, expires_at > now() + interval '59 minutes' as is_long
      from auth.one_time_tokens where relates_to = ${address}`,
  ).toEqual([{ code_hash: null, is_long: true }])
})
