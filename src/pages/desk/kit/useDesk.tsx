import { useQueryClient, type DataTag, type QueryClient, type QueryKey } from '@tanstack/react-query'
import { createContext, useContext, useEffect, useState, useSyncExternalStore, type ReactNode } from 'react'

import type { CallDesk } from '../../../client/desk.ts'
import type { ActName, ActWithId, Arguments, Result } from '../../../client/desk/calls.ts'
import { announce } from './announce.tsx'
import { createDecisionQueue, type DecisionQueue } from './decision-queue.ts'
import type { Act as Decided, QueueState } from './decision-state.ts'
import { listenTo } from './listen.ts'
import { queriesOf, readAgain } from './queries.ts'
import { insistOnConnection, isActing, useAct, type Act } from './useAct.ts'

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

/** The acts that get their id here; the decision queue gives each of its calls one. */
const withId = {
  desk_reveal: true,
  desk_note: true,
  desk_erase: true,
  desk_send_test: true,
  desk_write_to: true,
  desk_release: true,
  desk_readdress: true,
  desk_hand_over: true,
  desk_set_answer: true,
  desk_keep_until: true,
} satisfies Record<Exclude<ActWithId, 'desk_decide'>, true>

/** What an act is done with; its id comes by itself where nobody gives one. */
export type Given<Name extends ActName> = Name extends keyof typeof withId
  ? Omit<Arguments<Name>, 'act'> & { act?: string }
  : Arguments<Name>

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
    /** Forgets an application that was erased, and the lists that it may be in. */
    forget(application: string) {
      queries.removeQueries({ queryKey: ['application', application] })
      queries.removeQueries({ queryKey: ['list'] })
    },
    /** Reads everything anew but what belongs to the account: blind reading shows more of it, or less. */
    startOver: () => queries.resetQueries({ predicate: ({ queryKey: [of] }) => of !== 'account' }),
    /** Shows what was saved at once: the fields that follow it never go back to what was there before. */
    keep<Read>({ queryKey }: { queryKey: DataTag<QueryKey, Read, Error> }, change: (former: Read) => Read) {
      const isReading = queries.isFetching({ queryKey, exact: true }) > 0
      queries.setQueryData<Read>(queryKey, (former) => (former === undefined ? undefined : change(former)))
      // What is on its way was read before the act: its answer would take back what was saved.
      if (isReading) void queries.refetchQueries({ queryKey, exact: true })
    },
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

/**
 * An act that the desk calls, by the call's name.
 *
 * @see useAct
 */
export function useDeskAct<Name extends ActName>(
  name: Name,
  onSuccess?: (answer: Result<Name>, given: Given<Name>) => void | Promise<void>,
  { onFailure, keepsLast }: { onFailure?: () => unknown; keepsLast?: boolean } = {},
): Act<Given<Name>, Result<Name>> {
  const { call, readAgainAfter } = useDesk()
  return useAct<Given<Name>, Result<Name>>(
    async (given, signal, id) => {
      insistOnConnection()
      return call(name, (name in withId ? { act: id(), ...given } : given) as Arguments<Name>, signal)
    },
    {
      onSuccess,
      keepsLast,
      async onSettled(error) {
        if (error) await onFailure?.()
        await readAgainAfter(name)
      },
    },
  )
}
