import { storageOf } from '../../../client/storage.ts'
import { createListeners } from './listen.ts'

const storage = storageOf('localStorage')

/** Something that is switched on or off in this browser, and stays so. */
export type Switch = ReturnType<typeof createSwitch>

/**
 * Makes a switch.
 *
 * @param name By which it is kept; two of one name do not tell each other.
 */
export function createSwitch(name: string, byDefault: boolean) {
  const key = `unplugged-desk-${name}`
  const { subscribe, tell } = createListeners()
  return {
    subscribe,
    byDefault: () => byDefault,
    isOn: () => (storage.getItem(key) ?? (byDefault ? 'on' : 'off')) === 'on',
    turn(isOn: boolean) {
      storage.setItem(key, isOn ? 'on' : 'off')
      tell()
    },
  }
}

/** Whether single keys do something: who dictates or presses keys by accident switches them off (WCAG 2.1.4). */
export const singleKeys = createSwitch('keys', true)

/** Whether the next application that nobody decided on follows a decision. */
export const goingOn = createSwitch('goes-on', false)

/** Whether the list says what to do first. */
export const welcome = createSwitch('welcome', true)
