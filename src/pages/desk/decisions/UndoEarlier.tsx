import type { Status } from '../../../application/statuses.ts'
import { undoableDecisions, type Decision } from '../data/decision-state.ts'
import { Button } from '../kit/Button.tsx'
import { formatNumber } from '../kit/format.ts'
import { useDecisionQueue } from '../data/useDesk.tsx'
import { undo, type DecisionListeners } from './decide.ts'

interface UndoEarlierProps extends DecisionListeners {
  /** The id of the application, and the last decision in its history as it was read. A later one may not be there yet. */
  application: string
  status: Status
}

/** The button that undoes the last decision on an application, once the bar offers that no more. */
export function UndoEarlier({ application, status, ...listeners }: UndoEarlierProps) {
  const { queue, state } = useDecisionQueue()
  const undoable = undoableDecisions(state)
  const isIt = ({ application: { id }, wanted }: Decision) => id === application && wanted === status
  if (state.offeredAt !== null || !undoable.some(isIt)) return null
  return (
    <Button onPress={() => undo(queue, listeners)}>
      {undoable.length === 1 ? 'Undo' : `Undo all ${formatNumber(undoable.length)}`}
    </Button>
  )
}
