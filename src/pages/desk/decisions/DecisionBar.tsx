import type { ReactNode } from 'react'

import { decisionsAtOnce } from '../../../application/limits.ts'
import { statuses, type Status } from '../../../application/statuses.ts'
import { focusHeading } from '../kit/focus.ts'
import { digits } from '../kit/format.ts'
import { useJudge } from '../kit/useDesk.tsx'
import type { Keys } from '../kit/useKeys.ts'
import type { Judge, LastAct, Progress, Seen } from './judge.ts'

/** The button for each status, and the key that does the same. */
export const decisions = [
  { status: 'shortlisted', label: 'Shortlist', key: 's' },
  { status: 'accepted', label: 'Accept', key: 'a' },
  { status: 'waitlisted', label: 'Waitlist', key: 'w' },
  { status: 'declined', label: 'Decline', key: 'd' },
  { status: 'new', label: 'Back to new', key: 'r' },
] as const satisfies readonly { status: Status; label: string; key: string }[]

interface DecisionBarProps {
  /** The applications to decide on. */
  seen: readonly Seen[]
  /** The same in words. */
  about: string
  /** Called once something was decided. */
  onDecided?: () => void
  /** Further buttons for these applications. */
  children?: ReactNode
}

/** The buttons to decide with, at the foot of the window. */
export function DecisionBar({ seen, about, onDecided = () => {}, children }: DecisionBarProps) {
  const { judge, judgement } = useJudge()
  const { lastAct, progress } = judgement
  if (seen.length === 0 && lastAct === null && progress === null) return null
  const isAll = (status: Status) => seen.every((each) => judge.shownOf(each).status === status)
  return (
    <section className="bar" aria-label={seen.length === 0 ? 'Last act' : `Decide: ${about}`}>
      <p className="about">{seen.length === 0 ? '' : <bdi>{about}</bdi>}</p>
      {seen.length > 0 &&
        decisions.map(({ status, label, key }) => (
          <button
            key={status}
            className={`quiet ${status}`}
            // New is no decision, so there is nothing to go back from.
            aria-pressed={status === 'new' ? undefined : isAll(status)}
            aria-disabled={status === 'new' ? isAll(status) : undefined}
            aria-keyshortcuts={key}
            onClick={() => {
              judge.decide(seen, status)
              onDecided()
            }}
          >
            {label}
          </button>
        ))}
      {seen.length > 0 && children}
      {progress && (
        <>
          <span>{ofAll(progress.done, progress)}</span>
          <button className="quiet" onClick={judge.stop}>
            Stop
          </button>
        </>
      )}
      <span className="visually-hidden" aria-live="polite">
        {progress && spokenOf(progress)}
      </span>
      <button
        className="quiet undo"
        aria-keyshortcuts="z"
        aria-disabled={lastAct === null}
        onClick={() => {
          judge.undo()
          // Then the bar disappears, and the pressed button with it.
          if (seen.length === 0) focusHeading()
        }}
      >
        {lastAct === null ? 'Undo' : `Undo: ${wordsOf(lastAct)}`}
      </button>
    </section>
  )
}

/** `300 of 1,000 saved`. It changes only with each quarter, so that a screen reader does not read out every step. */
function spokenOf(progress: Progress) {
  const quarters = Math.floor((progress.done * 4) / progress.count)
  if (quarters === 0) return ''
  const steps = Math.ceil((quarters * progress.count) / 4 / decisionsAtOnce)
  return `${ofAll(steps * decisionsAtOnce, progress)} saved`
}

function ofAll(done: number, { count }: Progress) {
  return `${digits(done)} of ${digits(count)}`
}

/** `20 accepted` */
function wordsOf({ count, status }: LastAct) {
  const word = status === 'new' ? 'back to new' : statuses[status].toLowerCase()
  return `${digits(count)} ${word}`
}

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
