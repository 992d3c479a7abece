import { useQueryClient } from '@tanstack/react-query'

import type { ActWithId, Arguments, Result } from '../../../client/desk/calls.ts'
import { actRetryDelays, SignedOutError } from '../../../client/session.ts'
import { failureOf } from '../kit/ActProblems.tsx'
import { announce } from '../kit/announce.tsx'
import { isTemporary } from '../kit/Problem.tsx'
import { useAct, type Act } from '../kit/useAct.ts'
import { actIdsOf } from './act-id.ts'
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

/** A press of an act: its arguments, those of its call, and the screen and the unsent text of that moment. */
interface Press<Name extends DeskActName> {
  args: Args<Name>
  sent: Arguments<Name>
  screen: ReturnType<typeof currentScreen>
  text: unknown
}

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
  const idsOf = (args: Args<Name>) => actIdsOf(account, subjectOf(name, args))
  const failureSubject = (args: Args<Name>) =>
    about === undefined ? subjectOf(name, args) : `${name} ${about}`
  const failureFor = (args: Args<Name>) =>
    typeof failure === 'string' ? failure : failure(args as Arguments<Name>)
  const act = useAct<Press<Name>, Result<Name>>(
    async (pressed, signal) => {
      const { args } = pressed
      const timer = setTimeout(() => announce('Waiting for the server…'), waitingNoticeDelay)
      let unwatch = () => {}
      if (once) {
        const ids = idsOf(args)
        const id = ids.idFor(args)
        pressed.sent = { ...pressed.sent, act: id }
        if (queuesLatest) unwatch = ids.watch(id, act.cancel)
      }
      return call(name, pressed.sent, signal, actRetryDelays).finally(() => {
        clearTimeout(timer)
        unwatch()
      })
    },
    {
      onSuccess: onSuccess && ((response, { args }) => onSuccess(response, args)),
      queuesLatest,
      outlivesScreen: true,
      onOutcome({ error, response, isOpen, isOutdated }, pressed) {
        const { args, sent, screen } = pressed
        const isReplaced = queuesLatest && isOutdated
        if (error === null) {
          if (!isReplaced) handleResponse(name, response, sent)
          onSaved?.(response, args)
          if (text !== undefined)
            setUnsentText(account, text, (latest) => (latest === pressed.text ? null : latest))
        }
        if ('act' in sent && !isTemporary(error)) idsOf(args).forget(String(sent.act))
        if (!isOutdated && !(error instanceof SignedOutError)) {
          announce(error === null ? (success?.(response, args) ?? '') : '', !(isSuccessOnScreen && isOpen))
          if (error !== null && !isOpen)
            failedActs.add({
              subject: failureSubject(args),
              screen,
              failure: failureOf(failureFor(args), error),
              repeat: isTemporary(error) ? () => act.press(pressed) : undefined,
            })
        }
        void refetch(isReplaced ? [...stale, 'application'] : stale)
      },
    },
  )
  const press = (args: Args<Name>) => {
    failedActs.forgetOne(failureSubject(args))
    act.press({
      args,
      sent: args as Arguments<Name>,
      screen: currentScreen(),
      // Trying again sends what was pressed, and not what was typed since.
      text: text === undefined ? null : unsentTextOf(account, text),
    })
  }
  const { args, ...state } = act
  return args === undefined
    ? { ...state, press, failure: '' }
    : { ...state, args: args.args, press, failure: failureFor(args.args) }
}

/** What an act is about: an application, or else all that it says. */
const subjectOf = (name: DeskActName, args: object) =>
  `${name} ${'application' in args ? String(args.application) : JSON.stringify(args)}`
