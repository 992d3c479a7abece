import { useSyncExternalStore } from 'react'

import { storageOf } from '../../../client/storage.ts'
import { createListeners } from './listen.ts'

const storage = storageOf('localStorage')

/** A setting that is on or off, stored in this browser. */
export type Switch = ReturnType<typeof createSwitch>

/** The current value of a switch; re-renders when it changes. */
export function useSwitch({ subscribe, isOn, byDefault }: Switch): boolean {
  return useSyncExternalStore(subscribe, isOn, byDefault)
}

/**
 * Creates a switch.
 *
 * @param name Its name in the storage. Two switches with one name do not notify each other.
 * @param byDefault Its value until somebody changes it.
 */
export function createSwitch(name: string, byDefault: boolean) {
  const key = `unplugged-desk-${name}`
  const { subscribe, notify } = createListeners()
  return {
    subscribe,
    byDefault: () => byDefault,
    isOn: () => (storage.getItem(key) ?? (byDefault ? 'on' : 'off')) === 'on',
    turn: (isOn: boolean) => {
      storage.setItem(key, isOn ? 'on' : 'off')
      notify()
    },
  }
}

/** Whether single-key shortcuts are on. People who dictate or press keys by accident can turn them off (WCAG 2.1.4). */
export const singleKeys = createSwitch('keys', true)
