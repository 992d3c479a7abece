/**
 * Calls that the document began before the page's script came, by their keys. Each answers one later call of the same
 * key; where its answer cannot be used, that later call is sent.
 */
export type BegunCalls = Map<string, Promise<Response | undefined>>

declare global {
  interface Window {
    begunCalls?: BegunCalls
  }
}

/** The key of a call: who makes it, where it goes, and what it asks. */
export function callKey(token: string, url: string, body: string): string {
  return [token, url, body].join('\n')
}

/**
 * Gives the answer of a call that the document began, once; nothing where there is none.
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
