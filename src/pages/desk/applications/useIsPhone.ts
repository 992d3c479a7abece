import { useSyncExternalStore } from 'react'

/** Where the bar of decisions takes much of what is seen: the windows that decisions.css has it otherwise in. */
const phone = matchMedia('(max-width: 44rem), (max-height: 28rem)')

/** Whether the window is as small as a phone's. */
export function useIsPhone(): boolean {
  return useSyncExternalStore(subscribe, () => phone.matches)
}

function subscribe(listener: () => void) {
  phone.addEventListener('change', listener)
  return () => phone.removeEventListener('change', listener)
}
