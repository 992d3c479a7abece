import { useSyncExternalStore } from 'react'

/** Says that there is no connection, for as long as there is none. */
export function ConnectionNotice() {
  const isThere = useSyncExternalStore(
    subscribe,
    () => navigator.onLine,
    () => true,
  )
  if (isThere) return null
  return (
    <p className="notice" role="alert">
      There is no connection. What is shown may be older; it is read anew when the connection is back.
    </p>
  )
}

function subscribe(onChange: () => void) {
  addEventListener('online', onChange)
  addEventListener('offline', onChange)
  return () => {
    removeEventListener('online', onChange)
    removeEventListener('offline', onChange)
  }
}

/**
 * For acts that are sent at once or not at all: nothing is kept for later.
 *
 * @throws An `Error` with a sentence for an organiser, where this browser has no connection.
 */
export function insistOnConnection(): void {
  if (!navigator.onLine) throw new Error('Not sent: there is no connection. Try again.')
}

/** Loads something; without a connection, when that is back. */
export async function whenConnected<Loaded>(load: () => Promise<Loaded>): Promise<Loaded> {
  try {
    return await load()
  } catch (error) {
    if (navigator.onLine) throw error
    await new Promise((resolve) => addEventListener('online', resolve, { once: true }))
    return whenConnected(load)
  }
}
