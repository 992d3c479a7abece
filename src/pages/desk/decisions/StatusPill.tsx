import type { SeenApplication } from '../data/decision-state.ts'
import { useDecisionQueue } from '../data/useDesk.tsx'
import { Pill } from './Pill.tsx'

interface StatusPillProps {
  application: Omit<SeenApplication, 'name'>
  /** Whether the applicant withdrew it, which it shows in place of the status. */
  isWithdrawn?: boolean
}

/** An application's status. It shows whether the status is being saved, or was changed by somebody else. */
export function StatusPill({ application, isWithdrawn = false }: StatusPillProps) {
  const { queue } = useDecisionQueue()
  const { status, isPending } = queue.currentOf(application)
  return <Pill {...{ status, isPending, isWithdrawn }} isChanged={queue.isChanged(application)} />
}
