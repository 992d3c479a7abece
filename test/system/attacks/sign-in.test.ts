import { createHash, createHmac, randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'

import { removeOrganiser } from '../../../src/server/auth/manage-organisers.ts'
import { secretOf, verifyLink } from '../../support/sign-in-links.ts'
import {
  unusedIpAddress,
  bearerOf,
  codeOf,
  readResponse,
  startSignIn,
  type SignInServer,
} from '../../support/sign-in-server.ts'

let server: SignInServer

beforeAll(async () => {
  server = await startSignIn()
})

/** The tokens in a response. */
interface Tokens {
  access_token: string
  refresh_token: string
}

/** Asks for an email to sign in. Returns its code and link. */
async function requestEmail(email: string, fields: Record<string, unknown> = {}) {
  expect(await readResponse(server.call('POST', 'otp', { email, ...fields }))).toEqual({
    status: 200,
    body: {},
  })
  const [mail] = await server.mail.waitFor(1, email)
  return { code: mail?.code ?? '', link: mail?.link ?? '' }
}

/** Returns this many codes that differ from the right one. */
const wrongCodes = (code: string, count: number) =>
  Array.from({ length: count }, (_, index) => String((Number(code) + 1 + index) % 1_000_000).padStart(6, '0'))

const codeRefused = { status: 403, body: expect.objectContaining({ error_code: 'otp_expired' }) as unknown }

/** Signs in with the operator's link. Returns the tokens. */
async function signIn(email: string): Promise<Tokens> {
  const { client } = await server.signedIn(email)
  const { data } = await client.auth.getSession()
  return { access_token: data.session?.access_token ?? '', refresh_token: data.session?.refresh_token ?? '' }
}

const refreshBy = (refresh_token: string, call = server.call) =>
  readResponse(call('POST', 'token?grant_type=refresh_token', { refresh_token }))

const sessionOf = (token: string) =>
  (JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { session_id: string })
    .session_id

test('five wrong codes from any address invalidate a code on every server, even a new server, but not the link in the same email', async () => {
  const email = await server.organiser()
  const { code, link } = await requestEmail(email)
  const other = await server.another()
  const calls = [server.call, other.call, server.call, other.call, server.call]
  const types = ['email', 'magiclink', 'recovery', 'email', 'magiclink']
  for (const [index, token] of wrongCodes(code, 5).entries()) {
    const call = calls[index] ?? server.call
    expect(await readResponse(call('POST', 'verify', { type: types[index], email, token }))).toEqual(
      codeRefused,
    )
  }
  const newServer = await server.another()
  for (const call of [server.call, other.call, newServer.call]) {
    expect(await readResponse(call('POST', 'verify', { type: 'email', email, token: code }))).toEqual(
      codeRefused,
    )
  }
  const opened = await fetch(verifyLink(link), { redirect: 'manual' })
  expect(opened.headers.get('location')).toContain('#access_token=')
})

// break: password-tried-without-limit
test('at most thirty wrong passwords for an email address are compared, with or without an account; links still sign in', async () => {
  const email = await server.organiser()
  const { client } = await server.signedIn(email)
  expect((await client.auth.updateUser({ password: 'correct horse' })).error).toBeNull()
  const [other, third] = [await server.another(), await server.another()]
  const tryPassword = (address: string, password: string, { call } = other) =>
    readResponse(call('POST', 'token?grant_type=password', { email: address, password }))
  const refused = (status: number, error_code: string, msg: string) => ({
    status,
    body: { code: status, error_code, msg },
  })
  const wrong = refused(400, 'invalid_credentials', 'Invalid login credentials')
  const tooMany = refused(429, 'over_request_rate_limit', 'Request rate limit reached')
  const stranger = `${email}.example`
  for (const address of [email, stranger]) {
    // Each request comes from a different IP address.
    const responses = await Promise.all(
      Array.from({ length: 300 }, (_, index) =>
        tryPassword(address.toUpperCase(), 'a guess', index % 2 ? other : server),
      ),
    )
    expect(responses.filter(({ status }) => status === 400)).toEqual(Array.from({ length: 30 }, () => wrong))
    expect(responses.filter(({ status }) => status !== 400)).toEqual(
      Array.from({ length: 270 }, () => tooMany),
    )
  }
  expect(await tryPassword(email, 'correct horse', third)).toEqual(tooMany)
  expect((await client.auth.getUser()).data.user?.email).toBe(email)
  await server.call('POST', 'otp', { email })
  // One of the two emails says that the password was changed, and has no link.
  const link = (await server.mail.waitFor(2, email)).map((mail) => mail.link).join('')
  expect(
    await readResponse(server.call('POST', 'verify', { type: 'email', token_hash: secretOf(link) })),
  ).toMatchObject({ status: 200 })
  // The successful sign-in resets the count.
  expect(await tryPassword(email, 'a guess')).toEqual(wrong)
  expect(await tryPassword(email, 'correct horse')).toMatchObject({ status: 200 })
  expect(await tryPassword(stranger, 'a guess')).toEqual(tooMany)
  await server.database.owner`update private.password_tries set began = began - interval '901 seconds'`
  expect(await tryPassword(stranger, 'a guess')).toEqual(wrong)
})

test('the number of addresses with counted wrong passwords is limited, and an address at its limit is not dropped for newer ones', async () => {
  const { owner } = server.database
  await owner`delete from private.password_tries`
  await owner`insert into private.password_tries values (sha256('ada'), now() - interval '1 minute', 30)`
  await owner`
    insert into private.password_tries (address_hash) select sha256(number::text::bytea) from generate_series(1, 30000) as number`
  await owner`insert into private.password_tries values (sha256('eve'), now() - interval '901 seconds', 31)`
  await server.another()
  const rememberedTries = () => owner`
    select count(*)::int, bool_or(address_hash = sha256('ada')) as ada, bool_or(address_hash = sha256('eve')) as eve
    from private.password_tries`
  await expect
    .poll(rememberedTries)
    .toMatchObject([
      { ada: true, eve: false, count: expect.toSatisfy((count: number) => count <= 20_000) as number },
    ])
})

test('a code still signs in after four wrong codes', async () => {
  const email = await server.organiser()
  const { code } = await requestEmail(email)
  for (const token of wrongCodes(code, 4)) {
    expect(await readResponse(server.call('POST', 'verify', { type: 'email', email, token }))).toEqual(
      codeRefused,
    )
  }
  const right = await server.call('POST', 'verify', { type: 'email', email, token: code })
  expect(right.status).toBe(200)
})

test('each of many simultaneous wrong codes is counted', async () => {
  const email = await server.organiser()
  const { code } = await requestEmail(email)
  const responses = await Promise.all(
    wrongCodes(code, 30).map((token) => server.call('POST', 'verify', { type: 'email', email, token })),
  )
  expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 403))
  const [row] = await server.database.owner<{ wrong_codes: number }[]>`
    select wrong_codes from auth.one_time_tokens where relates_to = ${email}`
  expect(row?.wrong_codes).toBe(5)
  expect(await readResponse(server.call('POST', 'verify', { type: 'email', email, token: code }))).toEqual(
    codeRefused,
  )
})

test('after 25 wrong codes, emails have only a link until the organiser signs in', async () => {
  const email = await server.organiser()
  let mailCount = 0
  const requestNext = async (fields: Record<string, unknown> = {}) => {
    await server.database.owner`delete from private.mail_requests`
    await server.call('POST', mailCount % 2 === 0 ? 'otp' : 'recover', { email, ...fields })
    mailCount += 1
    const mail = (await server.mail.waitFor(mailCount, email)).at(-1)
    if (mail === undefined) throw new Error('no email arrived')
    return mail
  }
  const guess = async (code: string, count: number) => {
    for (const token of wrongCodes(code, count)) {
      expect(await readResponse(server.call('POST', 'verify', { type: 'email', email, token }))).toEqual(
        codeRefused,
      )
    }
  }
  const subjectWithCode = expect.stringMatching(/^\d{6} is your code/) as unknown
  const subjectWithoutCode = 'Your link for Unplugged.'
  for (let round = 0; round < 4; round += 1) await guess((await requestNext()).code, 5)
  // Four guesses do not invalidate a code, but count. A program that opens a link does not count as a sign-in.
  const opened = await requestNext({ code_challenge: 'x'.repeat(43), code_challenge_method: 'plain' })
  await guess(opened.code, 4)
  expect((await fetch(opened.link, { redirect: 'manual' })).headers.get('location')).toContain('?code=')
  const last = await requestNext()
  expect(last.subject).toEqual(subjectWithCode)
  await guess(last.code, 1)

  const linkOnly = await requestNext()
  expect(linkOnly).toMatchObject({
    subject: subjectWithoutCode,
    link: expect.stringContaining('/desk#token_hash=') as unknown,
  })
  expect(linkOnly.text).not.toMatch(/Your code is/)
  const { link } = await requestNext()
  expect(
    await readResponse(server.call('POST', 'verify', { type: 'email', token_hash: secretOf(link) })),
  ).toMatchObject({ status: 200 })
  const { code, subject } = await requestNext()
  expect(subject).toEqual(subjectWithCode)
  expect(
    await readResponse(server.call('POST', 'verify', { type: 'email', email, token: code })),
  ).toMatchObject({
    status: 200,
  })
})

test('a link cannot be computed from the address and the code, or from the row in the database', async () => {
  const email = await server.organiser()
  const { code, link } = await requestEmail(email)
  const [row] = await server.database.owner<{ token_hash: string; code_hash: string }[]>`
    select token_hash, code_hash from auth.one_time_tokens where relates_to = ${email}`
  const guesses = [email + code, code + email, `${email} ${code}`, `${email}:${code}`, code]
    .flatMap((text) =>
      ['sha224', 'sha256', 'sha512', 'md5'].map((name) => createHash(name).update(text).digest('hex')),
    )
    .concat(code, row?.token_hash ?? '', row?.code_hash ?? '')
  for (const guess of guesses) {
    for (const token of [guess, `pkce_${guess}`]) {
      const body = { type: 'magiclink', token_hash: token }
      expect(await readResponse(server.call('POST', 'verify', body)), `for ${token}`).toEqual(codeRefused)
      const opened = await server.call('GET', `verify?type=magiclink&token=${token}`)
      expect(opened.headers.get('location'), `for ${token}`).toContain('error_code=otp_expired')
    }
  }
  expect(secretOf(link)).toMatch(/^[0-9a-f]{64}$/)
  const used = await server.call('POST', 'verify', { type: 'magiclink', token_hash: secretOf(link) })
  expect(used.status).toBe(200)
})

test('a code is invalid for another address and for another purpose', async () => {
  const [email, another] = [await server.organiser(), await server.organiser()]
  const { code } = await requestEmail(email)
  await requestEmail(another)
  const attempts = [
    { type: 'email', email: another },
    { type: 'email_change', email },
    { type: 'signup', email },
    { type: 'invite', email },
    { type: '__proto__', email },
  ]
  for (const attempt of attempts) {
    expect(
      await readResponse(server.call('POST', 'verify', { ...attempt, token: code })),
      `for ${attempt.type}`,
    ).toEqual(codeRefused)
  }
})

/** Signs in and sets up a second factor. The session `before` is at `aal1`, and the client is at `aal2`. */
async function withFactor(email: string) {
  const { client } = await server.signedIn(email)
  const before = (await client.auth.getSession()).data.session
  const { data } = await client.auth.mfa.enroll({ factorType: 'totp' })
  const factor = data?.type === 'totp' ? data : undefined
  const id = factor?.id ?? ''
  const secret = factor?.totp.secret ?? ''
  const code = codeOf(secret)
  const { error } = await client.auth.mfa.challengeAndVerify({ factorId: id, code })
  expect(error).toBeNull()
  return { id, secret, code, client, before }
}

/** Sends a code of a second factor from an unused IP address. */
async function sendFactorCode(headers: { authorization: string }, factorId: string, code: string) {
  const from = { ...headers, 'x-forwarded-for': unusedIpAddress() }
  const challenge = await readResponse(server.call('POST', `factors/${factorId}/challenge`, {}, from))
  const { id: challenge_id } = challenge.body as { id: string }
  return readResponse(server.call('POST', `factors/${factorId}/verify`, { challenge_id, code }, from))
}

const wrongFactorCode = (secret: string) => {
  const right = [-2, -1, 0, 1, 2, 3].map((step) => codeOf(secret, step))
  return wrongCodes('000000', 10).find((code) => !right.includes(code)) ?? ''
}

const tooMany = {
  status: 429,
  body: expect.objectContaining({ error_code: 'over_request_rate_limit' }) as unknown,
}

test('wrong codes of a second factor are counted for the account, from all IP addresses and sessions together', async () => {
  const email = await server.organiser()
  const { id, secret } = await withFactor(email)
  const thieves = [await signIn(email), await signIn(email)].map(({ access_token }) => ({
    authorization: `Bearer ${access_token}`,
  }))
  const wrong = wrongFactorCode(secret)
  for (let guess = 0; guess < 10; guess += 1) {
    expect(
      await sendFactorCode(thieves[guess % 2] ?? { authorization: '' }, id, wrong),
      `guess ${guess}`,
    ).toMatchObject({ status: 422, body: { error_code: 'mfa_verification_failed' } })
  }
  const [thief = { authorization: '' }] = thieves
  expect(await sendFactorCode(thief, id, wrong)).toEqual(tooMany)
  expect(await sendFactorCode(thief, id, codeOf(secret, 1))).toEqual(tooMany)
  // Other accounts are not affected.
  const other = await withFactor(await server.organiser())
  expect(other.id).not.toBe('')
  // Moves the count back by a quarter of an hour.
  await server.database.owner`
    update private.account_counts set began = began - interval '901 seconds' where what = 'factor guesses'`
  expect(await sendFactorCode(thief, id, codeOf(secret, 1))).toMatchObject({ status: 200 })
})

test('a code of a second factor is accepted only once, even if it is sent ten times at once', async () => {
  const email = await server.organiser()
  const { id, secret, code, client } = await withFactor(email)
  const headers = await bearerOf(client)
  expect(await sendFactorCode(headers, id, code)).toMatchObject({ status: 422 })
  const next = codeOf(secret, 1)
  const responses = await Promise.all(Array.from({ length: 10 }, () => sendFactorCode(headers, id, next)))
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
})

test('the refresh token of a session from before the second factor is refused', async () => {
  const { before } = await withFactor(await server.organiser())
  const response = await refreshBy(before?.refresh_token ?? '')
  expect(response).toMatchObject({ status: 400, body: { error_code: 'refresh_token_already_used' } })
})

test('a refresh token with one changed bit is refused, even with a correct checksum, and the real one still works', async () => {
  const { refresh_token: token } = await signIn(await server.organiser())
  const bytes = Buffer.from(token, 'base64url')
  const withChecksum = (signed: Buffer) =>
    Buffer.concat([signed, createHash('sha256').update(signed).digest().subarray(0, 4)])
  // Checks that `withChecksum` computes the checksum as the server does.
  expect(withChecksum(bytes.subarray(0, -4)).equals(bytes)).toBe(true)
  const forged = [...bytes.keys()].flatMap((position) => {
    const changed = Buffer.from(bytes)
    changed.writeUInt8(changed.readUInt8(position) ^ 1, position)
    return [changed, withChecksum(changed.subarray(0, -4))]
  })
  for (const each of forged.filter((candidate) => !candidate.equals(bytes))) {
    const text = each.toString('base64url')
    expect((await refreshBy(text)).status, `for ${text}`).toBe(400)
  }
  // Tokens that are signed with public values.
  const head = bytes.subarray(0, -20)
  for (const key of ['', Buffer.alloc(32), head.subarray(1, 17), 'public-anon-key']) {
    const hmac = createHmac('sha256', key).update(head).digest().subarray(0, 16)
    expect((await refreshBy(withChecksum(Buffer.concat([head, hmac])).toString('base64url'))).status).toBe(
      400,
    )
  }
  for (const text of ['', '0', 'abcdefghijkl', `${token}A`, token.slice(1), 'A'.repeat(64), '\u0000']) {
    expect((await refreshBy(text)).status, `for ${text}`).toBe(400)
  }
  expect((await refreshBy(token)).status).toBe(200)
})

test('reusing an old refresh token ends the session with all its refresh and access tokens', async () => {
  const { refresh_token: first } = await signIn(await server.organiser())
  const next = async (token: string) => (await refreshBy(token)).body as Tokens
  const second = await next(first)
  const third = await next(second.refresh_token)
  await server.database.owner`
    update auth.sessions set refreshed_at = refreshed_at - interval '11 seconds'
    where id = ${sessionOf(third.access_token)}`
  // The last but one token is still accepted, because the response with the last one may have been lost.
  expect((await next(second.refresh_token)).refresh_token).toBe(third.refresh_token)
  expect(await refreshBy(first)).toMatchObject({
    status: 400,
    body: { error_code: 'refresh_token_already_used' },
  })
  for (const token of [first, second.refresh_token, third.refresh_token]) {
    expect(await refreshBy(token)).toMatchObject({
      status: 400,
      body: { error_code: 'refresh_token_not_found' },
    })
  }
  await expectNoAccess(third.access_token)
})

/** Expects that the sign-in and the desk refuse this token. */
async function expectNoAccess(token: string, error_code = 'session_not_found') {
  const headers = { authorization: `Bearer ${token}` }
  expect(await readResponse(server.call('GET', 'user', undefined, headers))).toMatchObject({
    status: 403,
    body: { error_code },
  })
  expect(await callDesk(token)).toMatchObject({ status: 403, body: { code: '42501' } })
}

function callDesk(token: string, origin = server.origin) {
  return readResponse(
    fetch(`${origin}/rest/v1/rpc/desk_me`, {
      method: 'POST',
      headers: { apikey: 'public-anon-key', authorization: `Bearer ${token}` },
    }),
  )
}

// break: ended-session-accepted
test('an access token is refused at once on every server after its session, its account or its rights have ended', async () => {
  const { owner } = server.database
  const other = await server.another()
  const emails = await Promise.all(Array.from({ length: 4 }, () => server.organiser()))
  const [signedOut = '', removed = '', dismissed = '', unaffected = ''] = emails
  const tokens = new Map<string, string>()
  for (const email of emails) {
    const { access_token } = await signIn(email)
    tokens.set(email, access_token)
    expect(await callDesk(access_token, other.origin)).toEqual({ status: 200, body: { email } })
  }
  const tokenOf = (email: string) => tokens.get(email) ?? ''
  const { access_token: secondToken } = await signIn(signedOut)
  await server.call('POST', 'logout?scope=global', undefined, { authorization: `Bearer ${secondToken}` })
  await removeOrganiser(owner, removed)
  await owner`
    delete from private.organisers where account_id = (select id from auth.users where email = ${dismissed})`
  await expectNoAccess(tokenOf(signedOut))
  await expectNoAccess(tokenOf(removed), 'user_not_found')
  for (const email of [signedOut, removed, dismissed]) {
    expect((await callDesk(tokenOf(email), other.origin)).status, `for ${email}`).toBe(403)
  }
  expect((await callDesk(tokenOf(unaffected), other.origin)).status).toBe(200)
})

test('if a code is used ten times at once on two servers, only one use signs in', async () => {
  const email = await server.organiser()
  const { code } = await requestEmail(email)
  const other = await server.another()
  const responses = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      readResponse(
        (index % 2 ? server : other).call('POST', 'verify', { type: 'email', email, token: code }),
      ),
    ),
  )
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
  expect(responses.filter(({ status }) => status !== 200)).toEqual(
    Array.from({ length: 9 }, () => codeRefused),
  )
})

test('if the link and the code of an email are used twelve times at once, only one use signs in', async () => {
  const email = await server.organiser()
  const { code, link } = await requestEmail(email)
  const secret = secretOf(link)
  const ways = [
    () => server.call('GET', `verify?type=magiclink&token=${secret}`),
    () => server.call('POST', 'verify', { type: 'magiclink', token_hash: secret }),
    () => server.call('POST', 'verify', { type: 'email', email, token: code }),
  ]
  const responses = await Promise.all(ways.flatMap((use) => [use(), use(), use(), use()]))
  const texts = await Promise.all(
    responses.map(async (response) => `${response.headers.get('location')} ${await response.text()}`),
  )
  expect(texts.filter((text) => text.includes('access_token'))).toHaveLength(1)
  const [row] = await server.database.owner<{ sessions: number }[]>`
    select count(*)::int as sessions from auth.sessions
    where user_id = (select id from auth.users where email = ${email})`
  expect(row?.sessions).toBe(1)
})

/** Asks for an email with PKCE and opens its link. Returns the code that the client gets. */
async function authCodeOf(email: string, verifier: string) {
  const { link } = await requestEmail(email, {
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 's256',
  })
  const opened = await fetch(verifyLink(link), { redirect: 'manual' })
  return new URL(opened.headers.get('location') ?? '').searchParams.get('code') ?? ''
}

const exchange = (auth_code: string, code_verifier: string) =>
  readResponse(server.call('POST', 'token?grant_type=pkce', { auth_code, code_verifier }))

test('if a PKCE code is used ten times at once, only one use signs in, and no use without the verifier', async () => {
  const verifier = randomUUID() + randomUUID()
  const code = await authCodeOf(await server.organiser(), verifier)
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  for (const wrong of [challenge, verifier.toUpperCase(), `${verifier} `, verifier.slice(1)]) {
    expect(await exchange(code, wrong)).toMatchObject({
      status: 400,
      body: { error_code: 'bad_code_verifier' },
    })
  }
  const responses = await Promise.all(Array.from({ length: 10 }, () => exchange(code, verifier)))
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
  expect(responses.filter(({ status }) => status === 404)).toHaveLength(9)
})

test('a verifier with the length of the challenge in characters, but not in bytes, is wrong', async () => {
  const challenge = 'x'.repeat(43)
  const { link } = await requestEmail(await server.organiser(), {
    code_challenge: challenge,
    code_challenge_method: 'plain',
  })
  const opened = await fetch(verifyLink(link), { redirect: 'manual' })
  const code = new URL(opened.headers.get('location') ?? '').searchParams.get('code') ?? ''
  expect(await exchange(code, 'é'.repeat(43))).toMatchObject({
    status: 400,
    body: { error_code: 'bad_code_verifier' },
  })
  expect(await exchange(code, challenge)).toMatchObject({ status: 200 })
})

test('if a session is refreshed ten times at once on two servers, all get the same new token', async () => {
  const { refresh_token: token } = await signIn(await server.organiser())
  const other = await server.another()
  const responses = await Promise.all(
    Array.from({ length: 10 }, (_, index) => refreshBy(token, (index % 2 ? server : other).call)),
  )
  expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200))
  const next = new Set(responses.map(({ body }) => (body as Tokens).refresh_token))
  expect(next.size).toBe(1)
  expect(next).not.toContain(token)
})

test('of ten simultaneous requests for an email only one is accepted, and one email arrives', async () => {
  const email = await server.organiser()
  const freshServer = await server.another()
  const responses = await Promise.all(
    Array.from({ length: 10 }, () => freshServer.call('POST', 'otp', { email })),
  )
  expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
    200,
    ...Array.from({ length: 9 }, () => 429),
  ])
  // Waits for the pending emails.
  await freshServer.close()
  expect(await server.mail.waitFor(1, email)).toHaveLength(1)
})

test('an address is changed even if both confirmations arrive at the same time', async () => {
  // Repeats, because the order of the confirmations is random.
  for (let round = 0; round < 5; round += 1) {
    const { client, email } = await server.signedIn()
    const to = `changed-${randomUUID()}@example.org`
    expect((await client.auth.updateUser({ email: to })).error).toBeNull()
    const emails = [...(await server.mail.waitFor(1, email)), ...(await server.mail.waitFor(1, to))]
    const responses = await Promise.all(
      emails.map(({ code, to: [address = ''] }) =>
        server.call('POST', 'verify', { type: 'email_change', email: address, token: code }),
      ),
    )
    expect(responses.map(({ status }) => status)).toEqual([200, 200])
    const { data } = await client.auth.getUser()
    expect(data.user?.email, `round ${round}`).toBe(to)
  }
})
