import { useSyncExternalStore } from 'react'

let said = { text: '', count: 0 }
const listeners = new Set<() => void>()

/** Shows what was done, and lets a screen reader say it. */
export function announce(text: string): void {
  // The same words announced twice are two announcements.
  said = { text, count: said.count + 1 }
  for (const listener of listeners) listener()
}

const lastSaid = () => said

function subscribe(listener: () => void) {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** What was announced last. */
export function Announcement() {
  const { text, count } = useSyncExternalStore(subscribe, lastSaid, lastSaid)
  return (
    // Screen readers know the role for longer than the element of the same meaning.
    // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role
    <p className="said" role="status">
      {text !== '' && <span key={count}>{text}</span>}
    </p>
  )
}
