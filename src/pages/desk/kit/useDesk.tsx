import { useQueryClient, type QueryClient } from '@tanstack/react-query'
import { createContext, useContext, useEffect, useState, useSyncExternalStore, type ReactNode } from 'react'

import type { CallDesk } from '../../../client/desk.ts'
import type { ActName, ActWithId, Arguments, Result } from '../../../client/desk/calls.ts'
import { actPauses, SignedOutError } from '../../../client/session.ts'
import { announce } from './announce.tsx'
import { createDecisionQueue, type DecisionQueue } from './decision-queue.ts'
import type { Act as Decided, QueueState } from './decision-state.ts'
import { listenTo } from './listen.ts'
import { failureOf } from './Problem.tsx'
import { queriesOf, readAgain } from './queries.ts'
import { learnerOf } from './responses.ts'
import { isActing, useAct, type Act } from './useAct.ts'

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
    learn: learnerOf(queries),
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

interface DeskActOptions<Name extends ActName> {
  /** What is announced once it is done. */
  says?: (response: Result<Name>, given: Given<Name>) => string
  /** What is said to have failed, as a sentence. */
  fails: string
  /** Called while its screen is shown. */
  onSuccess?: (response: Result<Name>, given: Given<Name>) => unknown
  keepsLast?: boolean
}

/** An act of the desk, and what is said to have failed where it did. */
export interface DeskAct<Name extends ActName> extends Act<Given<Name>, Result<Name>> {
  fails: string
}

/** Milliseconds after which it is said that no response has come yet. */
const sayWaiting = 700

/**
 * An act that the desk calls, by the call's name. It goes on when its screen is left, and what came of it is announced then.
 *
 * @see useAct
 */
export function useDeskAct<Name extends ActName>(
  name: Name,
  { says, fails, onSuccess, keepsLast }: DeskActOptions<Name>,
): DeskAct<Name> {
  const { call, readAgainAfter, learn } = useDesk()
  const act = useAct<Given<Name>, Result<Name>>(
    async (given, signal, id) => {
      const waiting = setTimeout(() => announce('Waiting for the server…'), sayWaiting)
      const whole = (name in withId ? { act: id(), ...given } : given) as Arguments<Name>
      return call(name, whole, signal, actPauses).finally(() => clearTimeout(waiting))
    },
    {
      onSuccess,
      keepsLast,
      outlivesScreen: true,
      onOutcome({ error, response, isShown, isCancelled }, given, id) {
        if (error === null) learn(name, response, { act: id, ...given } as Arguments<Name>)
        if (!isCancelled && !(error instanceof SignedOutError)) {
          const failure = isShown || error === null ? '' : failureOf(fails, error)
          announce(error === null ? (says?.(response, given) ?? '') : failure)
        }
        void readAgainAfter(name)
      },
    },
  )
  return { ...act, fails }
}
