import { afterEach, expect, test, vi } from 'vitest'

import { answerPlace, readPlace } from './place.ts'

afterEach(() => vi.unstubAllGlobals())

const open = { state: 'open', first_name: 'Ada', until: '2026-12-03', answer: null }
const signal = new AbortController().signal

/** Lets a backend answer so; gives what it is sent. */
function backendAnswers(...answers: Response[]) {
  const fetcher = vi.fn<typeof fetch>(async () => answers.shift() ?? Response.error())
  vi.stubGlobal('fetch', fetcher)
  return fetcher
}

test.each([
  ['sb_publishable_key', null],
  ['a.b.c', 'Bearer a.b.c'],
])('a place is read with the public key %s, which is bearer where it is a JWT', async (key, bearer) => {
  const fetcher = backendAnswers(Response.json(open))
  expect(await readPlace('https://project.example/', key, 'token', signal)).toEqual(open)
  const [address, request] = fetcher.mock.calls[0] ?? []
  expect(address).toBe('https://project.example/rest/v1/rpc/place_by_token')
  const headers = new Headers(request?.headers)
  expect([headers.get('apikey'), headers.get('authorization')]).toEqual([key, bearer])
  expect(request).toMatchObject({ method: 'POST', body: '{"token":"token"}' })
})

test('an answer that got none is sent again as it was', async () => {
  vi.useFakeTimers()
  const fetcher = backendAnswers(new Response('', { status: 502 }), Response.json(open))
  const answered = answerPlace('https://project.example', 'key', 'token', 'not coming', 'act', signal)
  await vi.runAllTimersAsync()
  vi.useRealTimers()
  expect(await answered).toEqual(open)
  const [address, request] = fetcher.mock.calls[0] ?? []
  expect(address).toBe('https://project.example/rest/v1/rpc/answer_place')
  expect(new Headers(request?.headers).get('content-type')).toBe('application/json')
  const bodies = fetcher.mock.calls.map(([, again]) => again?.body)
  expect(bodies).toEqual(Array(2).fill('{"token":"token","answer":"not coming","act":"act"}'))
})

test.each([
  ['too many wrong tokens', 429, { code: 'HTTP429', message: 'Too many.' }, 'Too many.'],
  ['a wait that nobody explains', 429, null, 'What answered with 429'],
  ['too many, of a proxy that has no codes', 429, { message: 'Too many.' }, 'Too many.'],
  ['another act', 409, { code: 'PT409', message: 'Another act.' }, 'Another act.'],
  ['what is not for guests', 401, { message: 'Invalid API key' }, 'What answered with 401'],
  ['an answer about something else', 200, { message: 'Hello.' }, 'What answered with 200'],
  ['no object', 200, null, 'What answered with 200'],
])('of a refusal a guest reads what is for them: %s', async (_, status, said, message) => {
  backendAnswers(Response.json(said, { status }))
  const name = /^(Too many|Another)/.test(message) ? 'RefusedCall' : 'Error'
  await expect(readPlace('https://project.example', 'key', 'token', signal)).rejects.toMatchObject({
    name,
    message: expect.stringContaining(message) as string,
    ...(name === 'RefusedCall' ? { code: said && 'code' in said ? said.code : '' } : {}),
  })
})
