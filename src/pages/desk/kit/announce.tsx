import { useEffect, useSyncExternalStore } from 'react'

import { createListeners } from './listen.ts'

let said = { text: '', count: 0 }
const lastSaid = () => said
const { subscribe, tell } = createListeners()

/** Shows what was done, and lets a screen reader say it. */
export function announce(text: string): void {
  // The same words announced twice are two announcements.
  said = { text, count: said.count + 1 }
  tell()
}

/** Announces a sentence whenever it becomes another one; a blank one is none. */
export function useAnnounced(sentence: string): void {
  useEffect(() => {
    if (sentence !== '') announce(sentence)
  }, [sentence])
}

/** What was announced last. */
export function Announcement() {
  const { text, count } = useSyncExternalStore(subscribe, lastSaid, lastSaid)
  return (
    // Screen readers know the role for longer than the element of the same meaning.
    // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role
    <p className="announce-words" role="status">
      {text !== '' && <span key={count}>{text}</span>}
    </p>
  )
}
