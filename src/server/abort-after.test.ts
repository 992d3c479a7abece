import { expect, test } from 'vitest'

import { abortAfter } from './abort-after.ts'

const reasonOf = ({ signal }: ReturnType<typeof abortAfter>) =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(signal.reason)
    signal.addEventListener('abort', () => resolve(signal.reason))
  })

test('a signal aborts after its time, or with the other signal, before or later', async () => {
  expect(await reasonOf(abortAfter(1))).toMatchObject({ name: 'TimeoutError' })
  const other = new AbortController()
  const later = reasonOf(abortAfter(60_000, other.signal))
  other.abort('stopped')
  expect(await later).toBe('stopped')
  expect(await reasonOf(abortAfter(60_000, other.signal))).toBe('stopped')
})

test('a cleared signal does not abort', () => {
  const other = new AbortController()
  const { signal, clear } = abortAfter(60_000, other.signal)
  clear()
  other.abort()
  expect(signal.aborted).toBe(false)
})
