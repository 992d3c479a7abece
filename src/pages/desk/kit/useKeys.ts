import { useEffect, useEffectEvent } from 'react'

import { isStillTyping, isTypingTarget } from './focus.ts'
import { singleKeys } from './switches.ts'

/** The action of each key, by its `KeyboardEvent.key`. */
export type Keys = Readonly<Partial<Record<string, () => void>>>

/** Sets the keyboard shortcuts of a screen. They do not work in fields and dialogs, or with a modifier key. */
export function useKeys(keys: Keys): void {
  const onKeyDown = useEffectEvent((event: Event) => {
    // Autofill in browsers dispatches a `keydown` that is not a keyboard event.
    if (!(event instanceof KeyboardEvent)) return
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
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
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
