import { useSyncExternalStore } from 'react'

let said = { text: '', count: 0 }
const listeners = new Set<() => void>()

/** Has a screen reader say what was done, and shows it for who sees. */
export function announce(text: string): void {
  said = { text, count: said.count + 1 }
  for (const listener of listeners) listener()
}

/** What was announced last, and how many announcements there were: the same words twice are two. */
export function useAnnouncement(): { text: string; count: number } {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => said,
  )
}
