import { afterEach, expect, test, vi } from 'vitest'

import { callKey, takeBegun, type BegunCalls } from './begun.ts'

afterEach(() => vi.unstubAllGlobals())

const key = callKey('token', 'https://project.example/rest/v1/rpc/desk_me', '{}')
const signal = new AbortController().signal

/** Lets the document have begun these calls. */
function begin(calls: BegunCalls) {
  vi.stubGlobal('window', { begunCalls: calls })
}

test('a call is known by who makes it, where it goes and what it asks', () => {
  const keys = [
    callKey('a', 'b', 'c'),
    callKey('ab', '', 'c'),
    callKey('a', 'bc', ''),
    callKey('', 'ab', 'c'),
  ]
  expect(new Set(keys).size).toBe(4)
})

test('what the document began answers one call of its key', async () => {
  const answer = new Response('{}')
  begin(new Map([[key, Promise.resolve(answer)]]))
  expect(await takeBegun(callKey('another', 'x', '{}'), signal)).toBeUndefined()
  expect(await takeBegun(key, signal)).toBe(answer)
  expect(await takeBegun(key, signal)).toBeUndefined()
})

test('nothing was begun where there is no document, or where it began nothing', async () => {
  expect(await takeBegun(key, signal)).toBeUndefined()
  vi.stubGlobal('window', {})
  expect(await takeBegun(key, signal)).toBeUndefined()
})

test('what was begun is waited for no longer than its caller wants', async () => {
  const leaving = new AbortController()
  begin(new Map([[key, new Promise(() => {})]]))
  const taken = takeBegun(key, leaving.signal)
  const reason = new Error('Enough.')
  leaving.abort(reason)
  await expect(taken).rejects.toBe(reason)
})
