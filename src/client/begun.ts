/**
 * Calls that the document began before the page's script loaded, by key. Each responds to one later call of the same key. If its
 * response cannot be used, that later call is sent.
 */
export type BegunCalls = Map<string, Promise<Response | undefined>>

declare global {
  interface Window {
    begunCalls?: BegunCalls
  }
}

/** The key of a call: its token, address and body. */
export function callKey(token: string, url: string, body: string): string {
  return [token, url, body].join('\n')
}

/**
 * Takes the response of a call that the document began, once; undefined where there is none.
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
