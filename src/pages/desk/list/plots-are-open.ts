import { useState } from 'react'

const open = 'open'

/**
 * Whether the plots are unfolded, as this organiser left them in this browser.
 *
 * @param account Who that is.
 * @returns That, and what changes it.
 */
export function usePlotsAreOpen(account: string): [areOpen: boolean, change: (areOpen: boolean) => void] {
  const key = `unplugged-desk-plots-${account}`
  const [areOpen, setAreOpen] = useState(() => tryStorage((storage) => storage.getItem(key)) === open)
  return [
    areOpen,
    (wanted) => {
      setAreOpen(wanted)
      tryStorage((storage) => (wanted ? storage.setItem(key, open) : storage.removeItem(key)))
    },
  ]
}

/** Where storage is full or forbidden, they are as they were for as long as the list is open. */
function tryStorage<Result>(act: (storage: Storage) => Result): Result | undefined {
  try {
    return act(localStorage)
  } catch {
    return undefined
  }
}
