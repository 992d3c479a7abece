import { useQueryClient } from '@tanstack/react-query'

import type { ActName, ActWithId, Arguments, Result } from '../../../client/desk/calls.ts'
import { actPauses, SignedOutError } from '../../../client/session.ts'
import { announce } from './announce.tsx'
import { failureOf } from './ActProblems.tsx'
import { learnerOf } from './responses.ts'
import { useAct, type Act } from './useAct.ts'
import { useDesk } from './useDesk.tsx'

/** The acts that get their id here; the decision queue gives each of its calls one. */
const withId = {
  desk_reveal: true,
  desk_note: true,
  desk_erase: true,
  desk_send_test: true,
  desk_write: true,
  desk_write_to: true,
  desk_release: true,
  desk_readdress: true,
  desk_hand_over: true,
  desk_set_answer: true,
  desk_keep_until: true,
  desk_remind: true,
} satisfies Record<Exclude<ActWithId, 'desk_decide'>, true>

/** What an act is done with; its id comes by itself where nobody gives one. */
export type Given<Name extends ActName> = Name extends keyof typeof withId
  ? Omit<Arguments<Name>, 'act'> & { act?: string }
  : Arguments<Name>

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
  const { call, queue, readAgainAfter } = useDesk()
  const learn = learnerOf(useQueryClient(), queue)
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
