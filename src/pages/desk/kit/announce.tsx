import { useEffect, useSyncExternalStore } from 'react'

import { createListeners } from './listen.ts'

let announcement = { text: '', count: 0 }
const lastAnnouncement = () => announcement
const { subscribe, notify } = createListeners()

/** Shows a sentence for a moment, in a live region that screen readers read. */
export function announce(text: string): void {
  // The counter makes equal sentences two announcements.
  announcement = { text, count: announcement.count + 1 }
  notify()
}

/** Announces a sentence whenever it changes, unless it is blank. */
export function useAnnounced(sentence: string): void {
  useEffect(() => {
    if (sentence !== '') announce(sentence)
  }, [sentence])
}

/** The live region with the last announcement. */
export function Announcement() {
  const { text, count } = useSyncExternalStore(subscribe, lastAnnouncement, lastAnnouncement)
  return (
    // Screen readers have supported the role for longer than the `output` element.
    // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role
    <p className="announce-words" role="status">
      {text !== '' && <span key={count}>{text}</span>}
    </p>
  )
}
