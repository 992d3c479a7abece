/**
 * Calls that the document began before the page's script came, by what tells them apart. Each answers one call that is
 * the same; where it gave nothing that can be used, that call is made.
 */
export type BegunCalls = Map<string, Promise<Response | undefined>>

declare global {
  interface Window {
    begunCalls?: BegunCalls
  }
}

/** What tells a call from every other: as whom it is made, where it goes, and what it asks. */
export function callKey(token: string, url: string, body: unknown): string {
  return [token, url, typeof body === 'string' ? body : ''].join('\n')
}

/**
 * Gives the answer of a call that was begun, once, or nothing.
 *
 * @throws The signal's reason, where that aborts first.
 */
export async function takeBegun(key: string, signal?: AbortSignal | null): Promise<Response | undefined> {
  const calls = globalThis.window?.begunCalls
  const answer = calls?.get(key)
  calls?.delete(key)
  return Promise.race([
    answer,
    ...(answer && signal
      ? [
          new Promise<never>((_, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason as Error))
          }),
        ]
      : []),
  ])
}
