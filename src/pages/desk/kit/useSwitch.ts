import { useSyncExternalStore } from 'react'

import type { Switch } from './switches.ts'

/** The current value of a switch; re-renders when it changes. */
export function useSwitch({ subscribe, isOn, byDefault }: Switch): boolean {
  return useSyncExternalStore(subscribe, isOn, byDefault)
}
