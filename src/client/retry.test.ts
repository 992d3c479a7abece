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
  'a request without a response (%s) is sent again until one comes',
  async (none) => {
    const tries = triesOf(none, none, 200)
    expect((await withRetry(tries.attempt, [0, 0, 0])).status).toBe(200)
    expect(tries.made).toBe(3)
  },
)

test.for([200, 400, 401, 403, 404, 409, 413, 429, 500])(
  'an answer of %i is not asked for again',
  async (status) => {
    const tries = triesOf(status)
    expect((await withRetry(tries.attempt, [0, 0])).status).toBe(status)
    expect(tries.made).toBe(1)
  },
)

test('the caller gets the outcome of the last try', async () => {
  const refused = triesOf(noNetwork, 502, 503)
  expect((await withRetry(refused.attempt, [0, 0])).status).toBe(503)
  const cut = triesOf(503, 503, noNetwork)
  await expect(withRetry(cut.attempt, [0, 0])).rejects.toBe(noNetwork)
  expect([refused.made, cut.made]).toEqual([3, 3])
})

test('an aborted request is not retried, whether it is aborted in a try or in a pause', async () => {
  const reason = new Error('Enough.')
  const amidTry = new AbortController()
  let made = 0
  const cut = withRetry(
    async () => {
      made += 1
      amidTry.abort(reason)
      throw reason
    },
    [0, 0],
    amidTry.signal,
  )
  await expect(cut).rejects.toBe(reason)
  expect(made).toBe(1)

  const amidPause = new AbortController()
  const tries = triesOf(503)
  const waiting = withRetry(tries.attempt, [600_000], amidPause.signal)
  setImmediate(() => amidPause.abort(reason))
  await expect(waiting).rejects.toBe(reason)
  expect(tries.made).toBe(1)
})
