import { useEffect, useEffectEvent } from 'react'

import { singleKeys } from './switches.ts'

/** What each key does, by its name as `KeyboardEvent.key` has it. */
export type Keys = Readonly<Partial<Record<string, () => void>>>

/** The field in which a sign was typed last, and when, in milliseconds of the page. */
let typed: { field: Element; at: number } | undefined
/** Milliseconds after which whoever typed into a field has stopped. */
const pause = 2_000

function remember({ target, key, timeStamp, ctrlKey, metaKey, altKey }: KeyboardEvent) {
  if (key.length > 1 || ctrlKey || metaKey || altKey) typed = undefined
  else if (target instanceof Element && isTaken(target)) typed = { field: target, at: timeStamp }
}

/** Whether somebody goes on typing into a field that is gone, because somebody else did something meanwhile. */
function isTypedOn({ timeStamp }: KeyboardEvent) {
  if (typed === undefined || typed.field.isConnected || timeStamp - typed.at > pause) return false
  typed.at = timeStamp
  return true
}

/** Lets keys do something while a screen is shown; never inside a field or a dialog, and never with a modifier. */
export function useKeys(keys: Keys): void {
  const onKeyDown = useEffectEvent((event: Event) => {
    // A browser that fills a field in sends a plain event of this name.
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

/** Whether Enter does something there by itself. */
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
