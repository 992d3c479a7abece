import { useEffect, useEffectEvent } from 'react'

import { singleKeys } from './switches.ts'

/** The action of each key, by its `KeyboardEvent.key`. */
export type Keys = Readonly<Partial<Record<string, () => void>>>

/** The field that last received a character, and the event's time stamp in milliseconds. */
let typed: { field: Element; at: number } | undefined
/** Milliseconds without a key after which somebody has stopped typing. */
const pause = 2_000

function remember({ target, key, timeStamp, ctrlKey, metaKey, altKey }: KeyboardEvent) {
  if (key.length > 1 || ctrlKey || metaKey || altKey) typed = undefined
  else if (target instanceof Element && isTaken(target)) typed = { field: target, at: timeStamp }
}

/** Whether somebody is still typing into a field that has just disappeared, because of another organiser's change. */
function isTypedOn({ timeStamp }: KeyboardEvent) {
  if (typed === undefined || typed.field.isConnected || timeStamp - typed.at > pause) return false
  typed.at = timeStamp
  return true
}

/** Sets the keyboard shortcuts of a screen. They do not work in fields and dialogs, or with a modifier key. */
export function useKeys(keys: Keys): void {
  const onKeyDown = useEffectEvent((event: Event) => {
    // Autofill in browsers dispatches a plain event of this name.
    if (!(event instanceof KeyboardEvent)) return
    remember(event)
    if (isTypedOn(event)) return
    const act = keys[event.key]
    if (act === undefined || event.defaultPrevented || event.repeat) return
    if (event.ctrlKey || event.metaKey || event.altKey || isTaken(event.target)) return
    if (event.key.length === 1 && !singleKeys.isOn()) return
    if (event.key === 'Enter' && isPressed(event.target)) return
    event.preventDefault()
    act()
  })
  useEffect(() => {
    const forget = () => (typed = undefined)
    addEventListener('keydown', onKeyDown)
    addEventListener('click', forget)
    return () => {
      removeEventListener('keydown', onKeyDown)
      removeEventListener('click', forget)
    }
  }, [])
}

/** Whether Enter activates this element automatically. */
function isPressed(target: EventTarget | null) {
  return target instanceof Element && target.matches('a[href], button, summary')
}

function isTaken(target: EventTarget | null) {
  if (document.querySelector('dialog[open]')) return true
  if (!(target instanceof HTMLElement)) return false
  return (
    target.isContentEditable ||
    target.matches('textarea, select, input:not([type="checkbox"], [type="radio"])')
  )
}
