import { deferred } from './deferred.ts'
/** The network between the desk and its server, as a test controls it. */
export interface Network {
  /** The functions and sign-in requests that the desk has called, in order, such as `desk_list` or `token`. */
  readonly calls: string[]
  /** The paths and queries of these requests. */
  readonly addresses: string[]
  /**
   * Handles all further calls with this name, or all calls that have no handler with their own name.
   *
   * @returns A function that ends this.
   */
  route(name: string | undefined, handler: Handler): () => void
  /**
   * Holds further calls with this name, or all others.
   *
   * @returns A function that sends the held calls on, and holds no more.
   */
  hold(name?: string): () => void
  /** Runs something immediately before the next call with this name is sent, such as an act of another organiser. */
  beforeNext(name: string, act: () => PromiseLike<unknown>): void
  /** Disconnects or connects this browser. */
  setOffline(isOffline: boolean): void
  /**
   * Waits until the desk has received and shown all that it called, and calls nothing more. A read that is still pending is not
   * repeated by a refresh, so the desk would miss what changed meanwhile.
   */
  settled(): Promise<void>
}

/** Responds to a call in place of the server. */
type Handler = (call: {
  /** The arguments of the function. */
  args: Record<string, unknown>
  /** Aborted when the desk gives up. */
  signal: AbortSignal
  /** Sends the call to the server, and resolves with its response. */
  send: () => Promise<Response>
}) => Promise<Response>

/** The response to a call that a server refuses. */
export function refusal(message = 'boom', status = 500, code = 'XX000'): Response {
  return Response.json({ code, message, details: null, hint: null }, { status })
}

/** Rejects like a browser's `fetch` without a connection. */
export function disconnect(): Promise<never> {
  return Promise.reject(new TypeError('Failed to fetch'))
}

/** The `fetch` of Node.js, which tests use themselves. */
const nodeFetch = globalThis.fetch

/**
 * Replaces the global `fetch`, which the desk calls.
 *
 * @returns The network, and a function that restores `fetch`.
 */
export function interceptCalls(): { network: Network; restore: () => void } {
  const calls: string[] = []
  const addresses: string[] = []
  const handlers = new Map<string | undefined, Handler>()
  let isOffline = false
  const pending = new Set<Promise<unknown>>()
  const fetchThrough: typeof fetch = async (input, init = {}) => {
    const { pathname, search } = new URL(input instanceof Request ? input.url : input)
    const name = pathname.split('/').at(-1) ?? ''
    calls.push(name)
    addresses.push(pathname + search)
    if (isOffline) return disconnect()
    const signal = init.signal ?? new AbortController().signal
    const send = () => nodeFetch(input, init)
    const handler = handlers.get(name) ?? handlers.get(undefined)
    if (handler === undefined) return send()
    const args = typeof init.body === 'string' ? (JSON.parse(init.body) as Record<string, unknown>) : {}
    return Promise.race([handler({ args, signal, send }), rejectionOf(signal)])
  }
  globalThis.fetch = (...request) => {
    const response = fetchThrough(...request)
    const complete = response
      .then((each) => each.clone().arrayBuffer())
      .catch(() => {})
      .finally(() => pending.delete(complete))
    pending.add(complete)
    return response
  }
  const route: Network['route'] = (name, handler) => {
    handlers.set(name, handler)
    return () => {
      if (handlers.get(name) === handler) handlers.delete(name)
    }
  }
  return {
    network: {
      calls,
      addresses,
      route,
      hold(name) {
        const { promise: released, resolve } = deferred()
        const end = route(name, async ({ send }) => {
          await released
          return send()
        })
        return () => {
          end()
          resolve()
        }
      },
      beforeNext(name, act) {
        const end = route(name, async ({ send }) => {
          end()
          await act()
          return send()
        })
      },
      setOffline(isDisconnected) {
        isOffline = isDisconnected
        Object.defineProperty(navigator, 'onLine', { value: !isDisconnected, configurable: true })
        dispatchEvent(new Event(isDisconnected ? 'offline' : 'online'))
      },
      async settled() {
        let count: number
        do {
          await Promise.all(pending)
          count = calls.length
          // What a response brings is rendered, and then causes further calls (`afterFrame`).
          for (let frame = 0; frame < 2; frame += 1)
            await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
        } while (pending.size > 0 || calls.length !== count)
      },
    },
    restore: () => (globalThis.fetch = nodeFetch),
  }
}

function rejectionOf(signal: AbortSignal) {
  return new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason as Error)
    else signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
}
