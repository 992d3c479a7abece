import { useSyncExternalStore } from 'react'

/** Says that there is no connection, for as long as there is none. */
export function Connection() {
  const isThere = useSyncExternalStore(subscribe, () => navigator.onLine)
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
