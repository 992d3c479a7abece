import type { Status } from '../../../application/statuses.ts'
import { newActId } from '../../../client/act.ts'
import type { CallDesk } from '../../../client/desk.ts'
import { reduce, type QueueEvent } from './decision-reducer.ts'
import {
  emptyQueue,
  isWaiting,
  decisionsInCall,
  currentStatusIn,
  type DecisionAct,
  type Decision,
  type Refusal,
  type SeenApplication,
  type CurrentStatus,
} from './decision-state.ts'
import { createListeners } from '../kit/listen.ts'
import { isUncertain, sentenceOf } from '../kit/Problem.tsx'

/** Shows each decision immediately and sends the acts one after another. */
export type DecisionQueue = ReturnType<typeof createDecisionQueue>

/**
 * Creates the decision queue of one organiser. It sends nothing until `start` is called.
 *
 * @param onFinished Called once for each act, in order, when all its decisions are saved, refused or stopped.
 */
export function createDecisionQueue(callDesk: CallDesk, onFinished: (act: DecisionAct) => void) {
  const { subscribe, notify } = createListeners()
  let state = emptyQueue
  let signal = AbortSignal.abort()
  let isSending = false

  const dispatch = (event: QueueEvent) => {
    const { finished } = state
    const next = reduce(state, event)
    if (next === state) return
    state = next
    notify()
    for (const act of state.acts.slice(finished, state.finished)) report(act)
    void send()
  }

  /** An error in `onFinished` must not block later acts. */
  const report = (act: DecisionAct) => {
    try {
      onFinished(act)
    } catch (error) {
      reportError(error)
    }
  }

  const send = async () => {
    if (isSending) return
    isSending = true
    while (isWaiting(state) && !signal.aborted) {
      const currentSignal = signal
      dispatch({ type: 'send' })
      const event = await callServer(decisionsInCall(state), currentSignal)
      // An aborted call has an unknown outcome.
      if (!currentSignal.aborted) dispatch(event)
    }
    isSending = false
  }

  const callServer = async (decisions: readonly Decision[], callSignal: AbortSignal): Promise<QueueEvent> => {
    try {
      const args = decisions.map(({ application: { id }, wanted, baseVersion, isUndo }) => ({
        id,
        status: wanted,
        version: baseVersion,
        takes_back: isUndo,
      }))
      // Each call has its own act id, though one act of the organiser may take several calls.
      const outcomes = await callDesk('desk_decide', { act: newActId(), decisions: args }, callSignal)
      return { type: 'reply', outcomes: new Map(outcomes.map((outcome) => [outcome.id, outcome])) }
    } catch (error) {
      return { type: 'fail', message: sentenceOf(error), isUncertain: isUncertain(error) }
    }
  }

  return {
    subscribe,
    state: () => state,
    /** Starts sending. Returns a function that stops it and aborts the call in progress. */
    start() {
      const ending = new AbortController()
      signal = ending.signal
      void send()
      return () => ending.abort()
    },
    /** Sets the status of the given applications, as one act. Undo is then offered. */
    decide: (applications: readonly SeenApplication[], wanted: Status) =>
      dispatch({ type: 'decide', applications, wanted, at: performance.now() }),
    /** Ends the offer to undo. The last act can still be undone. */
    endOffer: () => dispatch({ type: 'end offer' }),
    /** Undoes the last act that can be undone. */
    undo: () => dispatch({ type: 'undo' }),
    /** Repeats refused decisions, as one act, after the organiser has seen why they were refused. */
    repeat: (refusals: readonly Refusal[]) => dispatch({ type: 'repeat', refusals, at: performance.now() }),
    /** Drops refusals and leaves their applications as they are. */
    dismiss: (refusals: readonly Refusal[]) => dispatch({ type: 'dismiss', refusals }),
    /** Stops an act that takes several calls: its unsent decisions are dropped. */
    stop: () => dispatch({ type: 'stop' }),
    /** Records the status of an application as it was read, if its version is newer. */
    recordRead: (application: Omit<SeenApplication, 'name'>) => dispatch({ type: 'read', application }),
    /** Forgets the decisions on these applications, or without ids all decisions, except pending ones. */
    forget: (ids?: readonly string[]) => dispatch({ type: 'forget', ids }),
    /** The status to show for an application, given the status that was read. */
    currentOf: (read: Omit<SeenApplication, 'name'>): CurrentStatus => currentStatusIn(state, read),
    /** Whether somebody else has changed an application since it was read. */
    isChanged(read: Omit<SeenApplication, 'name'>): boolean {
      const { isByOthers = false, version } = currentStatusIn(state, read)
      return isByOthers && version > read.version
    },
    /** Whether any decision is queued, or sent and without a response yet. */
    isWaiting: () => isWaiting(state),
  }
}
