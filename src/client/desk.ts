import type { Arguments, Calls, Result } from './desk/calls.ts'
import type { CallFunction } from './session.ts'

/** Timeout of a call in milliseconds, longer than a server waits for its database. */
const timeout = 20_000

/**
 * Makes a call of the desk.
 *
 * @param delays Milliseconds before the second try, the third and so on.
 */
export type CallDesk = <Name extends keyof Calls>(
  name: Name,
  args: Arguments<Name>,
  signal?: AbortSignal,
  delays?: readonly number[],
) => Promise<Result<Name>>

interface DeskOptions {
  /** Aborts all calls. */
  signal?: AbortSignal
  /** Called with the error of each call, undefined after a success. */
  onOutcome?: (error?: unknown) => void
}

/**
 * Creates calls of the desk's functions for the signed-in person.
 *
 * @returns A call that throws a `RefusedCall` if the database refuses, and a `SignedOutError` if the person has signed out. It
 *   throws a `TypeError` if no response arrives, a `DOMException` after the timeout, and a `SyntaxError` if a program other than
 *   the backend responded.
 */
export function createDesk(call: CallFunction, { signal: all, onOutcome }: DeskOptions = {}): CallDesk {
  return async (name, args, signal, delays) => {
    const signals = [AbortSignal.timeout(timeout), signal, all].filter((each) => each !== undefined)
    try {
      const response = await call(name, args, AbortSignal.any(signals), delays)
      onOutcome?.()
      return response as never
    } catch (error) {
      onOutcome?.(error)
      throw error
    }
  }
}
