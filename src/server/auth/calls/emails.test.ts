import { beforeAll, expect, test } from 'vitest'

import { defaultLook } from '../../../design/look.ts'
import { startMailServer } from '../../../../test/support/mail-server.ts'
import { freePort } from '../../../../test/support/ports.ts'
import {
  unusedIpAddress,
  anonKey,
  bearerOf,
  mailServerAt,
  readResponse,
  startSignIn,
  type SignInServer,
} from '../../../../test/support/sign-in-server.ts'
import { writeDomainsInAscii } from '../../backups/older-versions.ts'
import { emailOf } from '../fields.ts'
import { addOrganiser } from '../manage-organisers.ts'

let server: SignInServer

beforeAll(async () => {
  server = await startSignIn()
})

const challenge = { code_challenge: 'a'.repeat(43), code_challenge_method: 's256' }
const disabled = { email: 'email_provider_disabled', phone: 'phone_provider_disabled' }

/** A refusal for a client that names no API version. */
const refusal = (status: number, code: string, message: string) => ({
  status,
  body: { code: status, error_code: code, msg: message },
})

/** Deletes the recorded requests for emails, as if a minute had passed. */
const aMinuteLater = () => server.database.owner`delete from private.mail_requests`

/** Runs work on a separate server, and waits for the emails that it sends. */
async function onAnotherServer(work: (call: SignInServer['call']) => Promise<void>) {
  const other = await server.another()
  await work(other.call)
  await other.close()
}

test.each([
  [
    { email: 'jo@example.org', phone: '4930123456' },
    'Only an email address or phone number should be provided',
  ],
  [{ email: 'jo@example.org', channel: 'sms' }, 'Channel should only be specified with Phone OTP'],
  [
    { email: 'jo@example.org', code_challenge: challenge.code_challenge },
    'PKCE flow requires code_challenge_method and code_challenge',
  ],
  [
    { email: 'jo@example.org', ...challenge, code_challenge: 'a'.repeat(42) },
    'code challenge has to be between 43 and 128 characters',
  ],
  [{}, 'One of email or phone must be set'],
  [{ email: null, phone: null, code_challenge: null }, 'One of email or phone must be set'],
  [{ email: 'jo' }, 'Unable to validate email address: invalid format'],
  [{ email: `${'a'.repeat(250)}@example.org` }, 'An email address is too long'],
])('otp refuses %j', async (body, message) => {
  expect(await readResponse(server.call('POST', 'otp', body))).toEqual(
    refusal(400, 'validation_failed', message),
  )
})

test.each([
  [{}, 'Password recovery requires an email'],
  [{ email: 'jo' }, 'Unable to validate email address: invalid format'],
  [{ email: `${'a'.repeat(250)}@example.org` }, 'An email address is too long'],
  [
    { email: 'jo@example.org', code_challenge_method: 's256' },
    'PKCE flow requires code_challenge_method and code_challenge',
  ],
  [
    { email: 'jo@example.org', ...challenge, code_challenge: 'a'.repeat(129) },
    'code challenge has to be between 43 and 128 characters',
  ],
])('recover refuses %j', async (body, message) => {
  expect(await readResponse(server.call('POST', 'recover', body))).toEqual(
    refusal(400, 'validation_failed', message),
  )
})

const types = 'Missing one of these types: signup, email_change, sms, phone_change'

test.each([
  [{ email: 'jo@example.org' }, types],
  [{ type: 'magiclink', email: 'jo@example.org' }, types],
  [{ type: 'recovery', email: 'jo@example.org' }, types],
  [{ type: 'signup' }, 'Type provided requires an email address'],
  [{ type: 'signup', phone: '4930123456' }, 'Type provided requires an email address'],
  [{ type: 'sms' }, 'Type provided requires a phone number'],
  [{ type: 'sms', email: 'jo@example.org' }, 'Type provided requires a phone number'],
  [
    { type: 'email_change', email: 'jo@example.org', phone: '4930123456' },
    'Only an email address or phone number should be provided.',
  ],
  [{ type: 'email_change' }, 'Missing email address or phone number'],
  [{ type: 'phone_change' }, 'Missing email address or phone number'],
  [{ type: 'email_change', email: 'jo' }, 'Unable to validate email address: invalid format'],
  [
    { type: 'signup', email: 'jo@example.org', code_challenge: challenge.code_challenge },
    'PKCE flow requires code_challenge_method and code_challenge',
  ],
])('resend refuses %j', async (body, message) => {
  expect(await readResponse(server.call('POST', 'resend', body))).toEqual(
    refusal(400, 'validation_failed', message),
  )
})

test('an organiser with an international domain gets a code by either form of it, and reads the form of people', async () => {
  const { client, email } = await server.signedIn(emailOf('Ada@münchen.example'))
  expect(email).toBe('ada@xn--mnchen-3ya.example')
  expect((await client.rpc('desk_me')).data).toEqual({ email: 'ada@münchen.example' })
  expect((await server.call('POST', 'otp', { email: 'ada@münchen.example' })).status).toBe(200)
  // The mail server of the tests reports addresses in the form of people.
  await server.mail.waitFor(1, 'ada@münchen.example')
})

test('an organiser whom an older version stored with the domain of people gets a code after the update', async () => {
  await addOrganiser(server.database.owner, 'grace@zürich.example')
  await writeDomainsInAscii(server.database.owner)
  for (const email of ['grace@xn--zrich-kva.example', 'Grace@ZÜRICH.example']) {
    expect((await server.call('POST', 'otp', { email })).status).toBe(200)
    await aMinuteLater()
  }
  const [, mail] = await server.mail.waitFor(2, 'grace@zürich.example')
  const { data } = await server
    .client()
    .auth.verifyOtp({ type: 'email', email: 'grace@zürich.example', token: mail?.code ?? '' })
  expect(data.user?.email).toBe('grace@xn--zrich-kva.example')
})

test('a request for a text message is refused', async () => {
  expect(await readResponse(server.call('POST', 'otp', { phone: '+49 30 123456', channel: 'sms' }))).toEqual(
    refusal(400, disabled.phone, 'Unsupported phone provider'),
  )
  for (const type of ['sms', 'phone_change']) {
    expect(await readResponse(server.call('POST', 'resend', { type, phone: '4930123456' }))).toEqual(
      refusal(400, disabled.phone, 'Phone logins are disabled'),
    )
  }
  const { error } = await server.client().auth.signInWithOtp({ phone: '+4930123456' })
  expect(error).toMatchObject({ name: 'AuthApiError', status: 400, code: disabled.phone })
})

test('without a mail server the calls that send emails are refused, and the settings say that email is off', async () => {
  const { client } = await server.signedIn()
  const other = await server.another({ mailServer: undefined })
  const call = (...sent: Parameters<SignInServer['call']>) => readResponse(other.call(...sent))
  const message = 'Email logins are disabled'
  const email = 'jo@example.org'
  expect(await call('POST', 'otp', { email })).toEqual(refusal(422, disabled.email, message))
  expect(await call('POST', 'recover', { email })).toEqual(refusal(400, disabled.email, message))
  expect(await call('POST', 'resend', { type: 'signup', email })).toEqual(
    refusal(400, disabled.email, message),
  )
  expect(await call('POST', 'resend', { type: 'email_change', email })).toEqual(
    refusal(400, disabled.email, message),
  )
  expect((await call('GET', 'reauthenticate', undefined, await bearerOf(client))).status).toBe(400)
  expect(await call('GET', 'settings')).toMatchObject({ body: { external: { email: false } } })
  await other.close()
  expect(await readResponse(server.call('GET', 'settings'))).toMatchObject({
    body: { external: { email: true } },
  })
})

test('an unknown address gets the same responses as a known one, even at the second try, and no email', async () => {
  const known = await server.organiser()
  const unknown = 'nobody@example.org'
  await onAnotherServer(async (call) => {
    for (const path of ['otp', 'recover']) {
      await aMinuteLater()
      for (const body of [{}, { create_user: false }, { create_user: true }, challenge]) {
        const [one, other] = [
          await call('POST', path, { ...body, email: known }),
          await call('POST', path, { ...body, email: unknown }),
        ]
        const headersOf = ({ headers }: Response) =>
          Object.fromEntries([...headers].filter(([name]) => name !== 'date'))
        expect(headersOf(other)).toEqual(headersOf(one))
        // A second may have passed between the two calls.
        const text = async (response: Response) => (await response.text()).replace(/\d+ seconds/, 'N seconds')
        expect(await text(other)).toBe(await text(one))
        expect(other.status).toBe(one.status)
        // After the first call, of the body `{}`, an address has to wait for a minute.
        expect(one.status).toBe('code_challenge' in body || 'create_user' in body ? 429 : 200)
      }
    }
    expect(await readResponse(call('POST', 'resend', { type: 'signup', email: known }))).toEqual({
      status: 200,
      body: {},
    })
    for (const type of ['signup', 'email_change']) {
      expect(await readResponse(call('POST', 'resend', { type, email: unknown }))).toEqual({
        status: 200,
        body: {},
      })
    }
    expect(await readResponse(call('POST', 'resend', { type: 'email_change', email: known }))).toEqual({
      status: 200,
      body: {},
    })
  })
  expect(server.mail.received.filter(({ to }) => to.includes(known))).toHaveLength(2)
  expect(server.mail.received.filter(({ to }) => to.includes(unknown))).toEqual([])
})

test('an address gets one email a minute, for a sign-in or a recovery, in any spelling of the address', async () => {
  const email = await server.organiser()
  expect(await readResponse(server.call('POST', 'otp', { email }))).toEqual({ status: 200, body: {} })
  for (const [path, written] of [
    ['otp', email],
    ['recover', email],
    ['otp', email.toUpperCase()],
  ] as const) {
    const response = await server.call('POST', path, { email: written })
    expect(response.headers.get('x-sb-error-code')).toBe('over_email_send_rate_limit')
    expect(await readResponse(response)).toEqual({
      status: 429,
      body: {
        code: 429,
        error_code: 'over_email_send_rate_limit',
        msg: expect.stringMatching(
          /^For security purposes, you can only request this after [1-6]?\d seconds\.$/,
        ),
      },
    })
  }
  await server.database.owner`update private.mail_requests set requested_at = now() - interval '59 seconds'`
  expect((await server.call('POST', 'otp', { email })).status).toBe(429)
  await server.database.owner`update private.mail_requests set requested_at = now() - interval '61 seconds'`
  expect((await server.call('POST', 'recover', { email })).status).toBe(200)
  expect(await server.mail.waitFor(2, email)).toHaveLength(2)
})

test('limits of emails that began before the clock was set back are over', async () => {
  const { client, email } = await server.signedIn()
  const ask = async () => ({
    otp: (await server.call('POST', 'otp', { email })).status,
    reauthenticate: (await client.auth.reauthenticate()).error?.status,
  })
  expect(await ask()).toEqual({ otp: 200, reauthenticate: undefined })
  await server.database.owner`update private.mail_requests set requested_at = now() + interval '1 day'`
  await server.database.owner`
    update auth.users set reauthentication_sent_at = now() + interval '1 day' where email = ${email}`
  await server.database.owner`
    update private.account_counts set began = now() + interval '1 day', count = 10 where what = 'mails'`
  expect(await ask()).toEqual({ otp: 200, reauthenticate: undefined })
  expect(await ask()).toEqual({ otp: 429, reauthenticate: 429 })
  expect(await server.mail.waitFor(4, email)).toHaveLength(4)
})

test('a request for an email is forgotten after a minute', async () => {
  const email = await server.organiser()
  await server.call('POST', 'otp', { email: 'nobody-1@example.org' })
  await server.database.owner`update private.mail_requests set requested_at = now() - interval '61 seconds'`
  // Requests from before the clock was set back are forgotten, too.
  await server.database.owner`
    insert into private.mail_requests (address_hash, requested_at) values ('\\x00', now() + interval '1 day')`
  await onAnotherServer(async (call) => {
    await call('POST', 'otp', { email })
  })
  const [row] = await server.database.owner<{ count: number }[]>`
    select count(*)::int as count from private.mail_requests`
  expect(row?.count).toBe(1)
})

test('after ten emails an account gets no more, but the same responses, until the hour is over', async () => {
  const email = await server.organiser()
  await onAnotherServer(async (call) => {
    for (let request = 1; request <= 12; request += 1) {
      await aMinuteLater()
      const path = request % 2 === 0 ? 'otp' : 'recover'
      expect(await readResponse(call('POST', path, { email }))).toEqual({ status: 200, body: {} })
    }
  })
  expect(await server.mail.waitFor(10, email)).toHaveLength(10)
  await server.database.owner`update private.account_counts set began = now() - interval '61 minutes'`
  await aMinuteLater()
  await server.call('POST', 'otp', { email })
  expect(await server.mail.waitFor(11, email)).toHaveLength(11)
})

test('an email says what it is for, in text and in HTML, with the code in its subject', async () => {
  const email = await server.organiser()
  for (const [path, words] of [
    ['otp', 'wants to sign in to Unplugged.'],
    ['recover', 'wants to set a new password for Unplugged.'],
  ] as const) {
    await aMinuteLater()
    const before = server.mail.received.filter(({ to }) => to.includes(email)).length
    await server.call('POST', path, { email })
    const mail = (await server.mail.waitFor(before + 1, email)).at(-1)
    expect(mail).toMatchObject({ from: 'hello@example.org', to: [email] })
    expect(mail?.code).toMatch(/^\d{6}$/)
    expect(mail?.subject).toBe(`${mail?.code} is your code for Unplugged.`)
    expect(mail?.text).toContain(words)
    expect(mail?.text).toContain('Content-Type: text/plain')
    expect(mail?.text).toContain('Content-Type: text/html')
    expect(mail?.link).toMatch(
      new RegExp(
        `^${server.origin}/desk#token_hash=[0-9a-f]{64}&type=${path === 'otp' ? 'magiclink' : 'recovery'}$`,
      ),
    )
  }
})

test('a request may name the redirect target of the link in its query or in a header', async () => {
  const target = `${server.origin}/desk/list?a=1&b=2`
  for (const [query, headers] of [
    [`?redirect_to=${encodeURIComponent(target)}`, {}],
    ['', { redirect_to: target }],
  ] as const) {
    const email = await server.organiser()
    await server.call('POST', `otp${query}`, { email }, headers)
    const [mail] = await server.mail.waitFor(1, email)
    expect(new URL(mail?.link ?? '').searchParams.get('redirect_to')).toBe(target)
  }
})

test('neither a header of a request nor a redirect target elsewhere changes the address in a link', async () => {
  const email = await server.organiser()
  const other = 'evil.example.com'
  await server.call(
    'POST',
    `otp?redirect_to=https://${other}/`,
    { email },
    {
      'x-forwarded-host': other,
      'x-forwarded-proto': 'https',
      forwarded: `host=${other}`,
      referer: `https://${other}/`,
    },
  )
  const [mail] = await server.mail.waitFor(1, email)
  // The link is the same as without the headers and the redirect target.
  expect(mail?.link).toContain(`${server.origin}/desk#token_hash=`)
  expect(mail?.text).not.toContain(other)
})

test('a request with a challenge gets a PKCE link', async () => {
  const email = await server.organiser()
  await server.client({ flowType: 'pkce' }).auth.resetPasswordForEmail(email)
  const [mail] = await server.mail.waitFor(1, email)
  expect(new URL(mail?.link ?? '').searchParams.get('token')).toMatch(/^pkce_[0-9a-f]{64}$/)
})

test('reauthenticate sends a signed-in person a code without a link, once a minute', async () => {
  const { client, email } = await server.signedIn()
  expect(await client.auth.reauthenticate()).toMatchObject({ error: null })
  const [mail] = await server.mail.waitFor(1, email)
  expect(mail?.subject).toBe(`${mail?.code} is your verification code`)
  expect(mail?.link).toBe('')
  expect(mail?.text).not.toContain('http')
  const { error } = await client.auth.reauthenticate()
  expect(error).toMatchObject({ status: 429, code: 'over_email_send_rate_limit' })
  await server.database.owner`
    update auth.users set reauthentication_sent_at = now() - interval '61 seconds' where email = ${email}`
  expect(await client.auth.reauthenticate()).toMatchObject({ error: null })
  expect(await server.mail.waitFor(2, email)).toHaveLength(2)
  expect((await client.auth.getUser()).data.user?.['reauthentication_sent_at' as keyof object]).toEqual(
    expect.any(String),
  )
  expect(await readResponse(server.call('GET', 'reauthenticate'))).toEqual(
    refusal(401, 'no_authorization', 'This endpoint requires a valid Bearer token'),
  )
})

test.each([
  undefined,
  '2023-12-31',
  '2024-13-01',
  '2024-02-30',
  '2024-1-1',
  '20240101',
  '2024-01-01T00:00:00Z',
  'new',
  '',
])(
  'for the API version "%s" an error has the older shape, and the response names no version',
  async (version) => {
    const headers = version === undefined ? {} : { 'x-supabase-api-version': version }
    const response = await server.call('POST', 'otp', {}, headers)
    expect(response.headers.get('content-type')).toContain('application/json')
    expect(response.headers.get('x-supabase-api-version')).toBeNull()
    expect(response.headers.get('x-sb-error-code')).toBe('validation_failed')
    expect(await readResponse(response)).toEqual(
      refusal(400, 'validation_failed', 'One of email or phone must be set'),
    )
  },
)

test.each(['2024-01-01', '2024-02-29', '2031-12-31'])(
  'for the API version "%s" an error has the newer shape, and the response names the first such version',
  async (version) => {
    const response = await server.call('POST', 'otp', {}, { 'x-supabase-api-version': version })
    expect(response.headers.get('x-supabase-api-version')).toBe('2024-01-01')
    expect(response.headers.get('x-sb-error-code')).toBe('validation_failed')
    expect(await readResponse(response)).toEqual({
      status: 400,
      body: { code: 'validation_failed', message: 'One of email or phone must be set' },
    })
  },
)

test('a response without an error names no API version', async () => {
  const response = await server.call('GET', 'settings', undefined, { 'x-supabase-api-version': '2024-01-01' })
  expect(response.status).toBe(200)
  expect(response.headers.get('x-supabase-api-version')).toBeNull()
})

test('a page of another origin may make calls, and may read the version header', async () => {
  const origin = 'https://elsewhere.example.com'
  const requestedHeaders = [
    'accept',
    'authorization',
    'content-type',
    'x-client-ip',
    'x-client-info',
    'x-jwt-aud',
    'x-use-cookie',
    'x-supabase-api-version',
    'apikey',
  ]
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
    const preflight = await fetch(`${server.origin}/auth/v1/user`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': requestedHeaders.join(','),
      },
    })
    expect(preflight.ok).toBe(true)
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
    expect(preflight.headers.get('access-control-allow-methods')?.split(/, */)).toContain(method)
    const allowed = preflight.headers.get('access-control-allow-headers')?.toLowerCase().split(/, */)
    expect(allowed).toEqual(expect.arrayContaining(requestedHeaders))
  }
  for (const headers of [{ origin }, { origin, apikey: 'wrong' }]) {
    const response = await server.call('POST', 'otp', {}, headers)
    expect(response.ok).toBe(false)
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(response.headers.get('access-control-expose-headers')?.split(/, */)).toEqual(
      expect.arrayContaining(['X-Total-Count', 'Link', 'X-Supabase-Api-Version']),
    )
  }
})

const calls = [
  ['POST', 'otp'],
  ['POST', 'verify'],
  ['POST', 'sso'],
  ['POST', 'resend'],
  ['POST', 'recover'],
  ['POST', 'token?grant_type=password'],
  ['POST', 'logout'],
  ['POST', 'factors'],
  ['POST', 'factors/x/challenge'],
  ['POST', 'factors/x/verify'],
  ['POST', 'signup'],
  ['GET', 'reauthenticate'],
  ['GET', 'user'],
  ['GET', 'user/identities/authorize'],
  ['GET', 'settings'],
  ['PUT', 'user'],
  ['DELETE', 'factors/x'],
  ['DELETE', 'user/identities/x'],
  ['GET', 'nothing'],
] as const

test.each(calls)(
  "%s %s is refused without the public key, in the words of Supabase's gateway",
  async (method, path) => {
    const call = (headers: Record<string, string>) =>
      readResponse(
        fetch(`${server.origin}/auth/v1/${path}`, {
          method,
          headers,
          ...(method === 'GET' ? {} : { body: '{}' }),
        }),
      )
    expect(await call({})).toEqual({ status: 401, body: { message: 'No API key found in request' } })
    expect(await call({ apikey: 'wrong' })).toEqual({ status: 401, body: { message: 'Invalid API key' } })
    const withKey = await call({ apikey: anonKey, 'x-forwarded-for': unusedIpAddress() })
    expect(withKey.body).not.toHaveProperty('message')
  },
)

test('the link in an email, the key set and the health check need no public key', async () => {
  const open = (path: string) => fetch(`${server.origin}/auth/v1/${path}`, { redirect: 'manual' })
  expect((await open('verify?token=abc&type=magiclink')).status).toBe(303)
  expect((await open('.well-known/jwks.json')).status).toBe(200)
  expect(await readResponse(open('health'))).toEqual({
    status: 200,
    body: { version: expect.any(String), name: 'GoTrue', description: expect.any(String) },
  })
})

test('the settings say what is on and what is off', async () => {
  const { status, body } = await readResponse(server.call('GET', 'settings'))
  expect(status).toBe(200)
  const { external, ...rest } = body as { external: Record<string, boolean> }
  expect(rest).toEqual({
    disable_signup: true,
    mailer_autoconfirm: false,
    phone_autoconfirm: false,
    sms_provider: '',
    saml_enabled: false,
    saml_private_key_next_configured: false,
    passkeys_enabled: false,
  })
  expect(external).toMatchObject({ email: true, phone: false, anonymous_users: false, google: false })
  expect(Object.values(external).filter(Boolean)).toHaveLength(1)
})

test('nobody can sign up, sign in anonymously or sign in by SAML', async () => {
  const client = server.client()
  const signup = { status: 422, code: 'signup_disabled', message: 'Signups not allowed for this instance' }
  expect((await client.auth.signUp({ email: 'jo@example.org', password: 'abcdefghij' })).error).toMatchObject(
    signup,
  )
  expect((await client.auth.signInAnonymously()).error).toMatchObject({
    status: 422,
    code: 'anonymous_provider_disabled',
    message: 'Anonymous sign-ins are disabled',
  })
  expect((await client.auth.signInWithSSO({ domain: 'example.org' })).error).toMatchObject({
    status: 404,
    code: 'saml_provider_disabled',
    message: 'SAML 2.0 is disabled',
  })
  const malformed = fetch(`${server.origin}/auth/v1/sso`, {
    method: 'POST',
    headers: { apikey: anonKey },
    body: '{',
  })
  expect(await readResponse(malformed)).toMatchObject({
    status: 404,
    body: { error_code: 'saml_provider_disabled' },
  })
})

test('a body of 256 KiB is read, and a larger one is refused', async () => {
  const send = (length: number) => readResponse(server.call('POST', 'otp', { filling: 'a'.repeat(length) }))
  expect(await send(256 * 1024 - 100)).toMatchObject({
    status: 400,
    body: { error_code: 'validation_failed' },
  })
  expect(await send(256 * 1024 + 1)).toMatchObject({
    status: 413,
    body: { code: 413, error_code: 'request_entity_too_large' },
  })
})

test('an unknown call is not found', async () => {
  for (const [method, path] of [
    ['GET', 'nothing'],
    ['GET', 'otp'],
    ['POST', 'user'],
    ['GET', ''],
  ] as const) {
    expect((await server.call(method, path)).status).toBe(404)
  }
})

test('an IP address may make thirty calls of each kind within five minutes', async () => {
  for (const path of ['otp', 'recover', 'resend', 'verify', 'signup', 'sso']) {
    const from = { 'x-forwarded-for': '192.0.2.7' }
    const responses = await Promise.all(
      Array.from({ length: 60 }, () => readResponse(server.call('POST', path, {}, from))),
    )
    const refused = responses.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThan(0)
    // One more call may have been allowed for each ten seconds that the calls took.
    expect(responses.length - refused.length).toBeGreaterThanOrEqual(30)
    expect(refused[0]).toEqual(refusal(429, 'over_request_rate_limit', 'Request rate limit reached'))
  }
  expect((await server.call('POST', 'otp', {}, { 'x-forwarded-for': '192.0.2.8' })).status).toBe(400)
})

test('a mail server that cannot be reached for a sign-in email is recorded as failing until a mail server accepts an email', async () => {
  const refusing = await startMailServer({ refusesRecipients: true })
  const unreachable = mailServerAt(await freePort())
  const failingSince = async () =>
    (
      await server.database.owner<
        { since: Date | null }[]
      >`select failing_since as since from private.postman`
    )[0]?.since
  /** Requests an email on a server with this mail server, or with the default one. */
  const failingSinceWith = async (mailServer: ReturnType<typeof mailServerAt> | undefined) => {
    const other = await server.another(mailServer && { mailServer })
    const response = await other.call('POST', 'otp', { email: await server.organiser(), create_user: false })
    expect(response.status).toBe(200)
    // Closing waits for pending emails.
    await other.close()
    return failingSince()
  }
  // A refusal of one recipient says nothing about others.
  expect(await failingSinceWith(mailServerAt(refusing.port))).toBeNull()
  const first = await failingSinceWith(unreachable)
  expect(first).toBeInstanceOf(Date)
  expect(await failingSinceWith(unreachable)).toEqual(first)
  expect(await failingSinceWith(mailServerAt(refusing.port))).toEqual(first)
  expect(await failingSinceWith(undefined)).toBeNull()
})

test('an email names the page by the title that the operator set', async () => {
  const email = await server.organiser()
  const other = await server.another({ look: { ...defaultLook, title: 'Slow Summer' } })
  await other.call('POST', 'otp', { email })
  const [mail] = await server.mail.waitFor(1, email)
  expect(mail?.subject).toBe(`${mail?.code} is your code for Slow Summer`)
  expect(mail?.text).toContain('wants to sign in to Slow Summer with')
  await other.close()
})
