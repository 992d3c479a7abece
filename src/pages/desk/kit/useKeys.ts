import { useEffect, useEffectEvent } from 'react'

import { singleKeys } from './switches.ts'

/** The action of each key, by its `KeyboardEvent.key`. */
export type Keys = Readonly<Partial<Record<string, () => void>>>

/** The field that last received a character, and the event's time stamp in milliseconds. */
let lastTyped: { field: Element; at: number } | undefined
/** Milliseconds without a key after which somebody has stopped typing. */
const typingPause = 2_000

function rememberTyping({ target, key, timeStamp, ctrlKey, metaKey, altKey }: KeyboardEvent) {
  if (key.length > 1 || ctrlKey || metaKey || altKey) lastTyped = undefined
  else if (target instanceof Element && isTypingTarget(target)) lastTyped = { field: target, at: timeStamp }
}

/** Whether somebody is still typing into a field that has just disappeared, because of another organiser's change. */
function isStillTyping({ timeStamp }: KeyboardEvent) {
  if (lastTyped === undefined || lastTyped.field.isConnected || timeStamp - lastTyped.at > typingPause)
    return false
  lastTyped.at = timeStamp
  return true
}

/** Sets the keyboard shortcuts of a screen. They do not work in fields and dialogs, or with a modifier key. */
export function useKeys(keys: Keys): void {
  const onKeyDown = useEffectEvent((event: Event) => {
    // Autofill in browsers dispatches a `keydown` that is not a keyboard event.
    if (!(event instanceof KeyboardEvent)) return
    rememberTyping(event)
    if (isStillTyping(event)) return
    const key = keyOf(event)
    const action = keys[key]
    if (action === undefined || event.defaultPrevented || event.repeat) return
    if (event.ctrlKey || event.metaKey || event.altKey || isTypingTarget(event.target)) return
    if (key.length === 1 && !singleKeys.isOn()) return
    if (key === 'Enter' && activatesOnEnter(event.target)) return
    event.preventDefault()
    action()
  })
  useEffect(() => {
    const forget = () => (lastTyped = undefined)
    addEventListener('keydown', onKeyDown)
    addEventListener('click', forget)
    return () => {
      removeEventListener('keydown', onKeyDown)
      removeEventListener('click', forget)
    }
  }, [])
}

/**
 * The key of an event. A letter that is not Latin counts as the Latin one in its place, since the shortcuts are Latin letters. Keys
 * of software have no place.
 */
function keyOf({ key, code }: KeyboardEvent) {
  return key.length === 1 && key > '~' && code !== '' ? code.slice('Key'.length).toLowerCase() : key
}

/** Whether the browser activates this element on Enter. */
function activatesOnEnter(target: EventTarget | null) {
  return target instanceof Element && target.matches('a[href], button, summary')
}

function isTypingTarget(target: EventTarget | null) {
  if (document.querySelector('dialog[open]')) return true
  if (!(target instanceof HTMLElement)) return false
  return (
    target.isContentEditable ||
    target.matches('textarea, select, input:not([type="checkbox"], [type="radio"])')
  )
}
