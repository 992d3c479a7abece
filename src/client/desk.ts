import type { Arguments, Calls, Result } from './desk/calls.ts'
import type { CallFunction } from './session.ts'

/** Milliseconds after which a call is given up: longer than a server waits for its database. */
const timeout = 20_000

/**
 * Makes a call of the desk.
 *
 * @param pauses Milliseconds before the second try, the third one and so on.
 */
export type CallDesk = <Name extends keyof Calls>(
  name: Name,
  given: Arguments<Name>,
  signal?: AbortSignal,
  pauses?: readonly number[],
) => Promise<Result<Name>>

/**
 * The desk's functions, called as whoever is signed in.
 *
 * @returns A call that throws a `RefusedCall` where the database refuses, a `TypeError` where no answer came, and a
 *   `DOMException` where none came in time.
 */
export function createDesk(call: CallFunction): CallDesk {
  return async (name, given, signal, pauses) => {
    const inTime = AbortSignal.timeout(timeout)
    return (await call(name, given, signal ? AbortSignal.any([signal, inTime]) : inTime, pauses)) as never
  }
}
