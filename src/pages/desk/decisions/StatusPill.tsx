import type { Seen } from '../kit/decision-state.ts'
import { useDecisionQueue } from '../kit/useDesk.tsx'
import { Pill } from './Pill.tsx'

/** An application's status, marked until the database has confirmed it, and where somebody else changed it meanwhile. */
export function StatusPill({ seen }: { seen: Omit<Seen, 'name'> }) {
  const { queue } = useDecisionQueue()
  const { status, isPending } = queue.shownOf(seen)
  return <Pill {...{ status, isPending }} isChanged={queue.isChanged(seen)} />
}
