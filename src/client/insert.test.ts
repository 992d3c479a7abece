import { beforeEach, expect, test, vi } from 'vitest'

import { applicationFrom } from '../application/application.ts'
import { insertApplication, UnreachableError } from './insert.ts'

const application = applicationFrom([['first_name', 'Ada']])
const backend = { url: 'https://project.example/', anonKey: 'key' }

beforeEach(() => void vi.useFakeTimers())

type Reply = Response | Error

/** Sends the application to a backend with these replies in order; the last one repeats. */
async function sendTo(...replies: Reply[]) {
  const sent: { address: unknown; init: RequestInit; after: number }[] = []
  const startedAt = Date.now()
  const fetcher = vi.fn<typeof fetch>(async (address, init = {}) => {
    sent.push({ address, init, after: Date.now() - startedAt })
    const reply = replies[sent.length - 1] ?? replies.at(-1)
    if (reply instanceof Response) return reply.clone()
    throw reply
  })
  const outcome = insertApplication(application, backend, fetcher).then(
    () => 'stored',
    (error: unknown) => error,
  )
  await vi.runAllTimersAsync()
  return { outcome: await outcome, sent }
}

const stored = new Response(null, { status: 201 })
const badGateway = new Response('<h1>Bad Gateway</h1>', { status: 502 })
const refusal = (code: string, message: string, status = 400) => Response.json({ code, message }, { status })
const noNetwork = new TypeError('Load failed')

test('an application is sent with the public key, and no row is requested back', async () => {
  const { outcome, sent } = await sendTo(stored)
  expect(outcome).toBe('stored')
  expect(sent.map(({ address }) => address)).toEqual(['https://project.example/rest/v1/retreat_applications'])
  const init: RequestInit = sent[0]?.init ?? {}
  expect(init.method).toBe('POST')
  expect(init.body).toBe(JSON.stringify(application))
  const headers = new Headers(init.headers)
  expect([headers.get('apikey'), headers.get('authorization')]).toEqual(['key', null])
  expect(headers.get('prefer') ?? '').not.toContain('representation')
})

test('an application is sent three times if no try reaches the database', async () => {
  const { outcome, sent } = await sendTo(noNetwork)
  expect(sent.map(({ after }) => after)).toEqual([0, 700, 2_500])
  expect(outcome).toBeInstanceOf(UnreachableError)
  expect(outcome).toMatchObject({ message: '', cause: noNetwork })
  expect((await sendTo(badGateway, noNetwork, stored)).outcome).toBe('stored')
})

test('a duplicate counts as stored', async () => {
  const message = 'duplicate key value violates unique constraint "retreat_applications_once"'
  expect((await sendTo(badGateway, refusal('23505', message, 409))).outcome).toBe('stored')
  const { outcome } = await sendTo(refusal('23505', 'another "index"', 409))
  expect(outcome).toMatchObject({ name: 'RefusedCall', message: 'another "index"' })
})

test('a refusal by the backend is thrown with its message, without a retry', async () => {
  const { outcome, sent } = await sendTo(refusal('PT403', 'We are full.', 403))
  expect(outcome).toMatchObject({ code: 'PT403', message: 'We are full.' })
  expect(sent).toHaveLength(1)
})

test('the response of a program other than the backend is not shown to a visitor', async () => {
  expect((await sendTo(new Response('<h1>Welcome</h1>'))).outcome).toEqual(new SyntaxError(''))
})

test('a response clears the timeout', async () => {
  await insertApplication(application, backend, async () => stored)
  expect(vi.getTimerCount()).toBe(0)
})

test('a send that reaches no database fails 20 seconds after its first try', async () => {
  let tries = 0
  const outcome = insertApplication(application, backend, (_address, init) => {
    tries += 1
    if (tries === 1) return Promise.resolve(badGateway)
    return new Promise((_resolve, reject) =>
      init?.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error)),
    )
  }).catch((error: unknown) => error)
  let isOver = false
  void outcome.finally(() => (isOver = true))
  await vi.advanceTimersByTimeAsync(19_999)
  expect({ isOver, tries }).toEqual({ isOver: false, tries: 2 })
  await vi.advanceTimersByTimeAsync(1)
  expect(await outcome).toEqual(
    new Error('The server did not respond within 20 seconds. Please check your connection and try again.'),
  )
  await vi.advanceTimersByTimeAsync(20_000)
  expect(tries).toBe(2)
})
