import { afterEach, expect, test, vi } from 'vitest'

import { keyHeaders } from './public-key.ts'
import { parseResponse, requestOf, send } from './rest.ts'

afterEach(() => vi.unstubAllGlobals())

test.each([
  ['a.b.c', true],
  ['eyJ_-1.eyJ_-2.sig_-3', true],
  ['sb_publishable_key', false],
  ['a.b.c.d', false],
  ['a.b', false],
  ['a..c', false],
  ['a.b.', false],
  ['.b.c', false],
])('the key %s is also sent as a bearer token: %s', (key, expected) => {
  const bearer = { Authorization: `Bearer ${key}` }
  expect(keyHeaders(key)).toEqual({ apikey: key, ...(expected && bearer) })
})

test.each([
  ['https://project.example', 'https://project.example/rest/v1/x'],
  ['https://project.example/folder/', 'https://project.example/folder/rest/v1/x'],
  [null, 'https://site.example/retreat/rest/v1/x'],
])('the data interface of the backend %s is at %s', (url, address) => {
  vi.stubGlobal('location', { href: 'https://site.example/retreat/index.html' })
  expect(requestOf({ url, anonKey: 'key' }, 'x', {}).url).toBe(address)
})

test.each([
  ['key', undefined, undefined],
  ['key', 'token', 'Bearer token'],
  ['a.b.c', undefined, 'Bearer a.b.c'],
  ['a.b.c', 'token', 'Bearer token'],
])('JSON is posted with the key %s and the token %s', (anonKey, token, bearer) => {
  const { init } = requestOf({ url: 'https://project.example', anonKey }, 'rpc/x', { note: '"' }, token)
  expect(init).toEqual({
    method: 'POST',
    headers: {
      apikey: anonKey,
      'content-type': 'application/json',
      ...(bearer && { Authorization: bearer }),
    },
    body: '{"note":"\\""}',
  })
})

test('a request is repeated unchanged, with its signal, until it reaches the database', async () => {
  const { signal } = new AbortController()
  const responses = [new Response('', { status: 503 }), Response.json([1])]
  const fetcher = vi.fn<typeof fetch>(async () => responses.shift() ?? Response.error())
  const request = requestOf({ url: 'https://project.example', anonKey: 'key' }, 'x', {})
  expect(await send(request, [0], signal, fetcher)).toEqual([1])
  const sent = [request.url, { ...request.init, signal }]
  expect(fetcher.mock.calls).toEqual([sent, sent])
})

test('a reply is parsed as JSON, and an empty reply as null', async () => {
  expect(await parseResponse(new Response('[1]'))).toEqual([1])
  expect(await parseResponse(new Response('null'))).toBeNull()
  expect(await parseResponse(new Response('', { status: 201 }))).toBeNull()
})

test.each([
  ['{"message":"Not yours.","code":"42501"}', 'Not yours.', '42501'],
  ['{"message":"Not now."}', 'Not now.', ''],
])('a refusal has the message, code and status of its response: %s', async (text, message, code) => {
  await expect(parseResponse(new Response(text, { status: 403 }))).rejects.toMatchObject({
    name: 'RefusedCall',
    message,
    code,
    status: 403,
  })
})

test.each([
  ['a page with 200', new Response('<h1>Welcome</h1>')],
  ['a page with 500', new Response('<h1>Oops</h1>', { status: 500 })],
  ['an empty response with 500', new Response('', { status: 500 })],
  ['JSON without a message', Response.json({ error: 'no' }, { status: 400 })],
  ['null', Response.json(null, { status: 400 })],
  ['a list', Response.json([], { status: 404 })],
  ['a message that is not a text', Response.json({ message: { a: 1 } }, { status: 500 })],
])(
  'the response of a program other than the backend is not shown to a visitor: %s',
  async (_name, response) => {
    await expect(parseResponse(response)).rejects.toEqual(new SyntaxError(''))
  },
)
