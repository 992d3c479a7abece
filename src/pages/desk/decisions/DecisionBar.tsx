import type { ReactNode } from 'react'

import type { Status } from '../../../application/statuses.ts'
import { Button } from '../kit/Button.tsx'
import { focusHeading, focusHeadingOnRemoval } from '../kit/focus.ts'
import { progressIn, undoableDecisions, type Decision, type SeenApplication } from '../data/decision-state.ts'
import { formatNumber, outOf } from '../kit/format.ts'
import { singleKeys } from '../kit/switches.ts'
import { useDecisionQueue } from '../data/useDesk.tsx'
import { useSwitch } from '../kit/useSwitch.ts'
import { progressOf, undoneWord } from './sentences.ts'
import { decide, decisionButtons, undo, type DecisionListeners } from './decide.ts'

interface DecisionBarProps extends DecisionListeners {
  /** The applications to decide on. */
  applications: readonly SeenApplication[]
  /** The words for these applications: a name, or a number. */
  about: string
  /** Further buttons for these applications. */
  children?: ReactNode
}

/** The decision bar at the bottom of the window. */
export function DecisionBar({ applications, about, children, ...listeners }: DecisionBarProps) {
  const { queue, state } = useDecisionQueue()
  const undoable = undoableDecisions(state)
  const progress = progressIn(state)
  const keysAreOn = useSwitch(singleKeys)
  const isEmpty = applications.length === 0
  if (isEmpty && undoable.length === 0 && progress === null) return null
  const allHave = (status: Status) => applications.every((each) => queue.currentOf(each).status === status)
  return (
    <section className="decisions-bar" aria-label={isEmpty ? 'Last act' : `Decide: ${about}`}>
      <p className="decisions-about">{!isEmpty && <bdi>{about}</bdi>}</p>
      {!isEmpty &&
        decisionButtons.map(({ status, label, key }) => (
          <Button
            key={status}
            data-status={status}
            // "Reset to New" only takes a decision back, so its button is disabled instead of pressed.
            aria-pressed={status === 'new' ? undefined : allHave(status)}
            aria-disabled={status === 'new' ? allHave(status) : undefined}
            aria-keyshortcuts={keysAreOn ? key : undefined}
            onPress={() => decide(queue, applications, status, listeners)}
          >
            {label}
          </Button>
        ))}
      {!isEmpty && children}
      {progress && <span>{outOf(progress.done, progress.count)}</span>}
      {progress && (
        <Button ref={focusHeadingOnRemoval} onPress={queue.stop}>
          Stop
        </Button>
      )}
      <span className="visually-hidden" aria-live="polite">
        {progress && progressOf(progress)}
      </span>
      <Button
        className="control-quiet decisions-undo"
        aria-keyshortcuts="z"
        aria-disabled={undoable.length === 0}
        onPress={() => {
          undo(queue, listeners)
          // The bar disappears, and the pressed button with it.
          if (isEmpty) focusHeading()
        }}
      >
        <UndoLabel decisions={undoable} />
      </Button>
    </section>
  )
}

/** The label of the Undo button. The comma is in the name's element, which is cut if it is long. */
function UndoLabel({ decisions: [first, ...others] }: { decisions: readonly Decision[] }) {
  if (first === undefined) return 'Undo'
  const word = undoneWord(first.wanted)
  if (others.length > 0) return `Undo: ${formatNumber(others.length + 1)} ${word}`
  return (
    <>
      Undo: <bdi>{first.application.name},</bdi> {word}
    </>
  )
}
