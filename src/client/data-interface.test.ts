import { afterEach, expect, test, vi } from 'vitest'

import { dataInterfaceAt } from './data-interface.ts'
import { askDoor } from './door.ts'
import { MissingScript, scriptOf } from './missing-script.ts'
import { keyHeaders } from './public-key.ts'

afterEach(() => {
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

test.each([
  ['a.b.c', true],
  ['eyJ_-1.eyJ_-2.sig_-3', true],
  ['sb_publishable_key', false],
  ['a.b.c.d', false],
  ['a.b', false],
  ['a..c', false],
  ['a.b.', false],
  ['.b.c', false],
])('the key %s is shown as bearer, too: %s', (key, expected) => {
  const bearer = { Authorization: `Bearer ${key}` }
  expect(keyHeaders(key)).toEqual({ apikey: key, ...(expected && bearer) })
})

test.each([
  ['https://project.example', 'a.b.c', 'https://project.example/rest/v1/x', 'Bearer a.b.c'],
  ['https://project.example/', 'key', 'https://project.example/rest/v1/x', null],
  [null, 'key', 'https://site.example/retreat/rest/v1/x', null],
])('the data interface of %s is asked with the key %s', async (url, anonKey, address, bearer) => {
  vi.stubGlobal('location', { href: 'https://site.example/retreat/index.html' })
  const fetcher = vi.fn<typeof fetch>(async () => Response.json([]))
  await dataInterfaceAt({ url, anonKey }, fetcher).from('x').insert({})
  const [asked, init] = fetcher.mock.calls[0] ?? []
  expect(asked).toEqual(address)
  const headers = new Headers(init?.headers)
  expect([headers.get('apikey'), headers.get('authorization')]).toEqual([anonKey, bearer])
})

const backend = { url: 'https://project.example', anonKey: 'key' }

test('a closed door has a sentence, and an open one has none', async () => {
  const asked: unknown[] = []
  const ask = (answer: unknown) =>
    askDoor(backend, async (address) => {
      asked.push(address)
      return Response.json(answer)
    })
  expect(await ask({ sentence: 'We are full.' })).toBe('We are full.')
  expect(await ask({})).toBeUndefined()
  expect(await ask(null)).toBeUndefined()
  expect(new Set(asked)).toEqual(new Set(['https://project.example/rest/v1/rpc/door_is_open']))
})

test('a door that cannot be asked is said to be so in the console alone', async () => {
  const told = vi.spyOn(console, 'info').mockReturnValue()
  const refusal = Response.json({ message: 'no such function' }, { status: 404 })
  expect(await askDoor(backend, async () => refusal)).toBeUndefined()
  expect(told.mock.calls).toEqual([['Whether applications are taken is not known:', 'no such function']])
})

test('a script that does not come is told in a sentence that says what to do', async () => {
  expect(await scriptOf(Promise.resolve('module'))).toBe('module')
  const cause = new TypeError('404')
  const missing = await scriptOf(Promise.reject(cause)).catch((error: unknown) => error)
  expect(missing).toBeInstanceOf(MissingScript)
  expect(missing).toMatchObject({
    cause,
    message: expect.stringContaining('Please reload this page.') as string,
  })
})
