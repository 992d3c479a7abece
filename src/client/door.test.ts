import { afterEach, expect, test, vi } from 'vitest'

import { readDoor } from './door.ts'
import { RefusedCall } from './rest.ts'

afterEach(() => vi.restoreAllMocks())

const backend = { url: 'https://project.example', anonKey: 'key' }

test('a closed door has a sentence for applicants, and an open door has none', async () => {
  const info = vi.spyOn(console, 'info').mockReturnValue()
  const addresses: unknown[] = []
  const stateIn = (body: unknown) =>
    readDoor(backend, async (address) => {
      addresses.push(address)
      return Response.json(body)
    })
  const closed = { is_open: false, sentence: 'We are full.' }
  expect(await stateIn(closed)).toEqual(closed)
  expect(await stateIn({ is_open: true })).toEqual({ is_open: true })
  expect(await stateIn(null)).toBeUndefined()
  expect(info).not.toHaveBeenCalled()
  expect(new Set(addresses)).toEqual(new Set(['https://project.example/rest/v1/rpc/door_is_open']))
})

test('a failed request for the door is not retried, only logged in the console', async () => {
  const info = vi.spyOn(console, 'info').mockReturnValue()
  const fetcher = vi.fn<typeof fetch>(async () => Response.json({ message: 'busy' }, { status: 503 }))
  expect(await readDoor(backend, fetcher)).toBeUndefined()
  expect(fetcher).toHaveBeenCalledOnce()
  const message = 'Could not check whether applications are open:'
  expect(info.mock.calls).toEqual([[message, new RefusedCall('busy', '', 503)]])
})
