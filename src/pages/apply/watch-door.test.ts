import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import type { Door } from '../../client/door.ts'
import { watchDoor } from './watch-door.ts'

const page = Object.assign(new EventTarget(), { hidden: false })
const fetcher = vi.fn<typeof fetch>(async () => Response.json({ is_open: true }))
let isClosed: boolean

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('document', page)
  vi.stubGlobal('fetch', fetcher)
  isClosed = true
  page.hidden = false
  fetcher.mockClear()
})
afterEach(() => vi.unstubAllGlobals())

test('a page with a closed door asks about once a minute, and when somebody comes back to it', async () => {
  const show = vi.fn<(door: Door) => void>()
  const watch = watchDoor({ url: 'https://project.example', anonKey: 'key' }, () => isClosed, show)
  await vi.advanceTimersByTimeAsync(44_000)
  expect(fetcher).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(32_000)
  expect(show).toHaveBeenCalledExactlyOnceWith({ is_open: true })

  page.hidden = true
  page.dispatchEvent(new Event('visibilitychange'))
  await vi.advanceTimersByTimeAsync(300_000)
  expect(fetcher).toHaveBeenCalledOnce()
  page.hidden = false
  page.dispatchEvent(new Event('visibilitychange'))
  expect(fetcher).toHaveBeenCalledTimes(2)

  isClosed = false
  page.dispatchEvent(new Event('visibilitychange'))
  await vi.advanceTimersByTimeAsync(300_000)
  expect(fetcher).toHaveBeenCalledTimes(2)

  isClosed = true
  watch.end()
  page.dispatchEvent(new Event('visibilitychange'))
  await vi.advanceTimersByTimeAsync(300_000)
  expect(fetcher).toHaveBeenCalledTimes(2)
})

test('a failed request leaves the page as it is', async () => {
  vi.spyOn(console, 'info').mockReturnValue()
  fetcher.mockRejectedValueOnce(new TypeError('Failed to fetch'))
  const show = vi.fn<(door: Door) => void>()
  const watch = watchDoor({ url: 'https://project.example', anonKey: 'key' }, () => isClosed, show)
  await watch.ask()
  expect(show).not.toHaveBeenCalled()
  watch.end()
})
