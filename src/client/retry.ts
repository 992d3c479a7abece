/** Statuses of a proxy that cannot reach its server, and of a backend that cannot reach its database. */
const retryableStatuses = new Set([502, 503, 504])

/**
 * Retries a request until it has reached its server and database, once after each delay. Only for idempotent requests.
 *
 * @param delays Milliseconds before the second try, the third and so on.
 * @param signal The signal of the request. After it aborts, there are no more tries.
 * @returns The last try's response.
 * @throws The error of the last try, or the signal's reason.
 */
export async function withRetry(
  attempt: () => Promise<Response>,
  delays: readonly number[],
  signal?: AbortSignal | null,
): Promise<Response> {
  for (const delay of delays) {
    try {
      const response = await attempt()
      if (!retryableStatuses.has(response.status)) return response
    } catch (error) {
      if (signal?.aborted) throw error
    }
    await wait(delay, signal)
  }
  return attempt()
}

function wait(milliseconds: number, signal?: AbortSignal | null) {
  return new Promise<void>((resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason as Error))
    setTimeout(resolve, milliseconds)
  })
}
