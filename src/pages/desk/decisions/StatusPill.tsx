import type { SeenApplication } from '../data/decision-state.ts'
import { useDecisionQueue } from '../data/useDesk.tsx'
import { Pill } from './Pill.tsx'

/** An application's status. It shows whether the status is being saved, or was changed by somebody else. */
export function StatusPill({ application }: { application: Omit<SeenApplication, 'name'> }) {
  const { queue } = useDecisionQueue()
  const { status, isPending } = queue.currentOf(application)
  return <Pill {...{ status, isPending }} isChanged={queue.isChanged(application)} />
}
