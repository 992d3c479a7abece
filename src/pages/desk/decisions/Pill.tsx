import type { ReactNode } from 'react'

import { statuses, type Status } from '../../../application/statuses.ts'

interface PillProps {
  status: Status
  /** Whether the status is being saved. */
  isPending?: boolean
  /** Whether somebody else has changed the status. */
  isChanged?: boolean
  /** Whether the applicant withdrew the application. This is shown in place of the status. */
  isWithdrawn?: boolean | undefined
  /** The tab of the list, if it is in one. The tab says the status already, so only screen readers are told again. */
  tab?: Status | 'all'
}

/** The word of a status. It uses no React features, since the inline script draws it too (`early-list.tsx`). */
export function Pill({
  status,
  isPending = false,
  isChanged = false,
  isWithdrawn = false,
  tab,
}: PillProps): ReactNode {
  const isRepeated = status === tab && !isChanged && !isPending
  return (
    <>
      <span
        className={`decisions-pill${isChanged ? ' decisions-changed' : ''}${isRepeated ? ' visually-hidden' : ''}`}
        data-status={isWithdrawn ? 'withdrawn' : status}
        aria-busy={isPending}
      >
        {isWithdrawn ? 'Withdrawn' : statuses[status]}
        {isPending && <span className="visually-hidden"> (saving)</span>}
      </span>
      {isChanged && <span className="visually-hidden"> (changed meanwhile)</span>}
    </>
  )
}
