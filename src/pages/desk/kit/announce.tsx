import { useEffect, useState, useSyncExternalStore } from 'react'

import { createListeners } from './listen.ts'

let announcement = { text: '', count: 0, isShown: true }
const lastAnnouncement = () => announcement
const { subscribe, notify } = createListeners()

/**
 * Shows a sentence for a moment, in a live region that screen readers read.
 *
 * @param isShown Whether it is visible. It need not be if something else on the screen says the same.
 */
export function announce(text: string, isShown = true): void {
  // The counter makes equal sentences two announcements.
  announcement = { text, count: announcement.count + 1, isShown }
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
 *
 * @param screen What identifies the screen. An announcement leaves with the screen on which it appeared.
 */
export function Announcement({ screen }: { screen?: string | undefined }) {
  const announced = useSyncExternalStore(subscribe, lastAnnouncement, lastAnnouncement)
  const [former] = useState(announced)
  const [place, setPlace] = useState({ announced, screen })
  if (place.announced !== announced) setPlace({ announced, screen })
  const { text, count, isShown } = announced
  const isHere = announced !== former && place.screen === screen
  return (
    // Screen readers have supported the role for longer than the `output` element.
    // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role
    <p className="announce-words" role="status">
      {isHere && text !== '' && (
        <span key={count} className={isShown ? 'announce-box' : 'visually-hidden'}>
          {text}
        </span>
      )}
    </p>
  )
}
