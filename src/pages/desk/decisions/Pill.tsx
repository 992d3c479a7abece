import type { ReactNode } from 'react'

import { statuses, type Status } from '../../../application/statuses.ts'

interface PillProps {
  status: Status
  /** Whether the status is being saved. */
  isPending?: boolean
  /** Whether somebody else has changed the status. */
  isChanged?: boolean
}

/** The word of a status. It uses no React features, since the inline script draws it too (`early-list.tsx`). */
export function Pill({ status, isPending = false, isChanged = false }: PillProps): ReactNode {
  return (
    <>
      <span
        className={isChanged ? 'decisions-pill decisions-changed' : 'decisions-pill'}
        data-status={status}
        aria-busy={isPending}
      >
        {statuses[status]}
        {isPending && <span className="visually-hidden"> (saving)</span>}
      </span>
      {isChanged && <span className="visually-hidden"> (changed meanwhile)</span>}
    </>
  )
}
