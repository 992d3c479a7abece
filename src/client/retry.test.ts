import { expect, test } from 'vitest'

import { withRetry } from './retry.ts'

type Outcome = number | Error

/** Tries with these outcomes in order; `made` counts them. */
function triesOf(...outcomes: Outcome[]) {
  const tries = {
    made: 0,
    attempt: async () => {
      const outcome = outcomes[tries.made] ?? new Error('Nothing more was expected.')
      tries.made += 1
      if (outcome instanceof Error) throw outcome
      return new Response(null, { status: outcome })
    },
  }
  return tries
}

const noNetwork = new TypeError('fetch failed')

test.for([502, 503, 504, noNetwork])(
  'a request that did not reach its server or database (%s) is retried until it does',
  async (failure) => {
    const tries = triesOf(failure, failure, 200)
    expect((await withRetry(tries.attempt, [0, 0, 0])).status).toBe(200)
    expect(tries.made).toBe(3)
  },
)

test.for([200, 400, 401, 403, 404, 409, 413, 429, 500])(
  'a request that got another status (%i) is not retried',
  async (status) => {
    const tries = triesOf(status)
    expect((await withRetry(tries.attempt, [0, 0])).status).toBe(status)
    expect(tries.made).toBe(1)
  },
)

test('the caller gets the outcome of the last try', async () => {
  const withResponse = triesOf(noNetwork, 502, 503)
  expect((await withRetry(withResponse.attempt, [0, 0])).status).toBe(503)
  const withoutResponse = triesOf(503, 503, noNetwork)
  await expect(withRetry(withoutResponse.attempt, [0, 0])).rejects.toBe(noNetwork)
  expect([withResponse.made, withoutResponse.made]).toEqual([3, 3])
})

test('an aborted request is not retried, whether it is aborted during a try or during a delay', async () => {
  const reason = new Error('Enough.')
  const duringTry = new AbortController()
  let made = 0
  const aborted = withRetry(
    async () => {
      made += 1
      duringTry.abort(reason)
      throw reason
    },
    [0, 0],
    duringTry.signal,
  )
  await expect(aborted).rejects.toBe(reason)
  expect(made).toBe(1)

  const duringDelay = new AbortController()
  const tries = triesOf(503)
  const waiting = withRetry(tries.attempt, [600_000], duringDelay.signal)
  setImmediate(() => duringDelay.abort(reason))
  await expect(waiting).rejects.toBe(reason)
  expect(tries.made).toBe(1)
})
