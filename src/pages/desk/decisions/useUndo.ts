import { useSyncExternalStore } from 'react'

import { undoableDecisions, type Decision } from '../data/decision-state.ts'
import { useDecisionQueue } from '../data/useDesk.tsx'

/**
 * The decisions that Undo would undo.
 *
 * @returns `offeredAt`: when the bar began to offer that, in milliseconds of `performance.now()`; null if it does no more.
 */
export function useUndo(): { undoable: readonly Decision[]; offeredAt: number | null } {
  const { queue, state } = useDecisionQueue()
  const offeredAt = useSyncExternalStore(queue.subscribe, queue.offeredAt, queue.offeredAt)
  return { undoable: undoableDecisions(state), offeredAt }
}
