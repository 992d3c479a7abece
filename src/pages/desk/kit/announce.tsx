import { useEffect, useState, useSyncExternalStore } from 'react'

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

/**
 * The live region with the last announcement since it appeared. An open dialog has one of its own: screen readers read nothing
 * outside of it.
 */
export function Announcement() {
  const announced = useSyncExternalStore(subscribe, lastAnnouncement, lastAnnouncement)
  const [former] = useState(announced)
  const { text, count } = announced
  return (
    // Screen readers have supported the role for longer than the `output` element.
    // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role
    <p className="announce-words" role="status">
      {announced !== former && text !== '' && <span key={count}>{text}</span>}
    </p>
  )
}
