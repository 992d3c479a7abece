import { useQueryClient, type Query, type QueryClient } from '@tanstack/react-query'
import { createContext, useContext, useEffect, useState, useSyncExternalStore, type ReactNode } from 'react'

import type { CallDesk } from '../../../client/desk.ts'
import { announce } from '../kit/announce.tsx'
import { createDecisionQueue, type DecisionQueue } from './decision-queue.ts'
import { createFailedActs } from './failed-acts.ts'
import { outcomeOf } from './decision-sentences.ts'
import type { DecisionAct, QueueState } from './decision-state.ts'
import { listenTo } from '../kit/listen.ts'
import { queriesOf, refetchedByDecisions, type KeyPrefix } from './queries.ts'
import { pendingActs } from '../kit/useAct.ts'

/** The organiser who is signed in. */
export interface Me {
  account: string
  email: string
  /** Whether they may only read, mark and write notes. Screens then offer nothing else, and the database refuses it. */
  isReader: boolean
  /**
   * Calls the desk for this account only. Pending calls end when the organiser signs out. After a refusal, the session is
   * checked.
   */
  callDesk: CallDesk
}

/** Whether the offer to undo an act says all that it did. */
function isSaidByUndo(act: DecisionAct) {
  const decisions = [...act.values()]
  const former = new Set(decisions.map(({ application }) => application.status))
  return (
    former.size === 1 &&
    decisions.every((each) => each.state === 'saved' && !each.isUndo && each.stopped === 0)
  )
}

function deskOf({ account, email, isReader, callDesk: call }: Me, queries: QueryClient) {
  const refetch = (prefixes: readonly KeyPrefix[]) =>
    Promise.all(
      prefixes.map(async (prefix) => {
        const queryKey = [prefix]
        // A first read may have begun before the act. The library begins only later reads again.
        const isFirst = ({ state }: Query) => state.data === undefined
        await queries.cancelQueries({ queryKey, type: 'active', predicate: isFirst })
        await queries.invalidateQueries({ queryKey })
      }),
    )
  const queue = createDecisionQueue(call, (act) => {
    announce(outcomeOf(act), !isSaidByUndo(act))
    void refetch(refetchedByDecisions)
  })
  /** Whether changes are being saved, which closing the page or signing out would lose. */
  const isBusy = () => queue.isWaiting() || pendingActs.size > 0
  return {
    account,
    email,
    isReader,
    call,
    queue,
    failedActs: createFailedActs(),
    isBusy,
    /** Asks the organiser if signing out would lose changes. Returns whether to go on. */
    confirmLoss: () => !isBusy() || confirm('Sign out before your changes are saved?'),
    /** Refetches the data whose keys have these prefixes. */
    refetch,
    ...queriesOf(call, queue, queries),
  }
}

const DeskContext = createContext<ReturnType<typeof deskOf> | undefined>(undefined)

interface DeskProviderProps {
  me: Me
  children: ReactNode
}

/** Provides the desk of one organiser. Their decision queue survives a change of screen and ends with the session. */
export function DeskProvider({ me, children }: DeskProviderProps) {
  const queries = useQueryClient()
  const [desk] = useState(() => deskOf(me, queries))
  useEffect(() => desk.queue.start(), [desk])
  useEffect(() => {
    const confirmClosing = (event: Event) => {
      if (desk.isBusy()) event.preventDefault()
    }
    return listenTo('beforeunload')(confirmClosing)
  }, [desk])
  return <DeskContext value={desk}>{children}</DeskContext>
}

/**
 * The account, the queries and the decision queue of the signed-in organiser.
 *
 * @throws Error if called outside of a `DeskProvider`.
 */
export function useDesk(): ReturnType<typeof deskOf> {
  const desk = useContext(DeskContext)
  if (desk === undefined) throw new Error('useDesk was called outside of its provider')
  return desk
}

/** The decision queue and its current state. */
export function useDecisionQueue(): { queue: DecisionQueue; state: QueueState } {
  const { queue } = useDesk()
  return { queue, state: useSyncExternalStore(queue.subscribe, queue.state, queue.state) }
}
