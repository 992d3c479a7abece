import { afterEach, expect, test, vi } from 'vitest'

import { callKey, takeEarlyResponse, type EarlyCalls } from './early-calls.ts'

afterEach(() => vi.unstubAllGlobals())

const key = callKey('token', 'https://project.example/rest/v1/rpc/desk_me', '{}')
const signal = new AbortController().signal

/** Lets the document begin these calls. */
function begin(calls: EarlyCalls) {
  vi.stubGlobal('window', { earlyCalls: calls })
}

test('a call is identified by its caller, its address and its arguments', () => {
  const keys = [
    callKey('a', 'b', 'c'),
    callKey('ab', '', 'c'),
    callKey('a', 'bc', ''),
    callKey('', 'ab', 'c'),
  ]
  expect(new Set(keys).size).toBe(4)
})

test('a call that the document began responds to one call of its key', async () => {
  const answer = new Response('{}')
  begin(new Map([[key, Promise.resolve(answer)]]))
  expect(await takeEarlyResponse(callKey('another', 'x', '{}'), signal)).toBeUndefined()
  expect(await takeEarlyResponse(key, signal)).toBe(answer)
  expect(await takeEarlyResponse(key, signal)).toBeUndefined()
})

test('nothing was begun without a document, or where it began nothing', async () => {
  expect(await takeEarlyResponse(key, signal)).toBeUndefined()
  vi.stubGlobal('window', {})
  expect(await takeEarlyResponse(key, signal)).toBeUndefined()
})

test("the wait for a begun call ends with its caller's signal", async () => {
  const leaving = new AbortController()
  begin(new Map([[key, new Promise(() => {})]]))
  const taken = takeEarlyResponse(key, leaving.signal)
  const reason = new Error('Enough.')
  leaving.abort(reason)
  await expect(taken).rejects.toBe(reason)
})
