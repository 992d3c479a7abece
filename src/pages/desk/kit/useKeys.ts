import { useEffect, useEffectEvent, useSyncExternalStore } from 'react'

import { storageOf } from '../../../client/storage.ts'

const storageKey = 'unplugged-desk-keys'
const storage = storageOf('localStorage')
const listeners = new Set<() => void>()

/** Whether single keys do something: who dictates or presses keys by accident switches them off (WCAG 2.1.4). */
export function useKeysAreOn(): boolean {
  return useSyncExternalStore(subscribe, areOn, () => true)
}

function subscribe(listener: () => void) {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function switchKeys(isOn: boolean): void {
  if (isOn) storage.removeItem(storageKey)
  else storage.setItem(storageKey, 'off')
  for (const listener of listeners) listener()
}

function areOn() {
  return storage.getItem(storageKey) !== 'off'
}

/** What each key does, by its name as `KeyboardEvent.key` has it. */
export type Keys = Readonly<Partial<Record<string, () => void>>>

/** Lets keys do something while a screen is shown; never inside a field or a dialog, and never with a modifier. */
export function useKeys(keys: Keys): void {
  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    const act = keys[event.key]
    if (act === undefined || event.defaultPrevented || event.repeat) return
    if (event.ctrlKey || event.metaKey || event.altKey || isTaken(event.target)) return
    if (event.key.length === 1 && !areOn()) return
    if (event.key === 'Enter' && isPressed(event.target)) return
    event.preventDefault()
    act()
  })
  useEffect(() => {
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
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
