/**
 * Calls that the document sent before the page's script loaded, by key. A response is used for one later call with the same
 * key. It is undefined if the early call failed: the later call is then sent.
 */
export type EarlyCalls = Map<string, Promise<Response | undefined>>

declare global {
  interface Window {
    earlyCalls?: EarlyCalls
  }
}

/** The key of a call, from its token, address and body. */
export function callKey(token: string, url: string, body: string): string {
  return [token, url, body].join('\n')
}

/**
 * Removes the early call with this key and returns its response; undefined if there is no such call, or if it failed.
 *
 * @throws The signal's reason, if the signal aborts first.
 */
export async function takeEarlyResponse(key: string, signal: AbortSignal): Promise<Response | undefined> {
  const response = globalThis.window?.earlyCalls?.get(key)
  if (response === undefined) return undefined
  window.earlyCalls?.delete(key)
  return unlessAborted(response, signal)
}

/**
 * Waits for a promise.
 *
 * @throws The signal's reason, if the signal aborts first.
 */
export function unlessAborted<Result>(promise: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error))
  })
  return Promise.race([promise, aborted])
}
