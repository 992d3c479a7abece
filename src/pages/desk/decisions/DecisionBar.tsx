import type { ReactNode } from 'react'

import { stepSize } from '../../../application/limits.ts'
import { statuses, type Status } from '../../../application/statuses.ts'
import { Button } from '../kit/Button.tsx'
import { focusApplication, focusHeading } from '../kit/focus.ts'
import { digits, momentOf, ofAll } from '../kit/format.ts'
import type { Judge, Progress, Seen, Unkept } from '../kit/judge.ts'
import { useJudge } from '../kit/useDesk.tsx'
import type { Keys } from '../kit/useKeys.ts'

/** The button for each status, and the key that does the same. */
const decisions = [
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
  const isEmpty = seen.length === 0
  if (isEmpty && lastAct === null && progress === null) return null
  const isAll = (status: Status) => seen.every((each) => judge.shownOf(each).status === status)
  return (
    <section className="bar" aria-label={isEmpty ? 'Last act' : `Decide: ${about}`}>
      <p className="about">{!isEmpty && <bdi>{about}</bdi>}</p>
      {!isEmpty &&
        decisions.map(({ status, label, key }) => (
          <Button
            key={status}
            className={`quiet ${status}`}
            // New is no decision, so there is nothing to go back from.
            aria-pressed={status === 'new' ? undefined : isAll(status)}
            aria-disabled={status === 'new' ? isAll(status) : undefined}
            aria-keyshortcuts={key}
            onPress={() => decide(judge, seen, status, onDecided)}
          >
            {label}
          </Button>
        ))}
      {!isEmpty && children}
      {progress && <span>{ofAll(progress.done, progress.count)}</span>}
      {progress && <Button onPress={judge.stop}>Stop</Button>}
      <span className="visually-hidden" aria-live="polite">
        {progress && spokenOf(progress)}
      </span>
      <Button
        className="quiet undo"
        aria-keyshortcuts="z"
        aria-disabled={lastAct === null}
        onPress={() => {
          judge.undo()
          // Then the bar disappears, and the pressed button with it.
          if (isEmpty) focusHeading()
        }}
      >
        {lastAct === null ? 'Undo' : `Undo: ${digits(lastAct.count)} ${wordOf(lastAct.status)}`}
      </Button>
    </section>
  )
}

/** `300 of 1,000 saved`. It changes only with each quarter, so that a screen reader does not read out every step. */
function spokenOf(progress: Progress) {
  const quarters = Math.floor((progress.done * 4) / progress.count)
  if (quarters === 0) return ''
  const steps = Math.ceil((quarters * progress.count) / 4 / stepSize)
  return `${ofAll(steps * stepSize, progress.count)} saved`
}

function wordOf(status: Status) {
  return status === 'new' ? 'back to new' : statuses[status].toLowerCase()
}

/**
 * The keys that decide, and the one that undoes.
 *
 * @param seen What is decided on.
 * @param onDecided Called once something was decided.
 */
export function decisionKeys(judge: Judge, seen: readonly Seen[], onDecided = () => {}): Keys {
  return {
    z: () => judge.undo(),
    ...Object.fromEntries(
      decisions.map(({ key, status }) => [key, () => decide(judge, seen, status, onDecided)]),
    ),
  }
}

/** Decides, unless all have this status already: then what is selected stays selected. */
function decide(judge: Judge, seen: readonly Seen[], status: Status, onDecided: () => void) {
  if (seen.every((each) => judge.shownOf(each).status === status)) return
  judge.decide(seen, status)
  onDecided()
}

/** An application's status, marked until the database has confirmed it, and where somebody else changed it meanwhile. */
export function StatusPill({ seen }: { seen: Omit<Seen, 'name'> }) {
  const { judge } = useJudge()
  const { status, isPending } = judge.shownOf(seen)
  const isChanged = judge.isChanged(seen)
  return (
    <>
      <span className={`pill ${status} ${isChanged ? 'meanwhile' : ''}`} aria-busy={isPending}>
        {statuses[status]}
        {isPending && <span className="visually-hidden"> (saving)</span>}
      </span>
      {isChanged && <span className="visually-hidden"> (changed meanwhile)</span>}
    </>
  )
}

/** The decisions that were not kept, with buttons to repeat or leave them. Decisions that failed alike are shown together. */
export function DecisionProblems() {
  const { judge, judgement } = useJudge()
  return (
    <div role="alert" className="problems">
      {alike(judgement.problems).map((problems) => {
        const [{ seen, wanted, reason }, ...others] = problems
        const choose = (act: () => void) => {
          act()
          // The pressed button disappears.
          focusApplication(seen.id)
        }
        const label = decisions.find(({ status }) => status === wanted)?.label ?? ''
        return (
          <section key={seen.id} className="notice error">
            <p>{said(problems[0], others.length)}</p>
            <p className="row">
              {reason.kind !== 'gone' && (
                <Button onPress={() => choose(() => judge.insist(problems))}>
                  {reason.kind === 'failed' ? 'Try again' : `${label} anyway`}
                </Button>
              )}
              <Button onPress={() => choose(() => judge.dismiss(problems))}>
                {stands(reason)
                  ? `Leave ${others.length === 0 ? 'it' : 'them'} ${statuses[seen.status]}`
                  : 'Close'}
              </Button>
            </p>
          </section>
        )
      })}
    </div>
  )
}

/** Groups decisions that wanted the same status and were not kept for the same reason. */
function alike(problems: readonly Unkept[]) {
  const groups = new Map<string, [Unkept, ...Unkept[]]>()
  for (const problem of problems) {
    const { seen, wanted, reason } = problem
    const key = JSON.stringify([wanted, reason, stands(reason) && seen.status])
    const group = groups.get(key)
    if (group) group.push(problem)
    else groups.set(key, [problem])
  }
  return [...groups.values()]
}

/** Whether the application's status is known, so that it can be left as it is. */
function stands({ kind }: Unkept['reason']) {
  return kind === 'stale' || kind === 'told'
}

/** @param others For how many other applications the sentence is true, too. */
function said({ seen, wanted, reason }: Unkept, others: number) {
  const isOne = others === 0
  const whom = isOne ? seen.name : `${seen.name} and ${others} ${others === 1 ? 'other' : 'others'}`
  const status = statuses[seen.status]
  if (reason.kind === 'told') {
    const told = isOne ? `a letter that says “${status}” has` : `letters that say “${status}” have`
    return `${whom}: ${told} left. That was not taken back.`
  }
  const notSaved = `${whom}: “${statuses[wanted]}” was not saved.`
  if (reason.kind === 'gone')
    return `${notSaved} The ${isOne ? 'application was' : 'applications were'} erased meanwhile.`
  if (reason.kind === 'failed') return `${notSaved} ${reason.message}`
  const { author, at } = reason
  const them = isOne ? 'it' : 'them'
  if (author === null || at === null)
    return `${notSaved} ${isOne ? 'It' : 'They'} changed meanwhile: ${status}.`
  return `${notSaved} ${author} set ${them} to ${status} meanwhile (${momentOf(at)}).`
}
