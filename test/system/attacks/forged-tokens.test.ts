import { connect } from 'node:net'
import { exportSPKI, generateKeyPair, importJWK, exportJWK, SignJWT, type JWK, type JWTPayload } from 'jose'
import { beforeAll, expect, test } from 'vitest'

import { operatorSecret } from '../../../src/server/auth/manage-organisers.ts'
import {
  unusedIpAddress,
  readResponse,
  startSignIn,
  type SignInServer,
} from '../../support/sign-in-server.ts'

let server: SignInServer

beforeAll(async () => {
  server = await startSignIn()
})

/** Signs an organiser in. Returns the access token with its parts, and the key that signed it. */
async function signedInToken() {
  const { client, email } = await server.signedIn()
  const { data } = await client.auth.getSession()
  const token = data.session?.access_token ?? ''
  const [header = '', payload = '', signature = ''] = token.split('.')
  const [row] = await server.database.owner<{ jwk: JWK; kid: string }[]>`
    select jwk, kid from private.signing_keys where retired_at is null`
  const { jwk, kid } = row ?? { jwk: {}, kid: '' }
  const { keys } = (await (await server.call('GET', '.well-known/jwks.json')).json()) as { keys: JWK[] }
  return {
    token,
    header,
    payload,
    signature,
    email,
    claims: JSON.parse(Buffer.from(payload, 'base64url').toString()) as JWTPayload,
    kid,
    key: await importJWK(jwk, 'ES256'),
    published: keys[0] ?? {},
  }
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Sends a token to the sign-in and to the desk. Returns the sign-in's response, and the desk's status. */
async function responsesTo(token: string) {
  const headers = { apikey: 'public-anon-key', authorization: `Bearer ${token}` }
  const user = await fetch(`${server.origin}/auth/v1/user`, { headers })
  const desk = await fetch(`${server.origin}/rest/v1/rpc/desk_me`, { method: 'POST', headers })
  return { user: { status: user.status, text: await user.text() }, desk: desk.status }
}

/** Returns a description of each token that the sign-in or the desk does not refuse as invalid. */
async function acceptedTokens(tokens: Record<string, string>) {
  const problems: string[] = []
  for (const [what, token] of Object.entries(tokens)) {
    const { user, desk } = await responsesTo(token)
    const isRefused = [401, 403].includes(user.status) && /"(bad_jwt|no_authorization)"/.test(user.text)
    if (!isRefused || desk !== 401) problems.push(`${what}: ${user.status} ${user.text}, the desk ${desk}`)
  }
  return problems
}

test('a token without a signature, or with a signature made from public values, is refused', async () => {
  const { token, header, payload, signature, claims, kid, published } = await signedInToken()
  const hs256 = async (secret: string | Uint8Array, keyId?: string) =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT', ...(keyId === undefined ? {} : { kid: keyId }) })
      .sign(typeof secret === 'string' ? new TextEncoder().encode(secret) : secret)
  const pem = await exportSPKI((await importJWK(published, 'ES256')) as CryptoKey)
  const { x = '', y = '' } = published
  const secrets = [
    JSON.stringify(published),
    JSON.stringify({ keys: [published] }),
    pem,
    `${pem}\n`,
    pem.replaceAll(/-----.*-----|\s/g, ''),
    Buffer.from(pem.replaceAll(/-----.*-----|\s/g, ''), 'base64'),
    Buffer.concat([Buffer.from([4]), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]),
    x,
    kid,
    'public-anon-key',
    'authenticated',
  ]
  const forged: Record<string, string> = {}
  for (const alg of ['none', 'None', 'NONE', 'nOnE', '', null]) {
    for (const extra of [{}, { kid }]) {
      const unsigned = `${encode({ alg, typ: 'JWT', ...extra })}.${payload}.`
      forged[`alg ${alg}, ${JSON.stringify(extra)}`] = unsigned
      forged[`alg ${alg}, ${JSON.stringify(extra)}, with the signature`] = unsigned + signature
    }
  }
  for (const [index, secret] of secrets.entries()) {
    forged[`HS256 with public value ${index}`] = await hs256(secret)
    forged[`HS256 with public value ${index}, and the key's name`] = await hs256(secret, kid)
  }
  const changedPayload = encode({ ...claims, sub: '00000000-0000-4000-8000-000000000000' })
  forged['no signature'] = `${header}.${payload}.`
  forged['two parts'] = `${header}.${payload}`
  forged['four parts'] = `${token}.${signature}`
  forged['five parts'] = `${header}.${payload}.${signature}.${payload}.${signature}`
  forged['a signature of zeros'] = `${header}.${payload}.${Buffer.alloc(64).toString('base64url')}`
  forged['half a signature'] = `${header}.${payload}.${signature.slice(0, 43)}`
  forged['claims changed after signing'] = `${header}.${changedPayload}.${signature}`
  forged['HS256 written over ES256'] = `${encode({ alg: 'HS256', kid, typ: 'JWT' })}.${payload}.${signature}`
  forged['the public API key, three times'] = 'public-anon-key.public-anon-key.public-anon-key'
  expect(await acceptedTokens(forged)).toEqual([])
  expect(await responsesTo(token)).toMatchObject({ user: { status: 200 }, desk: 200 })
})

test('a token signed by another key is refused, whatever its header says about the key', async () => {
  const { claims, kid } = await signedInToken()
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
  const foreignKey = await exportJWK(publicKey)
  const rsa = await generateKeyPair('RS256')
  const p384 = await generateKeyPair('ES384')
  const sign = (header: Record<string, unknown>, payload: JWTPayload = claims, key = privateKey) =>
    new SignJWT(payload).setProtectedHeader({ alg: 'ES256', typ: 'JWT', ...header }).sign(key)
  const forged = {
    'our kid': await sign({ kid }),
    'no kid': await sign({}),
    'a kid that is not known': await sign({ kid: 'b9f1e5a8-0000-4000-8000-000000000000' }),
    'a long kid': await sign({ kid: 'x'.repeat(8_000) }),
    'a kid that is a path': await sign({ kid: '../../../../dev/null' }),
    'a kid that is SQL': await sign({ kid: "' or true --" }),
    'a kid that names a property of every JavaScript object': await sign({ kid: '__proto__' }),
    'a kid with a NUL': await sign({ kid: '\u0000' }),
    'its own key': await sign({ jwk: foreignKey }),
    'its own key and our kid': await sign({ jwk: { ...foreignKey, kid }, kid }),
    'an address of keys': await sign({ jku: `${server.origin}/keys.json`, kid }),
    'an address of certificates': await sign({ x5u: `${server.origin}/keys.pem`, x5c: ['AA=='], kid }),
    RS256: await sign({ alg: 'RS256', kid }, claims, rsa.privateKey),
    ES384: await sign({ alg: 'ES384', kid }, claims, p384.privateKey),
    service_role: await sign({ kid }, { ...claims, role: 'service_role' }),
    postgres: await sign({ kid }, { ...claims, role: 'postgres' }),
    anon: await sign({ kid }, { ...claims, role: 'anon' }),
    supabase_admin: await sign({ kid }, { ...claims, role: 'supabase_admin', aud: '' }),
  }
  expect(await acceptedTokens(forged)).toEqual([])
})

// break: foreign-audience-accepted
test('a correctly signed token that has expired, never expires, or is for another audience or role is refused', async () => {
  const { claims, kid, key, email } = await signedInToken()
  const sign = (payload: JWTPayload) =>
    new SignJWT(payload).setProtectedHeader({ alg: 'ES256', kid, typ: 'JWT' }).sign(key)
  const { exp = 0, iat = 0, ...endless } = claims
  const forged = {
    expired: await sign({ ...claims, exp: iat - 1 }),
    'without an expiry': await sign(endless),
    'an expiry that is no number': await sign({ ...claims, exp: `${exp}` as never }),
    'not valid yet': await sign({ ...claims, nbf: exp }),
    'for nobody': await sign({ ...claims, aud: '' }),
    'for somebody else': await sign({ ...claims, aud: 'anon' }),
    'for several others': await sign({ ...claims, aud: ['anon', 'service_role'] }),
    'with an extension that is not known': await new SignJWT(claims)
      .setProtectedHeader({ alg: 'ES256', kid, crit: ['x'], x: 1 })
      .sign(key, { crit: { x: true } }),
  }
  expect(await acceptedTokens(forged)).toEqual([])
  // A role comes from the account, so a token with another role is refused even if its signature is right.
  for (const role of ['service_role', 'postgres', 'anon', 'authenticated; reset role', '', null]) {
    const { desk } = await responsesTo(await sign({ ...claims, role }))
    expect(desk, `for ${role}`).toBe(401)
  }
  const validResponses = await responsesTo(await sign(claims))
  expect(validResponses).toMatchObject({
    user: { status: 200, text: expect.stringContaining(email) as string },
    desk: 200,
  })
})

test('a refresh token, a PKCE code or the public API key (anon) is refused as a bearer token', async () => {
  const { client } = await server.signedIn()
  const { data } = await client.auth.getSession()
  for (const bearer of [data.session?.refresh_token ?? '', crypto.randomUUID(), 'a.b.c', '..', '']) {
    const { user, desk } = await responsesTo(bearer)
    expect([401, 403], `for ${bearer}`).toContain(user.status)
    expect(desk, `for ${bearer}`).toBe(401)
  }
  const { user, desk } = await responsesTo('public-anon-key')
  expect(user.status).toBe(403)
  expect(desk).toBe(401)
})

/** Redirect targets with which an attacker could request a link. The link must lead to the desk instead. */
function foreignTargets(site: string) {
  const { protocol, host, origin, hostname } = new URL(site)
  const isLoopback = hostname === '127.0.0.1'
  return [
    'https://evil.example/',
    '//evil.example/',
    '///evil.example/',
    '/\\evil.example',
    '\\\\evil.example',
    'https:evil.example',
    'https:/evil.example',
    'https:\\\\evil.example',
    ' https://evil.example/',
    'ht\ntps://evil.example/',
    'https://evil\u3002example/',
    `https://evil.example/${site}`,
    `https://evil.example/?${site}`,
    `https://evil.example/#${site}`,
    `https://evil.example\\@${host}/desk`,
    `https://evil.example%2f@${host}/desk`,
    `${origin}.evil.example/desk`,
    `${origin}@evil.example/desk`,
    `${origin}:80@evil.example/desk`,
    `${origin}%40evil.example/desk`,
    `${protocol}//somebody@${host}/desk`,
    `${protocol}//somebody:secret@${host}/desk`,
    `${protocol}//@${host}/desk`,
    `${protocol}${host}/desk`,
    `${protocol}\\\\${host}/desk`,
    `view-source:${site}`,
    `blob:${site}/desk`,
    `filesystem:${site}/desk`,
    'javascript:alert(1)//',
    `javascript://${host}/%0aalert(1)`,
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'file:///etc/passwd',
    'mailto:evil@evil.example',
    'null',
    'null:',
    'about:blank',
    'ftp://localhost/',
    'ws://localhost/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0x7f.1/',
    'http://0177.0.0.1/',
    'http://127.1/',
    'http://0/',
    'http://0.0.0.0/',
    'http://[::]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[0:0:0:0:0:0:0:1]/',
    'http://127.0.0.1.evil.example/',
    'http://localhost.evil.example/',
    'http://localhost@evil.example/',
    'http://evil.example@localhost/',
    'http://localhost%2eevil.example/',
    'http://\u24db\u24de\u24d2\u24d0\u24db\u24d7\u24de\u24e2\u24e3/',
    'http://localhost\u0000.evil.example/',
    'http://10.0.0.1/',
    'http://192.168.0.1/',
    'http://169.254.169.254/latest/meta-data/',
    'desk',
    '/desk',
    '../desk',
    '?x',
    '#x',
    'x'.repeat(5_000),
    // The application form, in all spellings of its address.
    site,
    `${site}/`,
    `${site}//`,
    `${site}/.`,
    `${site}/?`,
    `${site}/?x=1`,
    `${site}/#x`,
    `${site}?x=1`,
    `${site}#/desk`,
    `${site}/%2e`,
    `${site}/desk/..`,
    `${site}/desk/../`,
    `${site}/desk/%2e%2e`,
    `${site}/desk/.%2E/`,
    `${site}/desk\\..`,
    `${site}/\t`,
    ...(isLoopback
      ? []
      : [
          ...targetsOnThisMachine,
          `${protocol}//${host}:444/desk`,
          `http://${host}/desk`,
          `${protocol}//${host}./desk`,
        ]),
    ...(new URL(site).pathname === '/'
      ? []
      : [
          origin,
          `${origin}/`,
          `${origin}/desk`,
          `${site}evil/desk`,
          `${site.toUpperCase()}/desk`,
          `${site}/../desk`,
          `${site}/%2e%2e/desk`,
          `${site}/..\\desk`,
          `${site}/..%2fdesk`,
          `${site}/%2e%2e%2fdesk`,
          `${site}/..%5cdesk`,
        ]),
  ]
}

const targetsOnThisMachine = [
  'http://localhost:5173/',
  'http://127.0.0.1:8080/callback?a=b',
  'http://127.1.2.3/',
  'http://[::1]:9/x',
]

/** The redirect targets that a request for a link may name. */
const allowedTargets = (site: string) => [
  `${site}/desk`,
  `${site}/desk?x=1`,
  `${site}/desk/a%20b`,
  ...(site.startsWith('http:') ? targetsOnThisMachine : []),
]

/** The target of a redirect, without the parameters in which the sign-in returns its result. */
const withoutResult = (location: string | null) => {
  const url = new URL(location ?? 'nowhere:')
  for (const name of ['error', 'error_code', 'error_description', 'code']) url.searchParams.delete(name)
  url.hash = ''
  return url.href
}

test.each([
  ['without SITE_URL', undefined],
  ['with SITE_URL', 'https://retreat.example.org'],
  ['with a SITE_URL that has a path', 'https://example.org/re/treat'],
  ['with a SITE_URL that ends in a slash', 'https://example.org/retreat/'],
])(
  '%s, a link leads to a page below the site (or anywhere on this machine if the site is there), and never to the form',
  async (_how, siteUrl) => {
    const freshServer = await server.another({ siteUrl })
    const site = (siteUrl ?? freshServer.origin).replace(/\/$/, '')
    const desk = `${site}/desk`
    const targets = [
      ...foreignTargets(site).map((target) => [target, desk] as const),
      ...allowedTargets(site).map((target) => [target, new URL(target).href] as const),
    ]
    for (const [target, expected] of targets) {
      for (const token of ['nothing', 'pkce_nothing']) {
        const query = new URLSearchParams({ token, type: 'magiclink', redirect_to: target })
        const response = await freshServer.call('GET', `verify?${query.toString()}`)
        expect(response.status, `for ${target}`).toBe(303)
        expect(withoutResult(response.headers.get('location')), `for ${target}`).toBe(expected)
      }
    }
    const repeatedTarget =
      'verify?token=x&type=magiclink&redirect_to=https://evil.example/&redirect_to=https://evil.example/'
    const twice = await freshServer.call('GET', repeatedTarget)
    expect(withoutResult(twice.headers.get('location'))).toBe(desk)
    await freshServer.close()
  },
)

test.each([
  ['without SITE_URL', undefined],
  ['with SITE_URL', 'https://example.org/retreat'],
])(
  '%s, the only link in an email leads to the site, and from there only to pages below it',
  async (_how, siteUrl) => {
    const freshServer = await server.another({ siteUrl })
    const site = siteUrl ?? freshServer.origin
    const targetOfEmail = async (path: string, isPkce: boolean, headers: Record<string, string> = {}) => {
      const email = await server.organiser()
      const challenge = { code_challenge: 'x'.repeat(43), code_challenge_method: 'plain' }
      const body = { email, ...(isPkce ? challenge : {}) }
      expect(await readResponse(freshServer.call('POST', path, body, headers))).toEqual({
        status: 200,
        body: {},
      })
      const [mail] = await server.mail.waitFor(1, email)
      expect(mail?.text).not.toContain('evil')
      // The page at this link has a button, so that an email scanner that opens the link does not use it up.
      if (!isPkce && mail?.link.startsWith(`${site}/desk#token_hash=`)) return 'the button'
      expect(mail?.link).toMatch(new RegExp(`^${site}/auth/v1/verify\\?`))
      const opened = await fetch((mail?.link ?? '').replace(site, freshServer.origin), {
        redirect: 'manual',
        headers: { 'x-forwarded-for': unusedIpAddress() },
      })
      const location = opened.headers.get('location') ?? ''
      // Checks that the link signs in.
      expect(location).toMatch(isPkce ? /[?&]code=/ : /#access_token=/)
      return withoutResult(location)
    }
    // Every third target is enough, because the test above tries all of them.
    const hostile = foreignTargets(site).filter((target, index) => target.length < 1_000 && index % 3 === 0)
    const targets = [
      ...hostile.map((target) => [target, `${site}/desk`] as const),
      ...allowedTargets(site).map((target) => [target, new URL(target).href] as const),
    ]
    await Promise.all(
      targets.map(async ([target, expectedTarget], index) => {
        const path = index % 3 ? 'otp' : 'recover'
        const isToDesk = new URL(expectedTarget).pathname === new URL(`${site}/desk`).pathname
        const expected = (isPkce: boolean) => (isToDesk && !isPkce ? 'the button' : expectedTarget)
        const query = new URLSearchParams({ redirect_to: target }).toString()
        expect(await targetOfEmail(`${path}?${query}`, index % 2 === 0), `for ${target}`).toBe(
          expected(index % 2 === 0),
        )
        // A header can only have ASCII characters.
        if (!/^[\x21-\x7e]+$/.test(target)) return
        const headers = {
          redirect_to: target,
          referer: 'https://evil.example/',
          origin: 'https://evil.example',
        }
        expect(await targetOfEmail(path, index % 2 === 1, headers), `for ${target} in a header`).toBe(
          expected(index % 2 === 1),
        )
      }),
    )
  },
)

test('without SITE_URL, a link does not lead to the form at `localhost` either', async () => {
  const { port } = new URL(server.origin)
  for (const target of [`http://localhost:${port}/`, `http://localhost:${port}`]) {
    const query = new URLSearchParams({ token: 'x', type: 'magiclink', redirect_to: target })
    const response = await server.call('GET', `verify?${query.toString()}`)
    expect(withoutResult(response.headers.get('location')), `for ${target}`).toBe(`${server.origin}/desk`)
  }
})

/** Sends a request with this head, whose `host` may be any. Returns the whole response. */
function sendRaw(origin: string, head: string[], body = '') {
  const { hostname, port } = new URL(origin)
  return new Promise<string>((resolve) => {
    let response = ''
    const socket = connect(Number(port), hostname, () =>
      socket.write(
        `${head.join('\r\n')}\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
      ),
    )
    socket.on('data', (chunk) => (response += chunk.toString('latin1')))
    socket.on('close', () => resolve(response))
  })
}

test.each([
  ['without SITE_URL', undefined],
  ['with SITE_URL', 'https://example.org/retreat'],
])(
  '%s, no header of a request changes the target of a link or the issuer of a token',
  async (_how, siteUrl) => {
    const freshServer = await server.another({ siteUrl })
    const site = siteUrl ?? freshServer.origin
    const hostileHeaders = [
      'host: evil.example',
      'apikey: public-anon-key',
      'content-type: application/json',
      'x-forwarded-host: evil.example',
      'x-forwarded-proto: evil',
      'x-forwarded-port: 666',
      'x-forwarded-prefix: /evil',
      'x-forwarded-server: evil.example',
      'x-forwarded-for: 198.51.100.7',
      'x-original-url: /evil',
      'x-rewrite-url: /evil',
      'x-host: evil.example',
      'forwarded: for=198.51.100.7;host=evil.example;proto=evil',
      'referer: https://evil.example/',
      'origin: https://evil.example',
    ]
    const email = await server.organiser()
    await sendRaw(
      freshServer.origin,
      ['POST /auth/v1/otp HTTP/1.1', ...hostileHeaders],
      JSON.stringify({ email }),
    )
    const [mail] = await server.mail.waitFor(1, email)
    expect(mail?.link).toMatch(new RegExp(`^${site}/desk#token_hash=[0-9a-f]{64}&type=magiclink$`))
    expect(mail?.text.toLowerCase()).not.toContain('evil')
    const body = JSON.stringify({ type: 'email', email, token: mail?.code })
    const signedIn = await sendRaw(
      freshServer.origin,
      ['POST /auth/v1/verify HTTP/1.1', ...hostileHeaders],
      body,
    )
    const [, payload = ''] = /"access_token":"[\w-]+\.([\w-]+)\./.exec(signedIn) ?? []
    expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toMatchObject({ iss: `${site}/auth/v1` })
    const secret = await operatorSecret(server.database.owner, email)
    const opened = await sendRaw(freshServer.origin, [
      `GET /auth/v1/verify?type=magiclink&token=${secret} HTTP/1.1`,
      ...hostileHeaders,
    ])
    expect(opened).toMatch(/^HTTP\/1\.1 303 /)
    expect(opened).toContain(`\r\nlocation: ${site}/desk#access_token=`)
    // The request line may also have an absolute URL.
    const absolute = await sendRaw(freshServer.origin, [
      'GET http://evil.example/auth/v1/verify?type=magiclink&token=x HTTP/1.1',
      ...hostileHeaders,
    ])
    expect(absolute).not.toMatch(/\r\nlocation: [^\r]*evil/)
  },
)
