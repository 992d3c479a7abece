import { useSyncExternalStore } from 'react'

import type { Switch } from './switches.ts'

/** Whether something is on, also after it was switched. */
export function useSwitch({ subscribe, isOn, byDefault }: Switch): boolean {
  return useSyncExternalStore(subscribe, isOn, byDefault)
}
