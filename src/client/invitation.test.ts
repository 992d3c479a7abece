import { afterEach, expect, test, vi } from 'vitest'

import { sendAnswers, sendRsvp, readInvitation } from './invitation.ts'

afterEach(() => vi.unstubAllGlobals())

const open = { state: 'open', first_name: 'Ada', until: '2026-12-03', answer: null }
const backend = { url: 'https://project.example', anonKey: 'key' }
const signal = new AbortController().signal

/** Mocks a backend that gives these responses in order. Returns the mock of `fetch`. */
function mockBackend(...responses: Response[]) {
  const fetcher = vi.fn<typeof fetch>(async () => responses.shift() ?? Response.error())
  vi.stubGlobal('fetch', fetcher)
  return fetcher
}

test('an invitation is read with the token of its link', async () => {
  const fetcher = mockBackend(Response.json(open))
  expect(await readInvitation(backend, 'token', signal)).toEqual(open)
  const [address, request] = fetcher.mock.calls[0] ?? []
  expect(address).toBe('https://project.example/rest/v1/rpc/place_by_token')
  expect(request).toMatchObject({ method: 'POST', body: '{"token":"token"}' })
})

test('an RSVP that did not reach the database is sent again unchanged', async () => {
  vi.useFakeTimers()
  const fetcher = mockBackend(new Response('', { status: 502 }), Response.json(open))
  const answered = sendRsvp(backend, 'token', 'not coming', 'act', signal)
  await vi.runAllTimersAsync()
  vi.useRealTimers()
  expect(await answered).toEqual(open)
  expect(fetcher.mock.calls[0]?.[0]).toBe('https://project.example/rest/v1/rpc/answer_place')
  const bodies = fetcher.mock.calls.map(([, init]) => init?.body)
  expect(bodies).toEqual(Array(2).fill('{"token":"token","answer":"not coming","act":"act"}'))
})

test('answers that did not reach the database are sent again unchanged', async () => {
  vi.useFakeTimers()
  const fetcher = mockBackend(new Response('', { status: 502 }), Response.json(open))
  const sent = sendAnswers(backend, 'token', { diet: 'vegan', train: '' }, 'act', signal)
  await vi.runAllTimersAsync()
  vi.useRealTimers()
  expect(await sent).toEqual(open)
  expect(fetcher.mock.calls[0]?.[0]).toBe('https://project.example/rest/v1/rpc/answer_questions')
  const bodies = fetcher.mock.calls.map(([, init]) => init?.body)
  expect(bodies).toEqual(Array(2).fill('{"token":"token","answers":{"diet":"vegan","train":""},"act":"act"}'))
})

test('a refusal has its status, so that the page can decide whether to show its message', async () => {
  mockBackend(Response.json({ message: 'Too many.' }, { status: 429 }))
  await expect(readInvitation(backend, 'token', signal)).rejects.toMatchObject({
    name: 'RefusedCall',
    message: 'Too many.',
    status: 429,
  })
})

test.each([{ message: 'Hello.' }, null])('a reply that is no invitation is an error: %j', async (reply) => {
  mockBackend(Response.json(reply))
  await expect(readInvitation(backend, 'token', signal)).rejects.toThrow(SyntaxError)
})
