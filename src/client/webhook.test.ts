import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { applicationFrom, webhookBody } from '../application/application.ts'
import { submitApplication } from './submit.ts'
import { callWebhook } from './webhook.ts'

const application = applicationFrom([['first_name', 'Ada']])
const url = 'https://automation.example/hook'

beforeEach(() => {
  vi.spyOn(console, 'log').mockReturnValue()
  vi.spyOn(console, 'error').mockReturnValue()
})

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})

test('a webhook receives form data, which needs no preflight, and the call outlives the page', async () => {
  const fetcher = vi.fn<typeof fetch>(async () => new Response('taken', { status: 202 }))
  await callWebhook(application, url, fetcher)
  const [address, init] = fetcher.mock.calls[0] ?? []
  expect([address, Object.keys(init ?? {}).toSorted()]).toEqual([url, ['body', 'keepalive', 'method']])
  expect(init).toMatchObject({ method: 'POST', keepalive: true })
  expect(init?.body).toEqual(webhookBody(application))
  expect(vi.mocked(console.log).mock.calls).toEqual([['Webhook response:', 202, 'taken']])
})

test('a body above the keepalive limit of browsers is sent without keepalive', async () => {
  const blank = applicationFrom([])
  const limit = 60 * 1024 - webhookBody(blank).toString().length
  const keptAlive = async (characters: number) => {
    const fetcher = vi.fn<typeof fetch>(async () => new Response())
    await callWebhook({ ...blank, reason: 'x'.repeat(characters) }, url, fetcher)
    return fetcher.mock.calls[0]?.[1]?.keepalive
  }
  expect([await keptAlive(limit), await keptAlive(limit + 1)]).toEqual([true, false])
})

test('a webhook that fails is only logged', async () => {
  const failure = new TypeError('no network')
  await callWebhook(application, url, () => Promise.reject(failure))
  expect(vi.mocked(console.error).mock.calls).toEqual([['Webhook failed:', failure]])
})

test('an application is sent to the webhook, if there is one, only after it was stored', async () => {
  const called: string[] = []
  let status = 201
  vi.stubGlobal('fetch', async (address: string | URL) => {
    called.push(String(address))
    return String(address) === url
      ? new Response('taken')
      : Response.json(status === 201 ? null : { message: 'no' }, { status })
  })
  const backend = { url: 'https://project.example', anonKey: 'key' }
  const table = 'https://project.example/rest/v1/retreat_applications'
  await submitApplication(application, { ...backend, webhookUrl: undefined })
  expect(called.splice(0)).toEqual([table])
  await submitApplication(application, { ...backend, webhookUrl: url })
  expect(called.splice(0)).toEqual([table, url])
  status = 400
  await expect(submitApplication(application, { ...backend, webhookUrl: url })).rejects.toThrow('no')
  expect(called).toEqual([table])
})

test('a webhook that never responds does not delay the result of a send', async () => {
  vi.stubGlobal('fetch', (address: string | URL) =>
    String(address) === url
      ? new Promise<never>(() => {})
      : Promise.resolve(Response.json(null, { status: 201 })),
  )
  const backend = { url: 'https://project.example', anonKey: 'key', webhookUrl: url }
  await expect(submitApplication(application, backend)).resolves.toBeUndefined()
})
