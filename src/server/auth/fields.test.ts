import fastify, { type FastifyInstance } from 'fastify'
import { beforeAll, expect, test } from 'vitest'

import { acceptBodies } from '../http/large-requests.ts'
import { sendError } from './error-response.ts'
import { challengeOf, checkPhone, emailOf, fieldsOf } from './fields.ts'

let app: FastifyInstance

beforeAll(async () => {
  app = fastify()
  acceptBodies(app, (_length, done) => done())
  app.setErrorHandler(sendError)
  app.post('/', async (request) => ({
    fields: fieldsOf(request, { name: 'text', create: 'flag', data: 'object' }),
  }))
  await app.ready()
})

const send = (payload: string | Buffer, type?: string) =>
  app.inject({
    method: 'POST',
    url: '/',
    payload,
    headers: type === undefined ? {} : { 'content-type': type },
  })

test.each([undefined, 'application/json', 'text/plain;charset=UTF-8', 'application/x-www-form-urlencoded'])(
  'a body is read as JSON, even if its content type is %s',
  async (type) => {
    const response = await send('{"name":"é","create":false,"data":{"a":[1]}}', type)
    expect(response.json()).toEqual({ fields: { name: 'é', create: false, data: { a: [1] } } })
  },
)

test('null means absent, and unknown fields are ignored', async () => {
  const absent = { fields: { name: '' } }
  expect((await send('{}')).json()).toEqual(absent)
  expect((await send('null')).json()).toEqual(absent)
  expect((await send('{"name":null,"create":null,"data":null}')).json()).toEqual(absent)
  expect((await send('{"role":"admin","__proto__":{"name":"x"},"gotrue_meta_security":5}')).json()).toEqual(
    absent,
  )
})

test.each([
  ['an empty body', ''],
  ['half an object', '{"name":"a"'],
  ['a form', 'name=a'],
  ['an array', '[{"name":"a"}]'],
  ['a text', '"name"'],
  ['a number', '1'],
  ['a number in a text field', '{"name":1}'],
  ['an object in a text field', '{"name":{}}'],
  ['a text in a flag field', '{"create":"true"}'],
  ['a number in a flag field', '{"create":0}'],
  ['a text in an object field', '{"data":"{}"}'],
  ['an array in an object field', '{"data":[]}'],
  ['a NUL in a text', '{"name":"a\\u0000b"}'],
  ['half a surrogate pair in a text', '{"name":"\\ud800"}'],
  ['bytes that are not UTF-8', Buffer.from('{"name":"\xff"}', 'latin1')],
])('%s is refused as unreadable JSON', async (_what, body) => {
  const response = await send(body)
  expect(response.statusCode).toBe(400)
  expect(response.json()).toEqual({
    code: 400,
    error_code: 'bad_json',
    msg: expect.stringMatching(/^Could not parse request body as JSON: ./),
  })
})

test.each([
  ['jo@example.org', 'jo@example.org'],
  ['Jo.De+1@Example.ORG', 'jo.de+1@example.org'],
  ["o'hara!#$%&*/=?^_`{|}~-@example.org", "o'hara!#$%&*/=?^_`{|}~-@example.org"],
  ['jo@localhost', 'jo@localhost'],
  ['jo@bücher.example', 'jo@xn--bcher-kva.example'],
  ['Jo@BÜCHER.example', 'jo@xn--bcher-kva.example'],
  ['jo@XN--bcher-kva.example', 'jo@xn--bcher-kva.example'],
  ['jo@1.2', 'jo@1.2'],
  [`${'a'.repeat(243)}@example.org`, `${'a'.repeat(243)}@example.org`],
])('%s is accepted as an email address', (given, stored) => {
  expect(emailOf(given)).toBe(stored)
})

test.each([
  ['', 'An email address is required'],
  [`${'a'.repeat(244)}@example.org`, 'An email address is too long'],
  ['jo', 'Unable to validate email address: '],
  ['@example.org', 'Unable to validate email address: '],
  ['jo@', 'Unable to validate email address: '],
  ['jo@@example.org', 'Unable to validate email address: '],
  ['jo@example.org@example.com', 'Unable to validate email address: '],
  ['jo de@example.org', 'Unable to validate email address: '],
  [' jo@example.org', 'Unable to validate email address: '],
  ['jo@example.org ', 'Unable to validate email address: '],
  ['jo@example.org\n', 'Unable to validate email address: '],
  ['jo@example.org\r\nBcc: all@example.org', 'Unable to validate email address: '],
  ['"jo"@example.org', 'Unable to validate email address: '],
  ['jö@example.org', 'Unable to validate email address: '],
  ['jo\0@example.org', 'Unable to validate email address: '],
  ['jo@example.org, ann@example.org', 'Unable to validate email address: '],
  ['Jo <jo@example.org>', 'Unable to validate email address: '],
  ['jo@\ufffd.example', 'Unable to validate email address: '],
  ['jo@-', 'Unable to validate email address: '],
])('"%s" is refused as an email address', (given, message) => {
  const refusal = refusalOf(() => emailOf(given))
  expect(refusal).toMatchObject({ status: 400, code: 'validation_failed' })
  expect(refusal).toMatchObject({ message: expect.stringContaining(message) })
})

test.each(['+4930123456', '4930123456', '+49 30 123456', '12'])(
  '%s is accepted as a phone number',
  (phone) => {
    expect(refusalOf(() => checkPhone(phone))).toBeUndefined()
  },
)

test.each(['0301234', '+0301234', '1', '1234567890123456', '++4930', '49-30', 'jo', '٤٩٣٠١٢'])(
  '%s is refused as a phone number',
  (phone) => {
    expect(refusalOf(() => checkPhone(phone))).toMatchObject({
      status: 400,
      code: 'validation_failed',
      message: 'Invalid phone number format (E.164 required)',
    })
  },
)

const validChallenge = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNO~._-'

test('a challenge is optional, and its method may be in upper or lower case', () => {
  expect(challengeOf({ code_challenge: '', code_challenge_method: '' })).toBeUndefined()
  for (const [given, method] of [
    ['s256', 's256'],
    ['S256', 's256'],
    ['plain', 'plain'],
    ['Plain', 'plain'],
  ] as const) {
    expect(challengeOf({ code_challenge: validChallenge, code_challenge_method: given })).toEqual({
      method,
      challenge: validChallenge,
    })
  }
  for (const challenge of ['a'.repeat(43), 'a'.repeat(128)]) {
    expect(challengeOf({ code_challenge: challenge, code_challenge_method: 's256' })).toMatchObject({
      challenge,
    })
  }
})

test.each([
  ['', 's256', 'PKCE flow requires code_challenge_method and code_challenge'],
  [validChallenge, '', 'PKCE flow requires code_challenge_method and code_challenge'],
  ['a'.repeat(42), 's256', 'code challenge has to be between 43 and 128 characters'],
  ['a'.repeat(129), 's256', 'code challenge has to be between 43 and 128 characters'],
  [`${validChallenge}+`, 's256', 'code challenge'],
  [`${validChallenge}é`, 's256', 'code challenge'],
  [`${validChallenge}\n`, 's256', 'code challenge'],
  [validChallenge, 's512', 'code_challenge_method'],
])('the challenge "%s" with the method "%s" is refused', (challenge, method, message) => {
  const refusal = refusalOf(() => challengeOf({ code_challenge: challenge, code_challenge_method: method }))
  expect(refusal).toMatchObject({ status: 400, code: 'validation_failed' })
  expect(refusal).toMatchObject({ message: expect.stringContaining(message) })
})

/** The error of a check; undefined if it passes. */
function refusalOf(check: () => unknown): unknown {
  try {
    check()
  } catch (error) {
    return error
  }
  return undefined
}
