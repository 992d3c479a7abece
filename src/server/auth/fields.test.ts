import fastify, { type FastifyInstance } from 'fastify'
import { beforeAll, expect, test } from 'vitest'

import { acceptBytes } from '../http/large-requests.ts'
import { sendError } from './errors.ts'
import { challengeOf, checkPhone, emailOf, fieldsOf } from './fields.ts'
import { isUuid } from '../database/uuid.ts'

let app: FastifyInstance

beforeAll(async () => {
  app = fastify()
  acceptBytes(app, (_length, turn) => turn())
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
  'a body is JSON, even as %s',
  async (type) => {
    const answer = await send('{"name":"é","create":false,"data":{"a":[1]}}', type)
    expect(answer.json()).toEqual({ fields: { name: 'é', create: false, data: { a: [1] } } })
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
  ['nothing', ''],
  ['half an object', '{"name":"a"'],
  ['a form', 'name=a'],
  ['an array', '[{"name":"a"}]'],
  ['a text', '"name"'],
  ['a number', '1'],
  ['a number for a text', '{"name":1}'],
  ['an object for a text', '{"name":{}}'],
  ['a text for a flag', '{"create":"true"}'],
  ['a number for a flag', '{"create":0}'],
  ['a text for an object', '{"data":"{}"}'],
  ['an array for an object', '{"data":[]}'],
  ['a NUL in a text', '{"name":"a\\u0000b"}'],
  ['half a sign in a text', '{"name":"\\ud800"}'],
  ['bytes that are no text', Buffer.from('{"name":"\xff"}', 'latin1')],
])('%s is refused as no JSON that the call can read', async (_what, body) => {
  const answer = await send(body)
  expect(answer.statusCode).toBe(400)
  expect(answer.json()).toEqual({
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
  ['jo@bücher.example', 'jo@bücher.example'],
  [`${'a'.repeat(243)}@example.org`, `${'a'.repeat(243)}@example.org`],
])('%s is an address', (given, stored) => {
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
  ['jo@-', 'Unable to validate email address: '],
])('"%s" is no address', (given, message) => {
  const refusal = refusalOf(() => emailOf(given))
  expect(refusal).toMatchObject({ status: 400, code: 'validation_failed' })
  expect(refusal).toMatchObject({ message: expect.stringContaining(message) })
})

test.each(['+4930123456', '4930123456', '+49 30 123456', '12'])('%s is a number', (phone) => {
  expect(refusalOf(() => checkPhone(phone))).toBeUndefined()
})

test.each(['0301234', '+0301234', '1', '1234567890123456', '++4930', '49-30', 'jo', '٤٩٣٠١٢'])(
  '%s is no number',
  (phone) => {
    expect(refusalOf(() => checkPhone(phone))).toMatchObject({
      status: 400,
      code: 'validation_failed',
      message: 'Invalid phone number format (E.164 required)',
    })
  },
)

const longEnough = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNO~._-'

test('a challenge is optional, and its method is known in any case', () => {
  expect(challengeOf({ code_challenge: '', code_challenge_method: '' })).toBeUndefined()
  for (const [given, method] of [
    ['s256', 's256'],
    ['S256', 's256'],
    ['plain', 'plain'],
    ['Plain', 'plain'],
  ] as const) {
    expect(challengeOf({ code_challenge: longEnough, code_challenge_method: given })).toEqual({
      method,
      challenge: longEnough,
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
  [longEnough, '', 'PKCE flow requires code_challenge_method and code_challenge'],
  ['a'.repeat(42), 's256', 'code challenge has to be between 43 and 128 characters'],
  ['a'.repeat(129), 's256', 'code challenge has to be between 43 and 128 characters'],
  [`${longEnough}+`, 's256', 'code challenge'],
  [`${longEnough}é`, 's256', 'code challenge'],
  [`${longEnough}\n`, 's256', 'code challenge'],
  [longEnough, 's512', 'code_challenge_method'],
])('the challenge "%s" by "%s" is refused', (challenge, method, message) => {
  const refusal = refusalOf(() => challengeOf({ code_challenge: challenge, code_challenge_method: method }))
  expect(refusal).toMatchObject({ status: 400, code: 'validation_failed' })
  expect(refusal).toMatchObject({ message: expect.stringContaining(message) })
})

test('a UUID is valid in any case, and only alone', () => {
  const id = '0f6e2c1a-5b7d-4a3e-9c8f-001122334455'
  expect(isUuid(id)).toBe(true)
  expect(isUuid(id.toUpperCase())).toBe(true)
  for (const text of [
    '',
    'x',
    ` ${id}`,
    `${id}\n`,
    id.replaceAll('-', ''),
    `{${id}}`,
    id.replace('f', 'g'),
  ]) {
    expect(isUuid(text)).toBe(false)
  }
})

/** The error of a check; undefined where it passes. */
function refusalOf(check: () => unknown): unknown {
  try {
    check()
  } catch (error) {
    return error
  }
  return undefined
}
