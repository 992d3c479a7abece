import { expect } from 'vitest'

/** Retries a call until there is a response, because a killed server starts again. */
export async function retryUntilResponse<Result>(call: () => Promise<Result | undefined>): Promise<Result> {
  let response: Result | undefined
  await expect
    .poll(async () => (response = await call().catch(() => undefined)), { timeout: 60_000, interval: 20 })
    .toBeTypeOf('object')
  return response as Result
}

/** Calls a function of the database as the pages of links do, until there is a response. */
export function callAsAnon<Result>(origin: string, name: string, args: object): Promise<Result> {
  return retryUntilResponse(async () => {
    const response = await fetch(`${origin}/rest/v1/rpc/${name}`, {
      method: 'POST',
      headers: { apikey: 'public-anon-key', 'content-type': 'application/json' },
      body: JSON.stringify(args),
    })
    return response.ok ? ((await response.json()) as Result) : undefined
  })
}
