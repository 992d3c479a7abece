import { useSyncExternalStore } from 'react'

/** Whether the page is being put on paper: then what is behind a button is shown. */
export function usePrinting(): boolean {
  return useSyncExternalStore(subscribe, () => paper().matches)
}

function subscribe(onChange: () => void) {
  const isOnPaper = paper()
  isOnPaper.addEventListener('change', onChange)
  return () => isOnPaper.removeEventListener('change', onChange)
}

function paper() {
  return matchMedia('print')
}
