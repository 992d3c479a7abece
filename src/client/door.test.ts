import { afterEach, expect, test, vi } from 'vitest'

import { readDoorSentence } from './door.ts'
import { RefusedCall } from './rest.ts'

afterEach(() => vi.restoreAllMocks())

const backend = { url: 'https://project.example', anonKey: 'key' }

test('a closed door has a sentence, and an open one has none', async () => {
  const asked: unknown[] = []
  const ask = (answer: unknown) =>
    readDoorSentence(backend, async (address) => {
      asked.push(address)
      return Response.json(answer)
    })
  expect(await ask({ sentence: 'We are full.' })).toBe('We are full.')
  expect(await ask({})).toBeUndefined()
  expect(await ask(null)).toBeUndefined()
  expect(new Set(asked)).toEqual(new Set(['https://project.example/rest/v1/rpc/door_is_open']))
})

test('a failed request for the door is only logged in the console', async () => {
  const told = vi.spyOn(console, 'info').mockReturnValue()
  const refusal = Response.json({ message: 'no such function' }, { status: 404 })
  expect(await readDoorSentence(backend, async () => refusal)).toBeUndefined()
  const unknown = 'Whether applications are taken is not known:'
  expect(told.mock.calls).toEqual([[unknown, new RefusedCall('no such function', '', 404)]])
})
