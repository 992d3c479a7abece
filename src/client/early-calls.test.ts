import { afterEach, expect, test, vi } from 'vitest'

import { callKey, takeEarlyResponse, type EarlyCalls } from './early-calls.ts'

afterEach(() => vi.unstubAllGlobals())

const key = callKey('token', 'https://project.example/rest/v1/rpc/desk_me', '{}')
const signal = new AbortController().signal

/** Sets the calls that the document has sent. */
function setEarlyCalls(calls: EarlyCalls) {
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

test('the response of an early call is used once, for a call with its key', async () => {
  const response = new Response('{}')
  setEarlyCalls(new Map([[key, Promise.resolve(response)]]))
  expect(await takeEarlyResponse(callKey('another', 'x', '{}'), signal)).toBeUndefined()
  expect(await takeEarlyResponse(key, signal)).toBe(response)
  expect(await takeEarlyResponse(key, signal)).toBeUndefined()
})

test('there is no early response without a document, or if the document sent no call', async () => {
  expect(await takeEarlyResponse(key, signal)).toBeUndefined()
  vi.stubGlobal('window', {})
  expect(await takeEarlyResponse(key, signal)).toBeUndefined()
})

test('aborting the signal ends the wait for an early response', async () => {
  const controller = new AbortController()
  setEarlyCalls(new Map([[key, new Promise(() => {})]]))
  const pending = takeEarlyResponse(key, controller.signal)
  const reason = new Error('Enough.')
  controller.abort(reason)
  await expect(pending).rejects.toBe(reason)
})
