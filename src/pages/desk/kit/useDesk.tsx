import { useQueryClient, type QueryClient } from '@tanstack/react-query'
import { createContext, useContext, useEffect, useState, useSyncExternalStore, type ReactNode } from 'react'

import type { CallDesk } from '../../../client/desk.ts'
import type { ActName } from '../../../client/desk/calls.ts'
import { announce } from './announce.tsx'
import { createDecisionQueue, type DecisionQueue } from './decision-queue.ts'
import type { Act as Decided, QueueState } from './decision-state.ts'
import { listenTo } from './listen.ts'
import { queriesOf, readAgain } from './queries.ts'
import { isActing } from './useAct.ts'

/** The person at the desk. */
export interface Me {
  account: string
  email: string
  /**
   * Calls the desk as them, never as anybody else, and as long as they are there: what waits or is under way when they
   * leave ends. A refusal has it asked whether the session still counts.
   */
  callDesk: CallDesk
}

function deskOf(
  { account, email, callDesk: call }: Me,
  outcomeOf: DeskProviderProps['outcomeOf'],
  queries: QueryClient,
) {
  /** Reads again what an act made stale. */
  const readAgainAfter = (name: ActName) =>
    Promise.all(readAgain[name].map((noun) => queries.invalidateQueries({ queryKey: [noun] })))
  const queue = createDecisionQueue(call, (act) => {
    announce(outcomeOf(act))
    void readAgainAfter('desk_decide')
  })
  return {
    account,
    email,
    call,
    queue,
    readAgainAfter,
    ...queriesOf(call, queue, queries),
  }
}

const DeskContext = createContext<ReturnType<typeof deskOf> | undefined>(undefined)

interface DeskProviderProps {
  me: Me
  /** What became of decisions, in a sentence. */
  outcomeOf: (act: Decided) => string
  children: ReactNode
}

/** The desk of one organiser. Their decisions go on from screen to screen, and end with their session. */
export function DeskProvider({ me, outcomeOf, children }: DeskProviderProps) {
  const queries = useQueryClient()
  const [desk] = useState(() => deskOf(me, outcomeOf, queries))
  useEffect(() => desk.queue.start(), [desk])
  useEffect(() => {
    // What is under way would be lost with the page.
    const askFirst = (event: Event) => {
      if (desk.queue.isWaiting() || isActing()) event.preventDefault()
    }
    return listenTo('beforeunload')(askFirst)
  }, [desk])
  return <DeskContext value={desk}>{children}</DeskContext>
}

/** Who is at the desk, what it reads, and by what is decided. */
export function useDesk(): ReturnType<typeof deskOf> {
  const desk = useContext(DeskContext)
  if (desk === undefined) throw new Error('useDesk stands outside of its provider')
  return desk
}

/** The decision queue, and its state. */
export function useDecisionQueue(): { queue: DecisionQueue; state: QueueState } {
  const { queue } = useDesk()
  return { queue, state: useSyncExternalStore(queue.subscribe, queue.state, queue.state) }
}
