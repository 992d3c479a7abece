import { useState } from 'react'

import { storageOf } from '../../../client/storage.ts'

const open = 'open'
const storage = storageOf('localStorage')

/**
 * Whether the plots are unfolded, as this organiser left them in this browser.
 *
 * @param account Who that is.
 * @returns That, and what changes it.
 */
export function usePlotsAreOpen(account: string): [areOpen: boolean, change: (areOpen: boolean) => void] {
  const key = `unplugged-desk-plots-${account}`
  const [areOpen, setAreOpen] = useState(() => storage.getItem(key) === open)
  return [
    areOpen,
    (wanted) => {
      setAreOpen(wanted)
      if (wanted) storage.setItem(key, open)
      else storage.removeItem(key)
    },
  ]
}
