/**
 * Calls that the document began before the page's script loaded, by key. Each responds to one later call of the same key. If its
 * response cannot be used, that later call is sent.
 */
export type EarlyCalls = Map<string, Promise<Response | undefined>>

declare global {
  interface Window {
    earlyCalls?: EarlyCalls
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
export async function takeEarlyResponse(key: string, signal: AbortSignal): Promise<Response | undefined> {
  const response = globalThis.window?.earlyCalls?.get(key)
  if (response === undefined) return undefined
  window.earlyCalls?.delete(key)
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error))
  })
  return Promise.race([response, aborted])
}
