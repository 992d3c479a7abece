/**
 * Creates a signal that aborts after a time, or together with another signal. Before Node.js 24, `AbortSignal.any` may lose an
 * `AbortSignal.timeout` to the garbage collection, and then never aborts (nodejs/node issue 57736).
 *
 * @param timeout Milliseconds until it aborts with a `TimeoutError`.
 * @returns The signal, and a function to call when it is no longer needed.
 */
export function abortAfter(timeout: number, other?: AbortSignal): { signal: AbortSignal; clear: () => void } {
  const controller = new AbortController()
  const follow = () => controller.abort(other?.reason)
  const timer = setTimeout(
    () => controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
    timeout,
  )
  if (other?.aborted) follow()
  other?.addEventListener('abort', follow)
  const clear = () => {
    clearTimeout(timer)
    other?.removeEventListener('abort', follow)
  }
  return { signal: controller.signal, clear }
}
