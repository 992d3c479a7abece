import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { beforeAll, expect, test } from 'vitest'

import { operatorSecret } from '../../src/server/auth/organisers.ts'
import { extent, seedOf } from '../../testing/extent.ts'
import { randomFrom } from '../../testing/random.ts'
import { anAddress, bearerOf, codeOf, said, startSignIn, type SignInServer } from '../../testing/sign-in.ts'

/** The same requests for the same seed, but for what is made anew each time: tokens and ids. */
const seed = seedOf('FUZZ_SEED')
const requests = extent(600, 3_000)

let server: SignInServer

beforeAll(async () => {
  server = await startSignIn()
})

/** What is valid where it is sent, so that requests get behind the first check. */
interface Valid {
  bearers: string[]
  texts: string[]
}

/** Sessions of three organisers, one of whom has a second factor and one a code under way. */
async function someValid(): Promise<Valid> {
  const signedIn = [await server.signedIn(), await server.signedIn(), await server.signedIn()]
  const bearers = await Promise.all(
    signedIn.map(async ({ client }) => (await bearerOf(client)).authorization),
  )
  const [headers = '', other = ''] = bearers
  const factor = (await said(
    server.call('POST', 'factors', { factor_type: 'totp' }, { authorization: headers }),
  )) as { body: { id: string; totp: { secret: string } } }
  const { id } = factor.body
  const challenge = (await said(
    server.call('POST', `factors/${id}/challenge`, {}, { authorization: headers }),
  )) as { body: { id: string } }
  const { data } = (await signedIn[2]?.client.auth.getSession()) ?? {}
  await server.call('POST', 'otp', { email: signedIn[1]?.email })
  await server.call('PUT', 'user', { email: 'new@example.org' }, { authorization: other })
  return {
    bearers,
    texts: [
      ...signedIn.map(({ email }) => email),
      id,
      challenge.body.id,
      codeOf(factor.body.totp.secret),
      data?.session?.refresh_token ?? '',
      data?.session?.access_token ?? '',
      randomUUID(),
      '123456',
      '+4912345678',
      'a-long-password',
      'x'.repeat(43),
      'new@example.org',
    ],
  }
}

/** The calls, each with what it takes; `*` stands for something that was valid when the test began. */
const calls: [call: string, fields: Record<string, unknown>][] = [
  [
    'POST otp',
    { email: '*', create_user: false, code_challenge: 'x'.repeat(43), code_challenge_method: 'plain' },
  ],
  ['POST otp', { email: '*', phone: null, channel: null, data: {}, gotrue_meta_security: {} }],
  ['POST verify', { type: 'email', email: '*', token: '123456' }],
  ['POST verify', { type: 'magiclink', token_hash: '*' }],
  ['GET verify', {}],
  ['POST sso', { domain: 'example.org' }],
  ['POST resend', { type: 'email_change', email: '*' }],
  ['POST recover', { email: '*', code_challenge: 'x'.repeat(43), code_challenge_method: 's256' }],
  ['POST token?grant_type=refresh_token', { refresh_token: '*' }],
  ['POST token?grant_type=password', { email: '*', password: 'not the one' }],
  ['POST token?grant_type=pkce', { auth_code: '*', code_verifier: 'x'.repeat(43) }],
  ['POST token', { refresh_token: '*' }],
  ['POST logout?scope=others', {}],
  ['POST logout?scope=nonsense', {}],
  ['POST factors', { factor_type: 'totp', friendly_name: '*', issuer: 'example.org' }],
  ['POST factors/:id/challenge', {}],
  ['POST factors/:id/verify', { challenge_id: '*', code: '123456' }],
  ['DELETE factors/:id', {}],
  ['POST signup', { email: '*', password: 'a-long-password' }],
  ['GET reauthenticate', {}],
  ['GET user', {}],
  ['PUT user', { data: { name: '*' } }],
  ['PUT user', { email: '*', password: '', nonce: '123456' }],
  ['GET user/identities/authorize', {}],
  ['DELETE user/identities/:id', {}],
  ['GET settings', {}],
  ['GET health', {}],
  ['GET .well-known/jwks.json', {}],
  ['POST invite', { email: '*' }],
  ['GET admin/users', {}],
  ['POST :id', {}],
]
const names = [...new Set(calls.flatMap(([, fields]) => Object.keys(fields)))].concat(
  'app_metadata',
  'current_password',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
)
const words =
  'email magiclink recovery signup invite email_change sms phone_change totp phone webauthn s256 S256 plain pkce global local others password true'.split(
    ' ',
  )

/** What would end a line of a request, or be no request any more. */
const lineEnds = new RegExp(String.raw`[\r\n\0]`, 'g')

function generator(random: () => number, { bearers, texts }: Valid) {
  const below = (limit: number) => Math.floor(random() * limit)
  const pick = <T>(from: readonly T[]) => from[below(from.length)] as T
  const bytes = (length: number) => String.fromCharCode(...Array.from({ length }, () => below(256)))
  const hostile = () =>
    pick([
      () => bytes(below(60)),
      () => '\u0000',
      () => 'a\u0000@example.org',
      () => '\ud800',
      () => `a@\udfff\ud800.example`,
      () => '\ud83d'.repeat(43),
      () => 'é'.repeat(43),
      () => "'; drop table auth.users; --",
      () => '%00%ff%c0%af%',
      () => '../'.repeat(below(12)),
      () => 'x'.repeat(pick([255, 256, 3_000])),
      () => `${'x'.repeat(below(300))}@example.org`,
      () => 'y'.repeat(below(60_000)),
      () => '',
      () => '😀\u202e',
      () => '\r\nset-cookie: a=b',
      () => 'http://[',
      () => 'NaN',
      () => '-1',
      () => '00000000-0000-0000-0000-000000000000',
    ])()
  const text = () => pick([() => pick(texts), () => pick(texts), () => pick(words), hostile])()
  const deep = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`

  /** JSON, as text: it holds what no value can. */
  const json = (depth = 0): string => {
    switch (below(depth > 3 ? 6 : 9)) {
      case 0:
        return pick(['null', 'true', 'false', '1e999', '-0', '1e-999', '9'.repeat(400), '0.1'])
      case 1:
        return deep(pick([1, 100, 4_000, 20_000]))
      case 2:
        return pick(['"\\u0000"', '"\\ud800"', '"\\udc00\\ud800"', '{"\\u0000":1}', '{"\\ud800":null}'])
      case 3:
      case 4:
      case 5:
        return JSON.stringify(text())
      case 6:
        return `[${Array.from({ length: below(4) }, () => json(depth + 1)).join(',')}]`
      default:
        return `{${Array.from({ length: below(4) }, () => `${JSON.stringify(text())}:${json(depth + 1)}`).join(',')}}`
    }
  }
  /** What a call takes, but for one or two of its fields, as a rule. */
  const body = (taken: Record<string, unknown>) => {
    if (random() < 0.15) return nonsense()
    const parts = Object.entries(taken).map(([name, value]): [string, string] => [
      name,
      JSON.stringify(value).replaceAll('"*"', () => JSON.stringify(pick(texts))),
    ])
    const values = new Map(parts)
    for (let change = below(3); change > 0; change -= 1) {
      const name = random() < 0.8 && parts.length > 0 ? pick(parts)[0] : pick(names)
      values.set(name, random() < 0.6 ? JSON.stringify(text()) : json())
    }
    return `{${[...values].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`
  }
  const nonsense = () =>
    pick([
      () => json(),
      () => json().slice(0, below(80)),
      () => '',
      () => '\ufeff{}',
      () => '[]',
      () => 'null',
      () => '['.repeat(below(20_000)),
      () => `{"email":"${'\\u0061'.repeat(below(9_000))}"}`,
      () => new URLSearchParams({ email: text() }).toString(),
      () => bytes(below(2_000)),
      () => 'y'.repeat(pick([262_143, 262_145])),
    ])()
  const query = () =>
    Array.from({ length: below(4) }, () => {
      const name = pick([
        'token',
        'type',
        'redirect_to',
        'grant_type',
        'scope',
        'apikey',
        '__proto__',
        hostile(),
      ])
      return random() < 0.9 ? `${encode(name)}=${encode(text())}` : hostile()
    }).join('&')
  const encode = (value: string) =>
    random() < 0.8 ? encodeURIComponent(Buffer.from(value).toString()).slice(0, 3_000) : value.slice(0, 3_000)
  const target = (call: string) => {
    const id = random() < 0.4 ? pick(texts) : random() < 0.5 ? hostile() : 'x'.repeat(below(300))
    const [method = '', path = ''] = call.split(' ')
    const filled = path.replace(':id', encode(id))
    const separator = filled.includes('?') ? '&' : '?'
    const odd = ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'POST']
    return `${random() < 0.97 ? method : pick(odd)} /auth/v1/${filled}${separator}${query()}`.replaceAll(
      lineEnds,
      '+',
    )
  }
  const types = [
    'application/json',
    'text/plain',
    'application/x-www-form-urlencoded',
    'x',
    '/',
    '',
    ';',
    'a/b;c="',
  ]
  const headers = () => {
    const lines = ['host: fuzz', `x-forwarded-for: ${anAddress()}`, 'connection: close']
    if (random() < 0.97) lines.push('apikey: public-anon-key')
    if (random() < 0.8) lines.push(`content-type: ${random() < 0.8 ? 'application/json' : pick(types)}`)
    if (random() < 0.8) lines.push(`authorization: ${random() < 0.9 ? pick(bearers) : `Bearer ${text()}`}`)
    if (random() < 0.2)
      lines.push(`x-supabase-api-version: ${pick(['2024-01-01', '2099-12-31', '9999-99-99', hostile()])}`)
    if (random() < 0.1)
      lines.push(`${pick(['redirect_to', 'referer', 'user-agent', 'origin', 'x-forwarded-host'])}: ${text()}`)
    return lines.map((line) => line.replaceAll(lineEnds, ' '))
  }
  return () => {
    const [call, taken] = pick(calls)
    const [method = '', ...path] = target(call).split(' ')
    const content = Buffer.from(body(taken), random() < 0.9 ? 'utf8' : 'latin1')
    const head = `${method} ${path.join('+')} HTTP/1.1\r\n${headers().join('\r\n')}\r\ncontent-length: ${content.length}\r\n\r\n`
    return Buffer.concat([Buffer.from(head, random() < 0.9 ? 'utf8' : 'latin1'), content])
  }
}

/** Sends one request; gives all that came back until the server ended the connection. */
function exchange(request: Buffer) {
  const { hostname, port } = new URL(server.origin)
  return new Promise<string>((resolve) => {
    let answer = ''
    const socket = connect(Number(port), hostname, () => socket.write(request))
    socket.on('data', (chunk) => (answer += chunk.toString('latin1')))
    socket.on('error', () => resolve(answer))
    socket.on('close', () => resolve(answer))
  })
}

test(`${requests} requests of nonsense to all calls: each is answered, never with a 5xx or a stack trace`, async () => {
  const random = randomFrom(seed)
  const next = generator(random, await someValid())
  const statuses = new Map<string, number>()
  const problems = new Set<string>()
  let sent = 0
  const send = async () => {
    while (sent < requests) {
      sent += 1
      const request = next()
      const answer = await exchange(request)
      const status = /^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1] ?? 'none'
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (!/^[234]/.test(status) || /\n\s+at .+:\d+:\d+/.test(answer)) {
        problems.add(`${request.toString('latin1').slice(0, 1_500)}\n=> ${answer.slice(0, 500)}`)
      }
    }
  }
  await Promise.all(Array.from({ length: 8 }, send))
  console.log('answers by status:', Object.fromEntries(statuses))
  expect([...problems].slice(0, 5)).toEqual([])
  // Or it would have tried the first checks alone.
  expect([...statuses.keys()]).toEqual(
    expect.arrayContaining([
      '400',
      '401',
      '404',
      ...extent([], ['200', '204', '303', '403', '413', '422', '429']),
    ]),
  )
  const { client, email } = await server.signedIn()
  expect((await client.auth.getUser()).data.user?.email).toBe(email)
})

test('what cannot be drawn, written or stored of whoever is signed in is refused, or done without', async () => {
  const { client } = await server.signedIn()
  const headers = await bearerOf(client)
  const deep = (depth: number) => `{"data":{"a":${'['.repeat(depth)}${']'.repeat(depth)}}}`
  const factor = (issuer: string, name: string) =>
    JSON.stringify({ factor_type: 'totp', issuer, friendly_name: name })
  const sent: Record<string, [call: string, body: string]> = {
    'an issuer that is half a character': ['POST factors', factor('\ud800', 'a')],
    'an issuer that no drawing holds': ['POST factors', factor('x'.repeat(4_000), 'b')],
    'an issuer with a NUL': ['POST factors', factor('\u0000', 'c')],
    'a name with a NUL': ['POST factors', factor('x', '\u0000')],
    'a name that is half a character': ['POST factors', factor('x', '\ud800')],
    'another name that is half a character': ['POST factors', factor('x', '\ud801')],
    'a long name': ['POST factors', factor('x', 'x'.repeat(10_000))],
    'data of a few levels': ['PUT user', deep(3_000)],
    'data of many levels': ['PUT user', deep(100_000)],
    'data with a NUL': ['PUT user', '{"data":{"a":"\\u0000"}}'],
    'data with half a character': ['PUT user', '{"data":{"a":"\\ud800"}}'],
    'data with a name that is none': ['PUT user', '{"data":{"\\u0000":null,"__proto__":{"a":1},"":2}}'],
    'data with a number that is none': ['PUT user', '{"data":{"a":1e999,"b":-0,"c":1e-999}}'],
    'an address with half a character': ['PUT user', '{"email":"a@\\ud800.example"}'],
    'a password with a NUL': ['PUT user', '{"password":"abc\\u0000defgh"}'],
    'a password of half characters': ['PUT user', `{"password":"${'\\ud800'.repeat(20)}"}`],
  }
  for (const [what, [call, body]] of Object.entries(sent)) {
    const [method = '', path = ''] = call.split(' ')
    const answer = await fetch(`${server.origin}/auth/v1/${path}`, {
      method,
      headers: { apikey: 'public-anon-key', 'x-forwarded-for': anAddress(), ...headers },
      body,
    })
    expect.soft(answer.status, `${what}: ${await answer.text()}`).toBeLessThan(500)
  }
})

test.each([
  ['deeper than anything reads', `{"a":${'{"a":'.repeat(3_000)}1${'}'.repeat(3_000)}}`],
  ['longer than a header', `{"a":"${'x'.repeat(100_000)}"}`],
])('data of an account that are %s keep nobody out', async (_how, data) => {
  const { client, email } = await server.signedIn()
  const headers = await bearerOf(client)
  const answer = await fetch(`${server.origin}/auth/v1/user`, {
    method: 'PUT',
    headers: { apikey: 'public-anon-key', 'x-forwarded-for': anAddress(), ...headers },
    body: `{"data":${data}}`,
  })
  expect(answer.status).toBeLessThan(500)
  // Its owner, who comes later, may not be the one who sent it.
  const again = await server.client().auth.verifyOtp({
    type: 'magiclink',
    token_hash: await operatorSecret(server.database.owner, email),
  })
  expect(again.error).toBeNull()
  const used = await server.call('GET', 'user', undefined, {
    authorization: `Bearer ${again.data.session?.access_token}`,
  })
  expect(used.status).toBe(200)
})
