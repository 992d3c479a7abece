import { useSyncExternalStore } from 'react'

let said = ''
const listeners = new Set<() => void>()

/** Has a screen reader say what was done, and shows it for who sees. */
export function announce(text: string): void {
  // The same words twice would not be said again.
  said = text === said ? `${text}\u00a0` : text
  for (const listener of listeners) listener()
}

/** What was announced last. */
export function useAnnouncement(): string {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => said,
  )
}
