import { statuses } from '../../../application/statuses.ts'
import { useJudge } from '../kit/useDesk.tsx'
import type { Seen } from './judge.ts'

/** An application's status, marked until the database has confirmed it. */
export function StatusPill({ seen }: { seen: Omit<Seen, 'name'> }) {
  const { status, isPending } = useJudge().judge.shownOf(seen)
  return (
    <span className={`pill ${status}`} aria-busy={isPending}>
      {statuses[status]}
      {isPending && <span className="visually-hidden"> (saving)</span>}
    </span>
  )
}
