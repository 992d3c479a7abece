import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import * as fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'

import { operatorSecret } from '../../../src/server/auth/manage-organisers.ts'
import { extent, seed } from '../../support/quick-or-long.ts'
import {
  unusedIpAddress,
  bearerOf,
  codeOf,
  readResponse,
  startSignIn,
  type SignInServer,
} from '../../support/sign-in-server.ts'

/** The number of requests. The same seed gives the same requests, except for tokens and ids. */
const requests = extent({ quick: 200, long: 3_000 })

let server: SignInServer

beforeAll(async () => {
  server = await startSignIn()
})

/** Valid values, so that requests get past the first check. */
interface ValidValues {
  bearers: string[]
  texts: string[]
}

/** Signs in three organisers. One has a second factor, and one has asked for a code. */
async function createValidValues(): Promise<ValidValues> {
  const signedIn = [await server.signedIn(), await server.signedIn(), await server.signedIn()]
  const bearers = await Promise.all(
    signedIn.map(async ({ client }) => (await bearerOf(client)).authorization),
  )
  const [withFactor = '', withCode = ''] = bearers
  const factor = (await readResponse(
    server.call('POST', 'factors', { factor_type: 'totp' }, { authorization: withFactor }),
  )) as { body: { id: string; totp: { secret: string } } }
  const { id } = factor.body
  const challenge = (await readResponse(
    server.call('POST', `factors/${id}/challenge`, {}, { authorization: withFactor }),
  )) as { body: { id: string } }
  const { data } = (await signedIn[2]?.client.auth.getSession()) ?? {}
  await server.call('POST', 'otp', { email: signedIn[1]?.email })
  await server.call('PUT', 'user', { email: 'new@example.org' }, { authorization: withCode })
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

/** The calls with their fields. `*` stands for a value that was valid when the test began. */
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
  ['POST invite', { email: '*', name: '*', is_reader: false }],
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

/** Characters that would end a line of a request or make it invalid. */
const lineEnds = new RegExp(String.raw`[\r\n\0]`, 'g')

const repeated = (part: string, most: number) => fc.nat(most).map((times) => part.repeat(times))
const anyBytes = (most: number) =>
  fc.uint8Array({ maxLength: most, size: 'max' }).map((bytes) => Buffer.from(bytes).toString('latin1'))

const hostile = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.constantFrom(
      '',
      '\u0000',
      'a\u0000@example.org',
      '\ud800',
      'a@\udfff\ud800.example',
      '\ud83d'.repeat(43),
      'é'.repeat(43),
      "'; drop table auth.users; --",
      '%00%ff%c0%af%',
      '😀\u202e',
      '\r\nset-cookie: a=b',
      'http://[',
      'NaN',
      '-1',
      '00000000-0000-0000-0000-000000000000',
    ),
  },
  fc.constantFrom(255, 256, 3_000).map((length) => 'x'.repeat(length)),
  anyBytes(60),
  repeated('../', 12),
  repeated('x', 300).map((name) => `${name}@example.org`),
  repeated('y', 60_000),
)

/** Nonsense requests with some valid parts. */
function requestsWith({ bearers, texts }: ValidValues) {
  const valid = fc.constantFrom(...texts)
  const text = fc.oneof({ weight: 2, arbitrary: valid }, fc.constantFrom(...words), hostile)
  const quoted = (values: fc.Arbitrary<string>) => values.map((value) => JSON.stringify(value))

  /** JSON as text, because JavaScript values cannot express all of it, such as `1e999`. */
  const { json } = fc.letrec<{ json: string }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.constantFrom('null', 'true', 'false', '1e999', '-0', '1e-999', '9'.repeat(400), '0.1'),
      fc.constantFrom('"\\u0000"', '"\\ud800"', '"\\udc00\\ud800"', '{"\\u0000":1}', '{"\\ud800":null}'),
      { weight: 3, arbitrary: quoted(text) },
      fc.constantFrom(1, 100, 4_000, 20_000).map((depth) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`),
      fc.array(tie('json'), { maxLength: 3 }).map((items) => `[${items.join(',')}]`),
      fc
        .array(
          fc.tuple(quoted(text), tie('json')).map((member) => member.join(':')),
          { maxLength: 3 },
        )
        .map((members) => `{${members.join(',')}}`),
    ),
  }))
  const nonsense = fc.oneof(
    { weight: 2, arbitrary: json },
    fc.tuple(json, fc.nat(79)).map(([whole, length]) => whole.slice(0, length)),
    fc.constantFrom('', '\ufeff{}', '[]', 'null'),
    repeated('[', 20_000),
    repeated('\\u0061', 9_000).map((email) => `{"email":"${email}"}`),
    text.map((email) => new URLSearchParams({ email }).toString()),
    anyBytes(2_000),
    fc.constantFrom(262_143, 262_145).map((length) => 'y'.repeat(length)),
  )
  const changed = (fields: string[]) =>
    fc.array(
      fc.tuple(
        fc.oneof(
          { weight: 4, arbitrary: fc.constantFrom(...(fields.length > 0 ? fields : names)) },
          fc.constantFrom(...names),
        ),
        fc.oneof({ weight: 3, arbitrary: quoted(text) }, { weight: 2, arbitrary: json }),
      ),
      { maxLength: 2 },
    )
  /** A body with the fields of a call, up to two of them changed or added. Sometimes nonsense. */
  const bodyOf = (callFields: Record<string, unknown>) =>
    fc.oneof(
      {
        weight: 6,
        arbitrary: fc.tuple(valid, changed(Object.keys(callFields))).map(([validValue, changes]) => {
          const fields = Object.entries(callFields).map(([name, value]) => [
            name,
            JSON.stringify(value).replaceAll('"*"', () => JSON.stringify(validValue)),
          ])
          const values = new Map([...fields, ...changes].map(([name = '', value = '']) => [name, value]))
          return `{${[...values].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`
        }),
      },
      nonsense,
    )
  const encoded = (values: fc.Arbitrary<string>) =>
    fc.oneof(
      {
        weight: 4,
        arbitrary: values.map((value) => encodeURIComponent(Buffer.from(value).toString()).slice(0, 3_000)),
      },
      values.map((value) => value.slice(0, 3_000)),
    )
  const parameter = fc.oneof(
    {
      weight: 9,
      arbitrary: fc
        .tuple(
          encoded(
            fc.oneof(
              {
                weight: 7,
                arbitrary: fc.constantFrom(
                  'token',
                  'type',
                  'redirect_to',
                  'grant_type',
                  'scope',
                  'apikey',
                  '__proto__',
                ),
              },
              hostile,
            ),
          ),
          encoded(text),
        )
        .map((pair) => pair.join('=')),
    },
    hostile,
  )
  const query = fc.array(parameter, { maxLength: 3 }).map((parameters) => parameters.join('&'))
  const id = encoded(fc.oneof({ weight: 2, arbitrary: valid }, hostile, repeated('x', 300)))
  const otherMethod = fc.constantFrom(
    'GET',
    'HEAD',
    'PUT',
    'PATCH',
    'DELETE',
    'OPTIONS',
    'TRACE',
    'PROPFIND',
    'POST',
  )
  const targetOf = (call: string) => {
    const [method = '', path = ''] = call.split(' ')
    return fc
      .tuple(fc.oneof({ weight: 30, arbitrary: fc.constant(method) }, otherMethod), id, query)
      .map(([chosenMethod, chosenId, parameters]) => {
        const whole = path.replace(':id', () => chosenId)
        const target = `/auth/v1/${whole}${path.includes('?') ? '&' : '?'}${parameters}`
        return `${chosenMethod} ${target.replaceAll(lineEnds, '+').replaceAll(' ', '+')} HTTP/1.1`
      })
  }
  /** Makes a header optional. A `mostly` header is usually sent, and a `seldom` one once in `times` requests. */
  const mostly = (line: fc.Arbitrary<string>) => fc.option(line, { freq: 5, nil: '' })
  const seldom = (times: number, line: fc.Arbitrary<string>) =>
    fc.oneof({ weight: times - 1, arbitrary: fc.constant('') }, { weight: 1, arbitrary: line })
  const type = fc.oneof(
    { weight: 4, arbitrary: fc.constant('application/json') },
    fc.constantFrom('text/plain', 'application/x-www-form-urlencoded', 'x', '/', '', ';', 'a/b;c="'),
  )
  const bearer = fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(...bearers) },
    text.map((value) => `Bearer ${value}`),
  )
  const version = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('2024-01-01', '2099-12-31', '9999-99-99') },
    hostile,
  )
  const headerName = fc.constantFrom('redirect_to', 'referer', 'user-agent', 'origin', 'x-forwarded-host')
  const headers = fc
    .tuple(
      fc.option(fc.constant('apikey: public-anon-key'), { freq: 30, nil: '' }),
      mostly(type.map((value) => `content-type: ${value}`)),
      mostly(bearer.map((value) => `authorization: ${value}`)),
      seldom(
        5,
        version.map((value) => `x-supabase-api-version: ${value}`),
      ),
      seldom(
        10,
        fc.tuple(headerName, text).map((line) => line.join(': ')),
      ),
    )
    .map((lines) => lines.filter((line) => line !== '').map((line) => line.replaceAll(lineEnds, ' ')))
  const encoding = fc.oneof(
    { weight: 9, arbitrary: fc.constant('utf8' as const) },
    fc.constant('latin1' as const),
  )
  return fc.oneof(
    ...calls.map(([call, callFields]) =>
      fc.record({ target: targetOf(call), headers, body: bodyOf(callFields), encoding }),
    ),
  )
}

/** Sends one request. Returns everything that the server sent until it closed the connection. */
function exchange(request: Buffer) {
  const { hostname, port } = new URL(server.origin)
  return new Promise<string>((resolve) => {
    let response = ''
    const socket = connect(Number(port), hostname, () => socket.write(request))
    socket.on('data', (chunk) => (response += chunk.toString('latin1')))
    socket.on('error', () => resolve(response))
    socket.on('close', () => resolve(response))
  })
}

test(`${requests} nonsense requests to all calls get responses, and no response is a 5xx or has a stack trace`, async () => {
  const statuses = new Map<string, number>()
  const property = fc.asyncProperty(
    requestsWith(await createValidValues()),
    async ({ target, headers, body, encoding }) => {
      const content = Buffer.from(body, encoding)
      const always = [
        'host: fuzz',
        `x-forwarded-for: ${unusedIpAddress()}`,
        'connection: close',
        `content-length: ${content.length}`,
      ]
      const head = `${[target, ...headers, ...always].join('\r\n')}\r\n\r\n`
      const response = await exchange(Buffer.concat([Buffer.from(head, encoding), content]))
      const status = /^HTTP\/1\.1 (\d{3}) /.exec(response)?.[1] ?? 'none'
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      expect(response).toMatch(/^HTTP\/1\.1 [234]/)
      expect(response).not.toMatch(/\n\s+at .+:\d+:\d+/)
    },
  )
  await fc.assert(property, { seed, numRuns: requests })
  console.log('responses by status:', Object.fromEntries(statuses))
  // Checks that the requests reached more than the first checks of the server.
  expect([...statuses.keys()]).toEqual(
    expect.arrayContaining([
      '400',
      '401',
      '404',
      ...extent({ quick: [], long: ['200', '204', '303', '403', '413', '422', '429'] }),
    ]),
  )
  const { client, email } = await server.signedIn()
  expect((await client.auth.getUser()).data.user?.email).toBe(email)
})

test('values that no QR code, email or database can hold are refused or ignored, even from a signed-in organiser', async () => {
  const { client } = await server.signedIn()
  const headers = await bearerOf(client)
  const deep = (depth: number) => `{"data":{"a":${'['.repeat(depth)}${']'.repeat(depth)}}}`
  const factor = (issuer: string, name: string) =>
    JSON.stringify({ factor_type: 'totp', issuer, friendly_name: name })
  const requestsByName: Record<string, [call: string, body: string]> = {
    'an issuer that is half a character': ['POST factors', factor('\ud800', 'a')],
    'an issuer that is too long for a QR code': ['POST factors', factor('x'.repeat(4_000), 'b')],
    'an issuer with a NUL': ['POST factors', factor('\u0000', 'c')],
    'a name with a NUL': ['POST factors', factor('x', '\u0000')],
    'a name that is half a character': ['POST factors', factor('x', '\ud800')],
    'another name that is half a character': ['POST factors', factor('x', '\ud801')],
    'a long name': ['POST factors', factor('x', 'x'.repeat(10_000))],
    'data of 3,000 levels': ['PUT user', deep(3_000)],
    'data of 100,000 levels': ['PUT user', deep(100_000)],
    'data with a NUL': ['PUT user', '{"data":{"a":"\\u0000"}}'],
    'data with half a character': ['PUT user', '{"data":{"a":"\\ud800"}}'],
    'data with names that are invalid or special': [
      'PUT user',
      '{"data":{"\\u0000":null,"__proto__":{"a":1},"":2}}',
    ],
    'data with numbers out of range': ['PUT user', '{"data":{"a":1e999,"b":-0,"c":1e-999}}'],
    'an address with half a character': ['PUT user', '{"email":"a@\\ud800.example"}'],
    'a password with a NUL': ['PUT user', '{"password":"abc\\u0000defgh"}'],
    'a password of half characters': ['PUT user', `{"password":"${'\\ud800'.repeat(20)}"}`],
  }
  for (const [what, [call, body]] of Object.entries(requestsByName)) {
    const [method = '', path = ''] = call.split(' ')
    const response = await fetch(`${server.origin}/auth/v1/${path}`, {
      method,
      headers: { apikey: 'public-anon-key', 'x-forwarded-for': unusedIpAddress(), ...headers },
      body,
    })
    const status = what === 'data with numbers out of range' ? 200 : 400
    expect.soft(response.status, `${what}: ${await response.text()}`).toBe(status)
  }
})

test.each([
  ['too deeply nested', `{"a":${'{"a":'.repeat(3_000)}1${'}'.repeat(3_000)}}`],
  ['too long for a token', `{"a":"${'x'.repeat(100_000)}"}`],
])('account data that are %s are refused, and the organiser can still sign in', async (_how, data) => {
  const { client, email } = await server.signedIn()
  const headers = await bearerOf(client)
  const response = await fetch(`${server.origin}/auth/v1/user`, {
    method: 'PUT',
    headers: { apikey: 'public-anon-key', 'x-forwarded-for': unusedIpAddress(), ...headers },
    body: `{"data":${data}}`,
  })
  expect(response.status).toBe(400)
  // The data would be in each later token, also in those of the account's owner if a thief sent the data.
  const signedIn = await server.client().auth.verifyOtp({
    type: 'magiclink',
    token_hash: await operatorSecret(server.database.owner, email),
  })
  expect(signedIn.error).toBeNull()
  const user = await server.call('GET', 'user', undefined, {
    authorization: `Bearer ${signedIn.data.session?.access_token}`,
  })
  expect(user.status).toBe(200)
})
