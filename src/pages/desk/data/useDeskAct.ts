import { useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'

import { newActId } from '../../../client/act.ts'
import type { ActWithId, Arguments, Result } from '../../../client/desk/calls.ts'
import { actRetryDelays, SignedOutError } from '../../../client/session.ts'
import { failureOf } from '../kit/ActProblems.tsx'
import { announce } from '../kit/announce.tsx'
import { isTemporary } from '../kit/Problem.tsx'
import { useAct, type Act } from '../kit/useAct.ts'
import { acts, responseHandlerOf, type DeskActName } from './acts.ts'
import { currentScreen } from './failed-acts.ts'
import { useDesk } from './useDesk.tsx'
import { setUnsentText, unsentTextOf } from './useUnsentText.ts'

/** The arguments of an act without its id, which is created here. */
export type Args<Name extends DeskActName> = Name extends ActWithId
  ? Omit<Arguments<Name>, 'act'>
  : Arguments<Name>

interface DeskActOptions<Name extends DeskActName> {
  /** Returns the announcement after a success. */
  success?: (response: Result<Name>, args: Args<Name>) => string
  /** Whether the screen shows what is announced. */
  isSuccessOnScreen?: boolean
  /** Called after each success, even if its screen was closed. */
  onSaved?: (response: Result<Name>, args: Args<Name>) => unknown
  /** Called only while its screen is open. */
  onSuccess?: ((response: Result<Name>, args: Args<Name>) => unknown) | undefined
  /** The name of the unsent text that it sends. A success clears it, unless it was changed meanwhile. */
  text?: string
  /** The form that it saves, by a name. A later save of the form replaces its failure, whatever it says. */
  about?: string
  /**
   * If pressed again while pending, runs once more afterwards with the latest values. Pressed again on a screen that was opened
   * later, it ends the earlier act, whose outcome counts no more.
   */
  queuesLatest?: boolean
}

/** An act of the desk, and its sentence for a failure. */
export interface DeskAct<Name extends DeskActName> extends Act<Args<Name>, Result<Name>> {
  failure: string
}

/** Milliseconds without a response before the wait is announced. */
export const waitingNoticeDelay = 700

/** The last press of each act that has `queuesLatest`, by account and what it is about. `cancel` ends its act. */
const latestPresses = new Map<string, { args: object; cancel: () => void }>()

/**
 * An act that makes one call of the desk. It continues after its screen is closed. A success is announced. The screen shows a
 * failure (`ActProblems`), or the frame if the screen is closed by then. If no response came, the same arguments are the same act,
 * also after a reload.
 *
 * @see useAct
 */
export function useDeskAct<Name extends DeskActName>(
  name: Name,
  options: DeskActOptions<Name> = {},
): DeskAct<Name> {
  const {
    success,
    isSuccessOnScreen = false,
    onSaved,
    onSuccess,
    text,
    about = text,
    queuesLatest = false,
  } = options
  const desk = useDesk()
  const { account, call, failedActs, refetch } = desk
  const { once, stale, failure = 'Not saved.' } = acts[name]
  const handleResponse = responseHandlerOf(useQueryClient(), desk)
  /** The screen of the last press. */
  const screen = useRef(currentScreen())
  /** The unsent text at each press. Trying again sends what was pressed, and not what was typed since. */
  const sentTexts = useRef(new WeakMap<object, unknown>())
  /** What each press sent. An act that was pressed later may have another id by the outcome. */
  const sentArguments = useRef(new WeakMap<object, Arguments<Name>>())
  /** The arguments of the call, with the id of the act that has not had a response yet. */
  const withId = (args: Args<Name>) => {
    if (!once) return args as Arguments<Name>
    const [subject, says] = [nameOfId(name, args), JSON.stringify(args)]
    const kept = unsentTextOf<KeptId>(account, subject)
    const act = kept?.says === says ? kept.act : newActId()
    setUnsentText<KeptId>(account, subject, { act, says })
    return { act, ...args } as unknown as Arguments<Name>
  }
  const failureSubject = (args: object) => (about === undefined ? subjectOf(name, args) : `${name} ${about}`)
  const keyOf = (args: object) => `${account} ${failureSubject(args)}`
  const failureFor = (args: Args<Name>) =>
    typeof failure === 'string' ? failure : failure(args as Arguments<Name>)
  const act = useAct<Args<Name>, Result<Name>>(
    async (args, signal) => {
      const timer = setTimeout(() => announce('Waiting for the server…'), waitingNoticeDelay)
      const sent = withId(args)
      sentArguments.current.set(args, sent)
      return call(name, sent, signal, actRetryDelays).finally(() => clearTimeout(timer))
    },
    {
      onSuccess,
      queuesLatest,
      outlivesScreen: true,
      onOutcome({ error, response, isOpen, isCancelled }, args) {
        const isOutdated = queuesLatest && latestPresses.get(keyOf(args))?.args !== args
        if (error === null) {
          const sent = sentArguments.current.get(args)
          if (!isOutdated && sent !== undefined) handleResponse(name, response, sent)
          onSaved?.(response, args)
          if (text !== undefined)
            setUnsentText(account, text, (latest) => (latest === sentTexts.current.get(args) ? null : latest))
        }
        if (once && !isTemporary(error))
          setUnsentText<KeptId>(account, nameOfId(name, args), (kept) =>
            kept?.says === JSON.stringify(args) ? null : kept,
          )
        if (!isCancelled && !isOutdated && !(error instanceof SignedOutError)) {
          announce(error === null ? (success?.(response, args) ?? '') : '', !(isSuccessOnScreen && isOpen))
          if (error !== null && !isOpen)
            failedActs.add({
              subject: failureSubject(args),
              screen: screen.current,
              failure: failureOf(failureFor(args), error),
              repeat: isTemporary(error) ? () => act.press(args) : undefined,
            })
        }
        void refetch(isOutdated ? [...stale, 'application'] : stale)
      },
    },
  )
  const press = (args: Args<Name>) => {
    screen.current = currentScreen()
    if (text !== undefined) sentTexts.current.set(args, unsentTextOf(account, text))
    if (queuesLatest) {
      const latest = latestPresses.get(keyOf(args))
      // An act that is tried again would replace this one.
      if (latest?.cancel !== act.cancel) latest?.cancel()
      latestPresses.set(keyOf(args), { args, cancel: act.cancel })
    }
    failedActs.forgetOne(failureSubject(args))
    act.press(args)
  }
  return { ...act, press, failure: act.args === undefined ? '' : failureFor(act.args) }
}

/** What an act is about: an application, or else all that it says. */
const subjectOf = (name: DeskActName, args: object) =>
  `${name} ${'application' in args ? String(args.application) : JSON.stringify(args)}`

/**
 * The id of an act that had no response yet. A later act about the same that says something else replaces it: after “Yes”, “No” and
 * “Yes”, the last one is no repeat.
 */
interface KeptId {
  act: string
  says: string
}

/** Its name among the unsent text. */
const nameOfId = (name: DeskActName, args: object) => `act ${subjectOf(name, args)}`
