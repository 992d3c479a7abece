import type { ReactNode } from 'react'

import type { Status } from '../../../application/statuses.ts'
import { focusHeading } from '../focus.ts'
import type { Seen } from './judge.ts'
import { useJudge } from './JudgeProvider.tsx'

/** What organisers press for each status, by the key that does the same. */
export const decisions = [
  { status: 'shortlisted', label: 'Shortlist', key: 's' },
  { status: 'accepted', label: 'Accept', key: 'a' },
  { status: 'waitlisted', label: 'Waitlist', key: 'w' },
  { status: 'declined', label: 'Decline', key: 'd' },
  { status: 'new', label: 'Back to new', key: 'r' },
] as const satisfies readonly { status: Status; label: string; key: string }[]

interface DecisionBarProps {
  /** What is decided on. */
  seen: readonly Seen[]
  /** The same in words. */
  about: string
  /** What else can be done with them. */
  children?: ReactNode
}

/** The buttons to decide with, at the foot of the window. */
export function DecisionBar({ seen, about, children }: DecisionBarProps) {
  const { judge, judgement } = useJudge()
  if (seen.length === 0 && !judgement.canUndo) return null
  const isAll = (status: Status) => seen.every((each) => judge.shownOf(each).status === status)
  return (
    <section className="bar" aria-label={seen.length === 0 ? 'Last act' : `Decide: ${about}`}>
      <p className="about">{seen.length === 0 ? '' : about}</p>
      {seen.length > 0 &&
        decisions.map(({ status, label, key }) => (
          <button
            key={status}
            className={`quiet ${status}`}
            aria-pressed={isAll(status)}
            aria-keyshortcuts={key}
            onClick={() => judge.decide(seen, status)}
          >
            {label}
          </button>
        ))}
      {seen.length > 0 && children}
      <button
        className="quiet undo"
        aria-keyshortcuts="z"
        aria-disabled={!judgement.canUndo}
        onClick={() => {
          judge.undo()
          // Then the bar goes, and the button with it.
          if (seen.length === 0) focusHeading()
        }}
      >
        Undo
      </button>
    </section>
  )
}
