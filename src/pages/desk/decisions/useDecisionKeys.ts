import type { Status } from '../../../application/statuses.ts'
import { useJudge } from '../kit/useDesk.tsx'
import { useKeys } from '../kit/useKeys.ts'
import type { Seen } from './judge.ts'

/** What organisers press for each status, by the key that does the same. */
export const decisions = [
  { status: 'shortlisted', label: 'Shortlist', key: 's' },
  { status: 'accepted', label: 'Accept', key: 'a' },
  { status: 'waitlisted', label: 'Waitlist', key: 'w' },
  { status: 'declined', label: 'Decline', key: 'd' },
  { status: 'new', label: 'Back to new', key: 'r' },
] as const satisfies readonly { status: Status; label: string; key: string }[]

/**
 * Lets the keys decide, and undo.
 *
 * @param seen What is decided on.
 * @param onDecided Called once something was decided.
 */
export function useDecisionKeys(seen: readonly Seen[], onDecided = () => {}): void {
  const { judge } = useJudge()
  const decide = (status: Status) => () => {
    judge.decide(seen, status)
    onDecided()
  }
  useKeys({
    z: () => judge.undo(),
    ...Object.fromEntries(decisions.map(({ key, status }) => [key, decide(status)])),
  })
}
