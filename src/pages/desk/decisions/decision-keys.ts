import type { Status } from '../../../application/statuses.ts'
import type { Keys } from '../kit/useKeys.ts'
import type { Judge, Seen } from './judge.ts'

/** What organisers press for each status, by the key that does the same. */
export const decisions = [
  { status: 'shortlisted', label: 'Shortlist', key: 's' },
  { status: 'accepted', label: 'Accept', key: 'a' },
  { status: 'waitlisted', label: 'Waitlist', key: 'w' },
  { status: 'declined', label: 'Decline', key: 'd' },
  { status: 'new', label: 'Back to new', key: 'r' },
] as const satisfies readonly { status: Status; label: string; key: string }[]

/**
 * The keys that decide, and the one that undoes.
 *
 * @param seen What is decided on.
 * @param onDecided Called once something was decided.
 */
export function decisionKeys(judge: Judge, seen: readonly Seen[], onDecided = () => {}): Keys {
  const decide = (status: Status) => () => {
    judge.decide(seen, status)
    onDecided()
  }
  return {
    z: () => judge.undo(),
    ...Object.fromEntries(decisions.map(({ key, status }) => [key, decide(status)])),
  }
}
