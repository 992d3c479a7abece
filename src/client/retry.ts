/** Statuses by which a proxy says that nobody behind it answered, and a backend that its database is away. */
const unanswered = new Set([502, 503, 504])

/**
 * Repeats a request until it gets an answer. Only for requests that may happen twice, or that an id makes one.
 *
 * @param pauses Milliseconds before the second try, the third one and so on.
 * @param signal The request's own: where it aborts, nothing is tried again.
 * @returns The last try's response.
 * @throws What the last try threw, or the signal's reason.
 */
export async function withRetry(
  attempt: () => Promise<Response>,
  pauses: readonly number[],
  signal?: AbortSignal | null,
): Promise<Response> {
  for (const pause of pauses) {
    try {
      const response = await attempt()
      if (!unanswered.has(response.status)) return response
    } catch (error) {
      if (signal?.aborted) throw error
    }
    await delay(pause, signal)
  }
  return attempt()
}

function delay(milliseconds: number, signal?: AbortSignal | null) {
  return new Promise<void>((resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason as Error))
    setTimeout(resolve, milliseconds)
  })
}
