import { Button } from '../kit/Button.tsx'
import { formatNumber } from '../kit/format.ts'
import { useDecisionQueue } from '../data/useDesk.tsx'
import { undo, type DecisionListeners } from './decide.ts'
import { useUndo } from './useUndo.ts'

interface UndoEarlierProps extends DecisionListeners {
  /** The id of the application whose decision can be undone. */
  application: string
}

/** The button that undoes the last decision on an application, once the bar offers that no more. */
export function UndoEarlier({ application, ...listeners }: UndoEarlierProps) {
  const { queue } = useDecisionQueue()
  const { undoable, offeredAt } = useUndo()
  if (offeredAt !== null || !undoable.some((each) => each.application.id === application)) return null
  return (
    <Button onPress={() => undo(queue, listeners)}>
      {undoable.length === 1 ? 'Undo' : `Undo all ${formatNumber(undoable.length)}`}
    </Button>
  )
}
