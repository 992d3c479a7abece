import type { Status } from '../../../application/statuses.ts'
import { newAct } from '../../../client/act.ts'
import type { CallDesk } from '../../../client/desk.ts'
import { reduce, type QueueEvent } from './decision-reducer.ts'
import {
  emptyQueue,
  isWaiting,
  sentIn,
  shownIn,
  type Act,
  type Decision,
  type Refusal,
  type Seen,
  type Shown,
} from './decision-state.ts'
import { createListeners } from './listen.ts'
import { isUncertain, sentenceOf } from './Problem.tsx'

/** Shows each decision at once, and sends it in its turn. */
export type DecisionQueue = ReturnType<typeof createDecisionQueue>

/**
 * Creates the queue of one organiser.
 *
 * @param onSettled Called with each act once nothing of it is queued or sent any more, in their order.
 */
export function createDecisionQueue(callDesk: CallDesk, onSettled: (act: Act) => void) {
  const { subscribe, tell } = createListeners()
  let state = emptyQueue
  // Nothing is sent before the start.
  let signal = AbortSignal.abort()
  let isSending = false

  const dispatch = (event: QueueEvent) => {
    const { settled } = state
    const next = reduce(state, event)
    if (next === state) return
    state = next
    tell()
    for (const act of state.acts.slice(settled, state.settled)) report(act)
    void send()
  }

  /** An error in a report is no reason to keep later acts. */
  const report = (act: Act) => {
    try {
      onSettled(act)
    } catch (error) {
      reportError(error)
    }
  }

  const send = async () => {
    if (isSending) return
    isSending = true
    while (isWaiting(state) && !signal.aborted) {
      const present = signal
      dispatch({ type: 'send' })
      const event = await replyTo(sentIn(state), present)
      // Nobody knows what became of a call that was ended.
      if (!present.aborted) dispatch(event)
    }
    isSending = false
  }

  const replyTo = async (decisions: readonly Decision[], until: AbortSignal): Promise<QueueEvent> => {
    try {
      const given = decisions.map(({ seen: { id }, wanted, base, takesBack }) => ({
        id,
        status: wanted,
        version: base,
        takes_back: takesBack,
      }))
      const outcomes = await callDesk('desk_decide', { act: newAct(), decisions: given }, until)
      return { type: 'reply', outcomes: new Map(outcomes.map((outcome) => [outcome.id, outcome])) }
    } catch (error) {
      return { type: 'fail', message: sentenceOf(error), isUncertain: isUncertain(error) }
    }
  }

  return {
    subscribe,
    state: () => state,
    /** Sends what is queued, until the function that it gives is called. */
    start() {
      const ending = new AbortController()
      signal = ending.signal
      void send()
      return () => ending.abort()
    },
    /** Sets the status of some applications, as one act. */
    decide: (applications: readonly Seen[], wanted: Status) =>
      dispatch({ type: 'decide', applications, wanted }),
    /** Undoes the last act. */
    undo: () => dispatch({ type: 'undo' }),
    /** Decides again, as one act, after the organiser was told what somebody else did. */
    insist: (refusals: readonly Refusal[]) => dispatch({ type: 'insist', refusals }),
    /** Leaves applications as they are. */
    dismiss: (refusals: readonly Refusal[]) => dispatch({ type: 'dismiss', refusals }),
    /** Stops an act that is sent in several calls: what has not been sent yet is not sent. */
    stop: () => dispatch({ type: 'stop' }),
    /** Takes note of what was read of an application, where that is newer. */
    learn: (application: Omit<Seen, 'name'>) => dispatch({ type: 'read', application }),
    /** Forgets what was decided on applications that were erased; on all where none are given. */
    forget: (ids?: readonly string[]) => dispatch({ type: 'forget', ids }),
    /** The status to show for an application, given what was read of it. */
    shownOf: (read: Omit<Seen, 'name'>): Shown => shownIn(state, read),
    /** Whether somebody else has changed an application since it was read. */
    isChanged(read: Omit<Seen, 'name'>): boolean {
      const { isOthers = false, version } = shownIn(state, read)
      return isOthers && version > read.version
    },
    /** Whether there are decisions of which nobody knows yet whether they are saved. */
    isWaiting: () => isWaiting(state),
  }
}
