import type { GoTrueClient } from '@supabase/auth-js'
import { afterEach, expect, test, vi } from 'vitest'

import { createInvite } from './invite.ts'

afterEach(() => vi.unstubAllGlobals())

const invitation = { email: 'grace@example.org', name: 'Grace', is_reader: true }

/** Invites in this session of the client. Returns the outcome and what the server received. */
async function inviteIn(session: { access_token: string } | null, response: Response) {
  const fetcher = vi.fn<typeof fetch>(async () => response)
  vi.stubGlobal('fetch', fetcher)
  const client = { getSession: async () => ({ data: { session }, error: null }) }
  const invite = createInvite(client as GoTrueClient, 'https://project.example/auth/v1', 'key')
  const outcome = await invite(invitation).catch((error: unknown) => error)
  const [address, init] = fetcher.mock.calls[0] ?? []
  return { outcome, address, init, headers: Object.fromEntries(new Headers(init?.headers)) }
}

test('an organiser invites somebody as themselves, and receives the link', async () => {
  const reply = { link: 'https://project.example/desk#token' }
  const { outcome, address, init, headers } = await inviteIn({ access_token: 'ada' }, Response.json(reply))
  expect(outcome).toEqual(reply)
  expect(address).toBe('https://project.example/auth/v1/invite')
  expect(init?.method).toBe('POST')
  expect(init?.body).toBe(JSON.stringify(invitation))
  expect(headers).toEqual({
    apikey: 'key',
    authorization: 'Bearer ada',
    'content-type': 'application/json',
    'x-supabase-api-version': '2024-01-01',
  })
})

test('the server refuses somebody whose session has ended, and its message is shown', async () => {
  const refusal = Response.json({ message: 'You are not signed in.' }, { status: 401 })
  const { outcome, headers } = await inviteIn(null, refusal)
  expect(outcome).toMatchObject({ name: 'RefusedCall', message: 'You are not signed in.', status: 401 })
  expect(headers).not.toHaveProperty('authorization')
})

test('an invitation that no server responds to fails 20 seconds later', async () => {
  const timeout = vi.spyOn(AbortSignal, 'timeout')
  const { init } = await inviteIn(null, Response.json({ link: null }))
  expect(init?.signal).toBe(timeout.mock.results[0]?.value)
  expect(timeout).toHaveBeenCalledWith(20_000)
  timeout.mockRestore()
})
