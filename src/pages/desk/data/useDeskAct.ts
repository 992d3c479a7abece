import { useQueryClient } from '@tanstack/react-query'

import type { ActName, ActWithId, Arguments, Result } from '../../../client/desk/calls.ts'
import { actRetryDelays, SignedOutError } from '../../../client/session.ts'
import { announce } from '../kit/announce.tsx'
import { failureOf } from '../kit/ActProblems.tsx'
import { refetchedBy } from './refetched-by.ts'
import { responseHandlerOf } from './responses.ts'
import { useAct, type Act } from '../kit/useAct.ts'
import { useDesk } from './useDesk.tsx'

/** The calls that get an act id here. The decision queue creates its own ids. */
const withId = {
  desk_reveal: true,
  desk_mark: true,
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
  desk_answer_questions: true,
  desk_begin_edition: true,
  desk_hold: true,
  desk_erase_due: true,
} satisfies Record<Exclude<ActWithId, 'desk_decide'>, true>

/** The arguments of an act. Its id is optional: if omitted, it is created here. */
export type Args<Name extends ActName> = Name extends keyof typeof withId
  ? Omit<Arguments<Name>, 'act'> & { act?: string }
  : Arguments<Name>

interface DeskActOptions<Name extends ActName> {
  /** Returns the announcement after a success. */
  success?: (response: Result<Name>, args: Args<Name>) => string
  /** The sentence for a failure, such as `Not saved.` */
  failure: string
  /** Called only while its screen is open. */
  onSuccess?: (response: Result<Name>, args: Args<Name>) => unknown
  /** If pressed again while pending, runs once more afterwards with the latest values. */
  queuesLatest?: boolean
}

/** An act of the desk, and its sentence for a failure. */
export interface DeskAct<Name extends ActName> extends Act<Args<Name>, Result<Name>> {
  failure: string
}

/** Milliseconds without a response before the wait is announced. */
const waitingNoticeDelay = 700

/**
 * An act that makes one call of the desk. It continues after its screen is closed. Its outcome is announced, except a failure
 * while its screen is open, which the screen shows (`ActProblems`).
 *
 * @see useAct
 */
export function useDeskAct<Name extends ActName>(
  name: Name,
  { success, failure, onSuccess, queuesLatest }: DeskActOptions<Name>,
): DeskAct<Name> {
  const { call, queue, refetch } = useDesk()
  const handleResponse = responseHandlerOf(useQueryClient(), queue)
  const act = useAct<Args<Name>, Result<Name>>(
    async (args, signal, id) => {
      const timer = setTimeout(() => announce('Waiting for the server…'), waitingNoticeDelay)
      const withAct = (name in withId ? { act: id(), ...args } : args) as Arguments<Name>
      return call(name, withAct, signal, actRetryDelays).finally(() => clearTimeout(timer))
    },
    {
      onSuccess,
      queuesLatest,
      outlivesScreen: true,
      onOutcome({ error, response, isOpen, isCancelled }, args, id) {
        if (error === null) handleResponse(name, response, { act: id, ...args } as Arguments<Name>)
        if (!isCancelled && !(error instanceof SignedOutError)) {
          const message = isOpen || error === null ? '' : failureOf(failure, error)
          announce(error === null ? (success?.(response, args) ?? '') : message)
        }
        void refetch(refetchedBy[name])
      },
    },
  )
  return { ...act, failure }
}
