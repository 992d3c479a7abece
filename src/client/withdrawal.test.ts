import { afterEach, expect, test, vi } from 'vitest'

import { readWithdrawal, sendWithdrawal } from './withdrawal.ts'

afterEach(() => vi.unstubAllGlobals())

const open = { state: 'open', first_name: 'Ada', applied_on: '2026-11-22' }
const withdrawn = { ...open, state: 'withdrawn' }
const backend = { url: 'https://project.example', anonKey: 'key' }
const signal = new AbortController().signal

/** Mocks a backend that gives these responses in order. Returns the mock of `fetch`. */
function mockBackend(...responses: Response[]) {
  const fetcher = vi.fn<typeof fetch>(async () => responses.shift() ?? Response.error())
  vi.stubGlobal('fetch', fetcher)
  return fetcher
}

test('an application is read with the token of its receipt’s link', async () => {
  const fetcher = mockBackend(Response.json(open))
  expect(await readWithdrawal(backend, 'token', signal)).toEqual(open)
  const [address, request] = fetcher.mock.calls[0] ?? []
  expect(address).toBe('https://project.example/rest/v1/rpc/withdrawal_by_token')
  expect(request).toMatchObject({ method: 'POST', body: '{"token":"token"}' })
})

test.each([
  ['a withdrawal', true, withdrawn],
  ['the return of an application', false, open],
])('%s that did not reach the database is sent again unchanged', async (_, isWithdrawn, state) => {
  vi.useFakeTimers()
  const fetcher = mockBackend(new Response('', { status: 502 }), Response.json(state))
  const sent = sendWithdrawal(backend, 'token', isWithdrawn, 'act', signal)
  await vi.runAllTimersAsync()
  vi.useRealTimers()
  expect(await sent).toEqual(state)
  expect(fetcher.mock.calls[0]?.[0]).toBe('https://project.example/rest/v1/rpc/withdraw_application')
  const bodies = fetcher.mock.calls.map(([, init]) => init?.body)
  expect(bodies).toEqual(Array(2).fill(`{"token":"token","is_withdrawn":${isWithdrawn},"act":"act"}`))
})
