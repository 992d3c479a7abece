import { statuses } from '../../../application/statuses.ts'
import { Button } from '../kit/Button.tsx'
import { focusById } from '../kit/focus.ts'
import { useDecisionQueue } from '../data/useDesk.tsx'
import { decisionButtons } from './decide.ts'
import { groupAlike, isStatusKnown, sentenceOfRefusal } from './refusals.ts'

/** The refused decisions, grouped by reason, with buttons to repeat or drop them. */
export function DecisionProblems() {
  const { queue, state } = useDecisionQueue()
  return groupAlike(state.refusals.values()).map((refusals) => {
    const [{ application, wanted, reason }, ...others] = refusals
    const actAndFocus = (act: () => void) => {
      act()
      // The pressed button disappears.
      focusById(application.id)
    }
    const label = decisionButtons.find(({ status }) => status === wanted)?.label ?? ''
    return (
      <section key={application.id} role="alert" className="layout-notice error">
        <p>{sentenceOfRefusal(refusals[0], others.length)}</p>
        <p className="layout-row">
          {reason.kind === 'failed' && (
            <Button onPress={() => actAndFocus(() => queue.repeat(refusals))}>Try again</Button>
          )}
          <Button onPress={() => actAndFocus(() => queue.dismiss(refusals))}>
            {isStatusKnown(reason)
              ? `Leave ${others.length === 0 ? 'it' : 'them'} ${statuses[application.status]}`
              : 'Close'}
          </Button>
          {/* The last one, so that it does not take the place of “Try again”. */}
          {isStatusKnown(reason) && (
            <Button onPress={() => actAndFocus(() => queue.repeat(refusals))}>{`${label} anyway`}</Button>
          )}
        </p>
      </section>
    )
  })
}
