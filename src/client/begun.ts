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
export function callKey(token: string, url: string, body: string): string {
  return [token, url, body].join('\n')
}

/**
 * Gives the answer of a call that was begun, once, or nothing.
 *
 * @throws The signal's reason, where that aborts first.
 */
export async function takeBegun(key: string, signal: AbortSignal): Promise<Response | undefined> {
  const answer = globalThis.window?.begunCalls?.get(key)
  if (answer === undefined) return undefined
  window.begunCalls?.delete(key)
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error))
  })
  return Promise.race([answer, aborted])
}
