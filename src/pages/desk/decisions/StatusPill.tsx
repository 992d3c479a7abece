import type { Seen } from '../kit/decision-state.ts'
import { useDecisionQueue } from '../kit/useDesk.tsx'
import { Pill } from './Pill.tsx'

/** An application's status, with a mark while it is pending or after somebody else changed it. */
export function StatusPill({ seen }: { seen: Omit<Seen, 'name'> }) {
  const { queue } = useDecisionQueue()
  const { status, isPending } = queue.shownOf(seen)
  return <Pill {...{ status, isPending }} isChanged={queue.isChanged(seen)} />
}
